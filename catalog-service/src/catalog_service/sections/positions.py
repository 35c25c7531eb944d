"""Positions: texts in whose order items stand in their outline.

A position is the keys of the sections that an item is in, from the top, and its own, with SEPARATOR between them. Keys
are hexadecimal digits, compared as fractions: there is always room between two. A new one is that of the time, later
than all before, so that a new item stands at the end of its section without a look at what is there.
"""

import re
from datetime import UTC, datetime
from itertools import count
from typing import Final

SEPARATOR: Final = "/"
"""Less than each digit: what is in a section comes before what stands behind the section."""
FORM: Final = re.compile(r"(?:[0-9a-f]{1,200}/){0,12}[0-9a-f]{1,200}")
_DIGITS: Final = 13
"""Of a key that is made of a time."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Latest:
    """The latest key that this process has made, in microseconds."""

    moment = 0


def new_key() -> str:
    """Return the key of the time, or of just after the one that was made last."""
    now = datetime.now(UTC) - _EPOCH
    _Latest.moment = max(_Latest.moment + 1, (now.days * 86400 + now.seconds) * 1_000_000 + now.microseconds)
    return f"{_Latest.moment:0{_DIGITS}x}"


def split(position: str) -> tuple[str, str]:
    """Return what a position has of its sections, SEPARATOR included, and its own key."""
    before, separator, own = position.rpartition(SEPARATOR)
    return before + separator, own


def keys_between(low: str | None, high: str | None, number: int) -> list[str]:
    """Return so many keys in order, behind `low` and before `high`; None: there is nothing on that side."""
    if high is None:
        made = [new_key() for _ in range(number)]
        if low is None or made[0] > low:
            return made
    for digits in count(max(len(low or ""), len(high or "")) + 1):
        first = int((low or "0").ljust(digits, "0"), 16)
        last = 16**digits if high is None else int(high.ljust(digits, "0"), 16)
        if first >= last:
            raise ValueError("low is not before high")
        # More room than is needed: the next who comes between finds some.
        if last - first > 16 * (number + 1):
            steps = ((last - first) * at // (number + 1) for at in range(1, number + 1))
            return [f"{first + step:0{digits}x}".rstrip("0") for step in steps]
    raise AssertionError("a longer key always has room")
