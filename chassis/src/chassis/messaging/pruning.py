"""Prunes the service's feed: of what is older than a time, the last event of each thing is kept, and no other.

What is left is the snapshot for whoever starts anew: read from its beginning, a pruned feed leads to the same copy as
the whole one, tombstones included, and read from any place it brings a copy of that place up to date. What an event
tells of, its keys, is said by its payload. `feed_latest` has the last event of each key up to the place that the feed
is pruned up to, so that each event is looked at once. An event is kept while it is the last one of any of its keys.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson

from chassis.db.database import Connection, Database
from chassis.messaging import withdrawal
from chassis.messaging.payloads import Momentary, Payload

_log = logging.getLogger(__name__)

_BATCH = 500
_MOST_KEYS = 5_000
"""Events and keys by one transaction; an event may have hundreds of keys. A key costs up to 50 microseconds."""
_PAUSE = 0.05
"""Seconds between two transactions: it is in no hurry, and others are."""

ReadPosition = Callable[[Connection], Awaitable[int]]
"""Returns up to which place the service itself has read its own feed."""


class Pruner:
    """Prunes a feed as far as everybody has received it."""

    def __init__(
        self,
        database: Database,
        events: Iterable[type[Payload]],
        consumers: Sequence[str],
        readers: Sequence[ReadPosition] = (),
    ) -> None:
        """`events` are those that the service tells: any others are kept. `consumers` follow it through an inbox."""
        self._database = database
        self._payloads = {payload.wire_name: payload for payload in events}
        sources = {name.partition(".")[0] for name in self._payloads}
        self._payloads |= {withdrawal.wire_name(source): Momentary for source in sources}
        self.consumers = list(consumers)
        self._readers = readers

    async def keep(self, retention: timedelta) -> None:
        """Prune what is older than the retention."""
        before = datetime.now(UTC) - retention
        removed = 0
        while (batch := await self.prune_some(before)) is not None:
            removed += batch
            await asyncio.sleep(_PAUSE)
        if removed:
            _log.info("Pruned %d events of before %s", removed, before.isoformat(timespec="seconds"))

    async def prune_some(self, before: datetime) -> int | None:
        """Prune a few more of the events of before a time; return how many were removed, None when none is left to.

        The relay, every consumer and every reader has received them, and the one that each has received last is kept:
        by it a consumer sees that the feed is still the one that it knows.
        """
        async with self._database.across() as connection, connection.transaction():
            return await self.prune_within(connection, before)

    async def prune_within(self, connection: Connection, before: datetime) -> int | None:
        """Do the same in the caller's transaction."""
        position = await _lock(connection, self.consumers)
        limits = [await read_position(connection) for read_position in self._readers]
        rows = await _read(connection, position, self.consumers, limits)
        batch = self._looked_at(rows, before)
        if batch.last is None:
            return None
        removed = await _remove_superseded(connection, batch)
        await connection.execute("UPDATE feed_pruning SET position = %s", (batch.last,))
        return removed

    def _looked_at(self, rows: Sequence[dict[str, Any]], before: datetime) -> "_Batch":
        batch = _Batch()
        for row in rows:
            place = row["feed_seq"]
            try:
                envelope = orjson.loads(row["envelope"])
                if datetime.fromisoformat(envelope["time"]) >= before:
                    break
                named = self._payloads[row["wire_name"]].keys_of(envelope)
                keys = [_digest(row["project_id"], key) for key in named]
            except (ValueError, KeyError, TypeError, AttributeError):
                # Of a newer version, or damaged: who can tell what it is needed for.
                _log.debug("Keeps %s at %d: it cannot tell what that tells of", row["wire_name"], place)
            else:
                batch.places.append(place)
                batch.latest |= dict.fromkeys(keys, place)
            batch.last = place
            if len(batch.latest) >= _MOST_KEYS:
                break
        return batch


@dataclass(slots=True)
class _Batch:
    """Events that were looked at: their places, the last one of each key, and the place of the last event."""

    places: list[int] = field(default_factory=list)
    latest: dict[UUID, int] = field(default_factory=dict)
    last: int | None = None


def _digest(project: str, key: str) -> UUID:
    """Return a key of a project in 16 bytes: a feed may have a million of them."""
    return UUID(bytes=blake2b(f"{project} {key}".encode(), digest_size=16).digest())


