"""Rebuilds a service's copy of another service's data from nothing, while events flow and readers read.

The source's feed is applied to temporary tables of the names of the copy's own, so the service's handlers are used
as they are and nothing but the copy can be touched. Then the inbox is locked, what was received meanwhile is applied
too, and what differs is put into the copy: all in one transaction. The inbox keeps what it knows, so events that
have not been received yet come by themselves, with all their effects, and once.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from psycopg import sql

from chassis.core import projects
from chassis.core.batches import all_or_each
from chassis.core.problems import Unavailable
from chassis.db import isolation
from chassis.db.database import AWAY, Connection, in_project
from chassis.messaging import inbox, outbox
from chassis.messaging.events import Message, UndecodableMessage
from chassis.messaging.inbox import Handler
from chassis.messaging.outbox import Changes
from chassis.messaging.payloads import Payload

_log = logging.getLogger(__name__)
_PAGE = 250

ReadFeed = Callable[[int, int], Awaitable[bytes]]
"""Takes (after, limit); gives the document of GET /internal/changes of the source."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the copy has to go: every event up to `position` was received; the feed ends at `head`."""

    position: int
    head: int

    def covers(self, column: str) -> str:
        """Return the SQL condition that the place in `column` is none of an event that is still to come."""
        return f"({column} <= {self.position:d} OR {column} > {self.head:d})"


async def _nothing(_: Connection) -> None:
    """Prepare nothing."""


