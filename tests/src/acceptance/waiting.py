"""Waiting for what happens in the background, with an end to the patience."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def eventually(look: Callable[[], Found | None], what: str, *, seconds: float = 60.0, every: float = 0.05) -> Found:
    """Look again and again until ``look`` finds something truthy, and return it.

    Args:
        look: asked at least once, and once more when the time is over.
        what: what is waited for, as it reads in the failure.
        seconds: how long to go on looking.
        every: seconds between two looks; more for a look that takes the machine long.

    Raises:
        AssertionError: nothing was found in that time.
    """
    end = time.monotonic() + seconds
    while True:
        over = time.monotonic() >= end
        found = look()
        if found:
            return found
        assert not over, f"{what}: not seen within {seconds:g} s (last look: {found!r})"
        time.sleep(every)


def settled(look: Callable[[], Found], what: str, *, quiet: float = 3.0) -> Found:
    """Return what ``look`` finds once that has not changed for ``quiet`` seconds: what is under way has arrived.

    Raises:
        AssertionError: it went on changing for a minute; ``what`` is it.
    """
    found, since = look(), time.monotonic()

    def is_quiet() -> bool:
        nonlocal found, since
        now = look()
        if now != found:
            found, since = now, time.monotonic()
        return time.monotonic() - since >= quiet

    eventually(is_quiet, f"the end of changes of {what}", every=0.2)
    return found