async def received(connection: Connection, consumer: str, position: int) -> None:
    """Note that a consumer has received every event up to a position."""
    await connection.execute(
        "INSERT INTO feed_consumers AS known (consumer, position) VALUES (%(consumer)s, %(position)s)"
        " ON CONFLICT (consumer) DO UPDATE SET position = excluded.position, told_at = now()",
        {"consumer": consumer, "position": position},
    )


async def received_by_all(connection: Connection, consumers: Sequence[str]) -> int:
    """Return up to which position every one of these consumers has told that it received the feed."""
    cursor = await connection.execute(
        "SELECT coalesce(min(coalesce(c.position, 0)), (SELECT head FROM feed_head)) AS position"
        " FROM unnest(%s::text[]) AS known (consumer) LEFT JOIN feed_consumers c USING (consumer)",
        (list(consumers),),
    )
    row = await cursor.fetchone()
    assert row is not None, "an aggregate gives one row"
    position: int = row["position"]
    return position


async def progress(connection: Connection) -> dict[str, Any]:
    """Return up to where the feed is `pruned`, and each of its `consumers`.

    Of these: up to which `position` it has received everything, and how many seconds ago it told so.
    """
    pruned = await (await connection.execute("SELECT position FROM feed_pruning")).fetchone()
    assert pruned is not None, "the migration puts the one row there"
    cursor = await connection.execute(
        "SELECT consumer, position, extract(epoch FROM now() - told_at)::float8 AS told_seconds_ago"
        " FROM feed_consumers ORDER BY consumer"
    )
    return {"pruned": pruned["position"], "consumers": await cursor.fetchall()}


async def _lock(connection: Connection, consumers: Sequence[str]) -> int:
    """Let nobody else prune until the transaction ends; return up to where the feed is pruned.

    Consumers that never told where they are begin to be waited for.
    """
    await connection.execute(
        "INSERT INTO feed_consumers (consumer, position) SELECT consumer, 0 FROM unnest(%s::text[]) AS consumer"
        " ON CONFLICT (consumer) DO NOTHING",
        (list(consumers),),
    )
    row = await (await connection.execute("SELECT position FROM feed_pruning FOR UPDATE")).fetchone()
    assert row is not None, "the migration puts the one row there"
    position: int = row["position"]
    return position


# Never the last event of the feed either: who reads on comes to its end. Nor that which was published last.
_READ = """
SELECT feed_seq, wire_name, envelope, project_id FROM outbox
WHERE feed_seq > %(after)s AND feed_seq < least(
    (SELECT head FROM feed_head),
    (SELECT position FROM relay_position),
    (SELECT min(position) FROM feed_consumers WHERE consumer = ANY(%(consumers)s)),
    (SELECT min(position) FROM unnest(%(limits)s::bigint[]) AS position))
ORDER BY feed_seq LIMIT %(limit)s
"""


async def _read(
    connection: Connection, after: int, consumers: Sequence[str], limits: Sequence[int]
) -> list[dict[str, Any]]:
    cursor = await connection.execute(
        _READ, {"after": after, "consumers": list(consumers), "limits": list(limits), "limit": _BATCH}
    )
    return await cursor.fetchall()


_SUPERSEDE = """
WITH newest AS (
    SELECT * FROM unnest(%(keys)s::uuid[], %(places)s::bigint[]) AS newest (key, feed_seq)
), put AS (
    INSERT INTO feed_latest (key, feed_seq) SELECT * FROM newest
    ON CONFLICT (key) DO UPDATE SET feed_seq = excluded.feed_seq
)
SELECT DISTINCT feed_latest.feed_seq FROM feed_latest JOIN newest USING (key)
"""

_REMOVE = """
DELETE FROM outbox USING unnest(%s::bigint[]) AS gone (feed_seq)
WHERE outbox.feed_seq = gone.feed_seq
    AND NOT EXISTS (SELECT FROM feed_latest WHERE feed_latest.feed_seq = gone.feed_seq)
"""


async def _remove_superseded(connection: Connection, batch: _Batch) -> int:
    """Note the last event of each key; remove the events of the batch, and those before it, that are of none."""
    # SELECT sees what the INSERT beside it replaces.
    latest = {"keys": list(batch.latest), "places": list(batch.latest.values())}
    # Planned each time: a plan for the empty table would be kept while that grows to a million rows.
    cursor = await connection.execute(_SUPERSEDE, latest, prepare=False)
    before = [row["feed_seq"] for row in await cursor.fetchall()]
    removed = await connection.execute(_REMOVE, ([*before, *batch.places],), prepare=False)
    return removed.rowcount
