"""The SQL of changes: the service's own feed, without internal events."""

from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.web.listing import Row
from contracts import catalog

_SUBJECTS = ("requirement", "test_case", "link", "relation")
_PUBLIC = [event.wire_name for event in catalog.EVENTS if event.wire_name.split(".")[1] in _SUBJECTS]


async def head(database: Database) -> int:
    """Return the newest position; everything that was committed before the call has one."""
    return await outbox.number(database)


async def find(connection: Connection, after: int, limit: int) -> list[Row]:
    """Return feed_seq, wire_name and envelope of the events after a position."""
    cursor = await connection.execute(
        "SELECT feed_seq, wire_name, envelope FROM outbox WHERE feed_seq > %s AND wire_name = ANY(%s)"
        " ORDER BY feed_seq LIMIT %s",
        (after, _PUBLIC, limit),
    )
    return await cursor.fetchall()