@dataclass(frozen=True, slots=True)
class ReadModel:
    """A service's copy of another's data: what its module `read_model` gives by `new_read_model()`.

    `queue` is the inbox by which the events of `source` come. `handlers` write to `tables` alone; an event that comes
    late changes nothing there. `merge` brings the real tables (schema public) to what the temporary ones (schema
    pg_temp) say and gives how many rows it had to put right, by table. `prepare` fills what the handlers need filled.
    """

    queue: str
    source: str
    tables: Sequence[str]
    handlers: Mapping[type[Payload], Handler]
    merge: Callable[[Connection, Reach], Awaitable[Mapping[str, int]]]
    prepare: Callable[[Connection], Awaitable[None]] = _nothing


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did. `events` were applied, `skipped` could not be; the copy is as of `reach.position`."""

    reach: Reach
    events: int
    skipped: int
    corrected: Mapping[str, int]


async def rebuild(connection: Connection, model: ReadModel, read_feed: ReadFeed) -> Rebuilt:
    """Rebuild the copy by one transaction; when it raises, the copy is as it was.

    Raises Unavailable when the feed is pruned further than it was received.

    `connection` is used by no other, and not afterwards: its plans are those for the temporary tables.
    """
    async with connection.transaction():
        await connection.execute("SET LOCAL statement_timeout = '15min'")
        for table in model.tables:
            await _make_temporary(connection, table)
        await model.prepare(connection)
        folding = _Folding(connection, model)
        place = await _fold_received(connection, folding, read_feed)
        await inbox.lock(connection, model.queue)
        reach = await _fold_the_rest(connection, folding, place, read_feed)
        for table in model.tables:
            await connection.execute(_sql("ANALYZE {0}", table))
        corrected = await model.merge(connection, reach)
        # A source that was set back to an older state tells these places again.
        await connection.execute(
            "UPDATE inbox_positions SET position = %(head)s WHERE source = %(source)s AND position > %(head)s",
            {"head": reach.head, "source": model.source},
        )
    return Rebuilt(reach, folding.applied, len(folding.skipped), corrected)


async def _make_temporary(connection: Connection, table: str) -> None:
    """Make the temporary table of a table, with the same walls between projects."""
    await connection.execute(_sql("CREATE TEMPORARY TABLE {0} (LIKE {1} INCLUDING ALL) ON COMMIT DROP", table))
    await connection.execute(_sql(f"GRANT ALL ON {{0}} TO {isolation.APP}, {isolation.ACROSS}", table))
    cursor = await connection.execute(
        "SELECT FROM pg_class WHERE oid = format('public.%%I', %s::text)::regclass AND relrowsecurity", (table,)
    )
    if await cursor.fetchone() is not None:
        for statement in isolation.isolate(f"pg_temp.{table}"):
            await connection.execute(sql.SQL(statement))


async def replace(connection: Connection, table: str, reach: Reach, *key: str) -> int:
    """Make a table what its temporary one is, by the columns of its key; return how many rows were wrong or missing.

    For the `merge` of tables that no process mirrors in memory.
    """
    same = " AND ".join(f"fresh.{{{place}}} = present.{{{place}}}" for place in range(2, 2 + len(key)))
    unknown = await connection.execute(
        _sql(
            f"DELETE FROM {{1}} AS present WHERE {reach.covers('present.sequence')}"
            f" AND NOT EXISTS (SELECT FROM {{0}} AS fresh WHERE {same})",
            table,
            *key,
        )
    )
    await connection.execute(
        _sql(
            "DELETE FROM {1} AS present USING (SELECT * FROM {0} EXCEPT SELECT * FROM {1}) AS fresh"
            f" WHERE {same}",
            table,
            *key,
        )
    )
    put = await connection.execute(_sql("INSERT INTO {1} (SELECT * FROM {0} EXCEPT SELECT * FROM {1})", table))
    return unknown.rowcount + put.rowcount


class _Folding:
    """Applies events to the temporary tables; what cannot be applied is put aside."""

    def __init__(self, connection: Connection, model: ReadModel) -> None:
        self.source = model.source
        self._connection = connection
        self._handlers = {payload.wire_name: (payload, handler) for payload, handler in model.handlers.items()}
        self.applied = 0
        self.skipped: list[Message] = []

    async def apply(self, messages: Sequence[Message]) -> None:
        """Apply messages in their order."""
        await all_or_each(messages, self._apply, self._skip, fatal=AWAY)

    async def _apply(self, messages: Sequence[Message]) -> None:
        async with self._connection.transaction():
            for project, in_it in groupby(messages, key=lambda message: message.project):
                async with in_project(self._connection, project):
                    for wire_name, run in groupby(in_it, key=lambda message: message.wire_name):
                        if wire_name in self._handlers:
                            payload, handler = self._handlers[wire_name]
                            await handler(self._connection, [message.decode(payload) for message in run])
            await self._connection.execute(isolation.ENTER_WITHIN_TRANSACTION, isolation.state(projects.ALL))
        self.applied += len(messages)

    async def _skip(self, message: Message, error: Exception) -> None:
        _log.warning("%s %s cannot be applied: %s", message.wire_name, message.id, error)
        self.skipped.append(message)


async def _fold_received(connection: Connection, folding: _Folding, read_feed: ReadFeed) -> int:
    """Apply what was received before the call; return the place of the last of these events."""
    position, place = await _position(connection, folding.source), 0
    while place < position:
        page = await _page(read_feed, place, position)
        if not page.events:
            break
        await folding.apply([message for message in _readable(page.events) if message.sequence <= position])
        place = min(page.last, position)
    return place


async def _fold_the_rest(connection: Connection, folding: _Folding, place: int, read_feed: ReadFeed) -> Reach:
    """Apply what was received since, when nothing more can be received."""
    # What could not be applied may have been, by the worker, since: it would be missing.
    again, folding.skipped = folding.skipped, []
    for message in again:
        await folding.apply([message])
    position = await _position(connection, folding.source)
    page = await _page(read_feed, place, position)
    while page.events:
        await folding.apply(await _received(connection, position, _readable(page.events)))
        page = await _page(read_feed, page.last, position)
    return Reach(position, page.head)


async def _received(connection: Connection, position: int, messages: Sequence[Message]) -> list[Message]:
    """Return those of the messages that the inbox has received: up to the position all, after it some."""
    later = [message for message in messages if message.sequence > position]
    known = await inbox.applied(connection, later)
    return [message for message in messages if message.sequence <= position or message.id in known]


async def _page(read_feed: ReadFeed, after: int, position: int) -> Changes:
    page = outbox.read_changes(await read_feed(after, _PAGE), after)
    if position < page.pruned:
        # Of what was told before and after the position, only the last is left, which was not received.
        raise Unavailable(
            f"The feed is pruned up to event {page.pruned} and was received up to {position}: rebuild the copy when"
            " what is missing was received."
        )
    return page


def _readable(events: Sequence[bytes]) -> list[Message]:
    messages = []
    for event in events:
        try:
            messages.append(Message.read(event))
        except UndecodableMessage as error:
            _log.warning("An event of the feed cannot be read: %s", error)
    return messages


async def _position(connection: Connection, source: str) -> int:
    cursor = await connection.execute("SELECT position FROM inbox_positions WHERE source = %s", (source,))
    row = await cursor.fetchone()
    return 0 if row is None else row["position"]


def _sql(text: str, table: str, *names: str) -> sql.Composed:
    """Return SQL with {0} for the temporary table, {1} for the real one, and {2} and on for columns."""
    return sql.SQL(text).format(
        sql.Identifier("pg_temp", table), sql.Identifier("public", table), *map(sql.Identifier, names)
    )
