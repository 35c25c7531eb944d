"""From the 201 of a create to its suggestions over the API, step by step. All clocks are of this machine."""

import asyncio
import statistics
import time
import uuid
from dataclasses import astuple, dataclass
from itertools import pairwise

import aio_pika
import httpx
import orjson
from aio_pika.abc import AbstractIncomingMessage, AbstractQueue

from acceptance.faults.databases import query
from acceptance.rest import settled
from acceptance.stack import RunningStack
from benchmarks.running import admin_of, log_in
from benchmarks.texts import Texts
from chassis.messaging.bus.rabbitmq.topology import Topology
from contracts.catalog import RequirementCreated

_ITEMS = 1000
_CREATES = 30
_PAUSE = 0.3
_LOOK_AGAIN = 0.01
_WITHIN = 10.0
_GOAL_MS = 300
_STEPS = (
    "201 to published",
    "to the inbox of suggestion-service",
    "to applied and scored",
    "to readable over the API",
)


@dataclass(frozen=True)
class _Moments:
    """Of one create, by the wall clock, in seconds."""

    answered: float
    published: float
    received: float
    scored: float
    readable: float

    @property
    def steps(self) -> list[float]:
        """Milliseconds from each moment to the next, and from the first to the last."""
        moments = astuple(self)
        pairs = [*pairwise(moments), (moments[0], moments[-1])]
        return [(after - before) * 1000 for before, after in pairs]


def measure(stack: RunningStack) -> None:
    """Print a table of the steps."""
    said = _load(stack)
    settled(stack, within=120)
    creates = [each.steps for each in asyncio.run(_create_all(stack, said))]
    print(
        f"\nFrom the 201 to its suggestions over the API, {_ITEMS} test cases on the other side,"
        f" {_CREATES} creates one after the other"
    )
    print(f"{'':38}{'median ms':>10}{'worst ms':>10}{'share':>7}{'goal':>7}")
    shares = [[taken / create[-1] for taken in create] for create in creates]
    for step, taken, share in zip(
        (*_STEPS, "whole"), zip(*creates, strict=False), zip(*shares, strict=False), strict=True
    ):
        goal = _GOAL_MS if step == "whole" else ""
        print(f"{step:38}{statistics.median(taken):10.0f}{max(taken):10.0f}{statistics.mean(share):7.0%}{goal:>7}")


def _load(stack: RunningStack) -> list[dict[str, str]]:
    """Bring the record to so many test cases; return what some of them say."""
    texts = Texts(6)
    said = []
    with admin_of(stack.base_url) as client:
        there = client.get("/test-cases", params={"limit": 1}).raise_for_status().json()["total"]
        for number in range(there, _ITEMS):
            body = texts.test_case(number, "T", texts.requirement(number, "R"))
            client.post("/test-cases", json=body).raise_for_status()
            said.append({name: body[name] for name in ("title", "description")})
    return said


async def _create_all(stack: RunningStack, said: list[dict[str, str]]) -> list[_Moments]:
    texts = Texts(7)
    headers = {"Authorization": f"Bearer {log_in(stack.base_url)}"}
    async with (
        await aio_pika.connect(stack.rabbitmq_url) as connection,
        httpx.AsyncClient(base_url=f"{stack.base_url}/api/v1", timeout=60, headers=headers) as client,
    ):
        watched = _Published()
        await watched.watch(await (await connection.channel()).declare_queue(exclusive=True))
        created = []
        for number in range(_CREATES):
            body = texts.requirement(number, "S") | said[number]
            created.append(await _create(client, body))
            await asyncio.sleep(_PAUSE)
        return [_moments(stack, watched, *each) for each in created]


async def _create(client: httpx.AsyncClient, body: dict[str, object]) -> tuple[str, float, float]:
    """Create a requirement; return its id, when that was answered, and when its suggestions could be read."""
    requirement_id = (await client.post("/requirements", json=body)).raise_for_status().json()["id"]
    answered = time.time()
    while time.time() < answered + _WITHIN:
        found = await client.get("/suggestions", params={"requirement_id": requirement_id})
        if found.raise_for_status().json()["total"]:
            return requirement_id, answered, time.time()
        await asyncio.sleep(_LOOK_AGAIN)
    raise RuntimeError(f"No suggestion within {_WITHIN:g} seconds.")


class _Published:
    """What a queue of our own sees, beside those of the consumers: event id and moment, by requirement."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[uuid.UUID, float]] = {}

    async def watch(self, queue: AbstractQueue) -> None:
        await queue.bind(Topology("traceline").exchange, RequirementCreated.wire_name)
        await queue.consume(self._note, no_ack=True)

    def __getitem__(self, requirement_id: str) -> tuple[uuid.UUID, float]:
        return self._seen[requirement_id]

    async def _note(self, message: AbstractIncomingMessage) -> None:
        event = orjson.loads(message.body)
        self._seen[event["data"]["requirement"]["id"]] = uuid.UUID(event["id"]), time.time()


def _moments(
    stack: RunningStack, watched: _Published, requirement_id: str, answered: float, readable: float
) -> _Moments:
    event_id, published = watched[requirement_id]
    (row,) = query(
        stack,
        "suggestion",
        # now() of the inbox is when its transaction began, created_at when the scores were there.
        "SELECT (SELECT applied_at FROM inbox WHERE event_id = %s) AS received,"
        " (SELECT min(created_at) FROM suggestions WHERE requirement_id = %s) AS scored",
        (event_id, requirement_id),
    )
    return _Moments(answered, published, row["received"].timestamp(), row["scored"].timestamp(), readable)
