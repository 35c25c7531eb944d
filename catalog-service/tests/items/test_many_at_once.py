"""Creations that arrive together are stored together, and nobody notices."""

import asyncio
from typing import Any

import pytest

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


@BOTH
async def test_what_is_stored_together_is_stored_as_if_alone(catalog: Any, path: str) -> None:
    fields: dict[str, Any] = {
        "tags": ["a,b", '"quoted"', "{brace}", "NULL", "back\\slash", "🚪"],
        "custom_metadata": {"z": 1e16, "a": [None, True, -0.0, {"": "x"}], "unicode": "é\u2028"},
        "description": "Line 1\n\tLine 2 \\ \u200b",
    }
    if path == "/test-cases":
        fields |= {"steps": {"2": "b", "1": "a"}, "test_data": {}, "execution_time_minutes": 0}
    answers = await asyncio.gather(
        *(catalog.post(path, catalog.item(**fields, external_id=catalog.word())) for _ in range(100))
    )
    assert {answer.status_code for answer in answers} == {201}
    for answer in answers:
        made = answer.json()
        read = await catalog.get(f"{path}/{made['id']}")
        assert (read.content, read.headers["etag"]) == (answer.content, answer.headers["etag"])
        assert [event["type"].rpartition(".")[2] for event in await catalog.events(subject=made["id"])] == ["created"]


@BOTH
async def test_one_that_is_refused_does_not_harm_the_others(catalog: Any, path: str) -> None:
    taken = (await catalog.create(path, external_id=catalog.word()))["external_id"]
    last = (await catalog.events())[-1]["position"]
    bodies = [catalog.item(external_id=taken if number % 10 == 5 else None) for number in range(50)]
    answers = await asyncio.gather(*(catalog.post(path, body) for body in bodies))
    assert [answer.status_code for answer in answers] == [
        409 if body["external_id"] == taken else 201 for body in bodies
    ]
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    told = [event["subject"] for event in await catalog.events(after=last)]
    assert sorted(told) == sorted(made)


def without_etags(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "etag"} for row in page["items"]]


@BOTH
async def test_a_reader_sees_what_was_answered_before_they_asked(catalog: Any, path: str) -> None:
    module = catalog.word()

    async def create_and_read() -> None:
        made = await catalog.create(path, module=module)
        item, page = await asyncio.gather(
            catalog.read(f"{path}/{made['id']}"), catalog.read(path, module=module, limit=500)
        )
        assert item == made
        assert made in without_etags(page)
        patched = (await catalog.patch(f"{path}/{made['id']}", {"title": "Another"})).json()
        assert await catalog.read(f"{path}/{made['id']}") == patched
        assert patched in without_etags(await catalog.read(path, module=module, limit=500))
        await catalog.delete(f"{path}/{made['id']}")
        assert (await catalog.get(f"{path}/{made['id']}")).status_code == 404

    await asyncio.gather(*(create_and_read() for _ in range(30)))
