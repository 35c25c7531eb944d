"""Relations: requirements above requirements, made once, suspect when one moves on, confirmed, seen from both sides."""

from typing import Any

import pytest

from testing.service import Json, problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"
SIDES = pytest.mark.parametrize("side", ["child", "parent"])


@pytest.fixture
async def relation(catalog: Any) -> Json:
    made: Json = await catalog.relation(await catalog.requirement(), await catalog.requirement())
    return made


def item_of(relation: Json, side: str) -> str:
    """Return the path of a requirement of a relation."""
    return f"/requirements/{relation[f'{side}_id']}"


async def test_a_relation_made_by_hand_is_manual_and_refines_unless_something_else_is_said(catalog: Any) -> None:
    child, parent = await catalog.requirement(), await catalog.requirement()
    pair = {"child_id": child["id"], "parent_id": parent["id"]}
    response = await catalog.post("/relations", pair | {"notes": "Agreed", "role": "part of", "source": "imported"})
    relation = response.json()
    assert relation == pair | {
        "id": relation["id"],
        "relation_type": "refines",
        "role": "part of",
        "notes": "Agreed",
        "source": "manual",
        "created_at": relation["created_at"],
        "created_by": catalog.email,
        "confirmed_at": None,
        "confirmed_by": None,
        "updated_at": relation["created_at"],
        "child_version": 1,
        "parent_version": 1,
        "suspect": False,
        "suspect_reason": None,
    }
    assert response.headers["location"] == f"/api/v1/relations/{relation['id']}"
    read = await catalog.get(f"/relations/{relation['id']}")
    assert (read.content, read.headers["etag"]) == (response.content, response.headers["etag"])


async def test_requirements_are_named_by_their_external_ids_too(catalog: Any) -> None:
    names = catalog.word(), catalog.word()
    child, parent = [await catalog.requirement(external_id=name) for name in names]
    asked = {"child_external_id": names[0], "parent_external_id": names[1], "relation_type": "derives_from"}
    made = (await catalog.post("/relations", asked)).json()
    assert (made["child_id"], made["parent_id"], made["relation_type"]) == (child["id"], parent["id"], "derives_from")
    crossed = {"child_id": child["id"], "child_external_id": names[1], "parent_id": parent["id"]}
    problem(await catalog.post("/relations", crossed), 422, field="/child_external_id")


async def test_a_pair_has_one_relation_in_each_direction_at_most(catalog: Any, relation: Json) -> None:
    pair = {name: relation[name] for name in ("child_id", "parent_id")}
    refused = problem(await catalog.post("/relations", pair | {"relation_type": "related"}), 409, "relation_exists")
    assert refused["relation_id"] == relation["id"]
    turned = {"child_id": relation["parent_id"], "parent_id": relation["child_id"], "relation_type": "related"}
    assert (await catalog.post("/relations", turned)).status_code == 201
    await catalog.delete(f"/relations/{relation['id']}")
    assert (await catalog.post("/relations", pair | {"relation_type": "related"})).status_code == 201


async def test_both_ends_of_a_relation_are_two_requirements_that_exist(catalog: Any) -> None:
    child, test_case = await catalog.pair()
    problem(await catalog.post("/relations", {"child_id": child["id"]}), 422, field="/parent_id")
    for other in (UNKNOWN, test_case["id"]):
        for pair in ((child["id"], other), (other, child["id"])):
            body = dict(zip(("child_id", "parent_id"), pair, strict=True))
            problem(await catalog.post("/relations", body), 404, "requirement_not_found")
    unknown = {"child_id": child["id"], "parent_external_id": catalog.word()}
    problem(await catalog.post("/relations", unknown), 404, "requirement_not_found")
    own = {"child_id": child["id"], "parent_id": child["id"]}
    problem(await catalog.post("/relations", own), 422, "same_item")
    wrong = own | {"relation_type": "covers"}
    problem(await catalog.post("/relations", wrong), 422, field="/relation_type")


async def test_a_requirement_has_100_parents_at_most(catalog: Any) -> None:
    child, last, *parents = [await catalog.requirement() for _ in range(102)]
    for parent in parents:
        await catalog.relation(child, parent, relation_type="related")
    pair = {"child_id": child["id"], "parent_id": last["id"]}
    problem(await catalog.post("/relations", pair), 422, "too_many_parents")
    assert (await catalog.read("/relations", child_id=child["id"]))["total"] == 100


