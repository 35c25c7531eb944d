"""The outbox is the service's feed: events are recorded with the change, numbered after it, never lost.

A writer inserts the event in the transaction of the change. The sequencer numbers what was committed, without
gaps, so that a reader who has seen N has seen everything up to N. What was pruned leaves gaps behind the others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

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
_LATELY = 5000


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


async def recorded_lately(connection: Connection, ids: Collection[UUID]) -> set[UUID]:
    """Return which of these events are among the last that were recorded: whoever got no answer may tell them again."""
    cursor = await connection.execute(
        "SELECT event_id FROM outbox WHERE event_id = ANY(%s) AND id > (SELECT max(id) FROM outbox) - %s",
        (list(ids), _LATELY),
    )
    return {row["event_id"] for row in await cursor.fetchall()}


async def number(database: Database) -> int:
    """Number every event that was committed before the call and has no number yet; return the head of the feed.

    The head is locked first and the events are read by a second statement: what committed before the lock was
    taken is then visible. One statement for both would miss events.
    """
    async with database.across() as connection:
        cursor = await connection.execute(
            "SELECT head, EXISTS (SELECT FROM outbox WHERE feed_seq IS NULL) AS waiting FROM feed_head"
        )
        row = await cursor.fetchone()
        assert row is not None, "the migration puts the one row there"
        if not row["waiting"]:
            return int(row["head"])
        while True:
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
                head += numbered.rowcount
                if numbered.rowcount:
                    await connection.execute("UPDATE feed_head SET head = %s", (head,))
            # What has been committed meanwhile is left to the next call: who writes all the time would keep us here.
            if numbered.rowcount < _NUMBER_AT_ONCE:
                return head


@dataclass(frozen=True, slots=True)
class Page:
    """Events of a feed, as (wire name, envelope with its sequence), and the place of the `last` of them.

    Up to the place `pruned` only the last event of each thing is left, after it all are.
    """

    pruned: int
    events: list[tuple[str, bytes]]
    last: int


async def read(database: Database, after: int, limit: int) -> Page:
    """Return up to `limit` numbered events after position `after`."""
    async with database.across() as connection:
        cursor = await connection.execute(
            """
            SELECT position AS pruned, event.*
            FROM feed_pruning LEFT JOIN LATERAL (
                SELECT feed_seq, wire_name, envelope FROM outbox WHERE feed_seq > %s ORDER BY feed_seq LIMIT %s
            ) AS event ON true
            ORDER BY feed_seq
            """,
            (after, limit),
        )
        rows = await cursor.fetchall()
    numbered = [row for row in rows if row["feed_seq"] is not None]
    events = [(row["wire_name"], sequenced(row["feed_seq"], row["envelope"].encode())) for row in numbered]
    return Page(rows[0]["pruned"], events, numbered[-1]["feed_seq"] if numbered else after)


async def changes(database: Database, after: int, limit: int) -> bytes:
    """Return the JSON document of GET /internal/changes: `head`, and the page of `events` after position `after`.

    Everything that was committed before the call is numbered first, so that a caller who reads up to `head`
    has seen every change that was answered before they asked.
    """
    head = await number(database)
    page = await read(database, after, limit if after < head else 0)
    events = b",".join(envelope for _, envelope in page.events)
    return b'{"head":%d,"pruned":%d,"events":[%s]}' % (head, page.pruned, events)


@dataclass(frozen=True, slots=True)
class Changes:
    """A document of GET /internal/changes: `head` is the last place of the feed; for the others see Page."""

    head: int
    pruned: int
    events: list[bytes]
    first: int
    last: int


def read_changes(document: bytes, after: int) -> Changes:
    """Return the document of GET /internal/changes after position `after`."""
    page = orjson.loads(document)
    events = page["events"]
    return Changes(
        page["head"],
        page.get("pruned", 0),  # a service of the version before prunes nothing
        [orjson.dumps(event) for event in events],
        events[0]["sequence"] if events else after,
        events[-1]["sequence"] if events else after,
    )


def age(envelope: str | bytes) -> float:
    """Return the seconds since an event was recorded."""
    happened: str = orjson.loads(envelope)["time"]
    return round((datetime.now(UTC) - datetime.fromisoformat(happened)).total_seconds(), 3)


async def _locked_head(connection: Connection) -> int:
    row = await (await connection.execute("SELECT head FROM feed_head FOR UPDATE")).fetchone()
    assert row is not None, "the migration puts the one row there"
    head: int = row["head"]
    return head
