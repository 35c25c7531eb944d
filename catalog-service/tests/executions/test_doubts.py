"""Where nobody can say that it is so, the answer is no: which commit is newer, whether a run is over, what ran."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog_service.executions import completion
from catalog_service.executions.gate_runs import measure_age
from testing.service import Json, ok

from .conftest import Results, Traced, junit


def _ago(**of: float) -> str:
    return (datetime.now(UTC) - timedelta(**of)).isoformat()


def _rule(gate: Json, name: str) -> Json:
    rule: Json = next(rule for rule in gate["rules"] if rule["rule"] == name)
    return rule


BY_START, BY_COMMIT = ("c1", {"started_at": 1}), ("c2", {"commit_time": 2})


@pytest.mark.parametrize("first", [BY_START, BY_COMMIT])
@pytest.mark.parametrize("failing", ["c1", "c2"])
async def test_of_a_commit_by_its_time_and_one_by_its_start_the_worse_counts(
    traced: Traced, first: tuple[str, dict[str, int]], failing: str
) -> None:
    for commit, clock in (first, BY_COMMIT if first is BY_START else BY_START):
        end = "failed" if commit == failing else "passed"
        times = {name: _ago(hours=hours) for name, hours in clock.items()}
        await traced.run(("a", end), lane="ci", commit=commit, **times)
    assert await traced.verdict() == "failed"
    (test,) = (await traced.standing())["tests"]
    assert (test["last_result"], test["commit"]) == ("failed", traced.commit(failing))
    own = {one: await traced.verdict(commit=traced.commit(one)) for one in ("c1", "c2")}
    assert own == {"c1": "passed", "c2": "passed", failing: "failed"}
    await traced.run(("a", "passed"), lane="ci", commit="c3")
    assert await traced.verdict() == "passed"


async def test_another_lane_with_another_clock_does_not_put_a_failure_behind(traced: Traced) -> None:
    await traced.run(("a", "passed"), lane="unit", commit="c1", started_at=_ago(hours=3))
    await traced.run(("a", "failed"), lane="unit", commit="c2", started_at=_ago(hours=2))
    assert await traced.verdict() == "failed"
    await traced.run(("b", "passed"), lane="e2e", commit="c2", commit_time=_ago(hours=4))
    assert await traced.verdict() == "failed"


async def test_an_older_commit_by_the_same_clock_is_in_no_doubt(traced: Traced) -> None:
    await traced.run(("a", "passed"), lane="ci", commit="c2", commit_time=_ago(hours=1))
    await traced.run(("a", "failed"), lane="ci", commit="c1", commit_time=_ago(hours=2))
    assert await traced.verdict() == "passed"
    await traced.run(("a", "passed"), lane="ci", commit="c3")
    await traced.run(("a", "failed"), lane="ci", commit="c1")  # repeated now
    assert await traced.verdict() == "passed"


@pytest.mark.parametrize("order", [("failed", "passed"), ("passed", "failed")])
async def test_of_commits_of_one_time_the_worse_counts(traced: Traced, order: tuple[str, ...]) -> None:
    for number, end in enumerate(order):
        await traced.run(("a", end), lane="ci", commit=f"c{number}", commit_time="2026-11-20T08:00:00Z")
    assert await traced.verdict() == "failed"


async def test_a_commit_of_two_branches_is_flaky_where_it_failed_and_passed(traced: Traced) -> None:
    commit = traced.commit("c1")
    for branch, end in ((traced.branch, "failed"), (f"{traced.branch} merged", "passed")):
        await traced.run(("a", end), lane="ci", commit="c1", branch=branch)
    assert await traced.verdict(commit=commit) == "flaky"
    (test,) = (await traced.standing(commit=commit))["tests"]
    assert test["last_result"] == "flaky"
    assert await traced.verdict() == "failed", "of the branch alone"


async def test_a_run_that_nobody_has_ended_is_not_the_whole(traced: Traced) -> None:
    await traced.run(("a", "passed"), ("b", "passed"), lane="ci", commit="c1")
    key, asked = traced.branch, {"commit": traced.commit("c2"), "require_run": True, "max_incomplete_runs": 0}
    sent = await traced.run(("b", "passed"), lane="ci", commit="c2", run=key)
    later = datetime.now(UTC) + timedelta(hours=2)
    await completion.end_forgotten(traced.results.catalog.database, "main", later)
    path = f"/test-runs/{sent['run']['id']}"
    run = await traced.results.catalog.read(path)
    assert (run["status"], run["health_reasons"], run["lanes"][0]["whole"]) == ("completed", ["not_finished"], False)
    assert await traced.verdict() == "passed", "nothing is missing by what nobody says is all"
    gate = await traced.gate(**asked)
    assert [rule["passed"] for rule in gate["rules"]] == [False, False]
    assert "nobody has said that it has all its files in ci. Where it has, say so" in gate["rules"][0]["reason"]
    goes_on = await traced.run(("c", "passed"), lane="ci", commit="c2", run=key)
    assert goes_on["run"]["status"] == "running"
    await completion.end_forgotten(traced.results.catalog.database, "main", later)
    ok(await traced.results.catalog.post(f"{path}/complete"))
    assert (await traced.gate(**asked))["passed"]
    assert await traced.verdict() == "not_run"


async def test_the_same_bytes_as_a_later_attempt_are_how_that_ended(traced: Traced) -> None:
    for attempt, end in enumerate(("failed", "passed", "failed"), 1):
        sent = await traced.run(("a", end), lane="ci", commit="c1", run=traced.branch, attempt=attempt)
        assert not sent["duplicate"]
    assert await traced.verdict() == "failed"
    again = await traced.run(("a", "failed"), lane="ci", commit="c1", run=traced.branch, attempt=3)
    assert again["duplicate"]


@pytest.mark.parametrize("rule", [{"max_failed": 0}, {"max_missing": 0}, {"max_incomplete_runs": 0}])
async def test_what_ran_no_test_opens_no_gate(traced: Traced, rule: dict[str, Any]) -> None:
    catalog, commit = traced.results.catalog, traced.commit("c1")
    of = {"commit": commit, "branch": traced.branch}
    assert not (await traced.gate(commit=commit, **rule))["passed"]
    ok(await catalog.post("/test-runs", {"key": traced.branch, **of}), 201)
    assert not (await traced.gate(commit=commit, **rule))["passed"]
    ok(await traced.results.post(junit(), lane="ci", allow_empty=True, **of))
    assert not (await traced.gate(commit=commit, **rule))["passed"]
    await traced.run(("a", "skipped"), lane="ci", commit="c1")
    gate = await traced.gate(**rule)
    assert (gate["passed"], gate["rules"][0]["reason"][:19]) == (False, "Nothing has run of ")


@pytest.mark.parametrize("rule", [{"max_failed": 0}, {"min_verified": 100}, {"no_new_failures": True}])
async def test_a_rule_about_results_does_not_hold_over_a_run_that_broke(traced: Traced, rule: dict[str, Any]) -> None:
    asked = {"commit": traced.commit("c1")}
    of = {"branch": traced.branch, "lane": "ci", "run": traced.branch, **asked}
    broken = b'<testsuite failures="1" tests="1"><testcase name="a" classname="c"/></testsuite>'
    await traced.run(("a", "passed"), lane="e2e", commit="c1")
    ok(await traced.results.post(broken, shard="1/2", **of))
    assert not (await traced.gate(**rule, **asked))["passed"], "also while the run goes on"
    ok(await traced.results.post(junit(("x", "passed")), shard="2/2", **of))
    gate = await traced.gate(**rule, **asked)
    assert [(one["rule"], one["passed"]) for one in gate["rules"]] == [("run_incomplete", False), (*rule, True)]
    assert "a suite that failed beside its tests in ci. Repeat what broke" in gate["rules"][0]["reason"]
    assert [one["key"] for one in gate["rules"][0]["items"]] == [traced.branch]
    for opened in (rule | {"max_incomplete_runs": 1}, {"min_coverage": 100}):
        assert (await traced.gate(**opened, **asked))["passed"]
    await traced.run(("a", "passed"), ("x", "passed"), lane="ci", commit="c1")
    assert (await traced.gate(**rule, **asked))["passed"]


async def test_a_gate_says_that_a_run_goes_on(traced: Traced) -> None:
    await traced.run(("a", "passed"), lane="ci", commit="c1", run=traced.branch, shard="1/2")
    gate = await traced.gate(max_failed=0, commit=traced.commit("c1"))
    assert (gate["passed"], [one["code"] for one in gate["warnings"]]) == (True, ["run_not_finished"])
    assert gate["warnings"][0]["message"].startswith(f"The run {traced.branch} of the commit ")


async def test_a_gate_says_that_a_selection_ran_alone(traced: Traced) -> None:
    asked = {"commit": traced.commit("c1")}
    await traced.run(("a", "passed"), lane="ci", commit="c1", partial=True)
    gate = await traced.gate(**asked)
    assert [one["code"] for one in gate["warnings"]] == ["selection_only"]
    assert gate["warnings"][0]["message"].startswith("A selection of the tests alone ran of ci for the commit ")
    await traced.run(("a", "passed"), lane="ci", commit="c1")
    assert (await traced.gate(**asked))["warnings"] == []


async def test_on_the_default_branch_new_is_what_was_not_before_the_commit(traced: Traced) -> None:
    lane, traced.branch = traced.branch, "main"

    async def new(commit: str) -> list[Any]:
        found = []
        for asked in ({"commit": traced.commit(commit)}, {}):
            rule = _rule(await traced.gate(no_new_failures=True, **asked), "no_new_failures")
            found.append((rule["actual"], rule["passed"]))
        return found

    names = {number: f"{lane} {number}" for number in range(1, 6)}
    await traced.run(("a", "passed"), ("b", "passed"), lane=lane, commit=names[1])
    assert await new(names[1]) == [(0, True)] * 2
    await traced.run(("a", "failed"), ("b", "passed"), lane=lane, commit=names[2])
    assert await new(names[2]) == [(1, False)] * 2
    await traced.run(("a", "failed"), ("b", "passed"), lane=lane, commit=names[3])
    assert await new(names[3]) == [(0, True)] * 2
    await traced.run(("a", "passed"), lane=lane, commit=names[4])
    assert await new(names[4]) == [(1, False)] * 2
    await traced.run(("a", "passed"), lane=lane, commit=names[5])
    assert await new(names[5]) == [(0, True)] * 2
    assert (await new(names[2]))[0] == (1, False), "as it was"


async def test_a_test_of_a_deleted_test_case_is_of_none(results: Results) -> None:
    _, (test_case,) = await results.traced()
    await results.send((f"[{test_case['external_id']}] a", "passed"))

    async def unlinked() -> tuple[float, int, int]:
        gate = await results.catalog.read("/reports/gate", max_unlinked_tests=0)
        report = await results.catalog.read("/reports/verification")
        listed = await results.catalog.read("/automated-tests", linked=False)
        return _rule(gate, "max_unlinked_tests")["actual"], report["summary"]["unlinked_tests"], listed["total"]

    before = await unlinked()
    assert (await results.catalog.delete(f"/test-cases/{test_case['id']}")).status_code == 204
    assert await unlinked() == tuple(one + 1 for one in before)


async def test_what_is_unsteady_on_the_default_branch_is_where_its_results_stand_in(traced: Traced) -> None:
    own, traced.branch = traced.branch, "main"
    for number in range(5):
        await traced.run(("a", "failed" if number % 2 else "passed"), lane=own, commit=f"{own} {number}")
    traced.branch = own
    await traced.results.send((own, "passed"), branch=own, lane="other")
    for fallback, count in ((True, 1), (False, 0)):
        gate = await traced.gate(max_unsteady=0, fallback=fallback)
        assert _rule(gate, "max_unsteady")["actual"] == count
    await traced.run(("a", "passed"), lane=own, commit="own")
    assert _rule(await traced.gate(max_unsteady=0), "max_unsteady")["actual"] == 0


async def test_tests_of_other_environments_are_not_counted(traced: Traced) -> None:
    for shard, environment, cases in (("1/2", "linux", "ab"), ("2/2", "windows", "cde")):
        of = {"run": traced.branch, "shard": shard, "environment": environment}
        await traced.run(*((name, "passed") for name in cases), lane="ci", commit="c1", **of)
    found = [
        _rule(await traced.gate(min_tests=3, **of), "min_tests")["actual"]
        for of in ({}, {"environment": "linux"}, {"environment": "windows"})
    ]
    assert found == [5, 2, 3]


def test_the_age_of_a_run_is_not_held_by_its_rounded_figure() -> None:
    now = datetime(2026, 11, 28, 8, tzinfo=UTC)
    run: Any = {"status": "completed", "health": "ok", "started_at": now - timedelta(hours=1, minutes=2)}
    assert (measure_age([run], now, 1, "main", "").passed, measure_age([run], now, 1.04, "main", "").passed) == (
        False,
        True,
    )


async def test_what_an_empty_try_comes_after_is_not_mended(traced: Traced) -> None:
    asked = {"commit": traced.commit("c1")}
    of = {"branch": traced.branch, "lane": "ci", "run": traced.branch, "file_name": "report.xml", **asked}
    few = b'<testsuite tests="9"><testcase name="a" classname="c"/></testsuite>'
    ok(await traced.results.post(few, **of))
    sent = ok(await traced.results.post(b'<testsuite tests="0"/>', attempt=2, allow_empty=True, **of))
    run = ok(await traced.results.catalog.post(f"/test-runs/{sent['run']['id']}/complete"))
    assert run["health_reasons"] == ["plan_not_kept"]
    again = ok(await traced.results.post(junit(("a", "passed")), attempt=3, **of))
    assert again["run"]["health_reasons"] == []


async def test_what_broke_in_another_environment_closes_no_gate_of_this_one(traced: Traced) -> None:
    asked = {"commit": traced.commit("c1")}
    of = {"branch": traced.branch, "lane": "ci", "run": traced.branch, **asked}
    broken = b'<testsuite failures="1" tests="1"><testcase name="a" classname="c"/></testsuite>'
    ok(await traced.results.post(broken, environment="windows", **of))
    sent = ok(await traced.results.post(junit((f"[{traced.key}] a", "passed")), environment="linux", **of))
    ok(await traced.results.catalog.post(f"/test-runs/{sent['run']['id']}/complete"))
    rules = {"require_run": True, "max_incomplete_runs": 0}
    for environment, passes in (("linux", True), ("windows", False)):
        gate = await traced.gate(**rules, **asked, environment=environment)
        assert gate["passed"] is passes, environment
        assert [run["health"] for run in gate["runs"]] == ["ok" if passes else "incomplete"]
    assert not (await traced.gate(**rules, **asked))["passed"]


@pytest.mark.parametrize("ahead", [timedelta(minutes=3), timedelta(hours=23)])
async def test_a_clock_that_goes_ahead_hides_nothing_that_comes_later(traced: Traced, ahead: timedelta) -> None:
    at = (datetime.now(UTC) + ahead).isoformat()
    await traced.run(("a", "passed"), lane="ci", commit="c1", started_at=at)
    await traced.run(("a", "failed"), lane="ci", commit="c2")
    assert await traced.verdict() == "failed"
