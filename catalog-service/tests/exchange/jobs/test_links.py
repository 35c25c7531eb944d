"""Links of a file: between what is there, and what the same file brings."""

from dataclasses import replace
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import ok

from .conftest import Imports

ROOT = Identity(id=1, email="root@example.test", role=Role.ADMIN)


def told(row: Any) -> tuple[Any, Any]:
    return row["action"], row["code"]


def link(requirement: Any, test_case: Any, **fields: Any) -> Any:
    return {"kind": "link", "requirement": requirement, "test_case": test_case, **fields}


async def test_items_and_their_link_come_by_one_file(imports: Any) -> None:
    requirement, test_case = imports.requirement(), imports.test_case()
    pair = link(requirement["external_id"], test_case["external_id"], link_type="verifies", notes="N")
    job = await imports.load(pair, requirement, test_case)
    assert job["counts"]["links"]["create"] == 1
    made = await imports.catalog.read(f"/requirements/by-external-id/{requirement['external_id']}")
    (linked,) = (await imports.catalog.read(f"/requirements/{made['id']}/test-cases"))["items"]
    assert linked["external_id"] == test_case["external_id"]
    assert (linked["link_type"], linked["link_source"], linked["link"]["notes"]) == ("verifies", "imported", "N")
    assert not linked["suspect"]
    again = await imports.plan(pair, requirement, test_case)
    assert again["counts"]["links"]["unchanged"] == 1


@pytest.mark.parametrize("by", ["id", "external_id"])
async def test_a_link_names_what_is_there(imports: Any, by: str) -> None:
    requirement = await imports.catalog.requirement(external_id=imports.catalog.word())
    test_case = await imports.catalog.test_case(external_id=imports.catalog.word())
    row = await imports.row(link({by: requirement[by]}, {by: test_case[by]}))
    assert told(row) == ("create", None)


@pytest.mark.parametrize("profile", ["native", "plain"])
async def test_links_alone_find_the_items_that_came_from_another_record(imports: Any, profile: str) -> None:
    there, here = (imports.catalog.being(replace(ROOT, project=imports.catalog.word()[:10].upper())) for _ in range(2))
    pairs = {("Named", "Test of it"): ("R-1", "T-1"), ("Without a name", "Test without"): (None, None)}
    for (title, of_test), (requirement_id, test_case_id) in pairs.items():
        requirement = await there.requirement(title=title, external_id=requirement_id)
        await there.link(requirement, await there.test_case(title=of_test, external_id=test_case_id))

    async def exported(**query: Any) -> bytes:
        content: bytes = (await there.get("/exports", format="ndjson", profile=profile, **query)).content
        return content

    items, links = await exported(links=False), await exported(kind="links")
    of_here = Imports(here)
    await of_here.apply(ok(await of_here.send_file(items)))
    job = await of_here.apply(ok(await of_here.send_file(links)))
    assert job["counts"]["links"]["create"] == len(pairs)
    title = {
        item["id"]: item["title"]
        for of in ("requirements", "test-cases")
        for item in (await here.read(f"/{of}"))["items"]
    }
    made = (await here.read("/links"))["items"]
    assert {(title[link["requirement_id"]], title[link["test_case_id"]]) for link in made} == set(pairs)
    for again in (links, await exported()):
        counts = ok(await of_here.send_file(again))["counts"]
        assert {action for of in counts.values() for action, number in of.items() if number} == {"unchanged"}


async def test_an_end_by_an_id_that_nobody_has_is_said(imports: Any) -> None:
    there = await imports.catalog.requirement(external_id="REQ-there")
    nowhere = {"id": "00000000-0000-4000-8000-000000000000"}
    row = await imports.row(link({"external_id": there["external_id"]}, nowhere))
    assert told(row) == ("error", "test_case_not_found")
    assert nowhere["id"] in row["problems"][0]["message"]
    assert told(await imports.row(link(nowhere, "TC-nowhere"))) == ("error", "requirement_not_found")


async def test_a_pair_that_is_linked_is_changed_where_the_file_says_otherwise(imports: Any) -> None:
    requirement, test_case = await imports.catalog.pair()
    await imports.catalog.link(requirement, test_case, notes="Old")
    ends = {"id": requirement["id"]}, {"id": test_case["id"]}
    assert told(await imports.row(link(*ends))) == ("unchanged", None)
    row = await imports.row(link(*ends, notes="New"))
    assert row["changes"] == [{"field": "notes", "before": "Old", "after": "New"}]
    await imports.load(link(*ends, notes="New"))
    (linked,) = (await imports.catalog.read(f"/requirements/{requirement['id']}/test-cases"))["items"]
    assert (linked["link"]["notes"], linked["link_source"]) == ("New", "manual")


async def test_a_pair_twice_is_made_once(imports: Any) -> None:
    requirement, test_case = await imports.catalog.pair()
    pair = link({"id": requirement["id"]}, {"id": test_case["id"]})
    rows = await imports.rows(await imports.plan(pair, pair))
    assert [told(row) for row in rows] == [("create", None), ("skip", "duplicate_in_file")]


async def test_exact_links_take_imported_ones_away_and_no_others(imports: Any) -> None:
    requirement, kept, gone, manual = (
        imports.requirement(),
        imports.test_case(),
        imports.test_case(),
        imports.test_case(),
    )
    first = link(requirement["external_id"], kept["external_id"])
    await imports.load(requirement, kept, gone, manual, first, link(requirement["external_id"], gone["external_id"]))
    ids = {
        record["external_id"]: await imports.catalog.read(f"/test-cases/by-external-id/{record['external_id']}")
        for record in (kept, gone, manual)
    }
    made = await imports.catalog.read(f"/requirements/by-external-id/{requirement['external_id']}")
    await imports.catalog.link(made, ids[manual["external_id"]])
    job = await imports.load(requirement, kept, first, links="exact")
    assert job["counts"]["links"]["delete"] == 1
    left = (await imports.catalog.read(f"/requirements/{made['id']}/test-cases"))["items"]
    assert {one["external_id"] for one in left} == {kept["external_id"], manual["external_id"]}


async def test_a_change_of_meaning_tells_how_many_links_it_makes_suspect(imports: Any) -> None:
    requirement = imports.requirement()
    tests = [imports.test_case() for _ in range(2)]
    await imports.load(requirement, *tests, *(link(requirement["external_id"], one["external_id"]) for one in tests))
    changed = {"kind": "requirement", "external_id": requirement["external_id"], "title": "Other"}
    job = await imports.plan(changed)
    (row,) = await imports.rows(job)
    assert row["makes_suspect"] == job["summary"]["makes_suspect"] == 2
    ok(await imports.catalog.post(f"/imports/{job['id']}/apply", {}))
    made = await imports.catalog.read(f"/requirements/by-external-id/{requirement['external_id']}")
    linked = (await imports.catalog.read(f"/requirements/{made['id']}/test-cases"))["items"]
    assert [one["suspect"] for one in linked] == [True, True]
