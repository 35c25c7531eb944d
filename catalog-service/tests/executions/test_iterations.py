"""Iterations of a test: each failure is mended by its own pass alone, and each names test cases of its own."""

import pytest

from testing.service import Json, ok

from .conftest import Results, Traced

OF = {"lane": "ci", "commit": "c1"}
BOTH = (("t[a]", "passed"), ("t[b]", "failed"))


@pytest.mark.parametrize("attempts", [(1, 2), (2, 1)])
@pytest.mark.parametrize(("again", "verdict"), [("t[a]", "failed"), ("t[b]", "flaky")])
async def test_an_attempt_mends_what_it_ran_again(
    traced: Traced, attempts: tuple[int, int], again: str, verdict: str
) -> None:
    for attempt in attempts:
        cases = BOTH if attempt == 1 else ((again, "passed"),)
        sent = await traced.run(*cases, run=traced.branch, attempt=attempt, **OF)
    assert sent["run"]["counts"][verdict] == 1
    assert await traced.verdict() == await traced.verdict(commit=traced.commit("c1")) == verdict


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize(("again", "verdict"), [("t[a]", "failed"), ("t[b]", "flaky")])
async def test_so_does_another_run_of_the_commit(
    traced: Traced, again: str, verdict: str, *, newest_first: bool
) -> None:
    runs = [("1", BOTH), ("2", ((again, "passed"),))]
    for number, cases in reversed(runs) if newest_first else runs:
        at = f"2026-11-20T12:0{number}:00Z"
        await traced.run(*cases, run=f"{traced.branch} {number}", partial=True, started_at=at, **OF)
    assert await traced.verdict() == await traced.verdict(commit=traced.commit("c1")) == verdict


@pytest.mark.parametrize(("other", "verdict"), [("linux", "flaky"), ("linux 2/2", "flaky"), ("windows", "failed")])
async def test_a_job_mends_what_it_ran_itself(traced: Traced, other: str, verdict: str) -> None:
    for job, job_try, end in (("linux", "1", "failed"), (other, "2", "passed"), (other, "3", "passed")):
        await traced.run(("t", end), run=traced.branch, job=job, job_try=job_try, **OF)
    assert await traced.verdict() == verdict


async def _send(results: Results, branch: str, number: int, *cases: tuple[str, Json | None]) -> None:
    """Send a whole run of the default branch whose iterations of a test name test cases."""
    tests = "".join(
        f'<testcase classname="{branch}" name="{name}">'
        + (f'<properties><property name="test_key" value="{case["external_id"]}"/></properties>' if case else "")
        + "</testcase>"
        for name, case in cases
    )
    of = {"run": f"{branch} {number}", "lane": branch, "started_at": f"2026-11-20T12:0{number}:00Z"}
    sent = ok(await results.post(f"<testsuite>{tests}</testsuite>".encode(), **of))
    ok(await results.catalog.post(f"/test-runs/{sent['run']['id']}/complete"))


async def _stands(results: Results, case: Json) -> tuple[str, list[bool]]:
    found = await results.catalog.read(f"/test-cases/{case['id']}/results", branch="main", limit=1)
    return found["verdict"], [test["missing"] for test in found["tests"]]


async def test_a_test_case_misses_the_iteration_that_named_it(results: Results) -> None:
    _, (one, other) = await results.traced(2)
    lane = results.catalog.word()
    await _send(results, lane, 1, ("t[a]", one), ("t[b]", other))
    await _send(results, lane, 2, ("t[a]", one))
    assert await _stands(results, one) == ("passed", [False])
    assert await _stands(results, other) == ("not_run", [True])
    (missing,) = (await results.catalog.read("/automated-tests", missing="true", search=lane))["items"]
    ok(await results.catalog.post(f"/automated-tests/{missing['id']}/retire", {"note": "b is gone"}))
    assert await _stands(results, one) == ("passed", [False])
    assert await _stands(results, other) == ("not_run", [])
    await _send(results, lane, 3, ("t[a]", one), ("t[b]", other))
    assert await _stands(results, other) == ("passed", [False])


@pytest.mark.parametrize("is_named", [False, True])
async def test_what_an_iteration_names_no_more_has_no_test(results: Results, *, is_named: bool) -> None:
    _, (one, other, third) = await results.traced(3)
    lane = results.catalog.word()
    await _send(results, lane, 1, ("t[a]", one), ("t[b]", other))
    await _send(results, lane, 2, ("t[a]", one), ("t[b]", third if is_named else None))
    assert await _stands(results, one) == ("passed", [False])
    assert await _stands(results, other) == ("not_run", [])
    assert await _stands(results, third) == (("passed", [False]) if is_named else ("not_run", []))


async def test_a_gate_says_that_a_parameter_which_failed_has_not_run_again(traced: Traced) -> None:
    async def warned(commit: str, *cases: tuple[str, str]) -> list[str]:
        await traced.run(*cases, lane="ci", commit=commit)
        return [one["message"] for one in (await traced.gate(commit=traced.commit(commit)))["warnings"]]

    assert await warned("c1", *BOTH) == []
    (message,) = await warned("c2", ("t[a]", "passed"))
    assert message.startswith("1 test passes and has not run again with a parameter that failed: ")
    assert len(await warned("c3", ("t[a]", "passed"))) == 1
    assert await warned("c4", ("t[a]", "passed"), ("t[b]", "passed")) == []


async def test_iterations_under_new_names_are_those_of_the_test_case(results: Results) -> None:
    _, (one,) = await results.traced(1)
    lane = results.catalog.word()
    await _send(results, lane, 1, ("t[a]", one))
    await _send(results, lane, 2, ("t[c]", one))
    assert await _stands(results, one) == ("passed", [False])
    await _send(results, lane, 3, ("t[d]", None))
    assert await _stands(results, one) == ("not_run", [True])
