"""Tries of a job that its CI does not count: it has a name in its run, and each of its tries an id."""

from typing import Any

import pytest

from testing.service import ok, problem

from .conftest import Results, Traced, junit

OF = {"lane": "ci", "commit": "c1", "job": "unit"}
BROKEN = b'<testsuite failures="1" tests="1"><testcase name="u" classname="c"/></testsuite>'


async def test_another_try_of_a_job_replaces_the_first(traced: Traced) -> None:
    first = await traced.run(("a", "failed"), run=traced.branch, job_try="70", **OF)
    again = await traced.run(("a", "passed"), run=traced.branch, job_try="71", **OF)
    assert first["run"]["counts"]["failed"] == again["run"]["counts"]["flaky"] == 1
    assert await traced.verdict() == "flaky"
    uploads = (await traced.results.catalog.read(f"/test-runs/{again['run']['id']}"))["uploads"]
    assert [one["attempt"] for one in uploads] == [1, 2]


async def test_files_of_one_try_are_of_one_attempt(traced: Traced) -> None:
    await traced.run(("a", "failed"), run=traced.branch, job_try="70", **OF)
    other = await traced.run(("a", "passed"), ("b", "passed"), run=traced.branch, job_try="70", **OF)
    assert other["run"]["counts"] == {"tests": 2, "passed": 1, "failed": 1, "flaky": 0, "skipped": 0}
    again = await traced.run(("a", "failed"), run=traced.branch, job_try="70", **OF)
    assert again["duplicate"]


@pytest.mark.parametrize(
    ("tries", "ends"),
    [
        ({"9": "failed", "10": "passed"}, ("flaky", "failed")),
        ({"9": "passed", "10": "failed"}, ("failed", "failed")),
        ({"a": "failed", "b": "passed"}, ("flaky", "failed")),
    ],
)
async def test_a_try_that_comes_late_makes_nothing_better(
    traced: Traced, tries: dict[str, str], ends: tuple[str, str]
) -> None:
    for commit, order, end in zip(("c1", "c2"), (tries, reversed(tries)), ends, strict=True):
        of = {**OF, "run": f"{traced.branch} {commit}", "commit": commit}
        for job_try in order:
            await traced.run(("a", tries[job_try]), job_try=job_try, **of)
        assert await traced.verdict(commit=traced.commit(commit)) == end


async def test_jobs_of_one_lane_are_no_tries_of_one_another(traced: Traced) -> None:
    await traced.run(("a", "failed"), run=traced.branch, **{**OF, "job": "unit a", "job_try": "70"})
    await traced.run(("a", "passed"), run=traced.branch, **{**OF, "job": "unit b", "job_try": "71"})
    assert await traced.verdict() == "failed"


@pytest.mark.parametrize(("job", "health"), [("unit", []), ("e2e", ["suite_failed"])])
async def test_a_try_mends_what_its_own_job_broke(traced: Traced, job: str, health: list[str]) -> None:
    of: dict[str, Any] = {**OF, "commit": traced.commit("c1"), "branch": traced.branch, "run": traced.branch}
    ok(await traced.results.post(BROKEN, file_name="report.xml", job_try="70", **of))
    whole = junit(("u", "passed"))
    sent = ok(await traced.results.post(whole, file_name="report.xml", **{**of, "job": job, "job_try": "71"}))
    run = ok(await traced.results.catalog.post(f"/test-runs/{sent['run']['id']}/complete"))
    assert run["health_reasons"] == health


async def test_an_attempt_that_is_said_is_what_counts(traced: Traced) -> None:
    for job_try in ("70", "71"):
        sent = await traced.run((f"t{job_try}", "passed"), run=traced.branch, attempt=3, job_try=job_try, **OF)
    uploads = (await traced.results.catalog.read(f"/test-runs/{sent['run']['id']}"))["uploads"]
    assert [one["attempt"] for one in uploads] == [3, 3]


async def test_a_job_without_its_try_is_refused_and_so_is_a_try_too_many(results: Results) -> None:
    for half, lacking in (({"job": "unit"}, "job_try"), ({"job_try": "70"}, "job")):
        refused = problem(await results.post(junit(("a", "passed")), **half), 422)
        assert refused["errors"][0]["pointer"] == f"/query/{lacking}"
    of = {"run": results.catalog.word(), "job": "unit"}
    await results.send(("a", "passed"), attempt=100, job_try="70", **of)
    refused = problem(await results.post(junit(("a", "failed")), job_try="71", **of), 422)
    assert "at most 100 tries" in refused["detail"]
