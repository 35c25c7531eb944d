"""How far a service's own feed is published, and how far it has received the feeds of others."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import orjson

from chassis import outbox
from chassis.admin.running import Refused
from chassis.database import Connection
from chassis.problems import Unavailable
from chassis.rebuild import ReadFeed

Row = dict[str, Any]

ReadFeedOf = Callable[[str], Awaitable[ReadFeed | None]]
"""Gives what reads the feed of a source; None when its address is not set."""

_OWN = """
SELECT head, position, (SELECT count(*) FROM outbox WHERE feed_seq IS NULL) AS unnumbered,
    (SELECT envelope FROM outbox WHERE feed_seq > position OR feed_seq IS NULL
     ORDER BY feed_seq NULLS LAST, id LIMIT 1) AS oldest
FROM feed_head, relay_position
"""


async def own_feed(connection: Connection) -> Row:
    """Give the feed's head, the relay's position and lag (in events), and the age of the oldest unpublished event.

    `unnumbered` are events that were committed and have no place in the feed yet; they count as lag.
    """
    row = await (await connection.execute(_OWN)).fetchone()
    assert row is not None, "the migration puts the one row there"
    return {
        "head": row["head"],
        "unnumbered": row["unnumbered"],
        "relay_position": row["position"],
        "lag": row["head"] - row["position"] + row["unnumbered"],
        "lag_seconds": None if row["oldest"] is None else _age(row["oldest"]),
    }


async def inboxes(connection: Connection, feed_of: ReadFeedOf) -> list[Row]:
    """Give for each source the position, and its head, the lag (in events) and its age if the source can be asked.

    `problem` says why a source was not asked.
    """
    cursor = await connection.execute("SELECT source, position FROM inbox_positions ORDER BY source")
    return [{**row, **await _behind(row["source"], row["position"], feed_of)} for row in await cursor.fetchall()]


async def kept_counts(connection: Connection) -> Row:
    """Give how many messages wait to be tried again, and how many are parked."""
    cursor = await connection.execute(
        "SELECT count(*) FILTER (WHERE parked_at IS NULL) AS waiting, count(parked_at) AS parked FROM inbox_failures"
    )
    row = await cursor.fetchone()
    assert row is not None, "an aggregate gives one row"
    return row


async def set_relay_back(connection: Connection, after: int) -> int:
    """Have the relay publish again what follows event `after`; give how many events it had published of that.

    Raises Refused when the relay is not there yet.
    """
    async with connection.transaction():
        row = await (await connection.execute("SELECT position FROM relay_position FOR UPDATE")).fetchone()
        assert row is not None, "the migration puts the one row there"
        position: int = row["position"]
        if after > position:
            raise Refused(f"The relay has published up to event {position}: give --after from 0 to {position}.")
        await connection.execute("UPDATE relay_position SET position = %s", (after,))
    return position - after


async def _behind(source: str, position: int, feed_of: ReadFeedOf) -> Row:
    unknown: Row = {"head": None, "lag": None, "lag_seconds": None, "problem": None}
    read_feed = await feed_of(source)
    if read_feed is None:
        return unknown | {"problem": f"{source.upper()}_URL is not set"}
    try:
        head, events = outbox.read_changes(await read_feed(position, 1))
    except Unavailable as away:
        return unknown | {"problem": away.detail}
    age = _age(events[0]) if events else None
    return {"head": head, "lag": head - position, "lag_seconds": age, "problem": None}


def _age(envelope: str | bytes) -> float:
    told: str = orjson.loads(envelope)["time"]
    return round((datetime.now(UTC) - datetime.fromisoformat(told)).total_seconds(), 3)
