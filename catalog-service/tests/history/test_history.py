"""What happened to items, for everybody who may read them."""

import asyncio
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import problem

KINDS = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
OTHER = Identity(id=7, email="kim@example.test", role=Role.REVIEWER)


@KINDS
async def test_every_change_is_told_with_who_made_it_and_each_field(catalog: Any, viewer: Any, path: str) -> None:
    made = await catalog.create(path, title="One", tags=["a"], module="doors")
    here = f"{path}/{made['id']}"
    first = (await catalog.patch(here, {"title": "Two", "tags": []})).json()
    second = (await catalog.being(OTHER).patch(here, {"module": None})).json()
    await catalog.patch(here, {"module": None})
    history = await viewer.read(f"{here}/history")
    updated, retitled, created = history.pop("items")
    assert history == {"total": 3, "skip": 0, "limit": 50, "next_after": None}
    assert updated == {
        "action": "updated",
        "actor": OTHER.email,
        "occurred_at": updated["occurred_at"],
        "from_version": 2,
        "to_version": 2,
        "changes": {"module": {"before": "doors", "after": None}},
    }
    assert retitled == {
        "action": "updated",
        "actor": catalog.email,
        "occurred_at": retitled["occurred_at"],
        "from_version": 1,
        "to_version": 2,
        "changes": {"title": {"before": "One", "after": "Two"}, "tags": {"before": ["a"], "after": []}},
    }
    assert first["updated_at"] <= retitled["occurred_at"] <= second["updated_at"] <= updated["occurred_at"]
    assert (created["action"], created["actor"], created["occurred_at"]) == (
        "created",
        catalog.email,
        made["created_at"],
    )
    assert (created["from_version"], created["to_version"]) == (None, 1)
    assert created["changes"] == {
        name: {"before": None, "after": value}
        for name, value in made.items()
        if value not in (None, [])
        and value is not False
        and name not in {"id", "position", "version", "created_at", "updated_at"}
    }


@KINDS
@pytest.mark.parametrize("at_once", [1, 3])
async def test_who_created_an_item_is_told_whoever_it_names(catalog: Any, path: str, at_once: int) -> None:

    bodies = [catalog.item(created_by="somebody@example.test", title=f"n{n}") for n in range(at_once)]
    made = await asyncio.gather(*(catalog.post(path, body) for body in bodies))
    for answer in made:
        item = answer.json()
        assert item["created_by"] == "somebody@example.test"
        await catalog.patch(f"{path}/{item['id']}", {"created_by": "another@example.test"})
        entries = (await catalog.read(f"{path}/{item['id']}/history"))["items"]
        assert entries[-1]["actor"] == catalog.email
        assert entries[-1]["changes"]["created_by"]["after"] == "somebody@example.test"


async def test_a_create_writes_no_history(catalog: Any) -> None:
    made = await catalog.requirement()
    async with catalog.database.connection() as connection:
        cursor = await connection.execute("SELECT FROM item_changes WHERE item_id = %s", (made["id"],))
        assert cursor.rowcount == 0


@KINDS
async def test_history_comes_in_pages(catalog: Any, path: str) -> None:
    here = f"{path}/{(await catalog.create(path, title='t0'))['id']}"
    for n in range(1, 5):
        await catalog.patch(here, {"title": f"t{n}"})
    pages = [await catalog.get(f"{here}/history", limit=2, skip=skip) for skip in (0, 2, 4, 6)]
    titles = [[entry["changes"]["title"]["after"] for entry in page.json()["items"]] for page in pages]
    assert titles == [["t4", "t3"], ["t2", "t1"], ["t0"], []]
    assert {page.json()["total"] for page in pages} == {5}
    assert "next" in pages[1].links
    assert "next" not in pages[2].links


