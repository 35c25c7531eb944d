"""The Traceline that the end-to-end tests talk to: the one at TRACELINE_URL, or one of their own."""

import os
from collections.abc import Iterator

import pytest

from acceptance.client import Traceline
from acceptance.process import ADMIN_EMAIL, ADMIN_PASSWORD, RunningTraceline


@pytest.fixture(scope="session")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Traceline answers. Stopping it at the end is a check too: within 5 s, with exit code 0."""
    given = os.environ.get("TRACELINE_URL")
    if given:
        yield given.rstrip("/")
        return
    with RunningTraceline(tmp_path_factory.mktemp("traceline") / "data") as server:
        yield server.base_url


@pytest.fixture(scope="session")
def anyone(base_url: str) -> Iterator[Traceline]:
    """Somebody who has not logged in."""
    with Traceline(base_url) as client:
        yield client


@pytest.fixture(scope="session")
def admin(anyone: Traceline) -> Traceline:
    if os.environ.get("TRACELINE_URL"):
        return anyone.logged_in(os.environ["DEFAULT_ADMIN_EMAIL"], os.environ["DEFAULT_ADMIN_PASSWORD"])
    return anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


@pytest.fixture(scope="session")
def reviewer(admin: Traceline) -> Traceline:
    return admin.new_user("reviewer")


@pytest.fixture(scope="session")
def viewer(admin: Traceline) -> Traceline:
    return admin.new_user("viewer")
