"""Links of a file whose ends are not there: they wait, and become links once, whoever brings the other end."""

import asyncio
from typing import Any

import pytest

from testing.service import ok, problem

from .test_links import link, told


async def waiting(imports: Any, job: Any) -> list[Any]:
    return list((await imports.catalog.read("/references", waiting="true", import_id=job["id"]))["items"])


async def links_of(imports: Any, requirement: Any) -> list[Any]:
    return list((await imports.catalog.read("/links", requirement_id=requirement["id"], expand="items"))["items"])


async def test_a_link_to_what_is_not_there_waits_with_the_item_that_is(imports: Any) -> None:
    there, key = await imports.catalog.requirement(external_id=imports.catalog.word()), imports.catalog.word()
    planned = await imports.plan(link(there["external_id"], key, link_type="verifies", notes="N"))
    assert (planned["counts"]["links"]["wait"], planned["summary"]["clean"]) == (1, True)
    assert [one["code"] for one in planned["summary"]["warnings"]] == ["reference_waiting"]
    (row,) = await imports.rows(planned)
    assert told(row) == ("wait", "reference_waiting")
    assert key in row["warnings"][0]["message"]
    before = (await imports.catalog.read("/reports/gaps", limit=1))["waiting_references"]
    await imports.apply(planned)
    (reference,) = await waiting(imports, planned)
    owner = {"kind": "requirement", **{name: there[name] for name in ("id", "external_id", "title")}}
    assert (reference["owner"], reference["kind"], reference["key"]) == (owner, "link", key)
    assert (reference["key_kind"], reference["link_type"], reference["import_id"]) == (
        *("test_case", "verifies"),
        planned["id"],
    )
    assert (await imports.catalog.read("/reports/gaps", limit=1))["waiting_references"] == before + 1


@pytest.mark.parametrize("owner", ["requirement", "test_case"])
@pytest.mark.parametrize("way", ["import", "in_parts", "create", "put", "rename"])
async def test_it_becomes_a_link_when_its_other_end_comes(imports: Any, owner: str, way: str) -> None:
    catalog, key = imports.catalog, imports.catalog.word()
    other = "test_case" if owner == "requirement" else "requirement"
    there = await getattr(catalog, owner)(external_id=catalog.word())
    ends = {owner: there["external_id"], other: key}
    job = await imports.load({"kind": "link", **ends, "link_type": "validates"})
    path = f"/{other.replace('_', '-')}s"
    if way in {"import", "in_parts"}:
        await imports.load({**getattr(imports, other)(), "external_id": key}, atomic=way == "import")
    elif way == "create":
        ok(await catalog.post(path, catalog.item(external_id=key)), 201)
    elif way == "put":
        ok(await catalog.put(f"{path}/by-external-id/{key}", catalog.item()), 201)
    else:
        item = await getattr(catalog, other)()
        ok(await catalog.patch(f"{path}/{item['id']}", {"external_id": key}))
    come = await catalog.read(f"{path}/by-external-id/{key}")
    requirement = there if owner == "requirement" else come
    (made,) = await links_of(imports, requirement)
    assert {made["requirement"]["external_id"], made["test_case"]["external_id"]} == set(ends.values())
    assert (made["link_type"], made["link_source"], made["suspect"]) == ("validates", "imported", False)
    assert await waiting(imports, job) == []


async def test_without_either_end_it_waits_for_both(imports: Any) -> None:
    catalog, requirement, test_case = imports.catalog, imports.catalog.word(), imports.catalog.word()
    job = await imports.load(link(requirement, test_case))
    (reference,) = await waiting(imports, job)
    assert (reference["owner"], reference["other_key"], reference["key"]) == (None, requirement, test_case)
    tested = await catalog.test_case(external_id=test_case)
    (reference,) = await waiting(imports, job)
    assert (reference["owner"]["id"], reference["key"]) == (tested["id"], requirement)
    required = await catalog.requirement(external_id=requirement)
    assert len(await links_of(imports, required)) == 1
    assert await waiting(imports, job) == []


