"""Levels of a project: admins define them, requirements have them, and one that is in use cannot go."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

ADMIN = Identity(id=9, email="admin@example.test", role=Role.ADMIN)
SYSTEM = {"key": "system", "name": "System requirement", "needs": ["child"]}
SOFTWARE = {"key": "software", "name": "Software requirement", "needs": ["parent", "test"]}


async def define(catalog: Any, *levels: Json) -> Json:
    return ok(await catalog.being(ADMIN).put("/levels", {"levels": [*levels]}))


@pytest.fixture
async def levels(catalog: Any) -> AsyncIterator[Any]:
    """The service, whose project has two levels for the time of a test."""
    await define(catalog, SYSTEM, SOFTWARE)
    yield catalog
    used = await catalog.read("/requirements", level="system,software", limit="500")
    for one in used["items"]:
        ok(await catalog.patch(f"/requirements/{one['id']}", {"level": None}))
    await define(catalog)


async def test_admins_define_levels_and_others_read_them(levels: Any, viewer: Any) -> None:
    assert (await levels.put("/levels", {"levels": []})).status_code == 403
    assert await viewer.read("/levels") == {"levels": [SYSTEM, SOFTWARE]}
    renamed = await define(levels, SOFTWARE | {"name": "Code", "needs": ["test", "parent"]})
    assert renamed == {"levels": [SOFTWARE | {"name": "Code"}]}
    assert await viewer.read("/levels") == renamed
    admin = levels.being(ADMIN)
    for bad in ([SYSTEM, SYSTEM], [SYSTEM | {"key": "No Key"}], [SYSTEM | {"needs": ["luck"]}], [SYSTEM] * 9):
        problem(await admin.put("/levels", {"levels": bad}), 422)


async def test_a_requirement_has_a_level_of_the_project_on_each_way_to_write_it(levels: Any) -> None:
    made = await levels.requirement(level="system", derived=True, rationale="Nobody asks for it.")
    path = f"/requirements/{made['id']}"
    assert (made["level"], made["derived"], made["rationale"]) == ("system", True, "Nobody asks for it.")
    changed = ok(await levels.patch(path, {"level": "software", "derived": None, "rationale": "None."}))
    assert (changed["level"], changed["derived"], changed["version"]) == ("software", False, 1)
    body = levels.item(level="component")
    for answer in (
        await levels.post("/requirements", body),
        await levels.post("/requirements", body, Idempotency_Key=levels.word()),
        await levels.put(f"/requirements/by-external-id/{levels.word()}", body),
        await levels.put(path, body),
        await levels.patch(path, {"level": "component"}),
    ):
        error = problem(answer, 422)["errors"][0]
        assert (error["pointer"], error["code"]) == ("/level", "unknown_level")
        assert "system and software" in error["message"]
    many = ok(await levels.post("/requirements/bulk", {"ids": [made["id"]], "patch": {"level": "component"}}))
    assert many["results"][0]["error"]["errors"][0]["code"] == "unknown_level"
    many = ok(await levels.post("/requirements/bulk", {"ids": [made["id"]], "patch": {"level": "system"}}))
    assert many["changed"] == 1
    history = await levels.read(f"{path}/history")
    assert history["items"][0]["changes"] == {"level": {"before": "software", "after": "system"}}


async def test_a_level_in_use_cannot_go_and_says_how_many_have_it(levels: Any) -> None:
    for _ in range(2):
        await levels.requirement(level="system")
    refused = problem(await levels.being(ADMIN).put("/levels", {"levels": [SOFTWARE]}), 409, "level_in_use")
    assert (refused["key"], refused["count"]) == ("system", 2)
    assert len((await levels.read("/levels"))["levels"]) == 2


async def test_requirements_are_found_and_counted_by_level(levels: Any) -> None:
    creator = levels.word()
    for level, derived in (("system", False), ("software", True), ("software", False), (None, False)):
        await levels.requirement(level=level, derived=derived, created_by=creator)

    async def count(**asked: str) -> int:
        return int((await levels.read("/requirements", created_by=creator, **asked))["total"])

    assert [await count(level=level) for level in ("software", "system,software", "!software", '""')] == [2, 3, 2, 1]
    assert [await count(derived=derived) for derived in ("true", "false")] == [1, 3]
    facets = await levels.read("/requirements/facets", created_by=creator, facets="level")
    assert {one["value"]: one["count"] for one in facets["facets"]["level"]} == {"software": 2, "system": 1, None: 1}
