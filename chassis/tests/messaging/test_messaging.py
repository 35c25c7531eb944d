"""Events go from an outbox to an inbox at least once, take effect once, and block nobody."""

import asyncio
from typing import Any
from unittest.mock import ANY

import orjson
import psycopg
import pytest
from happenings import Happened, apply, effects, record

from chassis.core import request_context
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.bus.in_process import InProcessBus
from chassis.messaging.events import SYSTEM, Message, NewEvent, Received, sequenced
from chassis.messaging.inbox import MAX_ATTEMPTS, Inbox
from chassis.messaging.payloads import Payload
from chassis.messaging.relay import Relay
from testing.metrics import measured, rises


class Ignored(Payload):
    wire_name = "test.thing.ignored"


def new_inbox(database: Database, handler: Any = apply) -> Inbox:
    return Inbox("test", database, {Happened: handler}, ignored=[Ignored])


async def feed(database: Database) -> list[bytes]:
    await outbox.number(database)
    return [envelope for _, envelope in (await outbox.read(database, 0, 10_000)).events]


async def failures(database: Database) -> list[dict[str, Any]]:
    async with database.across() as connection:
        return await (await connection.execute("SELECT * FROM inbox_failures ORDER BY id")).fetchall()


async def test_the_feed_numbers_everything_that_many_writers_commit_without_a_gap(database: Database) -> None:
    numbering = True

    async def keep_numbering() -> None:
        while numbering:
            await outbox.number(database)

    async def write(writer: int) -> None:
        for turn in range(25):
            await record(database, f"{writer}-{turn}")

    sequencer = asyncio.create_task(keep_numbering())
    await asyncio.gather(*(write(writer) for writer in range(6)))
    numbering = False
    await sequencer

    assert await outbox.number(database) == 150
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT feed_seq FROM outbox ORDER BY feed_seq")).fetchall()
    assert [row["feed_seq"] for row in rows] == list(range(1, 151))


async def test_numbering_ends_although_more_is_committed_all_the_time(database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as owner:
        # A writer who is never slower than the sequencer: whenever the head moves there is a new event.
        owner.execute(
            """
            CREATE FUNCTION another() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO outbox (event_id, wire_name, envelope) VALUES (gen_random_uuid(), 'test.more', '{}');
                RETURN NULL;
            END $$;
            CREATE TRIGGER another AFTER UPDATE ON feed_head EXECUTE FUNCTION another();
            """
        )
    await record(database, "first", "second")

    async with asyncio.timeout(240):
        assert await outbox.number(database) == 2
        assert await outbox.number(database) == 3


async def test_a_rolled_back_change_tells_nothing(database: Database) -> None:
    async def change_and_fail() -> None:
        async with database.transaction() as connection:
            await outbox.record(connection, [NewEvent(Happened(what="never"), "1", SYSTEM)])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await change_and_fail()
    assert await feed(database) == []


async def test_an_event_delivered_three_times_takes_effect_once(database: Database, other_database: Database) -> None:
    await record(database, "a", "b", "c")
    envelopes = await feed(database)
    inbox = new_inbox(other_database)

    await inbox.receive(envelopes)
    await inbox.receive(list(reversed(envelopes)))
    await asyncio.gather(inbox.receive(envelopes), inbox.receive([envelopes[1], *envelopes]))

    assert await effects(other_database) == ["a", "b", "c"]
    assert await inbox.position("test") == 3


async def test_the_position_stays_before_a_gap_until_the_gap_is_filled(
    database: Database, other_database: Database
) -> None:
    await record(database, "a", "b", "c")
    first, second, third = await feed(database)
    inbox = new_inbox(other_database)

    await inbox.receive([first])
    await inbox.receive([third])
    assert await inbox.position("test") == 1
    await inbox.receive([second, third])
    assert await inbox.position("test") == 3
    assert sorted(await effects(other_database)) == ["a", "b", "c"]


async def test_a_poison_event_is_kept_with_its_error_and_the_others_flow(
    database: Database, other_database: Database
) -> None:
    await record(database, "a", "poison", "b")
    inbox = new_inbox(other_database)

    await inbox.receive(await feed(database))

    assert await effects(other_database) == ["a", "b"]
    [kept] = await failures(other_database)
    assert kept["error"] == "RuntimeError: this one never works\nbecause it is poison"
    assert kept["parked_at"] is None
    assert await inbox.position("test") == 3


async def test_an_event_that_fails_every_time_is_parked_and_works_when_the_handler_is_mended(
    database: Database, other_database: Database
) -> None:
    await record(database, "poison")
    inbox = new_inbox(other_database)
    await inbox.receive(await feed(database))
    [kept] = await failures(other_database)
    for _ in range(MAX_ATTEMPTS - 1):
        assert not await inbox.retry(kept["id"], kept["message"])
    [parked] = await failures(other_database)
    assert parked["parked_at"] is not None

    async def mended(connection: Connection, events: list[Received[Happened]]) -> None:
        await connection.execute("INSERT INTO effects (what) VALUES ('mended')")

    assert await new_inbox(other_database, mended).retry(parked["id"], parked["message"])
    assert await effects(other_database) == ["mended"]
    assert await failures(other_database) == []


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"[]",
        b'{"id": 7}',
        b'{"id":"0b6ff60c-4fd0-4f1c-8a1f-1c9c4d6f0002","source":"/traceline/test","type":"test.thing.happened",'
        b'"sequence":1,"time":"2026-01-01T00:00:00Z","actor":"system","data":{"wrong":1}}',
        b'{"id":"0b6ff60c-4fd0-4f1c-8a1f-1c9c4d6f0003","source":"/traceline/test","type":"a\\u0000","sequence":1}',
        b'{"id":"0b6ff60c-4fd0-4f1c-8a1f-1c9c4d6f0004","source":"/traceline/test","type":{},"sequence":1}',
        b'{"id":"0b6ff60c-4fd0-4f1c-8a1f-1c9c4d6f0005","source":"/traceline/test","type":"test.thing.happened",'
        b'"sequence":9223372036854775808,"time":"2026-01-01T00:00:00Z","actor":"system","data":{"what":"far"}}',
    ],
    ids=[
        "empty",
        "no JSON",
        "no object",
        "no envelope",
        "wrong payload",
        "type with NUL",
        "type no text",
        "sequence too large",
    ],
)
async def test_a_broken_message_is_parked_once_and_later_ones_flow(
    database: Database, other_database: Database, broken: bytes
) -> None:
    await record(database, "later")
    inbox = new_inbox(other_database)

    await inbox.receive([broken, *(await feed(database))])
    await inbox.receive([broken])

    assert await effects(other_database) == ["later"]
    [parked] = await failures(other_database)
    assert parked["parked_at"] is not None
    assert parked["message"] == broken


