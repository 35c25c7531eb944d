"""The stream of events to everybody who is connected: one reader of the table a process, however many follow it.

A connection is a position and no queue: what is new it takes from the events that the process keeps in memory, and
what is older from the table. So one that reads slowly holds nothing back, and nothing for it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from chassis.core import projects
from chassis.core.backoff import Backoff
from chassis.core.signals import wait_with_timeout
from chassis.db.coalescing import Coalesced
from chassis.db.database import Database
from chassis.web.event_stream import HEARTBEAT, HEARTBEAT_SECONDS, event
from chassis.web.responses import encode
from notification_service import repository, stream_repository
from notification_service.stream_repository import StoredEvent
from notification_service.vocabulary import StreamEventName

_log = logging.getLogger(__name__)
_PAUSE = 0.25
"""Seconds between two looks at least: what happens meanwhile is told together, and a count once."""
_POLL = 1.0
"""Seconds between looks without a notice of a commit."""
_PAGE = 200
_MOST_KEPT = 2 * 1024 * 1024
"""Bytes of events in memory."""
_KEPT_HOURS = 24
_KEPT_EVENTS = 100_000


class _Told(NamedTuple):
    position: int
    project: str
    text: bytes


class _Connection:
    """One who follows the stream of a project, up to `position`; `wakeup` when there is something to tell."""

    def __init__(self, user_id: int, project: str, counted: str, unread: int) -> None:
        self.user_id = user_id
        self.project = project
        self.counted = counted
        self.position = 0
        self.unread = unread
        self.wakeup = asyncio.Event()


class Stream:
    """Sends this process's connections what is new, and each how many notifications its user has not read."""

    def __init__(self, database: Database, unread_counts: Coalesced[int, int]) -> None:
        self._database = database
        self._unread_counts = unread_counts
        self._committed = database.commits.listener()
        self._connections: set[_Connection] = set()
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._recent: deque[_Told] = deque()
        self._recent_size = 0
        self._floor = self._head = 0
        """What comes after the floor, up to the head, is in `_recent`."""

    async def follow(
        self, user_id: int, project: str, after: int | None, counted: str = projects.NONE
    ) -> AsyncGenerator[bytes, None]:
        """Yield what one connection is to be sent: everything of a project after a position, or from now on, and the
        user's count, which is over all projects unless one is `counted`.

        Each part is some whole events, or a heartbeat. The first one has the position at which it begins.
        """
        with projects.within(counted):
            unread = await self._unread_counts.get(user_id)
        with self._connected(_Connection(user_id, project, counted, unread or 0)) as connection:
            await self._start_reading()
            connection.position = self._head if after is None else after
            sent: int | None = None
            while True:
                connection.wakeup.clear()
                connection.position, text = await self._events_after(connection.position, project)
                if connection.unread != sent:
                    sent = connection.unread
                    text += event(connection.position, StreamEventName.UNREAD, encode({"unread_count": sent}))
                yield text or HEARTBEAT
                if connection.position >= self._head:
                    await wait_with_timeout(connection.wakeup, HEARTBEAT_SECONDS)

    @contextmanager
    def _connected(self, connection: _Connection) -> Iterator[_Connection]:
        self._connections.add(connection)
        try:
            yield connection
        finally:
            self._connections.discard(connection)
            if not self._connections and self._reading is not None:
                self._reading.cancel()
                self._reading = None

    async def _start_reading(self) -> None:
        async with self._starting:
            if self._reading is None:
                await self._load()
                self._reading = asyncio.create_task(self._read())

    async def _load(self) -> None:
        async with self._database.across() as database:
            rows = await stream_repository.newest(database, _PAGE)
        self._recent.clear()
        self._recent_size = 0
        self._floor = self._head = rows[0]["position"] - 1 if rows else 0
        self._keep(rows)

    async def _read(self) -> None:
        """Read what is new, for ever."""
        backoff = Backoff()
        clock = asyncio.get_running_loop()
        while True:
            began = clock.time()
            try:
                while True:
                    self._committed.clear()
                    await self._take_new()
                    await asyncio.sleep(_PAUSE)
                    await wait_with_timeout(self._committed, _POLL)
            except Exception:  # noqa: BLE001 - whoever follows waits until it goes on
                backoff.restart_after(clock.time() - began)
                _log.exception("The stream of events cannot be read; again in %.1f s", backoff.seconds)
            await backoff.wait()

    async def _take_new(self) -> None:
        async with self._database.across() as database:
            while rows := await stream_repository.after(database, self._head, _PAGE):
                self._pass_by(rows)
                self._keep(rows)
        users: dict[str, set[int]] = {}
        for connection in self._connections:
            users.setdefault(connection.counted, set()).add(connection.user_id)
        counts: dict[str, Mapping[int, int]] = {}
        for counted, of_them in users.items():
            with projects.within(counted):
                counts[counted] = await repository.unread_counts(self._database, list(of_them))
        for connection in self._connections:
            unread = connection.unread
            # One that has come since is counted the next time.
            if connection.user_id in users.get(connection.counted, ()):
                unread = counts[connection.counted].get(connection.user_id, 0)
            if connection.position < self._head or connection.unread != unread:
                connection.unread = unread
                connection.wakeup.set()

    def _pass_by(self, rows: list[StoredEvent]) -> None:
        """Have connections that have had everything so far pass by what is of other projects: it is not for them."""
        of_projects = {row["project"] for row in rows}
        for connection in self._connections:
            if connection.position == self._head and connection.project not in of_projects:
                connection.position = rows[-1]["position"]

    def _keep(self, rows: list[StoredEvent]) -> None:
        for framed in map(_told, rows):
            self._recent.append(framed)
            self._recent_size += len(framed.text)
            self._head = framed.position
        while self._recent_size > _MOST_KEPT:
            oldest = self._recent.popleft()
            self._recent_size -= len(oldest.text)
            self._floor = oldest.position

    async def _events_after(self, position: int, project: str) -> tuple[int, bytes]:
        """Return the events of a project after a position, or some of them, and the position that they lead to."""
        if not self._floor <= position <= self._head:
            return await self._stored_after(position, project)
        texts = []
        for framed in reversed(self._recent):
            if framed.position <= position:
                break
            if framed.project == project:
                texts.append(framed.text)
        return self._head, b"".join(reversed(texts))

    async def _stored_after(self, position: int, project: str) -> tuple[int, bytes]:
        async with self._database.across() as database:
            before = await stream_repository.bounds(database)
        with projects.within(project):
            async with self._database.connection() as database:
                rows = await stream_repository.after(database, position, _PAGE)
        async with self._database.across() as database:
            # Afterwards: what is there then was there before.
            bounds = await stream_repository.bounds(database)
        if not bounds["first"] - 1 <= position <= bounds["last"]:
            return bounds["last"], event(bounds["last"], StreamEventName.RESET, b"{}")
        # Of a project there may be nothing for long; what came after the first look is left to the next.
        reached = rows[-1]["position"] if rows else position
        if len(rows) < _PAGE:
            reached = max(reached, before["last"])
        return reached, b"".join(_told(row).text for row in rows)


def _told(row: StoredEvent) -> _Told:
    return _Told(row["position"], row["project"], event(row["position"], row["name"], row["data"].encode()))


async def delete_old_events(database: Database) -> None:
    """Delete what nobody can expect to go on from: after a day, and beyond a number."""
    async with database.across() as connection:
        await stream_repository.delete_old(connection, _KEPT_HOURS, _KEPT_EVENTS)