async def test_type_role_and_notes_of_a_relation_can_change(catalog: Any, relation: Json) -> None:
    path = f"/relations/{relation['id']}"
    etag = (await catalog.get(path)).headers["etag"]
    patched = (await catalog.patch(path, {"relation_type": "derives_from", "notes": "Better so", "role": "r"})).json()
    changed = {"relation_type": "derives_from", "notes": "Better so", "role": "r"}
    assert patched == relation | changed | {"updated_at": patched["updated_at"]}
    assert (await catalog.patch(path, {"notes": "Better so"})).json() == patched
    problem(await catalog.patch(path, {"notes": None}, if_match=etag), 412)
    problem(await catalog.patch(path, {"parent_id": UNKNOWN}), 422, "unknown_field")
    events = await catalog.events(subject=relation["id"])
    assert [event["type"] for event in events] == ["catalog.relation.created", "catalog.relation.updated"]
    assert events[1]["data"]["changes"]["relation_type"] == {"before": "refines", "after": "derives_from"}


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "POST"])
async def test_a_relation_that_does_not_exist_is_not_found(catalog: Any, method: str) -> None:
    path = f"/relations/{UNKNOWN}{'/confirm' if method == 'POST' else ''}"
    body = {"notes": "x"} if method == "PATCH" else None
    problem(await catalog.request(method, path, json=body), 404, "relation_not_found")
    problem(await catalog.get(f"/relations/{UNKNOWN}/suspicion"), 404, "relation_not_found")


async def test_a_viewer_reads_relations_and_changes_none(catalog: Any, viewer: Any, relation: Json) -> None:
    path = f"/relations/{relation['id']}"
    await viewer.read(path)
    await viewer.read("/relations")
    await viewer.read(f"{item_of(relation, 'child')}/relations")
    problem(await viewer.post("/relations", {name: relation[name] for name in ("child_id", "parent_id")}), 403)
    problem(await viewer.patch(path, {}), 403)
    problem(await viewer.delete(path), 403)
    problem(await viewer.post(f"{path}/confirm"), 403)
    problem(await viewer.post("/relations/bulk", {"ids": [relation["id"]], "delete": True}), 403)


async def test_relations_are_filtered_and_show_their_requirements_when_asked_to(catalog: Any) -> None:
    parent = await catalog.requirement(external_id=catalog.word())
    one, two = await catalog.requirement(), await catalog.requirement()
    first = await catalog.relation(one, parent)
    second = await catalog.relation(two, parent, relation_type="related")
    await catalog.patch(f"/requirements/{two['id']}", {"title": "Another"})

    async def found(**filters: str) -> list[str]:
        page = await catalog.read("/relations", **({"parent_id": parent["id"]} | filters))
        return [relation["id"] for relation in page["items"]]

    assert await found() == [second["id"], first["id"]]
    assert await found(sort="created_at:asc") == [first["id"], second["id"]]
    assert await found(child_id=one["id"]) == [first["id"]]
    assert await found(relation_type="!refines") == [second["id"]]
    assert await found(source="imported,proposed") == []
    assert await found(suspect="true") == [second["id"]]
    assert await found(suspect="false") == [first["id"]]
    assert await found(updated_since=second["updated_at"]) == [second["id"]]
    for name, value in (("relation_type", "covers"), ("child_id", "x"), ("sort", "notes")):
        problem(await catalog.get("/relations", **{name: value}), 422, field=f"/query/{name}")
    expanded = await catalog.read(f"/relations/{first['id']}", expand="items")
    brief = ("id", "external_id", "title", "module")
    assert expanded["parent"] == {name: parent[name] for name in brief}
    assert expanded["child"] == {name: one[name] for name in brief}


async def test_what_is_above_and_below_a_requirement_is_listed_with_the_relations(catalog: Any) -> None:
    above, here, below = [await catalog.requirement() for _ in range(3)]
    up, down = await catalog.relation(here, above), await catalog.relation(below, here)
    path = f"/requirements/{here['id']}/relations"

    async def found(**query: str) -> list[tuple[str, str, str]]:
        items = (await catalog.read(path, **query))["items"]
        return [(one["id"], one["direction"], one["requirement"]["id"]) for one in items]

    of_child, of_parent = (down["id"], "child", below["id"]), (up["id"], "parent", above["id"])
    assert await found() == await found(direction="parents,children") == [of_child, of_parent]
    assert await found(direction="parents") == [of_parent]
    assert await found(direction="children") == await found(direction="!parents") == [of_child]
    problem(await catalog.get(path, direction="up"), 422, field="/query/direction")
    problem(await catalog.get(f"/requirements/{UNKNOWN}/relations"), 404, "requirement_not_found")
    assert await catalog.read(f"/requirements/{above['id']}/relations", direction="parents") == {
        "items": [],
        "total": 0,
        "skip": 0,
        "limit": 50,
        "next_after": None,
    }


