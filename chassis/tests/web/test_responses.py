"""Answers as JSON: those of many rows let others go on while they are written."""

import orjson
import pytest
from starlette.types import Message

from chassis.web.responses import ListAnswer
from testing.turns import others_at_work


async def sent_by(answer: ListAnswer) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    await answer({"type": "http"}, receive, send)
    return sent


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"n": 1}],
        [{"n": n} for n in range(500)],
        [{"n": "x" * n} for n in range(900)],
        orjson.Fragment(b'[{"n":1}]'),
    ],
    ids=range(5),
)
async def test_a_list_is_one_json_document(rows: list[dict[str, int]] | orjson.Fragment) -> None:
    for more in ({}, {"total": 7}):
        _, *parts = await sent_by(ListAnswer(rows, more))
        assert b"".join(part["body"] for part in parts) == orjson.dumps({"items": rows, **more})
        assert [part.get("more_body", False) for part in parts] == [True] * (len(parts) - 1) + [False]
    start, *parts = await sent_by(ListAnswer(rows, {"total": 7}, {"Link": "<x>"}))
    assert sorted(start["headers"]) == [
        (b"content-length", b"%d" % sum(len(part["body"]) for part in parts)),
        (b"content-type", b"application/json"),
        (b"link", b"<x>"),
    ]


async def test_others_go_on_while_many_rows_are_written() -> None:
    async with others_at_work() as others:
        await sent_by(ListAnswer([{"text": "\n" * 50_000} for _ in range(200)], {}))
    assert others.turns > 10
