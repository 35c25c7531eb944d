"""On a branch, a test of the default branch is missing where the branch has run its lane as a whole without it."""

from typing import Any

from testing.service import Json, ok

from .conftest import Results, Traced

DEFAULT = "main"


async def _on_default(traced: Traced, *cases: tuple[str, str], lane: str) -> None:
    """Run cases at a commit of the default branch."""
    await traced.run(*cases, lane=lane, commit=f"default {lane}", branch=DEFAULT)


def _actual(gate: Json, name: str) -> Any:
    return next(rule["actual"] for rule in gate["rules"] if rule["rule"] == name)


async def test_a_test_that_the_first_run_of_a_branch_drops_is_missing_there(traced: Traced) -> None:
    lane = traced.branch
    await _on_default(traced, ("a", "passed"), ("b", "passed"), lane=lane)
    assert (await traced.verdict(), (await traced.gate(max_missing=0))["passed"]) == ("passed", False)
    await traced.run(("a", "passed"), lane=lane, commit="c1")
    standing = await traced.standing()
    assert (standing["verdict"], [one["code"] for one in standing["reasons"]]) == ("not_run", ["missing"])
    assert f"was not in 1 run of {lane} since" in standing["reasons"][0]["message"]
    gate = await traced.gate()
    assert (_actual(gate, "max_missing"), gate["passed"]) == (1, False)
    assert _actual(await traced.gate(no_new_failures=True), "no_new_failures") == 1
    report = await traced.results.catalog.read(
        "/reports/verification", module=traced.requirement["module"], branch=traced.branch
    )
    assert [row["verdict"] for row in report["items"]] == ["not_run"]
    await traced.run(("a", "passed"), ("b", "passed"), lane=lane, commit="c2")
    assert (await traced.verdict(), (await traced.gate())["passed"]) == ("passed", True)


async def test_a_branch_that_drops_all_tests_of_a_test_case_misses_them(traced: Traced) -> None:
    lane = traced.branch
    await _on_default(traced, ("a", "passed"), lane=lane)
    await _on_default(traced, ("b", "failed"), lane=f"{lane} e2e")
    other = {"branch": traced.branch, "lane": lane, "commit": traced.commit("c1")}
    await traced.results.send((traced.branch, "passed"), partial=True, **other)
    assert _actual(await traced.gate(), "max_missing") == 0, "a selection drops nothing"
    await traced.results.send((traced.branch, "passed"), **other)
    gate = await traced.gate()
    assert (_actual(gate, "max_failed"), _actual(gate, "max_missing")) == (1, 1), "what fails there is not hidden"
    codes = {one["code"] for one in (await traced.standing())["reasons"]}
    assert codes == {"default_branch", "missing"}
    assert not _actual(await traced.gate(fallback=False), "max_missing")


async def test_who_drops_a_failing_test_has_not_mended_it(traced: Traced) -> None:
    lane = traced.branch
    await _on_default(traced, ("a", "passed"), ("b", "failed"), lane=lane)
    assert await traced.verdict() == "failed"
    await traced.run(("a", "passed"), lane=lane, commit="c1")
    standing = await traced.standing()
    assert (standing["verdict"], [one["code"] for one in standing["reasons"]]) == ("failed", ["missing"])
    assert not (await traced.gate(max_failed=0))["passed"]
    assert (await traced.gate(no_new_failures=True))["passed"]


async def test_a_test_that_the_default_branch_got_later_is_not_missing(traced: Traced) -> None:
    lane = traced.branch
    await traced.run(("a", "passed"), lane=lane, commit="c1")
    await _on_default(traced, ("a", "passed"), ("b", "passed"), lane=lane)
    assert await traced.verdict() == "passed"


async def test_at_a_commit_a_test_that_the_default_branch_alone_has_did_not_run(traced: Traced) -> None:
    lane = traced.branch
    await _on_default(traced, ("a", "passed"), lane=lane)
    await _on_default(traced, ("b", "passed"), lane=f"{lane} e2e")
    await traced.run(("a", "passed"), lane=f"{lane} of branches", commit="c1")
    of = {"commit": traced.commit("c1")}
    assert await traced.verdict() == "passed", "of the branch"
    assert (await traced.verdict(**of), await traced.verdict(**of, older="allow")) == ("not_run", "passed")
    assert (await traced.gate(**of, max_not_run=0))["passed"] is False
    gate = await traced.gate(**of, max_not_run=0, older="allow")
    assert gate["passed"]
    assert traced.key in [one["test_case"] for one in gate["older"]["items"]]
    await traced.run(("b", "passed"), lane="e2e of branches", commit="c1")
    assert await traced.verdict(**of) == "passed"


async def test_what_a_branch_drops_is_listed_and_retired_there(traced: Traced) -> None:
    lane, catalog = traced.branch, traced.results.catalog
    await _on_default(traced, ("a", "passed"), ("b", "passed"), lane=lane)
    await traced.run(("a", "passed"), lane=lane, commit="c1")
    (found,) = (await catalog.read("/automated-tests", missing=True, branch=traced.branch))["items"]
    (where,) = found["missing"]
    assert (where["branch"], where["lane"], where["missed_runs"]) == (traced.branch, lane, 1)
    retired = ok(await catalog.post(f"/automated-tests/{found['id']}/retire", {"note": "It is gone."}))
    assert [(one["branch"], one["lane"]) for one in retired["retired"]] == [(traced.branch, lane)]
    assert (await traced.verdict(), (await traced.gate())["passed"]) == ("passed", True)
    assert (await catalog.read("/automated-tests", missing=True, branch=traced.branch))["total"] == 0
    await _on_default(traced, ("b", "failed"), lane=lane)
    assert await traced.verdict() == "passed"
    assert (await traced.results.verdict(traced.requirement))["verdict"] == "flaky"


async def test_tests_that_a_branch_drops_are_retired_with_its_lane(traced: Traced) -> None:
    lane, catalog = traced.branch, traced.results.catalog
    await _on_default(traced, ("a", "passed"), ("b", "passed"), lane=lane)
    await traced.run(("a", "passed"), lane=lane, commit="c1")
    body = {"branch": traced.branch, "lane": lane, "note": "It is gone.", "expected_count": 1}
    assert ok(await catalog.post("/automated-tests/bulk-retire", body))["retired"] == 1
    assert await traced.verdict() == "passed"


async def test_what_another_branch_or_a_selection_names_takes_nothing_from_the_default_branch(results: Results) -> None:
    _, (failing, other) = await results.traced(2)
    word = results.catalog.word()

    async def send(case: Any, end: str, **options: Any) -> None:
        named = f'<property name="test_case" value="{case["external_id"]}"/>'
        inside = '<failure message="no"/>' if end == "failed" else ""
        report = f'<testsuite><testcase name="{word}"><properties>{named}</properties>{inside}</testcase></testsuite>'
        ok(await results.post(report.encode(), lane=word, run=f"{word} {options}", **options))

    async def verdicts() -> tuple[str, str]:
        found = [
            (await results.catalog.read(f"/test-cases/{one['id']}/results"))["verdict"] for one in (failing, other)
        ]
        return found[0], found[1]

    await send(failing, "failed", commit="c1")
    await send(other, "passed", branch=word, commit="c2")
    assert await verdicts() == ("failed", "failed"), "it counts for both now, and failed on the default branch"
    await send(other, "failed", commit="c3", partial=True)
    assert (await verdicts())[0] == "failed"
    await send(failing, "passed", commit="c4")
    assert await verdicts() == ("passed", "not_run"), "what the default branch names since is what counts"