async def test_two_who_bring_both_ends_at_once_make_one_link(imports: Any) -> None:
    catalog = imports.catalog
    keys = [(catalog.word(), catalog.word()) for _ in range(20)]
    job = await imports.load(*(link(*pair) for pair in keys))
    await asyncio.gather(
        *(catalog.requirement(external_id=one) for one, _ in keys),
        *(catalog.test_case(external_id=one) for _, one in keys),
    )
    assert await waiting(imports, job) == []
    for requirement, _ in keys:
        found = await catalog.read(f"/requirements/by-external-id/{requirement}")
        assert len(await links_of(imports, found)) == 1


async def test_what_comes_while_the_reference_is_imported_is_not_missed(imports: Any) -> None:
    catalog = imports.catalog
    there = await catalog.requirement(external_id=catalog.word())
    keys = [catalog.word() for _ in range(12)]
    jobs = [await imports.plan(link(there["external_id"], key)) for key in keys]
    applying = (imports.catalog.post(f"/imports/{job['id']}/apply", {}) for job in jobs)
    await asyncio.gather(*applying, *(catalog.test_case(external_id=key) for key in keys))
    assert len(await links_of(imports, there)) == len(keys)


async def test_the_same_file_again_waits_but_once(imports: Any) -> None:
    there, key = await imports.catalog.requirement(external_id=imports.catalog.word()), imports.catalog.word()
    job = await imports.load(link(there["external_id"], key))
    again = await imports.load(link(there["external_id"], key, notes="N"), link(there["external_id"], key))
    assert (again["counts"]["links"]["wait"], again["counts"]["links"]["skip"]) == (1, 1)
    assert [one["notes"] for one in await waiting(imports, job)] == ["N"]
    assert await waiting(imports, again) == []


async def test_the_file_that_brings_both_ends_and_the_link_makes_one(imports: Any) -> None:
    requirement, test_case = imports.requirement(), imports.test_case()
    pair = link(requirement["external_id"], test_case["external_id"])
    await imports.load(pair)
    for atomic in (True, False):
        await imports.load(requirement, test_case, pair, atomic=atomic)
    made = await imports.catalog.read(f"/requirements/by-external-id/{requirement['external_id']}")
    assert len(await links_of(imports, made)) == 1


async def test_one_that_is_given_up_makes_no_link(imports: Any) -> None:
    catalog = imports.catalog
    there, key = await catalog.requirement(external_id=catalog.word()), catalog.word()
    job = await imports.load(link(there["external_id"], key))
    (reference,) = await waiting(imports, job)
    assert (await catalog.delete(f"/references/{reference['id']}")).status_code == 204
    problem(await catalog.delete(f"/references/{reference['id']}"), 404, "reference_not_found")
    await catalog.test_case(external_id=key)
    assert await links_of(imports, there) == []


async def test_it_goes_with_its_item(imports: Any) -> None:
    catalog = imports.catalog
    there, key = await catalog.requirement(external_id=catalog.word()), catalog.word()
    job = await imports.load(link(there["external_id"], key))
    assert (await catalog.delete(f"/requirements/{there['id']}")).status_code == 204
    assert await waiting(imports, job) == []


async def test_a_key_that_no_item_can_have_is_refused(imports: Any) -> None:
    there = await imports.catalog.requirement(external_id=imports.catalog.word())
    row = await imports.row(link(there["external_id"], "k" * 101))
    assert told(row) == ("error", "test_case_not_found")


async def test_the_event_of_the_link_names_who_brought_the_end(imports: Any) -> None:
    catalog, key = imports.catalog, imports.catalog.word()
    there = await catalog.requirement(external_id=catalog.word())
    await imports.load(link(there["external_id"], key))
    await catalog.test_case(external_id=key)
    (made,) = await links_of(imports, there)
    events = await catalog.events()
    (told_of,) = [one for one in events if one["subject"] == made["id"]]
    (came,) = [one for one in events if one["type"] == "catalog.test_case.created" and key in str(one["data"])]
    for name in ("actor", "actorid", "project", "correlationid"):
        assert told_of.get(name) == came.get(name), name
    assert told_of["data"]["link"]["test_case_external_id"] == key
