"""What the broker may do to events: bring them three times and in another order; and what nobody should put in."""

import json
import random
import uuid
from collections.abc import Iterator

import pytest

from acceptance.client import Json, Traceline
from acceptance.faults import broker, operating
from acceptance.faults.databases import FOLLOWERS, query
from acceptance.faults.draining import look
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

FAR = 30
"""Places by which an event may come too late, or too early."""


def test_every_event_three_times_does_what_it_does_once(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    """As after crashes of relay and consumer: for the first time in order, and then again."""
    deliver_otherwise(stack, admin, history, ["suggestion", "notification"], too_early=0)
    hold()


@pytest.mark.long
@pytest.mark.parametrize("followers", [["suggestion", "notification"], ["notification"]], ids=" and ".join)
def test_every_event_three_times_and_shuffled_does_what_it_does_once(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold, followers: list[str]
) -> None:
    """With suggestion-service at work, its own events are among them."""
    deliver_otherwise(stack, admin, history, followers, too_early=FAR)
    hold()


def deliver_otherwise(
    stack: RunningStack, admin: Traceline, history: History, followers: list[str], *, too_early: int
) -> None:
    with operating.stopped(stack, *(f"{follower}-worker" for follower in followers)):
        with Load(admin, history, seed=8) as load:
            load.acknowledges(150)
        everything_is_published(stack, followers)
        for follower in followers:
            waiting = broker.take_all(stack.rabbitmq_url, follower)
            assert len(waiting) > 50
            broker.put(stack.rabbitmq_url, follower, thrice(waiting, too_early))


@pytest.mark.long
def test_broken_messages_are_parked_once_and_work_when_they_are_mended(
    stack: RunningStack, admin: Traceline, hold: Hold
) -> None:
    reviewer = admin.new_user("reviewer")
    with operating.stopped(stack, *(f"{follower}-worker" for follower in OF_CATALOG)):
        first = reviewer.create_requirement()
        later = reviewer.create_test_case(title=first["title"], description=first["description"])
        everything_is_published(stack, OF_CATALOG)
        for follower in OF_CATALOG:
            waiting = broker.take_all(stack.rabbitmq_url, follower)
            broken = [message for body in waiting for message in in_its_place(body, first["id"])]
            broker.put(stack.rabbitmq_url, follower, broken)

    eventually(lambda: told_of(reviewer, later), "the notification of what came after them")
    for follower in OF_CATALOG:
        kept = operating.parked(stack, follower)
        assert {one["wire_name"] for one in kept} == {"", CREATED}, "a type that it does not know is skipped"
        assert len(kept) == 2
        assert all(one["state"] == "parked" for one in kept)
    assert not told_of(reviewer, first)

    for follower in OF_CATALOG:
        (damaged, *hopeless) = sorted(operating.parked(stack, follower), key=lambda one: one["wire_name"] != CREATED)
        mend(stack, follower, damaged["event_id"])
        operating.admin(stack, follower, "parked", "retry", str(damaged["id"]))
        operating.admin(stack, follower, "parked", "drop", "--yes", *(str(one["id"]) for one in hopeless))
    hold()
    assert told_of(reviewer, first)
    (suggestion,) = reviewer.suggestions_for(first["id"], later["id"])
    assert suggestion["status"] == "pending"


CREATED = "catalog.requirement.created"
OF_CATALOG = [follower for follower, sources in FOLLOWERS.items() if "catalog" in sources]


def thrice(bodies: list[bytes], too_early: int) -> list[bytes]:
    """Each three times, up to `too_early` places before its own and `FAR` after it."""
    order = random.Random(8)
    placed = []
    for place, body in enumerate(bodies):
        first = place - order.uniform(0, too_early)
        placed += [(first, body), *((place + order.uniform(0, FAR), body) for _ in range(2))]
    return [body for _, body in sorted(placed, key=lambda one: one[0])]


def in_its_place(body: bytes, damaged_id: str) -> Iterator[bytes]:
    """A message as it is; that of one requirement damaged, with others that are unreadable or unknown, each twice."""
    message = json.loads(body)
    if message["subject"] != damaged_id:
        yield body
        return
    data = message["data"]["requirement"]
    of_another_version = {**message, "data": {"requirement": {"name": data["title"], "key": data["id"]}}}
    unheard_of = {**message, "id": str(uuid.uuid4()), "type": "catalog.requirement.exploded"}
    for _ in range(2):
        yield b'{"specversion": "1.0", "id": '
        yield json.dumps(unheard_of).encode()
        yield json.dumps(of_another_version).encode()


def mend(stack: RunningStack, follower: str, event_id: str) -> None:
    """Put the message as it was told in the place of the damaged one, as a new version of the service could read it."""
    (told,) = query(stack, "catalog", "SELECT feed_seq, envelope FROM outbox WHERE event_id = %s", [event_id])
    whole = json.loads(told["envelope"]) | {"sequence": told["feed_seq"]}
    operating.execute(
        stack,
        follower,
        "UPDATE inbox_failures SET message = %s WHERE event_id = %s",
        [json.dumps(whole).encode(), event_id],
    )


def told_of(user: Traceline, item: Json) -> list[Json]:
    return [one for one in user.items("/notifications", limit=100) if item["id"] in one["data"].values()]


def everything_is_published(stack: RunningStack, away: list[str]) -> None:
    """Nothing is under way but what those who are away have not received."""

    def waiting() -> list[str]:
        return [line for line in look(stack)[1] if line.split(":")[0] not in away]

    eventually(lambda: not waiting(), "the end of everything else")
