"""What a gate asks of runs: that there are some of the commit, ended, healthy, young, with enough tests."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from catalog_service.executions import gate_items
from chassis.core.wording import counted

Row = dict[str, Any]

MOST_RUNS = 1000
"""Runs of one commit that are looked at; those that come behind them are the oldest."""
_MAY_YET_COME = {"shards_missing", "not_finished"}
_WHY = {
    "no_results": "a file without a result",
    "plan_not_kept": "fewer tests than planned",
    "crashed": "a report that breaks off",
    "suite_failed": "a suite that failed beside its tests",
    "errors_of_run": "errors of no test",
    "shards_missing": "shards that have not come",
    "not_finished": "nobody has said that it has all its files",
}


@dataclass(slots=True)
class Outcome:
    """What a rule found: `actual` beside the limit, why it is not kept, and of what, at most MOST_NAMED."""

    actual: float | bool
    passed: bool
    reason: str = ""
    items: list[Row] = field(default_factory=list)
    total: int = 0


class LaneOfRun(TypedDict):
    """A lane that a run had."""

    lane: str
    environment: str | None
    health: list[str]
    partial: bool
    whole: bool


class RunOfGate(TypedDict):
    """A run that a gate looks at."""

    id: UUID
    key: str
    status: str
    started_at: datetime
    finished_at: datetime | None
    counts: dict[str, int]
    health: str
    health_reasons: list[str]
    lanes: list[LaneOfRun]


def require(runs: list[RunOfGate], of: str) -> Outcome:
    """Check that there is an ended run, and that each lane has one that tells the whole."""
    if not runs:
        return Outcome(False, False, f"There is no run of {of}.")
    unfinished = [run for run in runs if not _is_over(run)]
    if unfinished:
        detail = f"The run {unfinished[0]['key']} of {of} has not ended yet."
        if len(unfinished) > 1:
            detail = f"{len(unfinished)} runs of {of} have not ended yet, the newest is {unfinished[0]['key']}."
        return _not(detail, unfinished)
    healthy = require_healthy(runs, of)
    if not healthy.passed:
        return healthy
    if not any(run["counts"][end] for run in runs for end in ("passed", "failed", "flaky")):
        return _not(f"No test ran in the runs of {of}: all were skipped or left out.", runs)
    return Outcome(True, True, f"There is a finished run of {of}.")


def require_healthy(runs: list[RunOfGate], of: str) -> Outcome:
    """Check that no lane broke in a run without having told the whole in another.

    Of a run that goes on, what has not come is no harm yet.
    """
    if len(runs) == MOST_RUNS:
        return Outcome(False, False, f"There are {MOST_RUNS:,} runs of {of} or more, too many to look at all of them.")
    incomplete = _find_incomplete([run for run in runs if _is_over(run) or {*run["health_reasons"]} - _MAY_YET_COME])
    if not incomplete:
        return Outcome(True, True)
    why = _why(incomplete[0])
    detail = f"The run {incomplete[0]['key']} of {of} is incomplete: {why}."
    if len(incomplete) > 1:
        detail = f"{len(incomplete)} runs of {of} are incomplete, the newest is {incomplete[0]['key']}: {why}."
    return _not(f"{detail} {_way_out(incomplete[0])}", incomplete)


def count_incomplete(runs: list[RunOfGate], most: float, limit: str) -> Outcome:
    """Count the runs that do not tell the whole."""
    incomplete = [run for run in runs if run["health"] != "ok"]
    count = len(incomplete)
    of = f"{counted(count, 'run')} {'is' if count == 1 else 'are'} incomplete"
    return Outcome(count, count <= most, f"{of}; {limit}.", [_item(run) for run in incomplete], count)


def warn_of_selections(runs: list[RunOfGate], of: str) -> list[dict[str, str]]:
    """Warn of lanes in which a selection of the tests ran alone: nothing is known of the tests that it left out."""
    lanes: dict[str, bool] = {}
    for run in runs:
        for part in run["lanes"]:
            lanes[part["lane"]] = lanes.get(part["lane"], True) and part["partial"]
    names = ", ".join(sorted(lane for lane, is_selection in lanes.items() if is_selection))
    if not names:
        return []
    message = f"A selection of the tests alone ran of {names} for {of}: what it left out has not run there."
    return [{"code": "selection_only", "message": message}]


def measure_age(runs: list[RunOfGate], now: datetime, most: float, of: str, limit: str) -> Outcome:
    """Measure the hours since the last ended run that tells the whole began."""
    finished = [run for run in runs if run["status"] == "completed"]
    whole = [run for run in finished if run["health"] == "ok"]
    if not whole:
        that = " that tells the whole" if finished else ""
        return Outcome(False, False, f"There is no finished run of {of}{that}.")
    hours = max((now - max(run["started_at"] for run in whole)).total_seconds() / 3600, 0.0)
    shown = round(hours, 1)
    # Not by the rounded figure: 1.04 hours are more than one.
    return Outcome(shown, hours <= most, f"The last run is {figure(shown)} hours old; {limit}.")


def figure(value: float) -> str:
    """Return a figure as people write it."""
    return f"{value:.12g}"


def _find_incomplete(runs: list[RunOfGate]) -> list[RunOfGate]:
    """Return the runs without any lane, and those of lanes in which one broke and none that began later is whole.

    A selection of the tests that passes does not mend a run that broke.
    """
    whole: dict[tuple[str, str | None], list[datetime]] = defaultdict(list)
    for run in runs:
        for part in run["lanes"]:
            if part["whole"]:
                whole[part["lane"], part["environment"]].append(run["started_at"])
    broken = {
        (part["lane"], part["environment"])
        for run in runs
        for part in run["lanes"]
        if part["health"] and all(at <= run["started_at"] for at in whole[part["lane"], part["environment"]])
    }
    return [
        run
        for run in runs
        if not run["lanes"] or any((part["lane"], part["environment"]) in broken for part in run["lanes"])
    ]


def _is_over(run: RunOfGate) -> bool:
    return run["status"] != "running"


def _why(run: RunOfGate) -> str:
    lanes = sorted({part["lane"] for part in run["lanes"] if part["health"]})
    of = f" in {', '.join(lanes)}" if lanes else ""
    return f"{', '.join(_WHY[reason] for reason in run['health_reasons'])}{of}"


def _way_out(run: RunOfGate) -> str:
    if run["health_reasons"] == ["not_finished"]:
        return "Where it has, say so: `traceline results --complete`, or end the run."
    return "Repeat what broke, and send its report."


def _item(run: RunOfGate) -> Row:
    shown: Row = {**run}
    return gate_items.run(shown, "" if run["health"] == "ok" else _why(run))


def _not(detail: str, runs: list[RunOfGate]) -> Outcome:
    return Outcome(False, False, detail, [_item(run) for run in runs], len(runs))
