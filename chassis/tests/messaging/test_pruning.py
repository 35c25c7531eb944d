"""A pruned feed is the last event of each thing, and leads whoever reads it to the same copy as the whole one."""

import asyncio
import random
import signal
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from chassis.admin import positions
from chassis.core.projects import within
from chassis.core.tasks import cancel_and_wait
from chassis.db.database import Connection, Database
from chassis.messaging import outbox, pruning
from chassis.messaging.bus.in_process import InProcessBus
from chassis.messaging.events import SYSTEM, Message, NewEvent, Received
from chassis.messaging.feed import Feed
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Momentary, Payload
from chassis.messaging.pruning import Pruner
from chassis.messaging.relay import Relay
from chassis.messaging.withdrawal import withdraw
from chassis.server.app import create_app
from chassis.server.messaging_loops import prune as prune_by
from chassis.server.worker import Worker
from chassis.web.peers import Peer
from testing.internal import FOLLOWER, SIGNERS, trusting

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
SINCE = datetime(2025, 1, 1, tzinfo=UTC)
"""When the time began that events are kept for."""


class Said(Payload):
    """What somebody says now, in place of what they said before."""

    wire_name = "test.somebody.said"
    what: str


class Agreed(Payload):
    """What some say together."""

    wire_name = "test.some.agreed"
    who: list[str]
    what: str

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        return [f"test.somebody {who}" for who in envelope["data"]["who"]]


class Passed(Momentary):
    wire_name = "test.moment.passed"


EVENTS = (Said, Agreed, Passed)


def said(who: str, what: str, at: datetime = LONG_AGO) -> NewEvent:
    return NewEvent(Said(what=what), who, SYSTEM, time=at)


def agreed(who: Iterable[str], what: str) -> NewEvent:
    return NewEvent(Agreed(who=list(who), what=what), "some", SYSTEM, time=LONG_AGO)


def passed(at: datetime = LONG_AGO) -> NewEvent:
    return NewEvent(Passed(), "moment", SYSTEM, time=at)


async def record(database: Database, *events: NewEvent) -> None:
    async with database.transaction() as connection:
        await outbox.record(connection, events)


async def reach(database: Database, consumer: str = "copy", position: int | None = None) -> None:
    """Publish everything, and have the consumer say that it has received everything, or up to a position."""
    head = await outbox.number(database)
    async with database.across() as connection:
        await connection.execute("UPDATE relay_position SET position = %s", (head,))
        await pruning.received(connection, consumer, head if position is None else position)


def new_pruner(database: Database, *consumers: str, **more: Any) -> Pruner:
    return Pruner(database, EVENTS, consumers or ("copy",), **more)


async def prune(pruner: Pruner) -> int:
    """Prune everything that may be; return how many events were removed."""
    removed = 0
    while (batch := await pruner.prune_some(SINCE)) is not None:
        removed += batch
    return removed


async def whole(database: Database, after: int = 0) -> list[Message]:
    """What is left of the feed, by pages, as consumers read it."""
    read: list[Message] = []
    while True:
        page = outbox.read_changes(await outbox.changes(database, after, 7), after)
        read += [Message.read(event) for event in page.events]
        after = page.last
        if after >= page.head:
            return read


