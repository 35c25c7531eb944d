"""Of several tests the worst counts; a test that its lane does not run any more is missing; a commit means itself."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog_service.executions import runs_of_gate
from catalog_service.figures import MOST_NAMED
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis
from testing.service import Json, ok, problem

from .conftest import Traced, junit


def _rule(gate: Json, name: str) -> Json:
    rule: Json = next(rule for rule in gate["rules"] if rule["rule"] == name)
    return rule


@pytest.mark.parametrize("order", [("e2e", "unit"), ("unit", "e2e")])
@pytest.mark.parametrize("lanes", [{}, {"e2e": "ci/e2e", "unit": "ci/unit"}])
async def test_whichever_pipeline_ends_last_a_failing_test_counts(
    traced: Traced, order: tuple[str, ...], lanes: dict[str, str]
) -> None:
    ends = {"e2e": "failed", "unit": "passed"}
    for name in order:
        await traced.run((name, ends[name]), lane=lanes.get(name, "ci"), commit="c1")
    assert (await traced.verdict(), (await traced.standing())["verdict"]) == ("failed", "failed")
    gate = await traced.gate()
    assert [rule["rule"] for rule in gate["rules"] if not rule["passed"]] == ["max_failed"]


async def test_a_file_without_run_lane_and_commit_says_nothing_of_other_tests(traced: Traced) -> None:
    for name, end in (("e2e", "failed"), ("unit", "passed")):
        file = junit((f"[{traced.key}] {name}", end), class_name=name)
        ok(await traced.results.post(file, branch=traced.branch))
    assert await traced.verdict() == "failed"


async def test_what_fails_in_one_lane_and_passes_in_another_is_failed_not_flaky(traced: Traced) -> None:
    for lane, end in (("linux", "failed"), ("mac", "passed")):
        await traced.run(("a", end), lane=lane, commit="c1")
    assert await traced.verdict() == "failed"
    await traced.run(("a", "failed"), lane="mac", commit="c1")
    assert {test["lane"]: test["last_result"] for test in (await traced.standing())["tests"]} == {
        "linux": "failed",
        "mac": "flaky",
    }


@pytest.mark.parametrize("order", [("failed", "passed"), ("passed", "failed")])
async def test_both_outcomes_at_one_commit_are_flaky_in_whatever_order(traced: Traced, order: tuple[str, ...]) -> None:
    for end in order:
        await traced.run(("a", end), lane="ci", commit="c1")
    assert await traced.verdict() == "flaky"
    await traced.run(("a", "passed"), lane="ci", commit="c2")
    assert await traced.verdict() == "passed"


async def test_a_pipeline_of_an_older_commit_never_wins(traced: Traced) -> None:
    began = datetime.now(UTC) - timedelta(days=1)
    await traced.run(("a", "failed"), lane="ci", commit="new", started_at=began.isoformat())
    earlier = {"started_at": (began - timedelta(hours=1)).isoformat()}
    await traced.run(("a", "passed"), lane="ci", commit="old", **earlier)
    assert await traced.verdict() == "failed"
    await traced.run(("a", "passed"), lane="ci", commit="old")  # repeated now
    assert await traced.verdict() == "failed"
    by_time = {"commit_time": (began - timedelta(hours=2)).isoformat()}
    await traced.run(("a", "passed"), lane="ci", commit="older", **by_time)
    assert await traced.verdict() == "failed"
    await traced.run(("a", "passed"), lane="ci", commit="newest")
    assert await traced.verdict() == "passed"


async def test_a_commit_stands_where_its_first_run_does_however_late_that_comes(traced: Traced) -> None:
    began = datetime.now(UTC) - timedelta(days=3)
    times = [{"started_at": (began + timedelta(hours=n)).isoformat()} for n in range(3)]
    await traced.run(("a", "failed"), lane="ci", commit="c1", **times[1])
    await traced.run(("a", "passed"), lane="ci", commit="c0", **times[2])
    assert await traced.verdict() == "passed"
    await traced.run(("b", "passed"), lane="other", commit="c0", **times[0])
    assert await traced.verdict() == "failed"


async def test_a_test_that_the_last_whole_run_of_its_lane_does_not_have_is_missing(traced: Traced) -> None:
    await traced.run(("a", "passed"), ("b", "passed"), lane="ci", commit="c1")
    assert await traced.verdict() == "passed"
    await traced.run(("b", "passed"), lane="ci", commit="c2", partial=True)
    await traced.run(("b", "passed"), lane="nightly", commit="c2")
    assert await traced.verdict() == "passed"
    await traced.run(("b", "passed"), lane="ci", commit="c3", run=traced.branch)
    standing = await traced.standing()
    assert standing["verdict"] == "passed", "the run has not ended"
    (run,) = (await traced.results.catalog.read("/test-runs", key=traced.branch))["items"]
    ok(await traced.results.catalog.post(f"/test-runs/{run['id']}/complete"))
    standing = await traced.standing()
    assert (standing["verdict"], [reason["code"] for reason in standing["reasons"]]) == ("not_run", ["missing"])
    assert "was not in 1 run of ci since" in standing["reasons"][0]["message"]
    first = standing["tests"][0]
    assert (first["missing"], first["missed_runs"]) == (True, 1)
    assert await traced.verdict() == "not_run"
    gate = await traced.gate()
    assert (_rule(gate, "max_missing")["actual"], gate["passed"]) == (1, False)
    assert "was not in 1 run of ci" in _rule(gate, "max_missing")["items"][0]["reason"]
    await traced.run(("a", "passed"), ("b", "passed"), lane="ci", commit="c4")
    assert (await traced.verdict(), (await traced.gate())["passed"]) == ("passed", True)


async def test_a_run_that_broke_makes_nothing_missing_and_opens_no_gate(traced: Traced) -> None:
    await traced.run(("a", "passed"), ("b", "passed"), lane="ci", commit="c1")
    zero = b'<testsuites><testsuite name="pytest" tests="0" errors="0" failures="0"/></testsuites>'
    of = {"branch": traced.branch, "lane": "ci", "commit": traced.commit("c2")}
    sent = ok(await traced.results.post(zero, **of))
    assert (sent["run"]["health"], sent["run"]["health_reasons"]) == ("incomplete", ["no_results"])
    assert await traced.verdict() == "passed"
    for asked in ({}, {"commit": traced.commit("c2")}):
        gate = await traced.gate(require_run=True, max_incomplete_runs=0, **asked)
        assert [rule["passed"] for rule in gate["rules"]] == [False, False]
        assert "a file without a result in ci" in _rule(gate, "require_run")["reason"]
    await traced.run(("a", "passed"), ("b", "passed"), lane="ci", commit="c2")
    gate = await traced.gate(require_run=True, max_incomplete_runs=0, commit=traced.commit("c2"))
    assert [rule["passed"] for rule in gate["rules"]] == [True, False]


async def test_a_lane_that_the_last_commits_do_not_have_is_gone(traced: Traced) -> None:
    await traced.run(("a", "passed"), lane="old", commit="c0")
    for number in range(1, 10):
        await traced.run(("b", "passed"), lane="ci", commit=f"c{number}")
    assert await traced.verdict() == "passed"
    await traced.run(("b", "passed"), lane="ci", commit="c10")
    standing = await traced.standing()
    assert (standing["verdict"], [reason["code"] for reason in standing["reasons"]]) == ("not_run", ["lane_gone"])
    assert [(test["lane"], test["lane_gone"]) for test in standing["tests"]] == [("old", True), ("ci", False)]


async def test_what_is_blocked_counts_as_not_run_until_somebody_has_executed_it(traced: Traced) -> None:
    path, catalog = f"/test-cases/{traced.test_case['id']}/results", traced.results.catalog

    async def record(status: str, **more: str) -> Json:
        return ok(await catalog.post(path, {"status": status, "branch": traced.branch, **more}), 201)

    await record("passed")
    assert await traced.verdict() == "passed"
    blocked = await record("blocked", notes="The lift is closed.")
    assert (blocked["status"], blocked["message"]) == ("blocked", "The lift is closed.")
    standing = await traced.standing()
    assert (standing["verdict"], [one["code"] for one in standing["reasons"]]) == ("not_run", ["blocked"])
    assert [one["status"] for one in standing["items"]] == ["blocked", "passed"]
    assert standing["tests"][0]["last_result"] == "blocked"
    assert await traced.verdict() == "not_run"
    assert not (await traced.gate(max_not_run=0))["passed"]
    assert not (await traced.gate(min_verified=100))["passed"]
    of_run = f"/test-runs/{blocked['run']['id']}/results"
    assert [(await catalog.read(of_run, status=one))["total"] for one in ("blocked", "skipped")] == [1, 0]
    at = await record("blocked", commit=traced.commit("c1"))
    assert (await traced.standing(commit=at["run"]["commit"]))["verdict"] == "not_run"
    await record("skipped")
    assert (await traced.standing())["verdict"] == "skipped"
    await record("passed")
    assert await traced.verdict() == "passed"


async def test_a_commit_has_its_own_results_alone(traced: Traced) -> None:
    await traced.run(("a", "passed"), ("b", "passed"), lane="ci", commit="c1")
    await traced.run(("c", "passed"), lane="e2e", commit="c1")
    await traced.run(("b", "passed"), lane="ci", commit="c2", partial=True)
    c1, c2 = traced.commit("c1"), traced.commit("c2")
    assert (await traced.verdict(commit=c1), await traced.verdict(commit=c2)) == ("passed", "not_run")
    report = await traced.results.catalog.read(
        "/reports/verification", module=traced.requirement["module"], branch=traced.branch, commit=c2
    )
    assert [row["verdict"] for row in report["items"]] == ["not_run"]
    codes = [reason["code"] for reason in (await traced.standing(commit=c2))["reasons"]]
    assert codes == ["not_at_commit", "not_at_commit"]
    assert not (await traced.gate(commit=c2, min_verified=100))["passed"]
    gate = await traced.gate(commit=c2, min_verified=100, older="allow")
    assert (gate["passed"], gate["older"]["total"]) == (True, 2)
    assert all(c1 in item["reason"] for item in gate["older"]["items"])
    of = {"commit": gate["commit"], "older": "allow", "branch": traced.branch}
    said = f"2 results are of other commits than {gate['commit']}."
    for path, also in (("verification", {}), ("traceability-matrix", {"results": "true"})):
        notes = (await traced.results.catalog.read(f"/reports/{path}", **of, **also))["notes"]
        assert said in notes
        assert sum(c1 in note for note in notes) == 2
        for form in ("html", "csv", "xlsx", "markdown")[: 4 if path == "verification" else 1]:
            document = await traced.results.catalog.get(f"/reports/{path}", format=form, header="filters", **of, **also)
            assert form == "xlsx" or said in document.text, (path, form)
            assert form != "html" or f"branch {traced.branch}, commit {gate['commit']}" in document.text
    assert await traced.verdict(commit=c2, older="allow") == "passed"
    await traced.run(("b", "failed"), lane="ci", commit="c2", partial=True)
    assert await traced.verdict(commit=c2, older="allow") == "flaky"
    assert await traced.verdict(commit=c1) == "passed"


async def test_a_commit_that_is_not_the_newest_keeps_what_it_came_to(traced: Traced) -> None:
    for commit, end in (("c1", "failed"), ("c2", "passed")):
        await traced.run(("a", end), lane="ci", commit=commit)
    asked = [{"commit": traced.commit(one)} for one in ("c1", "c2", "c3")]
    assert [await traced.verdict(**one) for one in asked] == ["failed", "passed", "not_run"]
    module = {"module": traced.requirement["module"], "branch": traced.branch, "verdict": "failed"}
    report = await traced.results.catalog.read("/reports/verification", **module, **asked[0])
    assert report["total"] == 1
    matrix = await traced.results.catalog.read(
        "/reports/traceability-matrix", module=module["module"], branch=traced.branch, results=True, **asked[0]
    )
    assert [row["verdict"] for row in matrix["items"]] == ["failed"]


async def test_new_failures_are_those_of_verified_requirements_that_miss_a_test_too(traced: Traced) -> None:
    own, traced.branch = traced.branch, "main"
    await traced.run(("a", "passed"), ("b", "passed"), lane=own, commit=own)
    traced.branch = own
    await traced.run(("a", "passed"), ("b", "passed"), lane=own, commit="c1")
    assert (await traced.gate(no_new_failures=True))["passed"]
    await traced.run(("a", "passed"), lane=own, commit="c2")
    gate = await traced.gate(no_new_failures=True)
    assert (_rule(gate, "no_new_failures")["actual"], gate["passed"]) == (1, False)
    gate = await traced.gate(no_new_failures=True, commit=traced.commit("c2"))
    assert (_rule(gate, "no_new_failures")["actual"], gate["passed"]) == (1, False)


async def test_new_failures_are_found_beyond_those_that_figures_name(traced: Traced) -> None:
    catalog, module = traced.results.catalog, traced.requirement["module"]
    for _ in range(MOST_NAMED):
        await catalog.link(await catalog.requirement(module=module), traced.test_case)
    others = [await catalog.test_case(external_id=f"T{catalog.word()}") for _ in range(MOST_NAMED)]
    for one in others:
        await catalog.link(traced.requirement, one)
    own = traced.branch
    await traced.run(("a", "failed"), lane=own, commit="c1")
    assert _rule(await traced.gate(no_new_failures=True), "no_new_failures")["actual"] == MOST_NAMED + 1
    traced.branch = "main"
    keys = [traced.key, *(one["external_id"] for one in others)]
    all_pass = junit(*((f"[{key}] a", "passed") for key in keys))
    for branch in ("main", own):
        ok(await traced.results.post(all_pass, branch=branch, lane=own, commit=f"{own} {branch}"))
    traced.branch = own
    ok(await traced.results.post(junit(("other", "passed")), branch=own, lane=own, commit=f"{own} c3"))
    assert _rule(await traced.gate(no_new_failures=True), "no_new_failures")["actual"] == MOST_NAMED + 1


async def test_what_people_execute_never_hides_what_fails_in_ci(traced: Traced) -> None:
    path = f"/test-cases/{traced.test_case['id']}/results"
    await traced.run(("a", "failed"), lane="ci", commit="c1")
    ok(await traced.results.catalog.post(path, {"status": "passed", "branch": traced.branch}), 201)
    assert await traced.verdict() == "failed"
    await traced.run(("a", "passed"), lane="ci", commit="c2")
    assert await traced.verdict() == "passed"
    ok(await traced.results.catalog.post(path, {"status": "failed", "branch": traced.branch}), 201)
    assert await traced.verdict() == "failed"
    refused = await traced.results.post(junit(("a", "passed")), lane="manual")
    problem(refused, 422)


async def test_an_execution_by_hand_of_an_older_commit_does_not_win(traced: Traced) -> None:
    path = f"/test-cases/{traced.test_case['id']}/results"
    for commit in ("c1", "c2"):
        ok(await traced.results.post(junit(("x", "passed")), branch=traced.branch, commit=traced.commit(commit)))
    for status, commit in (("failed", traced.commit("c2")), ("passed", traced.commit("c1"))):
        body = {"status": status, "branch": traced.branch, "commit": commit}
        ok(await traced.results.catalog.post(path, body), 201)
    assert await traced.verdict() == "failed"
    ok(await traced.results.catalog.post(path, {"status": "passed", "branch": traced.branch}), 201)
    assert await traced.verdict() == "passed"


@pytest.mark.parametrize("by_hand", ["passed", "failed"])
async def test_what_people_found_at_a_commit_counts_for_it(traced: Traced, by_hand: str) -> None:
    path = f"/test-cases/{traced.test_case['id']}/results"
    await traced.run(("a", "passed"), lane="ci", commit="c1")
    body = {"status": by_hand, "branch": traced.branch, "commit": traced.commit("c1")}
    ok(await traced.results.catalog.post(path, body), 201)
    assert [await traced.verdict(commit=one) for one in (traced.commit("c1"), traced.commit("c2"))] == [
        by_hand,
        "not_run",
    ]


async def test_a_test_that_changes_often_is_unsteady_and_has_its_verdict_all_the_same(traced: Traced) -> None:
    for number, end in enumerate(("passed", "failed", "skipped", "passed", "failed", "passed")):
        await traced.run(("a", end), lane="ci", commit=f"c{number}")
    assert await traced.verdict() == "passed"
    assert [test["unsteady"] for test in (await traced.standing())["tests"]] == [True]
    gate = await traced.gate(max_unsteady=0)
    assert (gate["rules"][0]["actual"], gate["passed"]) == (1, False)
    (flaky,) = (await traced.results.catalog.read("/reports/flaky-tests", branch=traced.branch))["items"]
    assert (flaky["unsteady"], flaky["flips"], flaky["lane"]) == (True, 4, "ci")


async def test_of_several_environments_the_worst_counts_and_skipped_is_worse_than_passed(traced: Traced) -> None:
    for environment, end in (("linux", "passed"), ("windows", "skipped")):
        await traced.run(("a", end), lane="ci", commit="c1", environment=environment)
    assert await traced.verdict() == "not_run"
    assert [await traced.verdict(environment=one) for one in ("linux", "windows")] == ["passed", "not_run"]


async def test_a_run_goes_on_when_a_lane_begins_of_which_shards_are_missing(traced: Traced) -> None:
    of: dict[str, Any] = {"commit": "c1", "run": traced.branch}
    for shard in ("1/2", "2/2"):
        sent = await traced.run((f"a{shard}", "passed"), lane="unit", shard=shard, **of)
    assert sent["run"]["status"] == "completed"
    sent = await traced.run(("b", "passed"), lane="e2e", shard="1/2", **of)
    assert (sent["run"]["status"], sent["run"]["health_reasons"]) == ("running", ["not_finished", "shards_missing"])
    assert not (await traced.gate(require_run=True))["passed"]
    sent = await traced.run(("c", "passed"), lane="e2e", shard="2/2", **of)
    assert (sent["run"]["status"], sent["run"]["health"]) == ("completed", "ok")
    assert {part["lane"]: part["whole"] for part in sent["run"]["lanes"]} == {"unit": True, "e2e": True}


async def test_a_selection_that_passes_does_not_mend_a_run_that_broke(traced: Traced) -> None:
    broken = junit((f"[{traced.key}] a", "passed"), suite_fails=True)
    of = {"branch": traced.branch, "lane": "ci", "commit": traced.commit("c1")}
    ok(await traced.results.post(broken, **of))
    asked: dict[str, Any] = {"commit": traced.commit("c1"), "require_run": True, "max_run_age_hours": 1}
    gate = await traced.gate(**asked)
    assert [rule["passed"] for rule in gate["rules"]] == [False, False]
    assert _rule(gate, "max_run_age_hours")["reason"].endswith("that tells the whole.")
    await traced.run(("a", "passed"), lane="ci", commit="c1", partial=True)
    assert not _rule(await traced.gate(**asked), "require_run")["passed"]
    await traced.run(("a", "passed"), lane="ci", commit="c1")
    assert (await traced.gate(**asked))["passed"]


async def test_a_run_that_broke_after_a_whole_one_is_not_mended_by_that(traced: Traced) -> None:
    await traced.run(("a", "passed"), lane="ci", commit="c1")
    broken = junit((f"[{traced.key}] a", "passed"), suite_fails=True)
    ok(await traced.results.post(broken, branch=traced.branch, lane="ci", commit=traced.commit("c1")))
    assert not _rule(await traced.gate(require_run=True), "require_run")["passed"]


async def test_a_file_that_comes_again_as_the_whole_is_taken_for_it(traced: Traced) -> None:
    await traced.run(("a", "passed"), ("b", "passed"), lane="ci", commit="c1")
    of = {"lane": "ci", "commit": "c2", "run": traced.branch}
    sent = await traced.run(("a", "passed"), **of, partial=True)
    again = await traced.run(("a", "passed"), **of)
    ok(await traced.results.catalog.post(f"/test-runs/{sent['run']['id']}/complete"))
    assert (again["duplicate"], await traced.verdict()) == (True, "not_run"), "b is missing"


async def test_a_run_of_other_environments_is_none_of_the_one_that_is_asked_for(traced: Traced) -> None:
    for commit, environments in (("c1", ("linux", "mac", "windows")), ("c2", ("linux", "mac"))):
        for environment in environments:
            of = {"run": traced.commit(commit), "shard": "1/1", "environment": environment}
            await traced.run(("a", "passed"), lane="ci", commit=commit, **of)
    asked = {"commit": traced.commit("c2"), "require_run": True}
    found = [_rule(await traced.gate(**asked, environment=one), "require_run") for one in ("mac", "windows")]
    assert [rule["passed"] for rule in found] == [True, False]
    assert found[1]["reason"] == f"There is no run of the commit {traced.commit('c2')} in windows."


async def test_what_skipped_all_is_no_run(traced: Traced) -> None:
    await traced.run(("a", "skipped"), lane="ci", commit="c1")
    assert "No test ran" in _rule(await traced.gate(), "require_run")["reason"]
    await traced.run(("a", "failed"), lane="e2e", commit="c1")
    assert _rule(await traced.gate(), "require_run")["passed"]


async def test_on_a_default_branch_nothing_has_run_before_its_first_result(traced: Traced) -> None:
    basis = Basis(traced.branch, traced.branch, datetime.now(UTC), timedelta(days=14))
    asked = (basis, replace(basis, commit="none"), replace(basis, commit="none", older=True))

    async def has_run() -> list[bool]:
        async with snapshot(traced.results.catalog.database) as connection:
            return [await runs_of_gate.has_run(connection, one) for one in asked]

    assert await has_run() == [False, False, False]
    await traced.run(("a", "passed"), lane="ci")
    assert await has_run() == [True, False, True]


@pytest.mark.parametrize("rule", [{"max_failed": 0}, {"no_new_failures": True}])
async def test_where_nothing_has_run_nothing_may_be_said_of_results(traced: Traced, rule: dict[str, Any]) -> None:
    other = {"branch": f"{traced.branch} other"}
    module = {"module": traced.requirement["module"]}
    for asked in ({"commit": traced.commit("c1")}, other):
        gate = await traced.results.catalog.read("/reports/gate", **module, **asked, **rule)
        assert (gate["passed"], gate["rules"][0]["reason"][:19]) == (False, "Nothing has run of ")
        gate = await traced.results.catalog.read("/reports/gate", **module, **asked, max_uncovered=0)
        assert gate["passed"]
    await traced.run(("a", "passed"), lane="ci", commit="c1")
    assert (await traced.gate(commit=traced.commit("c1"), **rule))["passed"]


@pytest.mark.parametrize("rule", [{"max_failed": 0}, {"no_new_failures": True}])
async def test_what_ran_in_another_environment_opens_no_gate(traced: Traced, rule: dict[str, Any]) -> None:
    c1, c2 = ({"commit": one, "lane": "ci"} for one in ("c1", "c2"))
    await traced.run(("a", "passed"), **c1, environment="linux")
    await traced.run(("a", "skipped"), ("b", "passed"), **c2, environment="linux")
    await traced.run(("a", "failed"), **c1, environment="windows")
    await traced.run(("a", "skipped"), **c2, environment="windows")
    opened = [
        (await traced.gate(**rule, environment=environment, commit=traced.commit(commit)))["passed"]
        for commit in ("c1", "c2", "c3")
        for environment in ("linux", "windows")
    ]
    assert opened == [True, False, True, False, False, False]
    traced.branch = f"{traced.branch} other"
    await traced.run(("a", "passed"), lane="ci", environment="linux")
    assert [(await traced.gate(**rule, environment=one))["passed"] for one in ("linux", "windows")] == [True, False]


async def test_an_attempt_without_the_file_that_broke_does_not_mend_it(traced: Traced) -> None:
    of = {"branch": traced.branch, "lane": "ci", "run": traced.branch, "commit": traced.commit("c1")}
    e2e, unit = (junit((f"[{traced.key}] {name}", "passed"), suite_fails=name == "e2e") for name in ("e2e", "unit"))
    ok(await traced.results.post(e2e, **of, file_name="e2e.xml"))
    sent = ok(await traced.results.post(unit, **of, file_name="unit.xml", attempt=2))
    assert sent["run"]["health_reasons"] == ["not_finished", "suite_failed"]
    whole = junit((f"[{traced.key}] e2e", "passed"))
    sent = ok(await traced.results.post(whole, **of, file_name="e2e.xml", attempt=2))
    assert sent["run"]["health_reasons"] == ["not_finished"]
