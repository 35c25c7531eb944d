"""Sections of the outline: what is put into one stands at its end, and no place makes a new version."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.sections.positions import keys_between, new_key
from testing.service import ok, problem

UNKNOWN = str(UUID(int=7))
KINDS = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
DOORS, BRAKES = ["3 Doors"], ["4 Brakes"]


async def in_order(catalog: Any, path: str, creator: str) -> list[str]:
    page = await catalog.read(path, created_by=creator, sort="position")
    return [one["title"] for one in page["items"]]


@KINDS
async def test_new_items_stand_at_the_end_of_their_section(catalog: Any, path: str) -> None:
    creator, top = catalog.word(), catalog.word()
    for title, section in (("a", DOORS), ("b", BRAKES), ("c", [*DOORS, "3.1 Closing"]), ("d", DOORS), ("e", BRAKES)):
        made = await catalog.create(path, title=title, section=[top, *section], created_by=creator)
        assert made["section"] == [top, *section]
    assert await in_order(catalog, path, creator) == ["a", "c", "d", "b", "e"]


@KINDS
async def test_another_section_is_another_place_and_no_new_version(catalog: Any, path: str) -> None:
    creator, top = catalog.word(), catalog.word()
    made = [await catalog.create(path, title=title, section=[top], created_by=creator) for title in "abc"]
    here = f"{path}/{made[0]['id']}"
    moved = (await catalog.patch(here, {"section": [top, "Last"]})).json()
    assert (moved["version"], moved["section"]) == (1, [top, "Last"])
    assert await in_order(catalog, path, creator) == ["b", "c", "a"]
    replaced = (await catalog.put(here, catalog.item(title="a", created_by=creator))).json()
    assert (replaced["section"], replaced["position"]) == (moved["section"], moved["position"]), "it was not sent"
    many = await catalog.post(f"{path}/bulk", {"ids": [one["id"] for one in made[1:]], "patch": {"section": None}})
    assert many.json()["changed"] == 2
    assert [one["section"] for one in (await catalog.read(path, created_by=creator, sort="position"))["items"]] == [
        [top, "Last"],
        [],
        [],
    ]


@KINDS
async def test_sections_have_bounds(catalog: Any, path: str) -> None:
    for bad in (["x"] * 13, ["x" * 301], [" "], "x", [None]):
        assert (await catalog.post(path, catalog.item(section=bad))).status_code == 422
    assert (await catalog.post(path, catalog.item(section=["x" * 300] * 12))).status_code == 201


async def three(catalog: Any, path: str, creator: str, top: str) -> list[str]:
    made = [await catalog.create(path, title=title, section=[top], created_by=creator) for title in "abc"]
    return [one["id"] for one in made]


@KINDS
async def test_items_are_moved_as_one_act_and_put_back_by_its_undo(catalog: Any, path: str) -> None:
    creator, top = catalog.word(), catalog.word()
    a, b, c = await three(catalog, path, creator, top)
    moved = ok(await catalog.post(f"{path}/move", {"ids": [c, b], "before": a}))
    assert (moved["moved"], [one["id"] for one in moved["items"]]) == (2, [c, b])
    assert await in_order(catalog, path, creator) == ["c", "b", "a"]
    assert [one["version"] for one in (await catalog.read(path, created_by=creator))["items"]] == [1, 1, 1]
    item = await catalog.get(f"{path}/{c}")
    assert item.headers["etag"] == moved["items"][0]["etag"]
    again = ok(await catalog.post(f"{path}/move", {"ids": [a], "after": c}))
    assert await in_order(catalog, path, creator) == ["c", "a", "b"]
    ok(await catalog.post(f"{path}/move", again["undo"]))
    ok(await catalog.post(f"{path}/move", moved["undo"]))
    assert await in_order(catalog, path, creator) == ["a", "b", "c"]
    problem(await catalog.post(f"{path}/move", moved["undo"]), 409, "moved_since")
    assert await in_order(catalog, path, creator) == ["a", "b", "c"]


@KINDS
async def test_items_go_to_the_end_of_a_section_and_behind_what_is_below_another(catalog: Any, path: str) -> None:
    creator, top = catalog.word(), catalog.word()
    a, _, c = await three(catalog, path, creator, top)
    ok(await catalog.post(f"{path}/move", {"ids": [c, a], "section": [top, "Sub"]}))
    assert await in_order(catalog, path, creator) == ["b", "c", "a"]
    await catalog.create(path, title="d", section=[top], created_by=creator)
    await catalog.create(path, title="e", section=[top, "Sub"], created_by=creator)
    assert await in_order(catalog, path, creator) == ["b", "c", "a", "e", "d"]
    kind = "requirement" if path == "/requirements" else "test_case"
    sections = (await catalog.read("/sections", kind=kind))["sections"]
    assert [(one["section"], one["items"], one["items_below"]) for one in sections if one["section"][0] == top] == [
        ([top], 2, 5),
        ([top, "Sub"], 3, 3),
    ]


@KINDS
async def test_a_move_says_what_is_wrong_with_it_and_moves_nothing(catalog: Any, path: str) -> None:
    creator, top = catalog.word(), catalog.word()
    a, b, c = await three(catalog, path, creator, top)
    for bad in (
        {},
        {"ids": [a]},
        {"ids": [a], "before": a},
        {"ids": [a], "before": b, "after": c},
        {"ids": [a], "before": c, "section": ["Another"]},
        {"places": [{"id": a, "section": [], "position": "../x", "from_position": "1"}]},
    ):
        problem(await catalog.post(f"{path}/move", bad), 422)
    for gone in ({"ids": [a, UNKNOWN], "before": c}, {"ids": [a], "after": UNKNOWN}):
        assert (await catalog.post(f"{path}/move", gone)).status_code == 404
    assert await in_order(catalog, path, creator) == ["a", "b", "c"]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=40))
def test_there_is_always_room_between_two_positions(inserts: list[tuple[int, int]]) -> None:
    keys = [new_key(), new_key()]
    for place, number in inserts:
        at = place % (len(keys) + 1)
        low = keys[at - 1] if at > 0 else None
        high = keys[at] if at < len(keys) else None
        keys[at:at] = keys_between(low, high, number)
        assert keys == sorted(set(keys))
