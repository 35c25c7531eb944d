"""How far the feeds of others are received here, and setting the own relay back."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from chassis.admin.running import Refused
from chassis.core.problems import Unavailable
from chassis.db.database import Connection
from chassis.messaging import inbox, outbox
from chassis.messaging.feed import has_event_at
from chassis.messaging.rebuild import ReadFeed

Row = dict[str, Any]

ReadFeedOf = Callable[[str], Awaitable[ReadFeed | None]]
"""Returns what reads the feed of a source; None when its address is not set."""


async def inboxes(connection: Connection, feed_of: ReadFeedOf) -> list[Row]:
    """Return for each source the position, and its head, the lag (in events) and its age if the source can be asked.

    `problem` says why a source was not asked, or that it does not tell what was received from it.
    """
    cursor = await connection.execute("SELECT source, position FROM inbox_positions ORDER BY source")
    rows = await cursor.fetchall()
    return [{**row, **await _behind(connection, row["source"], row["position"], feed_of)} for row in rows]


async def set_relay_back(connection: Connection, after: int) -> int:
    """Have the relay publish again what follows event `after`; return how many events it had published of that.

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


async def forget_position(connection: Connection, source: str) -> int:
    """Have the worker read the feed of `source` from its beginning; return how far it had received it.

    Raises Refused when nothing of it was ever received.
    """
    cursor = await connection.execute(
        "UPDATE inbox_positions AS known SET position = 0 FROM inbox_positions AS before"
        " WHERE known.source = %s AND before.source = known.source RETURNING before.position",
        (source,),
    )
    row = await cursor.fetchone()
    if row is None:
        raise Refused(f"Nothing of {source} was ever received here; `feed` shows whose events were.")
    position: int = row["position"]
    return position


async def _behind(connection: Connection, source: str, position: int, feed_of: ReadFeedOf) -> Row:
    unknown: Row = {"head": None, "lag": None, "lag_seconds": None, "problem": None}
    read_feed = await feed_of(source)
    if read_feed is None:
        return unknown | {"problem": f"{source.upper()}_URL is not set"}
    try:
        before = max(position - 1, 0)
        page = outbox.read_changes(await read_feed(before, 2), before)
    except Unavailable as away:
        return unknown | {"problem": away.detail}
    if position and not await has_event_at(page, position, partial(inbox.knows, connection)):
        return unknown | {"head": page.head, "problem": "restored to an older state than was received: reread it"}
    waiting = page.events[1:] if position and page.first == position else page.events
    age = outbox.age(waiting[0]) if waiting else None
    return {"head": page.head, "lag": page.head - position, "lag_seconds": age, "problem": None}
