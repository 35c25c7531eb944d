"""The SQL of changes: the service's own feed, without internal events."""

from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.web.listing import Row
from contracts import catalog

_INTERNAL = (catalog.CoverageChanged, catalog.CoverageDropped, catalog.ImportApplied)
_PUBLIC = [event.wire_name for event in catalog.EVENTS if event not in _INTERNAL]


async def head(database: Database) -> int:
    """Return the newest position; everything that was committed before the call has one."""
    return await outbox.number(database)


async def find(connection: Connection, after: int, limit: int) -> tuple[int | None, list[Row]]:
    """Return (the oldest position that there is, if any; feed_seq, wire_name and envelope of the events after one)."""
    cursor = await connection.execute(
        """
        SELECT (SELECT min(feed_seq) FROM outbox) AS oldest, changes.*
        FROM (VALUES (1)) one LEFT JOIN (
            SELECT feed_seq, wire_name, envelope FROM outbox
            WHERE feed_seq > %s AND wire_name = ANY(%s) ORDER BY feed_seq LIMIT %s
        ) AS changes ON true
        ORDER BY feed_seq
        """,
        (after, _PUBLIC, limit),
    )
    rows = await cursor.fetchall()
    return rows[0]["oldest"], [row for row in rows if row["feed_seq"] is not None]
