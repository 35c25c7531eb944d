"""The Traceline that the end-to-end tests talk to: the one at TRACELINE_URL, or one of their own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from acceptance.client import Traceline
from acceptance.process import ADMIN_EMAIL, ADMIN_PASSWORD, RunningTraceline, fresh_folder


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """Where Traceline answers. Stopping it at the end is a check too: within 5 s, with exit code 0."""
    given = os.environ.get("TRACELINE_URL")
    if given:
        yield given.rstrip("/")
        return
    with fresh_folder() as place, RunningTraceline(place) as server:
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


@pytest.fixture(scope="session")
def unused() -> Iterator[Path]:
    """The data of a Traceline that was started once and never used: a copy saves others the long first start."""
    with fresh_folder() as folder:
        with RunningTraceline(folder):
            pass
        yield folder


@pytest.fixture
def place() -> Iterator[Path]:
    """Where a test that starts a Traceline of its own may have its data; nothing is there yet."""
    with fresh_folder() as folder:
        yield folder
