"""Waiting until everything has come to rest: events, scoring, and the settling of suggestions after it."""

import time

from acceptance.faults.databases import System, value
from acceptance.faults.draining import drained
from acceptance.waiting import eventually

_IS_SETTLED = "SELECT h.head = s.position FROM corpus_head h, settlement s"


def settled(system: System, *, within: float = 300.0) -> None:
    """Wait until nothing is under way any more and pending suggestions are complete.

    Raises:
        AssertionError: not within so many seconds; the message says what is missing.
    """
    end = time.monotonic() + within
    drained(system, within=within)
    eventually(lambda: value(system, "suggestion", _IS_SETTLED), "settled suggestions", seconds=end - time.monotonic())
    # Settling has told of what it found.
    drained(system, within=end - time.monotonic())
