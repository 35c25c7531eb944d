"""Forgets by their ids the events that were received long ago: that they were is told by their place and time then.

Every event up to a position was received. So of those before it, as far as they were told before a time, no id is
needed to know one that comes again: out of the broker, by a replay of the feed, or read once more from its beginning.
A source that was restored to an older state tells other events at places that are known; those were told later.
"""

import asyncio
from datetime import UTC, datetime, timedelta

from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_column

_KEPT = timedelta(days=30)
_CLOCKS_APART = timedelta(hours=1)
"""At most: an event may have been told, by the clock of its source, after it was applied."""
_BLOCKS = 256
_PAUSE = 0.05
"""Of the table, by one statement, and seconds between two of them: it is in no hurry, and others are."""

IS_FORGOTTEN = """
    EXISTS (SELECT FROM inbox_positions AS known
            WHERE known.source = incoming.source
                AND CASE WHEN incoming.place <= known.pruned
                    THEN incoming.occurred_at::timestamptz < known.pruned_before END)
"""
"""SQL condition: an event of `incoming` (source, place, occurred_at) was received, although its id may be forgotten."""

# The last one received is kept: by it a feed is known for the same one. While a source that was restored is read
# again, the position is before what was forgotten.
_NOTE = """
UPDATE inbox_positions SET pruned = position - 1, pruned_before = %(before)s
WHERE position > pruned AND coalesce(pruned_before <= %(before)s, true)
"""

# Rows of before places were noted go when nothing after the position was received: all of them are before it.
_WITHOUT_A_GAP = """
SELECT source FROM inbox_positions AS known
WHERE position = (SELECT max(place) FROM inbox WHERE split_part(wire_name, '.', 1) = known.source)
"""

_FORGET = """
DELETE FROM inbox USING inbox_positions AS known
WHERE inbox.ctid >= format('(%%s,0)', %(begin)s::bigint)::tid AND inbox.ctid < format('(%%s,0)', %(end)s::bigint)::tid
    AND inbox.applied_at < known.pruned_before - %(clocks_apart)s AND known.source = split_part(inbox.wire_name, '.', 1)
    AND (inbox.place <= known.pruned OR (inbox.place IS NULL AND known.source = ANY(%(whole)s)))
"""


async def note(connection: Connection) -> None:
    """Note what was received and told longer ago than ids are kept; to be committed under the lock of the inbox."""
    await connection.execute(_NOTE, {"before": datetime.now(UTC) - _KEPT})


async def forget_noted(database: Database) -> int:
    """Forget the ids of what is noted; return how many there were."""
    removed = 0
    async with database.across() as connection:
        whole = await fetch_column(connection, _WITHOUT_A_GAP)
        for begin in range(0, await _blocks(connection), _BLOCKS):
            deleted = await connection.execute(
                _FORGET, {"begin": begin, "end": begin + _BLOCKS, "clocks_apart": _CLOCKS_APART, "whole": whole}
            )
            removed += deleted.rowcount
            await asyncio.sleep(_PAUSE)
    return removed


async def _blocks(connection: Connection) -> int:
    [blocks] = await fetch_column(
        connection, "SELECT pg_relation_size('inbox') / current_setting('block_size')::bigint"
    )
    return int(blocks)
