"""The Traceline that the end-to-end tests talk to: the one at TRACELINE_URL, or two of their own in turn."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from acceptance import texts
from acceptance.callers import reviewer, viewer
from acceptance.client import Traceline
from acceptance.faults.databases import events_kept_back
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

__all__ = ["reviewer", "viewer"]

GIVEN = os.environ.get("TRACELINE_URL")
BELOW_PROJECT = "BELOW_PROJECT" in os.environ
"""Whether all that is recorded goes into a project of its own, each address below it, and nothing into MAIN."""


@pytest.fixture(scope="package", params=["given"] if GIVEN else ["embedded", "stack"])
def running(request: pytest.FixtureRequest) -> Iterator[RunningTraceline | RunningStack | None]:
    """In one process and as many. Stopping it is a check too: in time, with exit code 0."""
    if GIVEN:
        yield None
        return
    with fresh_folder() as place:
        running = RunningTraceline(place) if request.param == "embedded" else RunningStack(place)
        with running:
            yield running
            assert events_kept_back(running) == []


@pytest.fixture(scope="package")
def base_url(running: RunningTraceline | RunningStack | None) -> str:
    """Where Traceline answers."""
    return running.base_url if running is not None else str(GIVEN).rstrip("/")


@pytest.fixture(scope="package")
def below_project(request: pytest.FixtureRequest) -> bool:
    """Whether the record is that of a project of its own: where all are, and where a test is tried there, too."""
    return BELOW_PROJECT or getattr(request, "param", False)


@pytest.fixture(scope="package")
def anyone(base_url: str, below_project: bool) -> Iterator[Traceline]:
    """Somebody who has not logged in."""
    with Traceline(base_url, project=texts.project_key() if below_project else None) as client:
        yield client


@pytest.fixture(scope="package")
def admin(anyone: Traceline) -> Traceline:
    email, password = ADMIN_EMAIL, ADMIN_PASSWORD
    if GIVEN:
        email, password = os.environ["DEFAULT_ADMIN_EMAIL"], os.environ["DEFAULT_ADMIN_PASSWORD"]
    admin = anyone.logged_in(email, password)
    if admin.project is not None:
        admin.new_project(key=admin.project, visibility="open")
        eventually(lambda: admin.get("/requirements").status_code, "the project", equals=200)
    return admin


@pytest.fixture(scope="package")
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
