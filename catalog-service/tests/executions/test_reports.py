"""Result trend, flaky tests, saved policies, and what is not kept."""

from datetime import UTC, datetime, timedelta

from catalog_service.executions import retention, verdict_days
from catalog_service.settings import Settings
from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

from .conftest import Results

ADMIN = Identity(id=3, email="admin@example.test", role=Role.ADMIN)


def _settings(results: Results) -> Settings:
    return Settings(database_url=results.catalog.database.url)


async def test_each_day_has_what_was_executed(results: Results) -> None:
    branch = results.catalog.word()
    yesterday = datetime.now(UTC) - timedelta(days=1)
    await results.send(("a", "failed"), ("b", "passed"), branch=branch, started_at=yesterday.isoformat())
    await results.send(("a", "flaky"), branch=branch)
    trend = await results.catalog.read("/reports/result-trend", branch=branch, days=7)
    assert [(day["date"], day["results"]["passed"], day["results"]["failed"]) for day in trend["items"]] == [
        (str(yesterday.date()), 1, 1),
        (str(datetime.now(UTC).date()), 0, 0),
    ]
    assert trend["items"][1]["results"]["flaky"] == 1
    assert [day["results"]["duration_ms"] for day in trend["items"]] == [200, 100]


async def test_today_has_the_verdicts_of_the_default_branch(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    await results.send((f"[{test_case['external_id']}]", "failed"))
    await verdict_days.keep_today(results.catalog.database, _settings(results), datetime.now(UTC))
    days = (await results.catalog.read("/reports/result-trend"))["items"]
    total = (await results.catalog.read("/requirements", limit=1))["total"]
    assert sum(days[-1]["requirements"].values()) == total
    kept = await results.catalog.rows("SELECT sum(failed)::int AS failed FROM verdict_days")
    assert kept == [{"failed": days[-1]["requirements"]["failed"]}]
    assert requirement["id"]


async def test_a_test_that_changes_with_the_same_code_is_flaky(results: Results) -> None:
    branch = results.catalog.word()
    requirement, (test_case,) = await results.traced()
    for end in ("passed", "failed", "passed"):
        await results.send((f"[{test_case['external_id']}]", end), branch=branch, commit="abc")
    (flaky,) = (await results.catalog.read("/reports/flaky-tests", branch=branch))["items"]
    assert (flaky["flips"], flaky["outcomes"], flaky["last_message"]) == (2, "pfp", "no")
    assert flaky["failure_rate"] == 0.3333
    assert flaky["test_case"]["id"] == test_case["id"]
    assert (await results.verdict(requirement, branch=branch))["verdict"] == "flaky"
    assert (await results.verdict(requirement, branch=branch, allow_flaky=True))["verified"]


async def test_a_flaky_test_says_why_it_failed_last_on_this_branch(results: Results) -> None:
    _, (test_case,) = await results.traced()
    branches = [results.catalog.word() for _ in range(3)]
    for branch, names in zip(branches, ("a", "bc", "cb"), strict=True):
        for name in names:
            case = f'<testcase name="[{test_case["external_id"]}] {name}"><flakyFailure message="{name}"/></testcase>'
            ok(await results.post(f"<testsuite>{case}</testsuite>".encode(), branch=branch, run=branch))
    reports = [await results.catalog.read("/reports/flaky-tests", branch=branch) for branch in branches]
    # Each test by itself: one is not flaky for what another said.
    said = [{row["test"]["name"][-1]: row["last_message"] for row in report["items"]} for report in reports]
    assert said == [{"a": "a"}, {"b": "b", "c": "c"}, {"b": "b", "c": "c"}]


async def test_test_cases_have_verdicts_by_themselves(results: Results) -> None:
    branch, settings = results.catalog.word(), _settings(results)
    _, (old, failed, never) = await results.traced(3)
    long_ago = datetime.now(UTC) - timedelta(days=settings.results_stale_days + 1)
    await results.send((f"[{old['external_id']}]", "passed"), branch=branch, started_at=long_ago.isoformat())
    await results.send((f"[{failed['external_id']}]", "failed"), branch=branch)

    async def told(**query: str) -> Json:
        found = await results.catalog.read("/reports/test-case-verdicts", branch=branch, **query)
        return {row["id"]: (row["verdict"], [reason["code"] for reason in row["reasons"]]) for row in found["items"]}

    mine = ",".join(one["id"] for one in (never, failed, old))
    of_mine = await told(ids=mine)
    assert of_mine == {old["id"]: ("stale", ["old"]), failed["id"]: ("failed", []), never["id"]: ("not_run", [])}
    assert next(iter(of_mine)) == old["id"]
    assert await told(ids=mine, verdict="!failed,!not_run") == {old["id"]: ("stale", ["old"])}
    assert old["id"] in await told(verdict="stale")
    ok(await results.catalog.patch(f"/test-cases/{old['id']}", {"status": "deprecated"}))
    assert old["id"] not in await told(verdict="stale")
    assert old["id"] in await told(ids=mine)


async def test_admins_keep_policies_that_gates_name(results: Results) -> None:
    admin, name = results.catalog.being(ADMIN), results.catalog.word()
    path, body = f"/reports/gate/policies/{name}", {"rules": [{"rule": "max_failed", "limit": 100000}]}
    await results.catalog.requirement()
    problem(await results.catalog.put(path, body), 403, "role_too_low")
    saved = ok(await admin.put(path, body), 201)
    assert await results.catalog.read(path) == saved
    gate = await results.catalog.read("/reports/gate", policy=name)
    assert [(rule["rule"], rule["limit"]) for rule in gate["rules"]] == [("max_failed", 100000)]
    problem(await results.catalog.get("/reports/gate", policy=name, max_failed=1), 422)
    for softer in ({"allow_flaky": True}, {"fallback": False}):
        problem(await results.catalog.get("/reports/gate", policy=name, **softer), 422)
    ok(await admin.put(path, {"rules": []}))
    assert (await admin.delete(path)).status_code == 204
    problem(await results.catalog.get("/reports/gate", policy=name), 422)


async def test_old_months_and_quiet_branches_are_not_kept(results: Results) -> None:
    quiet = results.catalog.word()
    requirement, (test_case,) = await results.traced()
    long_ago = datetime.now(UTC) - timedelta(days=200)
    case = (f"[{test_case['external_id']}]", "passed")
    await results.send(case, branch=quiet, started_at=long_ago.isoformat())
    await results.send(case, started_at=long_ago.isoformat())
    await retention.prune(
        results.catalog.database, datetime.now(UTC), retention=timedelta(days=400), default_branch="main"
    )
    found = await results.verdict(requirement, branch=quiet, fallback=False)
    assert (found["verdict"], found["total"]) == ("stale", 2)
    await retention.prune(
        results.catalog.database, datetime.now(UTC), retention=timedelta(days=100), default_branch="main"
    )
    assert (await results.verdict(requirement))["total"] == 0


async def test_days_are_left_of_months_that_are_dropped(results: Results) -> None:
    branch, name = results.catalog.word(), results.catalog.word()
    began = (datetime.now(UTC) - timedelta(days=300)).replace(day=15, hour=22)
    for hours, outcome in enumerate(("passed", "failed", "passed", "flaky", "skipped")):
        at = began + timedelta(hours=hours)
        await results.send((name, outcome), ("another", "passed"), branch=branch, started_at=at.isoformat())
    for _ in range(2):
        await retention.prune(
            results.catalog.database, datetime.now(UTC), retention=timedelta(days=200), default_branch="main"
        )
    days = await results.catalog.rows(
        """
        SELECT day, passed, failed, flaky, skipped, duration_ms FROM daily_counts
        JOIN automated_tests t ON t.id = test_id WHERE t.name = %s ORDER BY day
        """,
        name,
    )
    assert [tuple(day.values()) for day in days] == [
        (began.date(), 1, 1, 0, 0, 200),
        (began.date() + timedelta(days=1), 1, 0, 1, 1, 300),
    ]
    assert await results.catalog.rows("SELECT FROM executions WHERE at < %s", began + timedelta(days=15)) == []


async def test_lists_are_narrowed_by_verdicts(results: Results) -> None:
    catalog, module = results.catalog, results.catalog.word()
    ends = ["passed", "failed", "flaky", "skipped", None]
    cases = [await catalog.test_case(external_id=f"T{catalog.word()}", module=module) for _ in ends]
    for linked in ([], *([case] for case in cases), cases[:2], [cases[0], cases[4]]):
        requirement = await catalog.requirement(module=module)
        for case in linked:
            await catalog.link(requirement, case)
    await results.send(*((f"[{case['external_id']}]", end) for case, end in zip(cases, ends, strict=True) if end))
    report = (await catalog.read("/reports/verification", module=module))["items"]
    told = {row["id"]: row["verdict"] for row in report}
    assert set(told.values()) == {"uncovered", "passed", "failed", "flaky", "not_run", "partial"}
    ids = ",".join(case["id"] for case in cases)
    own = {row["id"]: row["verdict"] for row in (await catalog.read("/reports/test-case-verdicts", ids=ids))["items"]}
    alike = ("failed", "failed,flaky", "!passed", "not_run")
    for path, verdicts, asked in (
        ("/requirements", told, (*alike, "uncovered,failed", "partial")),
        ("/test-cases", own, (*alike, "skipped")),
    ):
        for wanted in asked:
            found = await catalog.read(path, module=module, verdict=wanted)
            named = set(wanted.removeprefix("!").split(","))
            expected = {key for key, verdict in verdicts.items() if (verdict in named) is not wanted.startswith("!")}
            assert {row["id"] for row in found["items"]} == expected, (path, wanted)
            assert found["total"] == len(expected) > 0
            counted = await catalog.read(f"{path}/facets", module=module, verdict=wanted, facets="status")
            assert counted["total"] == len(expected)
        failed = {"module": module, "verdict": "failed"}
        preview = ok(await catalog.post(f"{path}/bulk", {"filter": failed, "patch": {"priority": "low"}}))
        assert preview["matched"] == sum(verdict == "failed" for verdict in verdicts.values())
        response = await catalog.get(path, verdict="pased")
        assert (response.status_code, response.json()["errors"][0]["code"]) == (422, "unknown_value")


async def test_days_before_verdicts_were_kept_are_worked_out_from_the_runs(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    name, now = f"[{test_case['external_id']}]", datetime.now(UTC)
    days = [str((now - timedelta(days=days)).date()) for days in range(6, 0, -1)]

    async def past(verdict: str) -> list[int]:
        items = (await results.catalog.read("/reports/result-trend", days=8))["items"]
        trend = {day["date"]: day for day in items}
        assert all(trend[day]["worked_out"] for day in days if day in trend)
        assert not items[-1]["worked_out"]
        return [trend[day]["requirements"][verdict] if day in trend else 0 for day in days]

    before = {verdict: await past(verdict) for verdict in ("passed", "failed", "not_run")}
    # The first says since when there is a past at all.
    for ago, end in ((6, "skipped"), (4, "passed"), (2, "failed")):
        await results.send((name, end), commit=str(ago), started_at=(now - timedelta(days=ago)).isoformat())
    after = {verdict: await past(verdict) for verdict in ("passed", "failed")}
    changes = {v: [new - old for new, old in zip(after[v], before[v], strict=True)] for v in after}
    assert changes == {"passed": [0, 0, 1, 1, 0, 0], "failed": [0, 0, 0, 0, 1, 1]}
    (link,) = (await results.catalog.read("/links", requirement_id=requirement["id"]))["items"]
    await results.catalog.delete(f"/links/{link['id']}")
    assert await past("failed") == before["failed"], "of links that are gone nothing is known"


async def test_verdicts_of_modules_are_those_of_the_other_reports(results: Results) -> None:
    module = results.catalog.word()
    for end in ("passed", "failed"):
        requirement, (test_case,) = await results.traced()
        await results.catalog.patch(f"/requirements/{requirement['id']}", {"module": module})
        await results.send((f"[{test_case['external_id']}]", end))
    await results.catalog.requirement(module=module)
    found = await results.catalog.read("/reports/verdicts-by-module")
    summary = (await results.catalog.read("/reports/verification", limit=1))["summary"]
    assert found["overall"]["requirements"] == summary["requirements"]
    coverage = await results.catalog.read("/reports/coverage-by-module")
    names = ("total_requirements", "covered_requirements", "suspect_links")
    assert {name: found["overall"][name] for name in names} == {name: coverage["overall"][name] for name in names}
    modules = {one["module"]: one for one in found["items"]}
    for one in coverage["items"]:
        if one["total_requirements"]:
            assert {name: modules[one["module"]][name] for name in names} == {name: one[name] for name in names}
    of_module = await results.catalog.read("/reports/verification", limit=1, module=module)
    assert modules[module]["requirements"] == of_module["summary"]["requirements"]
    assert modules[module]["requirements"]["failed"] == 1
