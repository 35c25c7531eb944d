"""Many cases in one test, which says of each that fails what was wrong."""

from collections.abc import Callable, Iterable
from typing import Any


def check_each(check: Callable[..., None], cases: Iterable[tuple[Any, ...]]) -> None:
    """Call `check` with the arguments of each case.

    Raises:
        AssertionError: of one or more cases; the message names each of them with its failure.
    """
    failures, count = [], 0
    for case in cases:
        count += 1
        try:
            check(*case)
        except AssertionError as error:
            failures.append(f"{case!r:.200}: {error}")
    assert count, "there is no case"
    assert not failures, f"{len(failures)} of {count} cases failed:\n" + "\n".join(failures)
