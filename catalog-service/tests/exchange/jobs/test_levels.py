"""Levels of a project in imports: read where the project has some, further data where it has none, and restored."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from installations import Installation, two_installations

from chassis.core.identity import Identity, Role
from testing import PostgresServer
from testing.service import Json, ok, problem

ADMIN = Identity(id=9, email="admin@example.test", role=Role.ADMIN)
SYSTEM = {"key": "system", "name": "System requirement", "needs": ["child"]}
SOFTWARE = {"key": "software", "name": "Software", "needs": ["parent", "test"]}
COLUMNS = ("ID", "Title", "Description", "Type", "Priority", "Level", "Derived", "Rationale", "Section")


async def define(imports: Any, *levels: Json) -> Json:
    return ok(await imports.catalog.being(ADMIN).put("/levels", {"levels": [*levels]}))


@pytest.fixture
async def levels(imports: Any) -> AsyncIterator[Any]:
    """Imports into a project that has two levels for the time of a test."""
    await define(imports, SYSTEM, SOFTWARE)
    yield imports
    used = (await imports.catalog.read("/requirements", level="system,software", limit="500"))["items"]
    if used:
        ids = {"ids": [one["id"] for one in used], "patch": {"level": None}}
        ok(await imports.catalog.post("/requirements/bulk", ids))
    await define(imports)


async def sent(imports: Any, *rows: tuple[str, ...], mapping: Json | None = None) -> tuple[Json, list[str]]:
    """Send a table of requirements; return its plan, and their keys."""
    keys = [f"REQ-{imports.catalog.word()[:8]}" for _ in rows]
    lines = [
        COLUMNS,
        *((key, "Doors close", "All close.", "functional", "high", *row) for key, row in zip(keys, rows, strict=True)),
    ]
    text = "\n".join(",".join(cells) for cells in lines)
    form: dict[str, Any] = {"file": ("rows.csv", text.encode(), "text/csv")}
    if mapping is not None:
        form["mapping"] = (None, json.dumps(mapping))
    return ok(await imports.catalog.request("POST", "/imports", files=form)), keys


async def found(imports: Any, keys: list[str]) -> list[Json]:
    return [await imports.catalog.read(f"/requirements/by-external-id/{key}") for key in keys]


async def test_columns_of_levels_are_further_data_where_the_project_has_none(imports: Any) -> None:
    plan, keys = await sent(imports, ("3.1", "no", "Since 2019", "Doors"), ("system", "yes", "Asked", "Doors"))
    assert plan["counts"]["requirements"]["create"] == 2, plan["summary"]
    await imports.apply(plan)
    first, second = await found(imports, keys)
    assert [(one["level"], one["derived"], one["rationale"]) for one in (first, second)] == [(None, False, None)] * 2
    (kept,) = first["custom_metadata"].values()
    assert kept == {"Level": "3.1", "Derived": "no", "Rationale": "Since 2019"}


async def test_columns_of_levels_are_read_by_key_or_name_where_the_project_has_some(levels: Any) -> None:
    plan, keys = await sent(
        levels, ("system", "no", "", ""), ("SYSTEM requirement", "yes", "Asked", ""), ("", "", "", "")
    )
    await levels.apply(plan)
    assert [(one["level"], one["derived"], one["rationale"]) for one in await found(levels, keys)] == [
        ("system", False, None),
        ("system", True, "Asked"),
        (None, False, None),
    ]


@pytest.mark.parametrize("is_mapped", [False, True])
async def test_a_level_that_is_none_of_the_project_is_refused_in_the_plan(levels: Any, is_mapped: bool) -> None:
    fields = {name.lower(): {"column": name} for name in COLUMNS[1:6]} | {"external_id": {"column": "ID"}}
    mapping = {"version": 1, "kind": "requirements", "fields": fields} if is_mapped else None
    plan, _ = await sent(levels, ("component", "", "", ""), ("software", "", "", ""), mapping=mapping)
    assert plan["counts"]["requirements"]["error"] == plan["counts"]["requirements"]["create"] == 1
    (row,) = await levels.rows(plan, action="error")
    (told,) = row["problems"]
    assert (row["code"], told["code"], told["value"]) == ("unknown_level", "unknown_level", "component")
    assert "system and software" in told["message"]
    applied = await levels.apply(plan)
    assert applied["counts"]["requirements"]["create"] == 1


async def test_a_mapped_level_is_refused_in_the_plan_where_the_project_has_none(imports: Any) -> None:
    fields = {name.lower(): {"column": name} for name in COLUMNS[1:6]} | {"external_id": {"column": "ID"}}
    plan, _ = await sent(
        imports, ("system", "", "", ""), mapping={"version": 1, "kind": "requirements", "fields": fields}
    )
    (refused,) = await imports.rows(plan, action="error")
    assert refused["code"] == "unknown_level"
    assert "PUT /levels" in refused["problems"][0]["message"]


async def test_a_level_that_goes_after_the_plan_is_planned_anew_or_refused(levels: Any) -> None:
    plan, keys = await sent(levels, ("software", "", "", ""))
    await define(levels, SYSTEM)
    problem(await levels.catalog.post(f"/imports/{plan['id']}/apply", {}), 409, "record_changed")
    again = await levels.catalog.read(f"/imports/{plan['id']}")
    assert (again["counts"]["requirements"]["error"], again["summary"]["problems"][0]["code"]) == (1, "unknown_level")
    assert (await levels.catalog.get(f"/requirements/by-external-id/{keys[0]}")).status_code == 404


async def test_members_of_other_tools_are_fields_where_they_say_what_these_say(levels: Any) -> None:
    said = levels.requirement(level="Software", derived=True, rationale="Asked", section=["3 Doors"])
    other = levels.requirement(level=3, derived="yes", section="3.1", rationale=None)
    await levels.load(said, other)
    first, second = await found(levels, [said["external_id"], other["external_id"]])
    assert (first["level"], first["derived"], first["section"]) == ("software", True, ["3 Doors"])
    assert second["custom_metadata"] == {"import": {"level": 3, "derived": "yes", "section": "3.1"}}
    await define_none(levels, first)
    again = levels.requirement(level="system", derived=True, rationale="Asked")
    await levels.load(again)
    (third,) = await found(levels, [again["external_id"]])
    assert (third["level"], third["derived"], third["rationale"]) == (None, False, None)
    assert third["custom_metadata"] == {"import": {"level": "system", "derived": True, "rationale": "Asked"}}


async def define_none(imports: Any, used: Json) -> None:
    ok(await imports.catalog.patch(f"/requirements/{used['id']}", {"level": None}))
    await define(imports)


@pytest.fixture(scope="module")
async def two(postgres: PostgresServer) -> AsyncIterator[tuple[Installation, Installation]]:
    async with two_installations(postgres) as both:
        yield both


@pytest.mark.parametrize("form", ["ndjson", "json"])
async def test_a_restore_makes_the_levels_of_the_file_where_there_are_none(
    two: tuple[Installation, Installation], form: str
) -> None:
    one, other = two
    for installation in two:
        await installation.empty()
    ok(await one.admin.put("/levels", json={"levels": [SYSTEM, SOFTWARE]}))
    body = {"title": "Doors", "description": "Close", "type": "functional", "priority": "low", "section": ["3 Doors"]}
    for level in ("system", "software", None):
        ok(await one.admin.post("/requirements", json={**body, "level": level}), 201)
    content = await one.exported(format=form)
    planned = await other.bring(content, mode="restore")
    assert {one["code"]: one["count"] for one in planned["summary"]["warnings"]} == {"levels_made": 2}
    assert (await other.admin.read("/levels"))["levels"] == [], "a plan makes nothing"
    ok(await other.admin.post(f"/imports/{planned['id']}/apply", json={}))
    assert await other.admin.read("/levels") == {"levels": [SYSTEM, SOFTWARE]}
    assert await other.everything() == await one.everything()
    again = await other.bring(content, mode="restore")
    assert (again["counts"]["requirements"]["unchanged"], again["summary"]["warnings"]) == (3, [])
    await other.empty()
    ok(await other.admin.put("/levels", json={"levels": [SYSTEM]}))
    refused = await other.bring(content, mode="restore")
    assert refused["summary"]["problems"][0]["code"] == "unknown_level"
    ok(await other.admin.put("/levels", json={"levels": []}))


async def test_a_file_of_our_own_that_a_reviewer_brings_makes_no_levels(
    two: tuple[Installation, Installation],
) -> None:
    _, other = two
    await other.empty()
    ok(await other.admin.put("/levels", json={"levels": [SYSTEM]}))
    body = {"title": "Doors", "description": "Close", "type": "functional", "priority": "low", "level": "system"}
    ok(await other.admin.post("/requirements", json={**body, "external_id": "R-1"}), 201)
    content = await other.exported(format="ndjson", profile="plain")
    await other.empty()
    ok(await other.admin.put("/levels", json={"levels": []}))
    planned = ok(await other.reviewer.post("/imports", content=content, params={}))
    assert [one["code"] for one in planned["summary"]["problems"]] == ["unknown_level"]
    await other.take(content)
    assert await other.admin.read("/levels") == {"levels": [SYSTEM]}
