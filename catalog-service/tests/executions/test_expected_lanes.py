"""Which lanes a commit lacks: those that the settings expect, else those of the commits before it."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from catalog_service.executions import completion
from catalog_service.executions.expected_lanes import MissingLanes, fits, missing_lanes
from catalog_service.handlers import HANDLERS
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from contracts import auth
from contracts.projects import ExpectedLanes, ProjectSettings, ProjectState

from .conftest import Results

Ask = Callable[..., Awaitable[MissingLanes]]
_places = count(900_001)


@pytest.fixture
def ask(results: Results) -> Ask:
    async def missing(branch: str, commit: str | None = None) -> MissingLanes:
        async with results.catalog.database.connection() as connection:
            return await missing_lanes(connection, branch, commit, "main")

    return missing


@pytest.fixture
async def expect(results: Results) -> Any:
    """Return a function that has the project expect lanes, as auth-service tells it, and expects none at the end."""
    inbox = Inbox("catalog", results.catalog.database, HANDLERS)

    async def tell(*expected: tuple[str, list[str]]) -> None:
        lanes = tuple(ExpectedLanes(branch=branch, lanes=tuple(names)) for branch, names in expected)
        state = ProjectState(
            key="MAIN",
            name="Main",
            description="",
            visibility="open",
            archived=False,
            settings=ProjectSettings(expected_lanes=lanes or None),
        )
        event = NewEvent(auth.ProjectUpdated(project=state, changes={}), "MAIN", SYSTEM, project=None)
        await inbox.receive([sequenced(next(_places), event.envelope())])

    yield tell
    await tell()


async def send(results: Results, lane: str, **options: Any) -> None:
    await results.send((results.catalog.word(), "passed"), lane=lane, **options)


async def test_a_commit_lacks_the_expected_lanes_that_have_not_ended_there(
    results: Results, ask: Ask, expect: Any
) -> None:
    await expect(("release/*", ["ci/unit", "ci/e2e"]), ("*/1.0", ["ci/load", "ci/unit"]), ("main", ["other"]))
    wanted = ["ci/unit", "ci/e2e", "ci/load"]
    assert await ask("release/1.0") == MissingLanes(None, expected=wanted)
    assert await ask("release/1.0", "a") == MissingLanes("a", expected=wanted)
    await send(results, "ci/unit", branch="release/1.0", commit="a")
    await send(results, "ci/load", branch="release/1.0", commit="b")
    await send(results, "ci/e2e", branch="release/1.0", commit="b", run=results.catalog.word())  # it goes on
    await send(results, "ci/e2e", branch="release/2.0", commit="b")
    assert await ask("release/1.0", "a") == MissingLanes("a", expected=["ci/e2e", "ci/load"])
    assert await ask("release/1.0") == MissingLanes("b", expected=["ci/unit", "ci/e2e"])
    await completion.end_forgotten(results.catalog.database, "main", datetime.now(UTC) + timedelta(hours=2))
    assert await ask("release/1.0") == MissingLanes("b", expected=["ci/unit", "ci/e2e"]), "nobody has ended it"
    assert await ask("feature/1") == MissingLanes(None)


async def test_without_a_setting_a_commit_lacks_what_the_five_before_it_had(results: Results, ask: Ask) -> None:
    branch = results.catalog.word()
    await send(results, "ci/former", branch=branch, commit="0")
    for commit in range(1, 6):
        await send(results, "ci/unit", branch=branch, commit=f"{commit}")
        await send(results, f"ci/{commit}", branch=branch, commit=f"{commit}")
    await send(results, "ci/unit", branch=branch, commit="6")
    usual = [f"ci/{commit}" for commit in range(1, 6)]
    assert await ask(branch) == MissingLanes("6", usual=usual)
    assert await ask(branch, "3") == MissingLanes("3", usual=["ci/1", "ci/2", "ci/former"])
    assert await ask(branch, "0") == MissingLanes("0")
    assert await ask(branch, "none") == MissingLanes("none")
    await send(results, "ci/5", branch=branch)  # of no commit
    assert await ask(branch) == MissingLanes(None, usual=["ci/2", "ci/3", "ci/4", "ci/unit"])


async def test_a_commit_lacks_an_environment_that_those_before_it_had(results: Results, ask: Ask) -> None:
    branch = results.catalog.word()
    for commit, environments in (("1", ("linux", "windows", None)), ("2", ("linux",))):
        for environment in environments:
            await send(
                results, "ci", branch=branch, commit=commit, **({"environment": environment} if environment else {})
            )
    assert await ask(branch) == MissingLanes("2", usual=["ci", "ci (windows)"])


async def test_before_the_first_commit_of_a_branch_come_those_of_the_default_branch(results: Results, ask: Ask) -> None:
    branch, lane = results.catalog.word(), results.catalog.word()
    for commit, other in (("0", "nightly"), ("1", "e2e")):
        for one in ("unit", other):
            await send(results, f"{lane}/{one}", branch="main", commit=f"{lane} {commit}")
    await send(results, f"{lane}/unit", branch=branch, commit="1")
    missing = await ask(branch)
    assert [name for name in missing.usual if name.startswith(lane)] == [f"{lane}/e2e", f"{lane}/nightly"]
    await send(results, f"{lane}/unit", branch=branch, commit="2")
    assert await ask(branch) == MissingLanes("2")


@pytest.mark.parametrize(
    ("pattern", "branch", "expected"),
    [
        ("main", "main", True),
        ("main", "main2", False),
        ("release/*", "release/1/2", True),
        ("release/*", "old-release/1", False),
        ("*", "", True),
        ("*-rc", "1-rc", True),
        ("a*b*a", "aba", True),
        ("a*a", "a", False),
        ("a*b*", "ac", False),
        ("a.c", "abc", False),
        ("*a" * 100, "a" * 200 + "b", False),
    ],
)
def test_a_pattern_of_branches_has_stars(pattern: str, branch: str, expected: bool) -> None:
    assert fits(pattern, branch) is expected


async def test_a_gate_waits_for_expected_lanes_whatever_its_rules_are(results: Results, expect: Any) -> None:
    branch, commit = results.catalog.word(), results.catalog.word()
    requirement, _ = await results.traced()
    module = results.catalog.word()
    await results.catalog.patch(f"/requirements/{requirement['id']}", {"module": module})
    asked: dict[str, Any] = {"branch": branch, "commit": commit, "module": module, "max_failed": 0}
    await send(results, "ci/unit", branch=branch, commit=commit)
    await send(results, "ci/e2e", branch=branch, commit=results.catalog.word(), started_at="2026-11-20T08:00:00Z")
    gate = await results.catalog.read("/reports/gate", **asked)
    assert (gate["passed"], [one["code"] for one in gate["warnings"]]) == (True, ["lane_missing"])
    await expect((branch, ["ci/unit", "ci/e2e"]))
    gate = await results.catalog.read("/reports/gate", **asked)
    first = gate["rules"][0]
    assert (gate["passed"], first["rule"], gate["missing_lanes"]["expected"]) == (False, "not_finished", ["ci/e2e"])
    assert "ci/e2e" in first["reason"]
    await send(results, "ci/e2e", branch=branch, commit=commit)
    assert (await results.catalog.read("/reports/gate", **asked))["passed"]


async def test_an_expected_lane_that_skipped_all_has_not_run(results: Results, expect: Any, ask: Ask) -> None:
    await expect(("skipping", ["ci/unit", "ci/e2e"]))
    of = {"branch": "skipping", "commit": "a"}
    await send(results, "ci/unit", **of)
    await results.send((results.catalog.word(), "skipped"), lane="ci/e2e", **of)
    assert await ask("skipping", "a") == MissingLanes("a", expected=["ci/e2e"])
    await send(results, "ci/e2e", **of)
    assert await ask("skipping", "a") == MissingLanes("a")
