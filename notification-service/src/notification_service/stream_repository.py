"""The SQL of the stream of events."""

from collections.abc import Sequence
from typing import TypedDict

import orjson

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_only
from notification_service.stream_events import StreamEvent

_STORED = "position, project_id AS project, name, data::text"


class StoredEvent(TypedDict):
    """An event of the stream, its data as JSON."""

    position: int
    project: str
    name: str
    data: str


class Bounds(TypedDict):
    """The first and the last position of the events that are kept; the last one always is, 0 when there is none."""

    first: int
    last: int


async def insert(connection: Connection, events: Sequence[StreamEvent]) -> None:
    """Store events, in this order, in the transaction of an inbox.

    Its lock is held until they are visible. So positions become visible in their order, and whoever has read up to one
    misses nothing before it; a rollback leaves a gap.
    """
    await connection.execute(
        "INSERT INTO stream_events (name, data)"
        " SELECT name, data FROM json_to_recordset(%s::json) AS e (name text, data json)",
        (orjson.dumps(events, option=orjson.OPT_UTC_Z).decode(),),
    )


async def bounds(connection: Connection) -> Bounds:
    """Return which events are kept."""
    return await fetch_only(
        connection,
        Bounds,
        "SELECT coalesce(min(position), 0) AS first, coalesce(max(position), 0) AS last FROM stream_events",
    )


async def after(connection: Connection, position: int, limit: int) -> list[StoredEvent]:
    """Return up to `limit` events after a position, in order; those that the connection sees."""
    return await fetch_all(
        connection,
        StoredEvent,
        f"SELECT {_STORED} FROM stream_events WHERE position > %s ORDER BY position LIMIT %s",
        (position, limit),
    )


async def newest(connection: Connection, limit: int) -> list[StoredEvent]:
    """Return the last events, in order."""
    rows = await fetch_all(
        connection,
        StoredEvent,
        f"SELECT {_STORED} FROM stream_events ORDER BY position DESC LIMIT %s",
        (limit,),
    )
    return rows[::-1]


async def delete_old(connection: Connection, hours: int, most: int) -> None:
    """Delete events older than so many hours, and the oldest beyond so many; never the last one."""
    await connection.execute(
        "DELETE FROM stream_events WHERE position < (SELECT max(position) FROM stream_events)"
        " AND (stored_at < now() - make_interval(hours => %s)"
        " OR position <= (SELECT max(position) FROM stream_events) - %s)",
        (hours, most),
    )
