"""What projects want of their record, and what is left of those that are deleted."""

import dataclasses
import io
from typing import Any

import openpyxl
import pytest

from catalog_service.coverage.projector import CoverageProjector
from catalog_service.handlers import HANDLERS
from catalog_service.projects.service import remove_deleted
from chassis.core.identity import Identity, Role
from chassis.core.projects import NONE, within
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Payload
from contracts import auth, suggestion
from contracts.projects import GateRule, ProjectSettings, ProjectState
from testing.isolation import checksums
from testing.service import ok, problem

ROOT = Identity(id=1, email="root@example.test", role=Role.ADMIN)


@pytest.fixture
async def inbox(catalog: Any) -> Inbox:
    return Inbox("catalog", catalog.database, HANDLERS)


def told(payload: type[Payload], key: str, place: int, **settings: Any) -> bytes:
    """Return an event of auth-service about a project, as it comes."""
    state = ProjectState(
        key=key,
        name=key,
        description="",
        visibility="open",
        archived=payload is auth.ProjectDeleted,
        settings=ProjectSettings(**settings),
    )
    more = {} if payload in (auth.ProjectCreated, auth.ProjectDeleted) else {"changes": {}}
    return sequenced(place, NewEvent(payload(project=state, **more), key, SYSTEM, project=NONE).envelope())


async def test_reports_name_the_project_that_they_are_of(catalog: Any) -> None:
    there = catalog.being(dataclasses.replace(ROOT, project="THERE"))
    await there.requirement(external_id="R-1")
    for report in ("traceability-matrix", "verification", "gaps"):
        assert (await there.read(f"/reports/{report}"))["project"] == "THERE"
    for report in ("traceability-matrix", "verification"):
        assert "<dt>Project</dt><dd>THERE</dd>" in (await there.get(f"/reports/{report}", format="html")).text
    assert "THERE" in (await there.get("/reports/traceability-matrix", format="csv", header="filters")).text
    workbook = await there.get("/reports/traceability-matrix", format="xlsx")
    said = openpyxl.load_workbook(io.BytesIO(workbook.content))
    assert ("Project", "THERE") in {row[:2] for sheet in said for row in sheet.iter_rows(values_only=True)}


async def test_coverage_falls_below_what_its_project_wants(catalog: Any, inbox: Inbox) -> None:
    await inbox.receive([told(auth.ProjectCreated, "STRICT", 1, coverage_threshold=1.0)])
    projector = CoverageProjector(catalog.database, 0.0, rest=0)
    for key in ("STRICT", "LOOSE"):
        there = catalog.being(dataclasses.replace(ROOT, project=key))
        await there.link(*await there.pair())
    await outbox.number(catalog.database)
    while await projector.project():
        pass
    for key in ("STRICT", "LOOSE"):
        await catalog.being(dataclasses.replace(ROOT, project=key)).requirement()
    await outbox.number(catalog.database)
    while await projector.project():
        pass
    drops = await catalog.events("catalog.coverage.dropped")
    assert [(drop["project"], drop["data"]["threshold"]) for drop in drops] == [("STRICT", 1.0)]


