"""Shares scoring out: a job says that items wait; which ones, the scoring queue says.

Jobs may be lost or come twice. So a sweep sends them again for what has waited too long, and a job that finds
nothing is none.
"""

import asyncio

from chassis.core.signals import wait_with_timeout
from chassis.db.database import Database
from chassis.messaging.bus import Bus
from suggestion_service.store import scoring_queue

QUEUE = "suggestion.scoring"
BATCH = 200
"""Items that one job scores, at most."""
_MOST_ANNOUNCED = 20 * BATCH
_WATCH = 2.0
"""Seconds for which commits are watched after something was queued: it can be seen once it is committed."""
_PAUSE_AN_ITEM = 0.01
_LONGEST_PAUSE = 0.4
"""Seconds until the next jobs: a lone change hardly waits, while a burst comes together to fuller batches."""


class ScoringJobs:
    """Sends jobs for what waits. `queued` is called when something is put into the queue, before the commit."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self._database = database
        self._bus = bus
        self._committed = database.commits.listener()
        self._queued = asyncio.Event()

    def queued(self) -> None:
        """Watch for the commit that makes items wait."""
        self._queued.set()

    async def run(self) -> None:
        """Send jobs soon after items were queued by this worker, for ever."""
        clock = asyncio.get_running_loop()
        while True:
            await self._queued.wait()
            self._queued.clear()
            until = clock.time() + _WATCH
            while await wait_with_timeout(self._committed, until - clock.time()):
                self._committed.clear()
                items = await self.send()
                await asyncio.sleep(min(_PAUSE_AN_ITEM * max(items, 1), _LONGEST_PAUSE))

    async def send(self) -> int:
        """Send jobs for items that wait and that none was sent for lately; return how many items those are."""
        # Not announced as a commit: that would wake those who watch commits, us among them.
        async with self._database.across() as connection, connection.transaction():
            items = await scoring_queue.announce(connection, _MOST_ANNOUNCED)
        for _ in range(0, items, BATCH):
            await self._bus.send(QUEUE, b"score")
        return items

    async def sweep(self) -> None:
        """Send jobs for what was lost, given back, or is due again. To be done now and then by one worker."""
        await self.send()
