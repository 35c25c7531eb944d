"""What results say of a test case, in plain Python over raw executions: the meaning that the SQL is held against."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

ORDER = ("passed", "stale", "skipped", "not_run", "flaky", "failed")


class Execution(NamedTuple):
    """One iteration of a test in one run: how it ended, at which commit (that of a run without one is its own)."""

    test: str
    lane: str
    environment: str
    branch: str
    commit: str
    at: datetime
    status: str
    iteration: str = ""


class Whole(NamedTuple):
    """A run that ended complete and healthy in a lane."""

    lane: str
    environment: str
    branch: str
    commit: str


def _together(statuses: set[str]) -> str:
    if "flaky" in statuses or {"failed", "passed"} <= statuses:
        return "flaky"
    return next(status for status in ("failed", "passed", "skipped") if status in statuses)


def worst(statuses: Iterable[str]) -> str:
    """Return how a test ended whose iterations ended so."""
    return max(statuses, key=("skipped", "passed", "flaky", "failed").index)


def tests_of(
    executions: list[Execution], wholes: list[Whole], order: dict[str, datetime], gone: set[Any], branch: str
) -> dict[Any, tuple[str, datetime | None, bool]]:
    """Return how each test of a branch ended last in each lane, when it passed, and whether it is missing.

    `order`: when the first run of each commit on the branch began. `gone`: environments and lanes of the branch that
    none of its last ten commits has.
    """
    of: dict[Any, list[Execution]] = defaultdict(list)
    for one in executions:
        if one.branch == branch:
            of[one.test, one.environment, one.lane].append(one)
    found = {}
    for (test, environment, lane), all_of_it in of.items():
        last = max((one.commit for one in all_of_it), key=order.__getitem__)
        ends: dict[str, set[str]] = defaultdict(set)
        for one in all_of_it:
            if one.commit == last:
                ends[one.iteration].add(one.status)
        status = worst(map(_together, ends.values()))
        passes = [one.at for one in all_of_it if one.commit == last and one.status in ("passed", "flaky")]
        whole = [one.commit for one in wholes if (one.branch, one.environment, one.lane) == (branch, environment, lane)]
        is_missing = (environment, lane) in gone or any(order[one] > order[last] for one in whole)
        found[test, environment, lane] = (status, max(passes, default=None), is_missing)
    return found


def dropped_by(
    executions: list[Execution],
    wholes: list[Whole],
    order: dict[str, datetime],
    gone: set[Any],
    branch: str,
    default: dict[Any, tuple[str, datetime | None, bool]],
) -> list[tuple[str, datetime | None, bool]]:
    """Return what a branch misses of the tests of the default branch: it ran their lanes since, without them.

    `default`: how these stand there. One that fails there is no better for being dropped.
    """
    own = {(one.test, one.environment, one.lane) for one in executions if one.branch == branch}
    found = []
    for (test, environment, lane), (status, _, is_missing) in default.items():
        if (test, environment, lane) in own:
            continue
        first = min(
            one.at
            for one in executions
            if one.branch == "main" and (one.test, one.environment, one.lane) == (test, environment, lane)
        )
        whole = [one.commit for one in wholes if (one.branch, one.environment, one.lane) == (branch, environment, lane)]
        if (environment, lane) in gone or any(order[one] > first for one in whole):
            fails = status in ("failed", "flaky") and not is_missing
            found.append((status if fails else "not_run", None, False))
    return found


def verdict(tests: list[tuple[str, datetime | None, bool]], stale_before: datetime) -> str:
    """Return how a test case stands over its tests: the worst of them, of which a missing one has not run."""
    ends = ["not_run" if is_missing else status for status, _, is_missing in tests]
    worst = max(ends, key=ORDER.index, default="not_run")
    is_old = any(passed is not None and passed < stale_before for _, passed, _ in tests)
    return "stale" if worst == "passed" and is_old else worst


def verdict_of_requirement(ends: list[str]) -> str:
    """Return the verdict of a requirement whose test cases stand so."""
    if not ends:
        return "uncovered"
    if (worst := max(ends, key=ORDER.index)) in ("failed", "flaky"):
        return worst
    if missing := [end for end in ends if end in ("not_run", "skipped")]:
        return "not_run" if len(missing) == len(ends) else "partial"
    return "stale" if "stale" in ends else "passed"


def changes(statuses: list[str]) -> int:
    """Return how often a test changed between failed and not failed among its last 20 runs, the newest last."""
    ran = [status == "failed" for status in statuses[-20:] if status != "skipped"]
    return sum(one != other for one, other in pairwise(ran))