@KINDS
async def test_a_deleted_item_keeps_its_history(catalog: Any, path: str) -> None:
    made = await catalog.create(path, title="One", external_id=catalog.word())
    here = f"{path}/{made['id']}"
    await catalog.patch(here, {"title": "Two"})
    await catalog.being(OTHER).delete(here)
    deleted, updated, created = (await catalog.read(f"{here}/history"))["items"]
    assert (deleted["action"], deleted["actor"], deleted["from_version"], deleted["to_version"]) == (
        "deleted",
        OTHER.email,
        2,
        None,
    )
    assert deleted["changes"]["title"] == {"before": "Two", "after": None}
    assert updated["changes"] == {"title": {"before": "One", "after": "Two"}}
    assert created["changes"]["title"] == {"before": None, "after": "One"}
    assert created["occurred_at"] == made["created_at"]
    other = "/test-cases" if path == "/requirements" else "/requirements"
    problem(await catalog.get(f"{other}/{made['id']}/history"), 404)


async def test_versions_are_compared_word_by_word(catalog: Any) -> None:
    made = await catalog.test_case(title="Doors close", steps={"1": "Pull", "10": "Wait", "2": "Push"})
    here = f"/test-cases/{made['id']}"
    await catalog.patch(here, {"title": "Doors close soon", "status": "ready"})
    await catalog.patch(here, {"tags": ["x"]})
    await catalog.patch(here, {"steps": {"2": "Push hard"}, "priority": "high"})
    steps = [
        {"op": "equal", "text": "1. Pull\n2. Push"},
        {"op": "insert", "text": " hard"},
        {"op": "equal", "text": "\n10. Wait"},
    ]
    priority = [{"op": "delete", "text": "medium"}, {"op": "insert", "text": "high"}]
    title = [{"op": "equal", "text": "Doors close"}, {"op": "insert", "text": " soon"}]

    async def compared(**versions: int) -> tuple[Any, ...]:
        answer = await catalog.read(f"{here}/history", **versions)
        return answer["from_version"], answer["to_version"], answer["differences"], answer["total"]

    assert await compared(**{"from": 1}) == (1, 3, {"title": title, "steps": steps, "priority": priority}, 3)
    assert await compared(**{"from": 1, "to": 2}) == (1, 2, {"title": title}, 2)
    assert await compared(to=3) == (2, 3, {"steps": steps, "priority": priority}, 1)
    assert await compared(to=1) == (1, 1, {}, 0)
    refused = (await catalog.get(f"{here}/history", to=99)).json()
    assert [(error["pointer"], error["message"]) for error in refused["errors"]] == [
        ("/query/to", "There is no version 99; this item has had versions 1 to 3.")
    ]
    assert (await compared(**{"from": 2, "to": 1}))[2] == {
        "title": [{"op": "equal", "text": "Doors close"}, {"op": "delete", "text": " soon"}]
    }
    for wrong in ({"from": 0}, {"to": 4}, {"from": -1, "to": 10**12}, {"from": "x"}):
        problem(await catalog.get(f"{here}/history", **wrong), 422, field=f"/query/{next(iter(wrong))}")


async def test_long_texts_are_compared(catalog: Any) -> None:
    text = " ".join(f"w{n % 97} v{n % 89}" for n in range(30_000))
    made = await catalog.requirement(description=text)
    await catalog.patch(f"/requirements/{made['id']}", {"description": text.replace("w5 ", "w6 ")})
    answer = await catalog.read(f"/requirements/{made['id']}/history", **{"from": 1, "limit": 1})
    segments = answer["differences"]["description"]
    assert "".join(segment["text"] for segment in segments if segment["op"] != "insert") == text


async def test_texts_too_long_to_be_compared_word_by_word_are_compared_coarsely_and_named(catalog: Any) -> None:
    text = " ".join(f"w{n}" for n in range(60_000))
    made = await catalog.requirement(description=text, title="Doors close")
    await catalog.patch(f"/requirements/{made['id']}", {"description": text.replace("w", "v"), "title": "Doors"})
    answer = await catalog.read(f"/requirements/{made['id']}/history", **{"from": 1, "limit": 1})
    assert answer["coarse"] == ["description"]
    assert [segment["op"] for segment in answer["differences"]["description"]] == ["delete", "insert"]


@KINDS
async def test_the_history_of_what_never_was_is_not_found(catalog: Any, path: str) -> None:
    problem(await catalog.get(f"{path}/00000000-0000-4000-8000-000000000000/history"), 404)
    problem(await catalog.get(f"{path}/x/history"), 422)
