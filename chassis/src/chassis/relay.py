"""Publishes the feed to the bus, in order, and remembers how far the bus has confirmed."""

import asyncio

from chassis import outbox
from chassis.bus import Bus, Publication
from chassis.database import Database

_BATCH = 500
_LINGER = 0.01
_LINGER_BUSY = 0.1
"""Seconds that a first event waits for company: a batch costs little more than one event."""
_BUSY = 20
"""Events at once from which on the next ones wait longer."""


class Relay:
    """Moves a service's events from its outbox to the bus."""

    def __init__(self, database: Database, bus: Bus, *, poll: float = 0.5) -> None:
        """`poll`: seconds between looks at the outbox when nothing in this process has committed."""
        self._database = database
        self._bus = bus
        self._poll = poll

    async def run(self) -> None:
        """Publish what is there, then whenever something was committed."""
        while True:
            self._database.committed.clear()
            published = await self.publish_waiting()
            try:
                await asyncio.wait_for(self._database.committed.wait(), self._poll)
                await asyncio.sleep(_LINGER if published < _BUSY else _LINGER_BUSY)
            except TimeoutError:
                pass

    async def publish_waiting(self) -> int:
        """Publish everything that was committed before the call; give how many events that were."""
        head = await outbox.number(self._database)
        async with self._database.connection() as connection:
            row = await (await connection.execute("SELECT position FROM relay_position")).fetchone()
        assert row is not None, "the migration puts the one row there"
        began: int = row["position"]
        position = began
        while position < head:
            events = await outbox.read(self._database, position, _BATCH)
            await self._bus.publish([Publication(wire_name, envelope) for wire_name, envelope in events])
            position += len(events)
            async with self._database.connection() as connection:
                # A crash before this line sends the batch again: the inbox drops what it knows.
                await connection.execute("UPDATE relay_position SET position = %s", (position,))
        return position - began
