"""The Traceline that the end-to-end tests talk to: the one at TRACELINE_URL, or two of their own in turn."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from acceptance.callers import anyone, reviewer, viewer
from acceptance.client import Traceline
from acceptance.faults.databases import events_kept_back
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack

__all__ = ["anyone", "reviewer", "viewer"]

GIVEN = os.environ.get("TRACELINE_URL")


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
def admin(anyone: Traceline) -> Traceline:
    if GIVEN:
        return anyone.logged_in(os.environ["DEFAULT_ADMIN_EMAIL"], os.environ["DEFAULT_ADMIN_PASSWORD"])
    return anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


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