def spoken(messages: Iterable[Message], known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The copy that a consumer makes: what each one says, and since which place."""
    copy = dict(known or {})
    for message in messages:
        data = message.attributes["data"]
        if message.wire_name == Said.wire_name:
            copy[message.attributes["subject"]] = data["what"], message.sequence
        elif message.wire_name == Agreed.wire_name:
            copy |= dict.fromkeys(data["who"], (data["what"], message.sequence))
    return copy


async def places(database: Database) -> list[int]:
    return [message.sequence for message in await whole(database)]


async def test_of_each_thing_the_last_event_is_left_and_the_last_one_of_the_feed(database: Database) -> None:
    await record(database, said("ann", "a"), passed(), said("bob", "b"), said("ann", "c"), passed(), passed())
    await reach(database)
    assert await prune(new_pruner(database)) == 3
    assert await places(database) == [3, 4, 6]
    assert await prune(new_pruner(database)) == 0

    await record(database, said("bob", "d"), said("cleo", "e"))
    await reach(database)
    assert await prune(new_pruner(database)) == 2
    assert await places(database) == [4, 7, 8]


async def test_an_event_of_many_is_kept_until_the_last_of_them_says_something_else(database: Database) -> None:
    await record(database, agreed(["ann", "bob"], "a"), said("ann", "b"), agreed(["cleo"], "c"), passed())
    await reach(database)
    await prune(new_pruner(database))
    assert await places(database) == [1, 2, 3, 4]
    await record(database, said("bob", "d"), passed())
    await reach(database)
    await prune(new_pruner(database))
    assert await places(database) == [2, 3, 5, 6]


async def test_from_any_place_a_pruned_feed_leads_to_what_the_whole_one_leads_to(database: Database) -> None:
    chance = random.Random(5)
    people = "abcdefgh"
    told: list[Message] = []
    for round_ in range(4):
        events = [
            chance.choice(
                [
                    said(chance.choice(people), f"{round_} {number}"),
                    agreed(chance.sample(people, chance.randint(1, 5)), f"{round_} {number}"),
                    passed(),
                ]
            )
            for number in range(chance.randint(100, 300))
        ]
        await record(database, *events)
        head = await outbox.number(database)
        after = told[-1].sequence if told else 0
        told += await whole(database, after)
        assert len(told) == head
        await reach(database, position=chance.randint(after, head))
        await prune(new_pruner(database))

        left = await whole(database)
        right = spoken(told)
        assert spoken(left) == right
        for position in range(head):
            known = spoken(told[:position])
            assert spoken([message for message in left if message.sequence > position], known) == right
        async with database.across() as connection:
            pruned = (await pruning.progress(connection))["pruned"]
        snapshot = {place for _, place in spoken(told[:pruned]).values()}
        assert [message.sequence for message in left] == [*sorted(snapshot), *range(pruned + 1, head + 1)]


async def test_what_is_not_old_enough_is_kept_and_all_that_comes_after_it(database: Database) -> None:
    await record(database, passed(), said("ann", "a"), said("ann", "b", at=SINCE), passed(), said("ann", "c"))
    await reach(database)
    await prune(new_pruner(database))
    assert await places(database) == [2, 3, 4, 5]


async def test_nothing_is_pruned_that_somebody_has_not_received(database: Database) -> None:
    await record(database, *(passed() for _ in range(9)))
    head = await outbox.number(database)
    pruner = new_pruner(database, "copy", "away", readers=[_read_up_to_5])
    assert await prune(pruner) == 0, "it is not published"
    await reach(database)
    assert await prune(pruner) == 0, "one consumer never said where it is"
    await reach(database, "away", 3)
    assert await prune(pruner) == 2, "the last that it received is kept: by it a consumer knows the feed again"
    await reach(database, "away", head)
    assert await prune(pruner) == 2, "the service itself has read up to 5"
    assert await places(database) == [5, 6, 7, 8, 9]


async def _read_up_to_5(_: Connection) -> int:
    return 5


async def test_what_the_pruner_does_not_know_is_kept(database: Database) -> None:
    await record(database, passed(), said("ann", "a"), passed(), said("ann", "b"), passed())
    async with database.across() as connection:
        await connection.execute("UPDATE outbox SET wire_name = 'test.thing.of_tomorrow' WHERE id = 1")
        await connection.execute("UPDATE outbox SET envelope = '[]' WHERE id = 3")
    await reach(database)
    await prune(new_pruner(database))
    async with database.across() as connection:
        rows = await (await connection.execute("SELECT feed_seq FROM outbox ORDER BY 1")).fetchall()
    assert [row["feed_seq"] for row in rows] == [1, 3, 4, 5]


async def test_consumers_and_what_was_pruned_are_told_to_operators(database: Database) -> None:
    await record(database, *(passed() for _ in range(3)))
    await reach(database)
    await prune(new_pruner(database, "copy", "never_there"))
    async with database.across() as connection:
        known = await pruning.progress(connection)
    assert known["pruned"] == 0
    assert [(row["consumer"], row["position"]) for row in known["consumers"]] == [("copy", 3), ("never_there", 0)]
    assert all(row["told_seconds_ago"] >= 0 for row in known["consumers"])


async def put(connection: Connection, events: list[Received[Said]]) -> None:
    for event in events:
        await connection.execute("INSERT INTO effects (what) VALUES (%s)", (event.data.what,))


@pytest.fixture
async def feed(database: Database, other_database: Database) -> AsyncIterator[Feed]:
    """The feed of `database`, entering `other_database`."""
    source = create_app("source", [], database=database, verifier=trusting(), schema_version="0001")
    transport = httpx.ASGITransport(app=source)
    async with httpx.AsyncClient(transport=transport, base_url="http://source") as client:
        inbox = Inbox("copy", other_database, {Said: put}, [Agreed, Passed])
        yield Feed("test", Peer("service", client, SIGNERS[FOLLOWER]), inbox)


async def applied(database: Database) -> list[str]:
    async with database.across() as connection:
        rows = await (await connection.execute("SELECT what FROM effects ORDER BY id")).fetchall()
    return [row["what"] for row in rows]


async def position_of(database: Database) -> int:
    return await Inbox("copy", database, {Said: put}).position("test")


async def published(database: Database) -> None:
    async with database.across() as connection:
        await connection.execute("UPDATE relay_position SET position = (SELECT head FROM feed_head)")


async def test_a_consumer_that_was_away_while_the_feed_was_pruned_has_lost_nothing(
    feed: Feed, database: Database, other_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await record(database, said("ann", "a"), said("ann", "b"), passed(), said("ann", "c"))
    await feed.catch_up()
    await feed.catch_up_if_stalled()
    await record(database, *(said("ann", what) for what in "defg"))
    await outbox.number(database)
    await published(database)
    assert await prune(new_pruner(database)) == 2

    await feed.catch_up()
    assert await applied(other_database) == list("abcdefg")
    await feed.catch_up_if_stalled()
    assert await prune(new_pruner(database)) == 4
    assert await position_of(other_database) == 8
    assert not caplog.records, "it neither misses anything nor takes the feed for another"


async def test_who_starts_anew_reads_the_snapshot_and_goes_on(
    feed: Feed, database: Database, other_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await record(database, said("ann", "a"), *(passed() for _ in range(600)), said("bob", "b"), said("ann", "c"))
    await record(database, passed(), said("bob", "d"))
    await reach(database)
    await prune(new_pruner(database))
    await feed.catch_up()
    assert await applied(other_database) == ["b", "c", "d"]
    assert await position_of(other_database) == 605
    assert "pruned" not in caplog.text


async def test_a_consumer_that_was_set_back_goes_on_and_says_what_it_misses(
    feed: Feed, database: Database, other_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await record(database, said("ann", "a"), said("bob", "b"), said("bob", "c"))
    await feed.catch_up()
    await record(database, passed(), said("bob", "d"), said("bob", "e"), passed())
    await reach(database)
    await prune(new_pruner(database))
    assert await places(database) == [1, 6, 7]
    for _ in range(2):
        await feed.catch_up_if_stalled()
    assert await applied(other_database) == ["a", "b", "c", "e"]
    assert await position_of(other_database) == 7
    assert "goes on up to 7: 2 of these were pruned" in caplog.text
    assert "restored" not in caplog.text


async def test_events_of_a_deleted_project_tell_nothing_and_leave_their_places_until_these_are_pruned(
    feed: Feed, database: Database, other_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with within("GOING"):
        await record(database, said("ann", "secret 1"))
    await record(database, said("bob", "b"))
    await reach(database)
    await prune(new_pruner(database))
    with within("GOING"):
        await record(database, said("ann", "secret 2"), passed(), said("ann", "secret 3"))
        assert await withdraw(database) == 4
        assert await withdraw(database) == 0
    left = await whole(database)
    assert [(event.sequence, event.wire_name.partition(".")[2]) for event in left] == [
        (2, "somebody.said"),
        *((place, "event.withdrawn") for place in (3, 4, 5)),
    ]
    assert b"secret" not in b"".join(event.raw for event in left)

    await feed.catch_up()
    assert (await applied(other_database), await position_of(other_database)) == (["b"], 5)
    assert not caplog.records
    await record(database, said("bob", "c"))
    await feed.catch_up()
    await reach(database)
    await prune(new_pruner(database))
    assert await places(database) == [2, 6]


async def test_a_gap_that_was_not_pruned_is_no_place_that_was_received(
    feed: Feed, database: Database, other_database: Database
) -> None:
    await record(database, said("ann", "a"), said("ann", "b"), said("ann", "c"))
    await outbox.number(database)
    async with database.across() as connection:
        await connection.execute("DELETE FROM outbox WHERE feed_seq = 2")
    await feed.catch_up()
    assert await applied(other_database) == ["a", "c"]
    assert await position_of(other_database) == 1


async def test_a_source_that_was_set_back_is_known_by_its_last_event_and_prunes_nothing_meanwhile(
    feed: Feed, database: Database, other_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await record(database, said("ann", "a"), passed(), said("ann", "b"), said("ann", "c"))
    await feed.catch_up()
    await feed.catch_up_if_stalled()
    await published(database)
    async with database.across() as connection:
        await connection.execute("DELETE FROM outbox WHERE feed_seq > 2")
        await connection.execute("UPDATE feed_head SET head = 2")
        await connection.execute("UPDATE feed_consumers SET position = 2")
    await record(database, *(said("bob", what) for what in "def"))
    await outbox.number(database)
    await feed.catch_up_if_stalled()
    assert "`python -m chassis.admin reread test` has it read again" in caplog.text
    assert await prune(new_pruner(database)) == 0
    async with other_database.across() as connection:
        await positions.forget_position(connection, "test")
    for _ in range(2):
        await feed.catch_up_if_stalled()
    assert await applied(other_database) == ["a", "b", "c", "d", "e", "f"]


async def test_the_relay_publishes_a_pruned_feed_again_to_its_end(database: Database) -> None:
    await record(database, said("ann", "a"), passed(), passed(), said("ann", "b"), passed())
    await reach(database)
    await prune(new_pruner(database))
    bus = InProcessBus()
    got: list[int] = []

    async def take(batch: Any) -> None:
        got.extend(Message.read(envelope).sequence for envelope in batch)

    bus.subscribe("copy", frozenset({"test"}), take)
    await bus.start()
    async with database.across() as connection:
        assert await positions.set_relay_back(connection, 0) == 5
    await Relay(database, bus).publish_waiting()
    await bus.stop()
    assert got == [4, 5]
    async with database.across() as connection:
        row = await (await connection.execute("SELECT position FROM relay_position")).fetchone()
    assert row == {"position": 5}


async def test_writers_and_readers_do_not_wait_for_the_pruner(database: Database) -> None:
    await record(database, *(said("ann", str(number)) for number in range(20)))
    await reach(database)
    async with asyncio.timeout(120), database.across() as connection, connection.transaction():
        assert await new_pruner(database).prune_within(connection, SINCE) == 18
        await record(database, said("bob", "b"))
        assert await outbox.number(database) == 21
        await reach(database)
        assert len(await whole(database)) == 21
    assert await places(database) == [19, 20, 21]


_DYING = """
import asyncio, os, signal, sys
sys.path.insert(0, {folder!r})
from test_pruning import EVENTS, SINCE
from chassis.db.database import Database
from chassis.messaging import pruning

removed, remaining = pruning._remove_superseded, 3

async def remove_and_die(connection, batch):
    global remaining
    await removed(connection, batch)
    remaining -= 1
    if not remaining:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    pruning._BATCH, pruning._remove_superseded = 20, remove_and_die
    database = Database({url!r})
    await database.open()
    pruner = pruning.Pruner(database, EVENTS, ["copy"])
    while True:
        await pruner.prune_some(SINCE)

asyncio.run(main())
"""


async def test_a_pruner_that_is_killed_leaves_a_feed_that_is_right_and_another_goes_on(
    database: Database, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(7)
    await record(database, *(said(chance.choice("abcd"), str(number)) for number in range(200)))
    await reach(database)
    told = await whole(database)
    script = _DYING.format(folder=str(request.path.parent), url=database.url)
    for kills in (1, 2):
        killed = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
        assert await killed.wait() == -signal.SIGKILL
        assert spoken(await whole(database)) == spoken(told)
        async with database.across() as connection:
            assert (await pruning.progress(connection))["pruned"] == kills * 2 * 20
    await prune(new_pruner(database))
    assert await places(database) == [*sorted(place for _, place in spoken(told[:-1]).values()), 200]


async def test_the_retention_is_what_is_kept(database: Database) -> None:
    now = datetime.now(UTC)
    await record(database, *(passed(now - timedelta(days=days)) for days in (40, 31, 29, 0)))
    await reach(database)
    await new_pruner(database).keep(timedelta(days=30))
    assert await places(database) == [3, 4]


async def test_a_worker_prunes_unless_all_is_to_be_kept(database: Database) -> None:
    await record(database, said("ann", "a"), said("ann", "b"), passed())
    await reach(database)
    worker = Worker()
    prune_by(worker, "test", database, new_pruner(database), 0)
    async with asyncio.timeout(120):
        await worker.run()
    assert await places(database) == [1, 2, 3]
    prune_by(worker, "test", database, new_pruner(database), 30)
    pruning_now = asyncio.create_task(worker.run())
    async with asyncio.timeout(120):
        while await places(database) != [2, 3]:  # noqa: ASYNC110 - nobody tells when it has
            await asyncio.sleep(0.02)
    await cancel_and_wait(pruning_now)


async def test_only_services_say_what_they_have_received(database: Database) -> None:
    source = create_app("source", [], database=database, verifier=trusting(), schema_version="0001")
    transport = httpx.ASGITransport(app=source)
    async with httpx.AsyncClient(transport=transport, base_url="http://source") as client:
        service = Peer("service", client, SIGNERS[FOLLOWER])
        assert (await service.put("/internal/feed-consumers/copy", {"position": -1})).status_code == 422
        assert (await service.put("/internal/feed-consumers/copy", {"position": 4})).status_code == 204
        assert (await client.put("/internal/feed-consumers/copy", json={"position": 5})).status_code == 401
    async with database.across() as connection:
        (known,) = (await pruning.progress(connection))["consumers"]
    assert (known["consumer"], known["position"]) == ("copy", 4)
