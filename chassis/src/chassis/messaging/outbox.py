"""The outbox is the service's feed: events are recorded with the change, numbered after it, never lost.

A writer inserts the event in the transaction of the change. The sequencer numbers what was committed, without
gaps, so that a reader who has seen N has seen everything up to N.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from psycopg.types.json import Json

from chassis.db.database import Connection, Database
from chassis.messaging.events import NewEvent, sequenced

RECORD = (
    "INSERT INTO outbox (event_id, wire_name, envelope) VALUES (%(event_id)s, %(event_wire_name)s, %(event_envelope)s)"
)
"""To stand in a CTE beside the change itself: `WITH event AS ({RECORD}) UPDATE ...`; parameters: `fields`."""

RECORD_ALL = (
    # As JSON: an array of texts full of quotes costs ten times as much to write down.
    "INSERT INTO outbox (event_id, wire_name, envelope)"
    " SELECT * FROM json_to_recordset(%(events)s) AS event (id uuid, wire_name text, envelope text)"
)
"""The same for several events, in this order; its parameter `events`: `all_fields`."""

_NUMBER_AT_ONCE = 1000


def fields(event: NewEvent) -> dict[str, Any]:
    """Return the parameters of RECORD."""
    return {
        "event_id": event.id,
        "event_wire_name": event.wire_name,
        "event_envelope": event.envelope().decode(),
    }


def all_fields(events: Sequence[NewEvent]) -> Json:
    """Return the parameter of RECORD_ALL."""
    return Json(
        [{"id": event.id, "wire_name": event.wire_name, "envelope": event.envelope().decode()} for event in events]
    )


async def record(connection: Connection, events: Sequence[NewEvent]) -> None:
    """Record events, in this order, in the caller's transaction."""
    if not events:
        return
    await connection.execute(RECORD_ALL, {"events": all_fields(events)})


async def number(database: Database) -> int:
    """Number every committed event that has no number yet; return the head of the feed.

    The head is locked first and the events are read by a second statement: what committed before the lock was
    taken is then visible. One statement for both would miss events.
    """
    async with database.across() as connection:
        while True:
            cursor = await connection.execute(
                "SELECT head, EXISTS (SELECT FROM outbox WHERE feed_seq IS NULL) AS waiting FROM feed_head"
            )
            row = await cursor.fetchone()
            assert row is not None, "the migration puts the one row there"
            if not row["waiting"]:
                return int(row["head"])
            async with connection.transaction():
                head = await _locked_head(connection)
                numbered = await connection.execute(
                    """
                    UPDATE outbox SET feed_seq = %(head)s + waiting.place
                    FROM (SELECT id, row_number() OVER (ORDER BY id) AS place
                          FROM outbox WHERE feed_seq IS NULL ORDER BY id LIMIT %(limit)s) AS waiting
                    WHERE outbox.id = waiting.id
                    """,
                    {"head": head, "limit": _NUMBER_AT_ONCE},
                )
                count = numbered.rowcount
                if count:
                    await connection.execute("UPDATE feed_head SET head = %s", (head + count,))


async def read(database: Database, after: int, limit: int) -> list[tuple[str, bytes]]:
    """Return (wire name, envelope with its sequence) of up to `limit` numbered events after position `after`."""
    async with database.across() as connection:
        cursor = await connection.execute(
            "SELECT feed_seq, wire_name, envelope FROM outbox WHERE feed_seq > %s ORDER BY feed_seq LIMIT %s",
            (after, limit),
        )
        rows = await cursor.fetchall()
    return [(row["wire_name"], sequenced(row["feed_seq"], row["envelope"].encode())) for row in rows]


async def changes(database: Database, after: int, limit: int) -> bytes:
    """Return the JSON document of GET /internal/changes: `head` and the `events` after position `after`.

    Everything that was committed before the call is numbered first, so that a caller who reads up to `head`
    has seen every change that was answered before they asked.
    """
    head = await number(database)
    events = await read(database, after, limit) if after < head else []
    return b'{"head":%d,"events":[%s]}' % (head, b",".join(envelope for _, envelope in events))


def read_changes(document: bytes) -> tuple[int, list[bytes]]:
    """Return (head, envelopes) of a document of GET /internal/changes."""
    page = orjson.loads(document)
    return page["head"], [orjson.dumps(event) for event in page["events"]]


def age(envelope: str | bytes) -> float:
    """Return the seconds since an event was recorded."""
    happened: str = orjson.loads(envelope)["time"]
    return round((datetime.now(UTC) - datetime.fromisoformat(happened)).total_seconds(), 3)


async def _locked_head(connection: Connection) -> int:
    row = await (await connection.execute("SELECT head FROM feed_head FOR UPDATE")).fetchone()
    assert row is not None, "the migration puts the one row there"
    head: int = row["head"]
    return head
