"""Several processes over one database: the election of a leader, and notices of commits."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

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

_Session = psycopg.AsyncConnection[tuple[bool]]


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

    async def hear_commits(self) -> None:
        """Listen to the others' commits until the connection breaks: for a process that has nothing to lead."""
        async with self._listening("traceline notices") as connection:
            await self._hear(connection)

    async def run_as_leader(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` while this process leads, and listen to the others' commits; until the connection breaks.

        The leader holds a lock of its session: it is free at once when the process or its connection ends.
        """
        async with self._listening("traceline leadership") as connection:
            leading: asyncio.Task[None] | None = None
            try:
                while True:
                    if leading is None and await _take_lock(connection):
                        _log.info("This process leads now")
                        leading = asyncio.ensure_future(_awaiting(work))
                    await self._hear(connection, _LOOK)
            finally:
                if leading is not None:
                    leading.cancel()
                    with suppress(asyncio.CancelledError):
                        await leading

    @asynccontextmanager
    async def _listening(self, name: str) -> AsyncIterator[_Session]:
        connection = await psycopg.AsyncConnection.connect(
            self._database.url, autocommit=True, options=_OPTIONS, application_name=name
        )
        try:
            await connection.execute(f"LISTEN {_CHANNEL}")
            self._database.commits.set()
            yield connection
        finally:
            await connection.close()

    async def _hear(self, connection: _Session, seconds: float | None = None) -> None:
        async for notice in connection.notifies(timeout=seconds):
            if notice.payload != self._me:
                self._database.commits.set()


async def _awaiting(work: Callable[[], Awaitable[None]]) -> None:
    await work()


async def _take_lock(connection: _Session) -> bool:
    row = await (await connection.execute("SELECT pg_try_advisory_lock(hashtext(%s))", (_LOCK,))).fetchone()
    return row is not None and row[0]