async def test_requirements_are_found_by_what_is_above_and_below_them(catalog: Any) -> None:
    module, names = catalog.word(), [catalog.word() for _ in range(4)]
    top, middle, bottom, aside = [await catalog.requirement(external_id=name, module=module) for name in names]
    await catalog.relation(middle, top)
    await catalog.relation(bottom, middle, relation_type="derives_from")
    await catalog.relation(aside, top, relation_type="related")

    async def found(**query: str) -> set[str]:
        rows = (await catalog.read("/requirements", module=module, **query))["items"]
        return {row["external_id"] for row in rows}

    assert await found(parent=names[0]) == await found(parent=top["id"]) == {names[1]}
    assert await found(parent=top["id"], deep="true") == {names[1], names[2]}
    assert await found(parent=catalog.word()) == set()
    assert await found(has_parent="true") == {names[1], names[2]}
    assert await found(has_parent="false", has_children="false") == {names[3]}
    assert await found(has_children="true") == {names[0], names[1]}
    assert await found(relation_suspect="true") == set()
    await catalog.patch(f"/requirements/{bottom['id']}", {"title": "Another"})
    assert await found(relation_suspect="true") == {names[1], names[2]}
    problem(await catalog.get("/requirements", deep="true"), 422, field="/query/deep")
    facets = await catalog.read("/requirements/facets", module=module, has_parent="true")
    assert facets["total"] == 2


@SIDES
async def test_a_relation_is_suspect_while_a_requirement_is_newer_than_its_confirmation(
    catalog: Any, relation: Json, side: str
) -> None:
    path = f"/relations/{relation['id']}"
    grandchild = await catalog.requirement()
    further = await catalog.relation(grandchild, {"id": relation["child_id"]})
    await catalog.patch(item_of(relation, side), {"status": "draft", "tags": ["new"]})
    assert await catalog.read(path) == relation
    etag = (await catalog.get(path)).headers["etag"]
    await catalog.patch(item_of(relation, side), {"description": "Quite another text", "priority": "low"})
    suspect = await catalog.read(path)
    assert suspect == relation | {
        "suspect": True,
        "suspect_reason": {
            "summary": f"The {side} went from version 1 to 2 (description, priority) after this relation was made or"
            " last confirmed.",
            "child": None,
            "parent": None,
            side: {"from_version": 1, "to_version": 2, "fields": ["description", "priority"]},
        },
    }
    assert (await catalog.read(f"/relations/{further['id']}"))["suspect"] is (side == "child")
    told = await catalog.read(f"{path}/suspicion")
    other = "parent" if side == "child" else "child"
    assert (told["relation_id"], told["suspect"], told["since"]) == (relation["id"], True, relation["created_at"])
    assert set(told[side]["differences"]) == {"description", "priority"}
    assert (told[other]["differences"], told[other]["changed_by"]) == ({}, [])
    assert (told[side]["from_version"], told[side]["to_version"], told[other]["to_version"]) == (1, 2, 1)

    problem(await catalog.post(f"{path}/confirm", if_match=etag), 412)
    confirmed = (await catalog.post(f"{path}/confirm")).json()
    assert (confirmed[f"{side}_version"], confirmed[f"{other}_version"]) == (2, 1)
    assert (confirmed["suspect"], confirmed["confirmed_by"]) == (False, catalog.email)
    assert await catalog.read(path) == confirmed
    event = (await catalog.events(subject=relation["id"]))[-1]
    assert event["type"] == "catalog.relation.updated"
    assert event["data"]["changes"]["confirmed_by"] == {"before": None, "after": catalog.email}


@SIDES
async def test_a_requirement_takes_its_relations_along(catalog: Any, relation: Json, side: str) -> None:
    await catalog.delete(item_of(relation, side))
    problem(await catalog.get(f"/relations/{relation['id']}"), 404, "relation_not_found")
    last = (await catalog.events(subject=relation["id"]))[-1]
    assert (last["type"], last["data"]["relation"]["child_id"]) == ("catalog.relation.deleted", relation["child_id"])


async def test_many_relations_are_changed_and_deleted_at_once(catalog: Any) -> None:
    parent = await catalog.requirement()
    made = [await catalog.relation(await catalog.requirement(), parent) for _ in range(3)]
    ids = [made[0]["id"], UNKNOWN, made[1]["id"]]
    answer = (await catalog.post("/relations/bulk", {"ids": ids, "patch": {"relation_type": "related"}})).json()
    assert [one["status"] for one in answer["results"]] == ["changed", "failed", "changed"]
    assert answer["results"][0]["etag"] == (await catalog.get(f"/relations/{ids[0]}")).headers["etag"]
    asked = {"filter": {"parent_id": parent["id"], "relation_type": "related"}, "delete": True}
    preview = (await catalog.post("/relations/bulk", asked)).json()
    assert (preview["matched"], preview["items"][0]["parent"]["id"]) == (2, parent["id"])
    answer = (await catalog.post("/relations/bulk", asked | {"expected_count": 2})).json()
    assert [one["status"] for one in answer["results"]] == ["deleted"] * 2
    left = await catalog.read("/relations", parent_id=parent["id"])
    assert [one["id"] for one in left["items"]] == [made[2]["id"]]


async def test_a_key_makes_a_relation_once(catalog: Any) -> None:
    child, parent = await catalog.requirement(), await catalog.requirement()
    body, key = {"child_id": child["id"], "parent_id": parent["id"]}, {"Idempotency-Key": catalog.word()}
    first, again = [await catalog.request("POST", "/relations", json=body, headers=key) for _ in range(2)]
    assert (first.status_code, first.content) == (again.status_code, again.content) == (201, first.content)
