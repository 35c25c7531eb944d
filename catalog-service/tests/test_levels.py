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


async def build(levels: Any) -> dict[str, Json]:
    """Make three system requirements and three of software, of which one each has nothing above or below it."""
    module = levels.word()
    made = {
        name: await levels.requirement(external_id=f"{name}-{module}", title=name, module=module, level=level)
        for name, level in (
            *((name, "system") for name in ("S1", "S2", "S3")),
            *((name, "software") for name in ("C1", "C2", "C3")),
        )
    }
    await levels.relation(made["C1"], made["S1"])
    await levels.relation(made["C2"], made["S2"])
    await levels.relation(made["C3"], made["S3"], relation_type="related")
    return made


async def test_the_trace_score_of_a_level_is_what_it_has_of_what_it_needs(levels: Any, viewer: Any) -> None:
    before = await viewer.read("/reports/levels")
    made = await build(levels)
    test = await levels.test_case()
    await levels.link(made["C1"], test)
    ok(await levels.patch(f"/requirements/{made['S2']['id']}", {"description": "Another meaning."}))
    await levels.requirement(level="software", derived=True, rationale="Of the operating system.")
    found = await viewer.read("/reports/levels")
    assert [one["requirements"] for one in found["levels"]] == [3, 4]
    assert found["without_level"] == before["without_level"]

    def row(level: str, need: str) -> list[Any]:
        (one,) = (one for one in found["rows"] if (one["level"], one["need"]) == (level, need))
        return [one[name] for name in ("other", "needed", "expected", "present", "elsewhere", "suspect", "share")]

    assert row("system", "child") == ["software", True, 3, 2, 0, 1, 0.6667]
    assert row("software", "parent") == ["system", True, 3, 2, 0, 1, 0.6667]
    assert row("software", "test") == [None, True, 4, 1, 0, 0, 0.25]
    assert row("system", "test") == [None, False, 3, 0, 0, 0, 0.0]
    assert found["share"] == 0.5
    await levels.relation(made["C3"], await levels.requirement())
    (one,) = (
        one
        for one in (await viewer.read("/reports/levels"))["rows"]
        if (one["level"], one["need"]) == ("software", "parent")
    )
    assert (one["present"], one["elsewhere"]) == (2, 1)


async def test_a_gate_asks_for_parents_children_and_relations_that_are_not_suspect(levels: Any) -> None:
    made = await build(levels)
    module = made["C1"]["module"]

    async def judged(**asked: Any) -> tuple[float, bool, list[str]]:
        gate = await levels.read("/reports/gate", module=module, **asked)
        (rule,) = gate["rules"]
        return rule["actual"], rule["passed"], [one["reason"] for one in rule["items"]]

    count, passed, (reason,) = await judged(max_without_parent=0)
    assert (count, passed, reason) == (1, False, f"C3-{module}: C3 (no parent)")
    assert await judged(max_without_child=0, level="software") == (
        3,
        False,
        [f"{name}-{module}: {name} (no child)" for name in ("C1", "C2", "C3")],
    )
    ok(await levels.patch(f"/requirements/{made['C3']['id']}", {"derived": True}))
    assert (await judged(max_without_parent=0))[2] == [f"C3-{module}: C3 (no parent, derived without a rationale)"]
    ok(await levels.patch(f"/requirements/{made['C3']['id']}", {"rationale": "Of the platform."}))
    assert await judged(max_without_parent=0, level="software") == (0, True, [])
    (relation,) = (await levels.read("/relations", child_id=made["C1"]["id"]))["items"]
    assert (await levels.delete(f"/relations/{relation['id']}")).status_code == 204
    assert (await judged(max_without_parent=0, level="software"))[:2] == (1, False)
    assert await judged(max_suspect_relations=0) == (0, True, [])
    ok(await levels.patch(f"/requirements/{made['S2']['id']}", {"description": "Another meaning."}))
    count, passed, (reason,) = await judged(max_suspect_relations=0)
    assert (count, passed) == (1, False)
    assert f"S2-{module} went from version 1 to 2" in reason
    outside = levels.word()
    await levels.requirement(module=outside)
    gate = await levels.read("/reports/gate", module=outside, max_without_parent=0)
    assert gate["rules"][0]["items"][0]["reason"].endswith("(no parent, no level)")
