"""Failures that are accepted until a time: who may, what verdicts say, how it ends, and what a gate may let pass."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog_service.executions.acceptances import service
from catalog_service.executions.acceptances.passing import Passed, accepted_for
from catalog_service.verdicts import Basis
from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

from .conftest import Results, junit

ADMIN = Identity(id=3, email="admin@example.test", role=Role.ADMIN)
ELSEWHERE = Identity(id=4, email="other@example.test", role=Role.REVIEWER, project="ELSEWHERE")
TODAY = datetime.now(UTC).date()


def in_days(days: int) -> str:
    return str(TODAY + timedelta(days=days))


class Traced:
    """A requirement with test cases, whose tests run whole in a lane, a commit a run."""

    def __init__(self, results: Results, requirement: Json, test_cases: list[Json], lane: str) -> None:
        self.results = results
        self.requirement = requirement
        self.test_cases = test_cases
        self.lane = lane
        self.runs = 0

    async def run(self, *ends: str, **options: Any) -> None:
        """Run the tests of the test cases, each as it ends; those without an end are not in the run."""
        self.runs += 1
        cases = [(f"[{case['external_id']}]", end) for case, end in zip(self.test_cases, ends, strict=False) if end]
        commit = f"{self.lane} {self.runs}"
        await self.results.send(*cases, **{"lane": self.lane, "commit": commit, "branch": "main", **options})

    async def tests(self, number: int = 0) -> list[Json]:
        found = await self.results.catalog.read(f"/test-cases/{self.test_cases[number]['id']}/results")
        return list(found["tests"])

    async def accept(self, number: int = 0, **fields: Any) -> Json:
        """Accept the failure of the test of a test case."""
        tests = await self.tests(number)
        body = {"automated_test_id": tests[0]["id"], "reason": "The supplier mends it.", "until": in_days(9), **fields}
        return ok(await self.results.catalog.post("/accepted-failures", body), 201)

    async def read(self, accepted: Json) -> Json:
        return dict(await self.results.catalog.read(f"/accepted-failures/{accepted['id']}"))

    async def passed(self, **options: Any) -> Passed:
        """What a gate may let pass, of this requirement."""
        basis = Basis("main", "main", datetime.now(UTC), timedelta(days=14), **options)
        async with self.results.catalog.database.connection() as connection:
            found = await accepted_for(connection, basis)
        own = [one for one in found.failures if self.requirement["id"] in [of["id"] for of in one["requirements"]]]
        return Passed(frozenset(id_ for id_ in found.requirements if str(id_) == self.requirement["id"]), own)


@pytest.fixture
async def traced(results: Results) -> Traced:
    requirement, test_cases = await results.traced(2)
    return Traced(results, requirement, test_cases, results.catalog.word())


async def test_the_verdict_stays_and_says_until_when_why_and_by_whom(traced: Traced) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept(issue_url="https://issues.example.test/7", until=in_days(30))
    until = f"{in_days(30)}T23:59:59.999999Z"
    assert (accepted["active"], accepted["until"], accepted["ended_because"]) == (True, until, None)
    found = await traced.results.verdict(traced.requirement)
    assert found["verdict"] == "failed"
    said = {case["id"]: case["reasons"] for case in found["test_cases"]}[traced.test_cases[0]["id"]]
    (reason,) = [one for one in said if one["code"] == "accepted"]
    assert f"accepted until {in_days(30)}: The supplier mends it." in reason["message"]
    assert reason["message"].endswith("(reviewer@example.test, https://issues.example.test/7)")
    of_case = await traced.results.catalog.read("/reports/test-case-verdicts", ids=traced.test_cases[0]["id"])
    assert said == of_case["items"][0]["reasons"]
    (test,) = await traced.tests()
    assert (test["accepted"]["id"], test["accepted"]["accepted_by"]) == (accepted["id"], "reviewer@example.test")
    assert [one["accepted"] for one in await traced.tests(1)] == [None]


async def test_a_body_says_which_why_and_until_when(traced: Traced) -> None:
    await traced.run("failed", "passed")
    (test,) = await traced.tests()
    catalog, whole = traced.results.catalog, {"automated_test_id": test["id"], "reason": "So.", "until": in_days(1)}
    now = datetime.now(UTC)
    for wrong, field in (
        ({"test_case_id": traced.test_cases[0]["id"]}, ""),
        ({"automated_test_id": None}, ""),
        ({"reason": " \u200b "}, "/reason"),
        ({"reason": "a" * 2001}, "/reason"),
        ({"until": in_days(-1)}, "/until"),
        ({"until": in_days(91)}, "/until"),
        ({"until": (now - timedelta(seconds=1)).isoformat()}, "/until"),
        ({"until": (now + timedelta(days=90, minutes=5)).isoformat()}, "/until"),
        ({"until": "soon"}, "/until"),
        ({"until": "2026-02-30"}, "/until"),
        ({"until": 1}, "/until"),
        ({"until": now.replace(tzinfo=None).isoformat()}, "/until"),
        ({"issue_url": "javascript:alert(1)"}, "/issue_url"),
        ({"issue_url": "issues.example.test/7"}, "/issue_url"),
        ({"more": 1}, "/more"),
    ):
        problem(await catalog.post("/accepted-failures", {**whole, **wrong}), 422, field=field or None)
    for gone, code in (
        ({"automated_test_id": 2**40}, "automated_test_not_found"),
        ({"automated_test_id": None, "test_case_id": traced.requirement["id"]}, "test_case_not_found"),
    ):
        problem(await catalog.post("/accepted-failures", {**whole, **gone}), 404, code)
    at = (now + timedelta(hours=2)).replace(microsecond=0)
    accepted = ok(await catalog.post("/accepted-failures", {**whole, "until": at.isoformat()}), 201)
    assert datetime.fromisoformat(accepted["until"]) == at
    for until, comes_to in (
        (in_days(0), f"{in_days(0)}T23:59:59.999999Z"),
        (in_days(90), f"{in_days(90)}T23:59:59.999999Z"),
        (f"{in_days(2)}T00:00:00Z", f"{in_days(2)}T00:00:00Z"),
        (f"{in_days(3)}T01:30:00+02:00", f"{in_days(2)}T23:30:00Z"),
    ):
        ok(await catalog.post(f"/accepted-failures/{accepted['id']}/end"))
        accepted = ok(await catalog.post("/accepted-failures", {**whole, "until": until}), 201)
        assert datetime.fromisoformat(accepted["until"]) == datetime.fromisoformat(comes_to)


async def test_viewers_read_and_do_not_accept(traced: Traced, viewer: Any) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    body = {"test_case_id": traced.test_cases[1]["id"], "reason": "So.", "until": in_days(1)}
    problem(await viewer.post("/accepted-failures", body), 403)
    problem(await viewer.post(f"/accepted-failures/{accepted['id']}/end"), 403)
    assert await viewer.read(f"/accepted-failures/{accepted['id']}") == accepted
    as_admin = traced.results.catalog.being(ADMIN)
    assert ok(await as_admin.post("/accepted-failures", body), 201)["created_by"] == ADMIN.email


async def test_another_project_sees_nothing_of_it(traced: Traced) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    elsewhere = traced.results.catalog.being(ELSEWHERE)
    problem(await elsewhere.get(f"/accepted-failures/{accepted['id']}"), 404, "accepted_failure_not_found")
    problem(await elsewhere.post(f"/accepted-failures/{accepted['id']}/end"), 404, "accepted_failure_not_found")
    assert (await elsewhere.read("/accepted-failures"))["total"] == 0
    assert (await traced.read(accepted))["active"]


async def test_it_is_accepted_once_at_a_time_and_once_by_a_key(traced: Traced) -> None:
    await traced.run("failed", "passed")
    catalog = traced.results.catalog
    (test,) = await traced.tests()
    body = {"automated_test_id": test["id"], "reason": "So.", "until": in_days(1)}
    once = {"Idempotency_Key": catalog.word()}
    first, again = [ok(await catalog.post("/accepted-failures", body, **once), 201) for _ in range(2)]
    assert first == again
    taken = problem(await catalog.post("/accepted-failures", body), 409, "already_accepted")
    assert taken["accepted_failure_id"] == first["id"]
    ok(await catalog.post(f"/accepted-failures/{first['id']}/end"))
    assert ok(await catalog.post("/accepted-failures", body), 201)["id"] != first["id"]


async def test_a_person_ends_it_and_that_is_told_once(traced: Traced) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    catalog = traced.results.catalog
    ended = ok(await catalog.post(f"/accepted-failures/{accepted['id']}/end"))
    assert (ended["active"], ended["ended_because"], ended["ended_by"]) == (False, "person", "reviewer@example.test")
    assert ok(await catalog.post(f"/accepted-failures/{accepted['id']}/end")) == ended
    assert [one["accepted"] for one in await traced.tests()] == [None]
    created, end = [
        await catalog.events(f"catalog.accepted_failure.{what}", subject=accepted["id"])
        for what in ("created", "ended")
    ]
    assert [len(created), len(end)] == [1, 1]
    assert created[0]["data"]["accepted_failure"]["reason"] == "The supplier mends it."
    assert (end[0]["data"]["ended_because"], end[0]["actor"]) == ("person", "reviewer@example.test")


async def test_its_time_ends_it_whether_anybody_has_noted_that_or_not(traced: Traced) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    catalog = traced.results.catalog
    assert (await traced.passed()).requirements
    await catalog.rows("UPDATE accepted_failures SET until = now() - interval '1 minute' WHERE id = %s", accepted["id"])
    over = await traced.read(accepted)
    assert (over["active"], over["ended_because"], over["ended_at"]) == (False, "until", over["until"])
    assert not (await traced.passed()).requirements
    assert [one["accepted"] for one in await traced.tests()] == [None]
    for _ in range(2):
        await service.end_over(catalog.database, datetime.now(UTC))
    assert await traced.read(accepted) == over
    (told,) = await catalog.events("catalog.accepted_failure.ended", subject=accepted["id"])
    assert (told["data"]["ended_because"], told["actor"]) == ("until", "system")
    assert (await traced.accept())["active"], "it can be accepted anew"


async def test_three_whole_runs_that_pass_end_it(traced: Traced) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    await traced.run("passed", "passed")
    await traced.run("passed", "passed", partial=True)
    await traced.run("passed", "passed")
    assert (await traced.read(accepted))["active"], "one of three was no whole run"
    await traced.run("passed", "passed")
    ended = await traced.read(accepted)
    assert (ended["active"], ended["ended_because"], ended["ended_by"]) == (False, "no_longer_needed", None)
    await traced.run("failed", "passed")
    assert not (await traced.passed()).requirements
    (told,) = await traced.results.catalog.events("catalog.accepted_failure.ended", subject=accepted["id"])
    assert told["data"]["ended_because"] == "no_longer_needed"


async def test_a_failure_between_begins_the_count_anew(traced: Traced) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    for end in ("passed", "passed", "failed", "passed", "skipped", "passed"):
        await traced.run(end, "passed")
    assert (await traced.read(accepted))["active"]
    await traced.run("passed", "passed")
    assert (await traced.read(accepted))["ended_because"] == "no_longer_needed"


async def test_passes_of_the_commit_that_failed_and_of_older_ones_end_nothing(traced: Traced) -> None:
    early = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    await traced.run("passed", "passed", started_at=early, commit=f"{traced.lane} old")
    await traced.run("failed", "passed", commit=f"{traced.lane} bad")
    accepted = await traced.accept()
    for _ in range(3):
        await traced.run(
            "passed", "passed", commit=f"{traced.lane} old", run=traced.results.catalog.word(), shard="1/1"
        )
        await traced.run(
            "passed", "passed", commit=f"{traced.lane} bad", run=traced.results.catalog.word(), shard="1/1"
        )
    assert (await traced.read(accepted))["active"]


async def test_where_it_has_passed_three_times_it_is_not_accepted_while_another_branch_needs_it(traced: Traced) -> None:
    branch = traced.results.catalog.word()
    await traced.run("failed", "passed", branch=branch)
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    for _ in range(3):
        await traced.run("passed", "passed")
    assert (await traced.read(accepted))["active"]
    assert (await traced.passed(fallback=False)).requirements == frozenset()
    await traced.run("failed", "passed")
    assert not (await traced.passed()).requirements, "it is another failure"
    reasons = (await traced.results.verdict(traced.requirement, branch=branch))["test_cases"]
    assert "accepted" in [one["code"] for case in reasons for one in case["reasons"]]


async def test_a_test_case_that_is_accepted_needs_it_until_each_of_its_tests_passes(traced: Traced) -> None:
    catalog, case = traced.results.catalog, traced.test_cases[0]
    await traced.run("failed", "passed")
    ok(await catalog.post(f"/test-cases/{case['id']}/results", {"status": "failed"}), 201)
    body = {"test_case_id": case["id"], "reason": "So.", "until": in_days(1)}
    accepted = ok(await catalog.post("/accepted-failures", body), 201)
    assert (accepted["test_case"]["external_id"], accepted["automated_test"]) == (case["external_id"], None)
    assert [bool(one["accepted"]) for one in await traced.tests()] == [True, True]
    assert len((await traced.passed()).failures) == 2
    for _ in range(3):
        await traced.run("passed", "passed")
    assert (await traced.read(accepted))["active"]
    for _ in range(3):
        ok(await catalog.post(f"/test-cases/{case['id']}/results", {"status": "passed"}), 201)
    assert (await traced.read(accepted))["ended_because"] == "no_longer_needed"


async def test_a_gate_may_let_pass_what_fails_for_nothing_else(traced: Traced) -> None:
    await traced.run("failed", "failed")
    first = await traced.accept(issue_url="https://issues.example.test/7")
    assert (await traced.passed()).requirements == frozenset(), "the other one fails, too"
    second = await traced.accept(1)
    passed = await traced.passed()
    assert [str(one) for one in passed.requirements] == [traced.requirement["id"]]
    assert {one["id"] for one in passed.failures} == {first["id"], second["id"]}
    (let_pass,) = [one for one in passed.failures if one["id"] == first["id"]]
    assert let_pass["test_case"]["external_id"] == traced.test_cases[0]["external_id"]
    assert (let_pass["lane"], let_pass["issue_url"]) == (traced.lane, "https://issues.example.test/7")
    assert (let_pass["accepted_by"], let_pass["reason"]) == ("reviewer@example.test", "The supplier mends it.")


@pytest.mark.parametrize("other", ["flaky", "skipped", ""])
async def test_a_gate_lets_nothing_pass_where_anything_else_is_wrong(traced: Traced, other: str) -> None:
    await traced.run("failed", "passed")
    await traced.accept()
    assert (await traced.passed()).requirements
    await traced.run("failed", other)
    assert not (await traced.passed()).requirements


async def test_a_gate_lets_nothing_pass_that_was_changed_since_or_did_not_run_at_the_commit(traced: Traced) -> None:
    await traced.run("failed", "passed")
    await traced.accept()
    assert (await traced.passed(commit=f"{traced.lane} 1")).requirements
    assert not (await traced.passed(commit="another")).requirements
    path = f"/requirements/{traced.requirement['id']}"
    ok(await traced.results.catalog.patch(path, {"description": "Another text."}))
    assert not (await traced.passed()).requirements


async def test_another_test_that_fails_for_the_same_test_case_is_not_accepted_with_it(traced: Traced) -> None:
    await traced.run("failed", "passed")
    await traced.accept()
    name = traced.test_cases[0]["external_id"]
    other = {"lane": f"{traced.lane} e2e", "commit": f"{traced.lane} 1", "branch": "main"}
    ok(await traced.results.post(junit((f"[{name}] in the browser", "failed"), class_name="e2e"), **other))
    assert not (await traced.passed()).requirements
    assert sorted(bool(one["accepted"]) for one in await traced.tests()) == [False, True]


async def test_what_is_accepted_of_a_test_goes_with_it_to_its_new_name(traced: Traced) -> None:
    await traced.run("failed", "passed")
    accepted = await traced.accept()
    ok(await traced.results.post(junit((f"{traced.lane} renamed", "failed")), lane=traced.lane, commit=traced.lane))
    (new,) = (await traced.results.catalog.read("/automated-tests", search=f"{traced.lane} renamed"))["items"]
    (old,) = await traced.tests()
    ok(await traced.results.catalog.post(f"/automated-tests/{old['id']}/merge", {"into": new["id"]}))
    assert (await traced.read(accepted))["automated_test_id"] == new["id"]
    assert [one["accepted"]["id"] for one in await traced.tests()] == [accepted["id"]]


async def test_the_list_is_narrowed_by_what_is_accepted_now_and_of_what(traced: Traced) -> None:
    await traced.run("failed", "failed")
    first, second = await traced.accept(), await traced.accept(1)
    catalog = traced.results.catalog
    ok(await catalog.post(f"/accepted-failures/{first['id']}/end"))
    ids = f"{first['id']},{second['id']}"
    for asked, found in (
        ({"ids": ids}, [second, first]),
        ({"ids": ids, "active": True}, [second]),
        ({"ids": ids, "active": False}, [first]),
        ({"test_case_id": traced.test_cases[0]["id"]}, [first]),
        ({"automated_test_id": second["automated_test_id"]}, [second]),
    ):
        page = await catalog.read("/accepted-failures", **asked)
        assert [one["id"] for one in page["items"]] == [one["id"] for one in found], asked
        assert page["total"] == len(found)
    problem(await catalog.get("/accepted-failures", automated_test_id="x"), 422, field="/query/automated_test_id")
    page = await catalog.read("/accepted-failures", ids=ids, limit=1)
    rest = await catalog.read("/accepted-failures", ids=ids, limit=1, after=page["next_after"])
    assert [one["id"] for one in (*page["items"], *rest["items"])] == [second["id"], first["id"]]


async def test_a_gate_lets_pass_what_is_accepted_where_its_rules_say_so_and_names_it(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    module = results.catalog.word()
    ok(await results.catalog.patch(f"/requirements/{requirement['id']}", {"module": module}))
    await results.send((f"[{test_case['external_id']}] a", "failed"), branch=module, commit=module, lane="ci")
    body = {"test_case_id": test_case["id"], "reason": "The sensor is late.", "until": in_days(1)}
    ok(await results.catalog.post("/accepted-failures", body), 201)
    asked = {"module": module, "branch": module}
    denied = await results.catalog.read("/reports/gate", **asked)
    allowed = await results.catalog.read("/reports/gate", accepted="allow", min_verified=100, max_failed=0, **asked)
    assert (denied["passed"], denied["accepted"]["total"]) == (False, 0)
    assert (allowed["passed"], allowed["accepted"]["total"]) == (True, 1)
    assert "accepted until" in allowed["accepted"]["items"][0]["reason"]
    rule = {"rule": "max_failed", "limit": 0, "where": {"module": module}}
    for accepted in ("deny", "allow"):
        rules = {"rules": [{**rule, "accepted": accepted}]}
        gate = ok(await results.catalog.request("POST", "/reports/gate", json=rules, params={"branch": module}))
        assert gate["passed"] == (accepted == "allow")
    problem(await results.catalog.request("POST", "/reports/gate", json=rules, params={"accepted": "allow"}), 422)
    document = await results.catalog.get("/reports/gate", format="markdown", accepted="allow", **asked)
    assert "The sensor is late." in document.text


async def test_what_is_accepted_of_a_test_are_the_iterations_that_failed(results: Results) -> None:
    requirement, (case,) = await results.traced()
    traced = Traced(results, requirement, [case], results.catalog.word())

    async def run(**ends: str) -> None:
        traced.runs += 1
        cases = [(f"[{case['external_id']}] t[{name}]", end) for name, end in ends.items()]
        await results.send(*cases, lane=traced.lane, commit=f"{traced.lane} {traced.runs}", branch="main")

    await run(a="failed", b="passed")
    accepted = await traced.accept()
    assert len((await traced.passed()).failures) == 1
    await run(a="passed", b="failed")
    assert (await traced.passed()).failures == [], "another one fails now"
    assert (await traced.read(accepted))["active"]
    await run(a="failed", b="passed")
    assert len((await traced.passed()).failures) == 1
