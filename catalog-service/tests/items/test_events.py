"""Each change of an item is told by one event, with all of its state and what changed."""

import asyncio
from datetime import datetime
from typing import Any

import pytest
from pydantic import TypeAdapter

from contracts import catalog as contract

KINDS = pytest.mark.parametrize(("path", "name"), [("/requirements", "requirement"), ("/test-cases", "test_case")])
PAYLOADS = {payload.wire_name: payload for payload in contract.EVENTS}


def checked(event: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of an event that is exactly as its contract says."""
    payload = PAYLOADS[event["type"]].model_validate(event["data"], strict=False)
    state = next(iter(payload))[1]
    assert event["data"].keys() == type(payload).model_fields.keys()
    assert next(iter(event["data"].values())).keys() == type(state).model_fields.keys()
    return event["data"]


def same_times(state: dict[str, Any], item: dict[str, Any]) -> bool:
    read = TypeAdapter(datetime).validate_python
    return all(read(state[name]) == read(item[name]) for name in ("created_at", "updated_at"))


@KINDS
async def test_a_life_is_told_in_full(catalog: Any, path: str, name: str) -> None:
    made = await catalog.create(path, custom_metadata={"a": {"b": 1}}, tags=["x"])
    patch = {"title": "Another", "module": "doors", "custom_metadata": {"a": None}}
    changed = (await catalog.patch(f"{path}/{made['id']}", patch)).json()
    assert (await catalog.delete(f"{path}/{made['id']}")).status_code == 204
    events = await catalog.events(subject=made["id"])
    assert [event["type"] for event in events] == [
        f"catalog.{name}.{what}" for what in ("created", "updated", "deleted")
    ]
    created, updated, deleted = (checked(event) for event in events)
    for told, item in ((created, made), (updated, changed), (deleted, changed)):
        state = told[name]
        times = {"created_at": state["created_at"], "updated_at": state["updated_at"]}
        assert state == item | times
        assert same_times(state, item)
    assert updated["changes"] == {
        "title": {"before": made["title"], "after": "Another"},
        "module": {"before": None, "after": "doors"},
        "custom_metadata": {"before": {"a": {"b": 1}}, "after": {}},
    }
    for event in events:
        assert (event["actor"], event["actorid"]) == (catalog.email, 1)


@KINDS
async def test_the_event_carries_the_id_of_the_request(catalog: Any, path: str, name: str) -> None:
    response = await catalog.post(path, catalog.item(), x_request_id="request-7")
    assert [event["correlationid"] for event in await catalog.events(subject=response.json()["id"])] == ["request-7"]


@KINDS
async def test_a_deletion_is_told_before_that_of_each_of_its_links(catalog: Any, path: str, name: str) -> None:
    other_path = "/test-cases" if name == "requirement" else "/requirements"
    item = await catalog.create(path)
    links = []
    for _ in range(3):
        other = await catalog.create(other_path)
        ends = (item, other) if name == "requirement" else (other, item)
        links.append(await catalog.link(*ends, notes="n"))
    last = (await catalog.events())[-1]["position"]
    await catalog.delete(f"{path}/{item['id']}")
    first, *rest = await catalog.events(after=last)
    assert (first["type"], first["subject"]) == (f"catalog.{name}.deleted", item["id"])
    assert {event["subject"] for event in rest} == {link["id"] for link in links}
    for event in rest:
        assert event["type"] == "catalog.link.deleted"
        assert checked(event)["link"]["requirement_title"] == "Doors close"
    for link in links:
        assert (await catalog.get(f"/links/{link['id']}")).status_code == 404


@KINDS
async def test_a_deleted_item_leaves_nothing_behind(catalog: Any, path: str, name: str) -> None:
    made = await catalog.create(path)
    await catalog.patch(f"{path}/{made['id']}", {"title": "Another"})
    await catalog.delete(f"{path}/{made['id']}")
    assert (await catalog.delete(f"{path}/{made['id']}")).status_code == 404
    async with catalog.database.connection() as connection:
        cursor = await connection.execute("SELECT FROM item_revisions WHERE item_id = %s", (made["id"],))
        assert cursor.rowcount == 0


async def test_ends_deleted_at_once_tell_of_each_link_once(catalog: Any) -> None:
    requirements = [await catalog.requirement() for _ in range(3)]
    test_cases = [await catalog.test_case() for _ in range(3)]
    links = [await catalog.link(one, other) for one in requirements for other in test_cases]
    last = (await catalog.events())[-1]["position"]
    paths = [f"/requirements/{item['id']}" for item in requirements]
    paths += [f"/test-cases/{item['id']}" for item in test_cases]
    answers = await asyncio.gather(*(catalog.delete(path) for path in paths))
    assert {answer.status_code for answer in answers} == {204}
    told = [event["subject"] for event in await catalog.events(after=last) if "link" in event["type"]]
    assert sorted(told) == sorted(link["id"] for link in links)


async def test_a_refused_change_is_not_told(catalog: Any) -> None:
    taken = (await catalog.requirement(external_id=catalog.word()))["external_id"]
    made = await catalog.requirement()
    last = (await catalog.events())[-1]["position"]
    assert (await catalog.post("/requirements", catalog.item(external_id=taken))).status_code == 409
    assert (await catalog.patch(f"/requirements/{made['id']}", {"external_id": taken})).status_code == 409
    assert (await catalog.delete(f"/requirements/{made['id']}", if_match='"stale"')).status_code == 412
    assert await catalog.events(after=last) == []