async def test_events_of_a_known_type_without_a_handler_only_move_the_position(
    database: Database, other_database: Database
) -> None:
    async with database.transaction() as connection:
        await outbox.record(connection, [NewEvent(Ignored(), "1", SYSTEM)])
    inbox = new_inbox(other_database)
    await inbox.receive(await feed(database))
    assert await inbox.position("test") == 1
    assert await failures(other_database) == []


async def test_an_event_of_a_type_that_is_not_known_is_counted_and_skipped_once(
    database: Database, other_database: Database
) -> None:
    class Newer(Payload):
        wire_name = "test.thing.newer"

    async with database.transaction() as connection:
        await outbox.record(connection, [NewEvent(Newer(), "1", SYSTEM)])
    await record(database, "later")
    inbox = new_inbox(other_database)
    before = await measured()
    for _ in range(2):
        await inbox.receive(await feed(database))
    counted = rises(before, await measured())
    assert counted['traceline_inbox_unknown_total{consumer="test"}'] == 1
    assert await effects(other_database) == ["later"]
    assert await inbox.position("test") == 2
    assert await failures(other_database) == []


async def test_nothing_is_acknowledged_while_the_database_is_away(database: Database, other_database: Database) -> None:
    await record(database, "a")
    inbox = new_inbox(other_database)
    await other_database.close()
    with pytest.raises(Exception, match="closed"):
        await inbox.receive(await feed(database))


async def test_changes_show_everything_that_was_committed_before_the_call(database: Database) -> None:
    await record(database, "a", "b")
    for after, count in ((0, 2), (1, 1), (2, 0)):
        page = outbox.read_changes(await outbox.changes(database, after, 100), after)
        assert (page.head, page.last, len(page.events)) == (2, 2, count)


async def test_the_relay_sends_again_what_was_published_but_not_remembered(
    database: Database, other_database: Database
) -> None:
    bus = InProcessBus()
    inbox = new_inbox(other_database)
    bus.subscribe("test", inbox.sources, inbox.receive)
    await bus.start()
    relay = Relay(database, bus)
    await record(database, "a", "b")
    await relay.publish_waiting()
    async with database.connection() as connection:
        await connection.execute("UPDATE relay_position SET position = 0")
    await record(database, "c")
    await relay.publish_waiting()
    assert await effects(other_database) == ["a", "b", "c"]


async def test_a_commit_reaches_the_other_service_without_being_asked_for(
    database: Database, other_database: Database
) -> None:
    bus = InProcessBus()
    arrived = asyncio.Event()

    async def note(connection: Connection, events: list[Received[Happened]]) -> None:
        await apply(connection, events)
        arrived.set()

    inbox = new_inbox(other_database, note)
    bus.subscribe("test", inbox.sources, inbox.receive)
    await bus.start()
    running = asyncio.create_task(Relay(database, bus, poll=60).run())
    await asyncio.sleep(0.05)
    await record(database, "a")
    await asyncio.wait_for(arrived.wait(), 10)
    running.cancel()


def test_an_event_carries_the_gateways_id_of_its_own_request_and_of_no_other() -> None:
    with request_context.of_event("e-1", request="r-1", gateway_request="g-1", actor=None):
        own = NewEvent(Happened(what="a"), "1", SYSTEM)
        of_another = NewEvent(Happened(what="a"), "1", SYSTEM, correlation_id="r-2")
        told = NewEvent(Happened(what="a"), "1", SYSTEM, correlation_id="r-2", gateway_request_id="g-2")
    ids = [orjson.loads(event.envelope()).get("gatewayrequestid") for event in (own, of_another, told)]
    assert ids == ["g-1", None, "g-2"]
    assert Message.read(sequenced(1, own.envelope())).decode(Happened).gateway_request_id == "g-1"


async def test_the_envelope_is_cloudevents_json(database: Database) -> None:
    await record(database, "ünï")
    [envelope] = await feed(database)
    assert orjson.loads(envelope) == {
        "sequence": 1,
        "specversion": "1.0",
        "id": ANY,
        "source": "/traceline/test",
        "type": "test.thing.happened",
        "subject": "1",
        "time": ANY,
        "datacontenttype": "application/json",
        "correlationid": ANY,
        "actor": "system",
        "data": {"what": "ünï"},
    }
