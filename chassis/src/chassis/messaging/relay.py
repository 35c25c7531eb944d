"""Publishes the feed to the bus, in order, and remembers how far the bus has confirmed."""

import asyncio
import logging
from typing import Any

from prometheus_client import Histogram

from chassis.core.signals import wait_with_timeout
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging import spans as event_spans
from chassis.messaging.bus import Bus, NotPublished, Publication

_log = logging.getLogger(__name__)

_BATCH = 500
_LINGER = 0.01
_LINGER_BUSY = 0.25
"""Seconds that a first event waits for company: a batch costs little more than one event."""
_PAUSE = 1.0
"""Seconds before a broker that did not take events is tried again."""
_PUBLISH_SECONDS = Histogram(
    "traceline_publish_duration_seconds",
    "Until the bus has confirmed a batch of events, or has not.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30),
)
_BUSY = 20
"""Events at once from which on the next ones wait longer."""


class Relay:
    """Moves a service's events from its outbox to the bus."""

    def __init__(self, database: Database, bus: Bus, *, poll: float = 1.0) -> None:
        """`poll`: seconds between looks at the outbox without a notice of a commit."""
        self._database = database
        self._bus = bus
        self._poll = poll

    async def run(self) -> None:
        """Publish what is there, then whenever something was committed."""
        committed = self._database.commits.listener()
        while True:
            committed.clear()
            try:
                published = await self.publish_waiting()
            except NotPublished as failure:
                _log.warning("%s", failure)
                await asyncio.sleep(_PAUSE)
                continue
            if await wait_with_timeout(committed, self._poll):
                await asyncio.sleep(_LINGER if published < _BUSY else _LINGER_BUSY)

    async def publish_waiting(self) -> int:
        """Publish everything that was committed before the call; return how many events that were."""
        head = await outbox.number(self._database)
        position = await self._position()
        published = 0
        while position < head:
            page = await outbox.read(self._database, position, _BATCH)
            with _PUBLISH_SECONDS.time(), event_spans.publishing(page.events) as to_publish:
                await self._bus.publish([Publication(wire_name, envelope) for wire_name, envelope in to_publish])
            published += len(page.events)
            # A crash before this line sends the batch again: the inbox drops what it knows.
            position = await self._move(position, page.last)
        return published

    async def _position(self) -> int:
        async with self._database.connection() as connection:
            return await _read_position(connection)

    async def _move(self, before: int, after: int) -> int:
        """Remember that everything up to `after` is published, unless another process has moved the position."""
        async with self._database.connection() as connection:
            moved = await connection.execute(
                "UPDATE relay_position SET position = %s WHERE position = %s", (after, before)
            )
            if moved.rowcount:
                return after
            position = await _read_position(connection)
        _log.info("The relay goes on from %d, not from %d: it was moved", position, after)
        return position


_PROGRESS = """
SELECT head, position, (SELECT count(*) FROM outbox WHERE feed_seq IS NULL) AS unnumbered,
    coalesce((SELECT envelope FROM outbox WHERE feed_seq > position ORDER BY feed_seq LIMIT 1),
             (SELECT envelope FROM outbox WHERE feed_seq IS NULL ORDER BY id LIMIT 1)) AS oldest
FROM feed_head, relay_position
"""


async def progress(connection: Connection) -> dict[str, Any]:
    """Return the feed's head, the relay's position and lag (in events), and the age of the oldest unpublished event.

    `unnumbered` are events that were committed and have no place in the feed yet; they count as lag.
    """
    row = await (await connection.execute(_PROGRESS)).fetchone()
    assert row is not None, "the migration puts the one row there"
    return {
        "head": row["head"],
        "unnumbered": row["unnumbered"],
        "relay_position": row["position"],
        "lag": row["head"] - row["position"] + row["unnumbered"],
        "lag_seconds": None if row["oldest"] is None else outbox.age(row["oldest"]),
    }


async def _read_position(connection: Connection) -> int:
    row = await (await connection.execute("SELECT position FROM relay_position")).fetchone()
    assert row is not None, "the migration puts the one row there"
    position: int = row["position"]
    return position
