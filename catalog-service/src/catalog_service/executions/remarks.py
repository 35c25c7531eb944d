"""What a sender is told of a file of results beside what its reader says."""

from typing import Any

from catalog_service.executions.incoming import Matched
from chassis.core import projects
from chassis.core.wording import counted, shown

_MOST_WARNED = 20


def tell_unmatched(matched: Matched, unknown_ids: list[str], first: list[str], *, keeps: bool) -> list[dict[str, Any]]:
    """Return what is to be said of tests without a test case; `keeps`: they are stored all the same.

    `first` are the names of some of them.
    """
    warnings = []
    if unknown_ids:
        warnings.append(tell_unknown("test case", unknown_ids))
    if matched.unknown and keeps:
        have, more = counted(matched.unknown, "test has", "tests have"), matched.unknown - len(first)
        named = f"{', '.join(map(shown, first))}{f' and {more:,} more' if more > 0 else ''}"
        way_out = f"{projects.page_address('/results/connect')} says how a test names one"
        message = f"{have} no test case: {named}; {way_out}, {projects.page_address('/results?tab=tests')} lists them."
        warnings.append({"code": "unknown_test", "message": message, "count": matched.unknown, "tests": first})
    if matched.ambiguous:
        message = "Several test cases have the automation id of a test; they count for none of them."
        warnings.append({"code": "ambiguous_automation_id", "message": message, "count": matched.ambiguous})
    return warnings


def tell_same_part(shard: int | None, shards: int | None, attempt: int) -> dict[str, Any]:
    """Return what is to be said of two files that are the same part of a run."""
    part = f"attempt {attempt}" if shard is None else f"shard {shard}/{shards} of attempt {attempt}"
    message = (
        f"Another file of this run with the same name says that it is {part}, too. Both count, and of a test that"
        " both have the worse end. Jobs of one run need shards of their own, a job that is repeated the next attempt."
    )
    return {"code": "same_shard", "message": message, "count": 1}


def tell_unknown(kind: str, ids: list[str]) -> dict[str, Any]:
    """Return what is to be said of test cases or requirements that nothing is called by."""
    return {
        "code": f"unknown_{kind.replace(' ', '_')}",
        "message": f"Results name {kind}s that do not exist: {', '.join(ids[:_MOST_WARNED])}.",
        "count": len(ids),
        "ids": ids,
    }


def tell_not_linked(ids: list[str]) -> dict[str, Any]:
    """Return what is to be said of requirements that results name, when nothing was linked."""
    message = (
        f"Results name requirements that their tests are not linked to: {', '.join(ids[:_MOST_WARNED])}."
        " With link=true the test cases of these tests are linked to them; unknown=create makes the test case of a test"
        " that has none, and its link."
    )
    return {"code": "requirements_not_linked", "message": message, "count": len(ids), "ids": ids}
