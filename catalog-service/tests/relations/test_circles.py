"""Relations that roll up make no circle, whoever makes them at the same time."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.relations.circles import find_way
from testing.service import Json, ok, problem


async def chain(catalog: Any, length: int, **fields: Any) -> list[Json]:
    """Return requirements of which each is the child of the next one."""
    items = [await catalog.requirement(external_id=catalog.word()) for _ in range(length)]
    for child, parent in pairwise(items):
        await catalog.relation(child, parent, **fields)
    return items


def turned(items: list[Json]) -> Json:
    """Return the body of the relation that would close the circle of a chain."""
    return {"child_id": items[-1]["id"], "parent_id": items[0]["id"]}


@pytest.mark.parametrize("length", [2, 40])
async def test_what_would_close_a_circle_is_refused_with_its_path(catalog: Any, length: int) -> None:
    items = await chain(catalog, length)
    refused = problem(await catalog.post("/relations", turned(items)), 409, "relation_cycle")
    names = [item["external_id"] for item in items]
    assert refused["path"] == [names[-1], *names]
    assert refused["path"][0] in refused["detail"]


async def test_relations_that_do_not_roll_up_may_make_circles(catalog: Any) -> None:
    items = await chain(catalog, 3, relation_type="depends_on")
    closing = await catalog.relation(items[-1], items[0])
    (first,) = (await catalog.read("/relations", child_id=items[0]["id"]))["items"]
    assert ok(await catalog.patch(f"/relations/{first['id']}", {"relation_type": "derives_from"}))
    (second,) = (await catalog.read("/relations", child_id=items[1]["id"]))["items"]
    changed = {"relation_type": "refines"}
    problem(await catalog.patch(f"/relations/{second['id']}", changed), 409, "relation_cycle")
    asked = {"ids": [second["id"], closing["id"]], "patch": changed}
    results = ok(await catalog.post("/relations/bulk", asked))["results"]
    assert [one["status"] for one in results] == ["failed", "unchanged"]
    assert results[0]["error"]["code"] == "relation_cycle"


async def test_a_diamond_is_no_circle(catalog: Any) -> None:
    top, left, right, bottom = [await catalog.requirement() for _ in range(4)]
    for child, parent in ((left, top), (right, top), (bottom, left), (bottom, right)):
        await catalog.relation(child, parent)
    assert (await catalog.read(f"/requirements/{bottom['id']}/relations", direction="parents"))["total"] == 2


async def test_many_who_close_one_circle_at_once_leave_it_open(catalog: Any) -> None:
    items = [await catalog.requirement() for _ in range(50)]
    pairs = [
        {"child_id": items[number - 1]["id"], "parent_id": item["id"], "relation_type": "refines"}
        for number, item in enumerate(items)
    ]
    answers = await asyncio.gather(*(catalog.post("/relations", pair) for pair in pairs))
    assert sorted(answer.status_code for answer in answers) == [201] * 49 + [409]
    (refused,) = (answer for answer in answers if answer.status_code == 409)
    assert problem(refused, 409, "relation_cycle")["path"].count(refused.json()["path"][0]) == 2


@given(st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=4)), st.integers(0, 8))
def test_a_way_leads_upwards_and_is_found_where_there_is_one(parents: dict[int, list[int]], end: int) -> None:
    reached, border = {0}, [0]
    while border:
        border = [above for one in border for above in parents.get(one, []) if above not in reached]
        reached.update(border)
    way = find_way(parents, 0, end)
    assert (way is not None) == (end in reached)
    if way is not None:
        assert (way[0], way[-1]) == (0, end)
        assert all(above in parents[one] for one, above in pairwise(way))
