"""Several processes over one database: the election of a leader, and notices of commits."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress

import psycopg

from chassis.db.database import Database

_log = logging.getLogger(__name__)
_CHANNEL = "traceline_commits"
_LOOK = 1.0
"""Seconds between tries to become the leader."""
_NOT_AGAIN_FOR = 0.005
"""Seconds between two notices: one in each transaction would make every commit wait for the others."""
_LOCK = "traceline leader"
# A leader whose machine is gone must not lead for two hours more.
_OPTIONS = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"


class Replicas:
    """This process among those of the same service. All of them use the same database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._me = uuid.uuid4().hex

    async def notify_commits(self) -> None:
        """Notify the others of this process's commits, for ever.

        A notice may be lost with the process or its connection: whoever listens also looks by itself now and then.
        """
        committed = self._database.own_commits.listener()
        while True:
            await committed.wait()
            committed.clear()
            async with self._database.connection() as connection:
                await connection.execute("SELECT pg_notify(%s, %s)", (_CHANNEL, self._me))
            await asyncio.sleep(_NOT_AGAIN_FOR)

    async def run_as_leader(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` while this process leads, and listen to the others' commits; until the connection breaks.

        The leader holds a lock of its session: it is free at once when the process or its connection ends.
        """
        connection = await psycopg.AsyncConnection.connect(
            self._database.url, autocommit=True, options=_OPTIONS, application_name="traceline leadership"
        )
        leading: asyncio.Task[None] | None = None
        try:
            await connection.execute(f"LISTEN {_CHANNEL}")
            self._database.commits.set()
            while True:
                if leading is None and await _take_lock(connection):
                    _log.info("This process leads now")
                    leading = asyncio.ensure_future(_awaiting(work))
                async for notice in connection.notifies(timeout=_LOOK):
                    if notice.payload != self._me:
                        self._database.commits.set()
        finally:
            if leading is not None:
                leading.cancel()
                with suppress(asyncio.CancelledError):
                    await leading
            await connection.close()


async def _awaiting(work: Callable[[], Awaitable[None]]) -> None:
    await work()


async def _take_lock(connection: psycopg.AsyncConnection[tuple[bool]]) -> bool:
    row = await (await connection.execute("SELECT pg_try_advisory_lock(hashtext(%s))", (_LOCK,))).fetchone()
    return row is not None and row[0]
