"""One embedded Traceline that the attacks meet, who may ask it, and how much memory it takes."""

from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from acceptance.callers import anyone, reviewer, viewer
from acceptance.client import Traceline
from acceptance.faults.databases import events_kept_back
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD

__all__ = ["anyone", "reviewer", "viewer"]

MEBIBYTE = 1024 * 1024


class Memory:
    """The memory of the attacked process."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)

    def resident(self) -> int:
        """Bytes of it that are in memory."""
        size: int = self._process.memory_info().rss
        return size

    @contextmanager
    def growing_less_than(self, mebibytes: int) -> Iterator[None]:
        """Assert that it is not this much larger after the block than before."""
        before = self.resident()
        yield
        grown = (self.resident() - before) / MEBIBYTE
        print(f"The process has grown by {grown:.1f} MiB, to {self.resident() // MEBIBYTE} MiB.")
        assert grown < mebibytes


@pytest.fixture(scope="package")
def attacked() -> Iterator[RunningTraceline]:
    """A Traceline that is attacked. Stopping it is a check too, and that it lost no event."""
    with fresh_folder() as place, RunningTraceline(place, RATE_LIMIT_ADDRESS="1000000") as running:
        yield running
        assert events_kept_back(running) == []


@pytest.fixture(scope="package")
def base_url(attacked: RunningTraceline) -> str:
    return attacked.base_url


@pytest.fixture(scope="package")
def memory(attacked: RunningTraceline, admin: Traceline) -> Memory:
    """Its memory when it has done a bit of everything: what is loaded when first used is no growth."""
    admin.create_pair()
    admin.generate()
    return Memory(attacked.pid)


@pytest.fixture(scope="package")
def admin(anyone: Traceline) -> Traceline:
    return anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
