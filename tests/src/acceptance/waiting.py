"""Waiting for what happens in the background, with an end to the patience."""

import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

Found = TypeVar("Found")


_ANYTHING: Any = object()
_LONGEST_PAUSE = 0.25


def eventually(
    look: Callable[[], Found | None],
    what: str,
    *,
    equals: Any = _ANYTHING,
    seconds: float = 120.0,
    every: float = 0.05,
) -> Found:
    """Look again and again until ``look`` finds something truthy, or what ``equals`` says, and return it.

    Args:
        look: asked at least once, and once more when the time is over.
        what: what is waited for, as it reads in the failure.
        equals: what is to be found; a failure then says what was found instead.
        seconds: how long to go on looking. It is no bar: what arrives late on a busy machine has arrived.
        every: seconds between the first two looks, which grow to a quarter of a second; more for a look that takes
            the machine long.

    Raises:
        AssertionError: it was not found in that time.
    """
    end = time.monotonic() + seconds
    pause = every
    while True:
        over = time.monotonic() >= end
        found = look()
        if found if equals is _ANYTHING else found == equals:
            return cast(Found, found)
        awaited = "" if equals is _ANYTHING else f", awaited: {equals!r}"
        assert not over, f"{what}: not seen within {seconds:g} s (last look: {found!r}{awaited})"
        time.sleep(pause)
        pause = min(pause * 1.1, max(every, _LONGEST_PAUSE))


def settled(look: Callable[[], Found], what: str, *, quiet: float = 3.0) -> Found:
    """Return what ``look`` finds once that has not changed for ``quiet`` seconds: what is under way has arrived.

    Raises:
        AssertionError: it went on changing for two minutes; ``what`` is it.
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