async def test_a_gate_without_rules_has_those_of_its_project(catalog: Any, inbox: Inbox) -> None:
    gate = (
        GateRule(rule="max_uncovered", limit=1, where={"priority": ("high", "critical")}),
        GateRule(rule="require_run"),
    )
    await inbox.receive([told(auth.ProjectCreated, "GATED", 11, gate=gate)])
    gated, other = (catalog.being(dataclasses.replace(ROOT, project=key)) for key in ("GATED", "UNGATED"))

    async def judged(**query: Any) -> list[tuple[str, float, bool]]:
        answer = await gated.read("/reports/gate", **query)
        return [(rule["rule"], rule["actual"], rule["passed"]) for rule in answer["rules"]]

    for priority in ("high", "critical", "low"):
        await gated.requirement(priority=priority)
    assert await judged() == [("max_uncovered", 2, False), ("require_run", False, False)]
    assert await judged(max_uncovered=3) == [("max_uncovered", 3, True)]
    posted = ok(await gated.post("/reports/gate", {"rules": []}))
    assert [rule["rule"] for rule in posted["rules"]] == ["max_uncovered", "require_run"]
    assert problem(await gated.get("/reports/gate", module="Doors"), 422)["errors"][0]["code"] == "contradiction"
    await other.requirement()
    assert [rule["rule"] for rule in (await other.read("/reports/gate"))["rules"]] == [
        "require_run",
        "max_failed",
        "max_missing",
    ]

    for number, (rule, why) in enumerate(
        (
            (GateRule(rule="max_failures", limit=0), "rules.0.rule: There is no rule 'max_failures'; it can be "),
            (GateRule(rule="max_failed"), "rules.0: max_failed needs a limit, such as 0. Ask an admin"),
            (GateRule(rule="max_failed", limit=0, where={"prio": ["low"]}), "rules.0.where.prio: There is no 'prio' "),
        ),
        12,
    ):
        await inbox.receive([told(auth.ProjectUpdated, "GATED", number, gate=(rule,))])
        assert why in problem(await gated.get("/reports/gate"), 422, "invalid_gate")["detail"]
    assert await judged(max_uncovered=3) == [("max_uncovered", 3, True)]
    await inbox.receive([told(auth.ProjectUpdated, "GATED", 15)])
    assert [rule for rule, _, _ in await judged()] == ["require_run", "max_failed", "max_missing"]


async def test_a_limit_that_settings_have_of_a_switch_is_judged_as_true(catalog: Any, inbox: Inbox) -> None:
    gate = (GateRule(rule="require_run", limit=0),)
    await inbox.receive([told(auth.ProjectCreated, "SWITCHED", 14, gate=gate)])
    [rule] = (await catalog.being(dataclasses.replace(ROOT, project="SWITCHED")).read("/reports/gate"))["rules"]
    assert (rule["rule"], rule["limit"], rule["passed"]) == ("require_run", True, False)


async def test_a_deleted_project_is_removed_whole_and_no_other(catalog: Any, inbox: Inbox) -> None:
    going, staying = (catalog.being(dataclasses.replace(ROOT, project=key)) for key in ("GOING", "STAYING"))
    for there in (going, staying):
        for _ in range(3):
            await there.link(*await there.pair())
    await outbox.number(catalog.database)
    before = await checksums(catalog.database, "STAYING")
    await inbox.receive([told(auth.ProjectCreated, "GOING", 2), told(auth.ProjectDeleted, "GOING", 3)])
    await remove_deleted(catalog.database)
    left = {name for name, value in (await checksums(catalog.database, "GOING")).items() if value}
    assert left == {"outbox", "projects"}
    async with catalog.database.across() as connection:
        feed = await connection.execute("SELECT DISTINCT wire_name FROM outbox WHERE project_id = 'GOING'")
        assert await feed.fetchall() == [{"wire_name": "catalog.event.withdrawn"}]
    assert await checksums(catalog.database, "STAYING") == before
    assert (await staying.read("/requirements"))["total"] == 3

    pairs = suggestion.PendingPairsChanged(
        pending=True, pairs={"5f0c4b0e-0d1c-4a53-8a9a-55c1d6f3a001": ["5f0c4b0e-0d1c-4a53-8a9a-55c1d6f3a002"]}
    )
    await inbox.receive([sequenced(1, NewEvent(pairs, "pending_pairs", SYSTEM, project="GOING").envelope())])
    await remove_deleted(catalog.database)
    with within("GOING"):
        async with catalog.database.connection() as connection:
            cursor = await connection.execute("SELECT removed, (SELECT count(*) FROM pending_pairs) FROM projects")
            assert await cursor.fetchone() == {"removed": True, "count": 0}
