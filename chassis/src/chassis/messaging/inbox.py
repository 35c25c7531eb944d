"""Applies events exactly once: an event's effect and its inbox row are one transaction.

A handler that fails is rolled back and its event stored with the error, tried again after growing pauses, then
parked; it holds up no other. While the database is away nothing is acknowledged.
"""

import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import groupby
from typing import Any

from prometheus_client import Counter

from chassis.core import projects, request_context
from chassis.core.batches import all_or_each
from chassis.db.database import AWAY, Connection, Database, in_project
from chassis.db.rows import fetch_column
from chassis.messaging import inbox_pruning, withdrawal
from chassis.messaging import spans as event_spans
from chassis.messaging.events import Message, Received, UndecodableMessage
from chassis.messaging.inbox_pruning import IS_FORGOTTEN
from chassis.messaging.payloads import Payload

_log = logging.getLogger(__name__)

Handler = Callable[[Connection, list[Received[Any]]], Awaitable[None]]
"""Applies events of one type, in feed order, on the connection of the inbox's transaction."""

MAX_ATTEMPTS = 8

_DUPLICATES = Counter("traceline_inbox_duplicates_total", "Events that came again.", ("consumer",))
_UNKNOWN = Counter("traceline_inbox_unknown_total", "Events of a type that is not known.", ("consumer",))


_INCOMING = """
incoming AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(wire_names)s::text[], %(sources)s::text[], %(places)s::bigint[],
                         %(times)s::text[]) AS incoming (event_id, wire_name, source, place, occurred_at)
)
"""


def _incoming(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the parameters of `_INCOMING`."""
    return {
        "ids": [message.id for message in messages],
        "wire_names": [message.wire_name for message in messages],
        "sources": [message.source for message in messages],
        "places": [message.sequence for message in messages],
        "times": [str(message.attributes.get("time")) for message in messages],
    }


class Inbox:
    """The door by which events enter a service.

    `handlers` is the table from event to service call, `ignored` what the consumer has no use for. A type of a followed
    source that is in neither comes from a newer producer: it is counted, logged and skipped.
    """

    def __init__(
        self,
        queue: str,
        database: Database,
        handlers: Mapping[type[Payload], Handler],
        ignored: Iterable[type[Payload]] = (),
    ) -> None:
        self.queue = queue
        self._database = database
        self._handlers = {payload.wire_name: (payload, handler) for payload, handler in handlers.items()}
        self._known = {*self._handlers, *(payload.wire_name for payload in ignored)}
        self.sources = frozenset(name.partition(".")[0] for name in self._known)
        self._known.update(map(withdrawal.wire_name, self.sources))
        self._duplicates = _DUPLICATES.labels(queue)
        self._unknown = _UNKNOWN.labels(queue)

    @property
    def is_full(self) -> bool:
        """Whether its database had no room lately: then it receives nothing, and says so by itself."""
        return self._database.storage.is_full

    async def receive(self, raw: Sequence[bytes], *, after: int | None = None, pruned: int = 0) -> None:
        """Apply a batch, in order; returns when each event is applied, known already, or stored with its error.

        With `after` it is a page of a feed from that position on: what is missing up to the place `pruned` does not
        exist any more. Raises when the database is away: then the whole batch must come again.
        """
        messages = []
        for body in raw:
            try:
                message = Message.read(body)
            except UndecodableMessage as error:
                after = None
                await self._park_unreadable(body, str(error))
                continue
            if after is not None and message.sequence <= pruned + 1:
                message = replace(message, after=after)
            after = None if after is None else message.sequence
            messages.append(message)
        if messages:
            await all_or_each(messages, self._apply, self._store_failure, fatal=AWAY)

    async def position(self, source: str) -> int:
        """Return N: every event of `source` up to N was received here."""
        async with self._database.connection() as connection:
            cursor = await connection.execute("SELECT position FROM inbox_positions WHERE source = %s", (source,))
            row = await cursor.fetchone()
        return 0 if row is None else row["position"]

    async def knows(self, raw: bytes) -> bool:
        """Check whether an event was received; one that cannot be read counts as known."""
        async with self._database.across() as connection:
            return await knows(connection, raw)

    async def failed(self) -> dict[str, int]:
        """Return how many events wait to be tried again (`waiting`), and how many are `parked`."""
        async with self._database.across() as connection:
            return await failed_counts(connection)

    async def forget_old(self) -> None:
        """Forget the ids of events that were received long ago, see `inbox_pruning`."""
        async with self._transaction() as connection:
            await lock(connection, self.queue)
            await inbox_pruning.note(connection)
        await inbox_pruning.forget_noted(self._database)

    async def retry_due(self) -> None:
        """Try failed events again whose pause is over."""
        async with self._database.across() as connection:
            cursor = await connection.execute(
                "SELECT id, message FROM inbox_failures WHERE parked_at IS NULL AND next_attempt_at <= now()"
                " ORDER BY id LIMIT 100"
            )
            due = await cursor.fetchall()
        for row in due:
            await self.retry(row["id"], bytes(row["message"]))

    async def retry(self, failure_id: int, raw: bytes) -> bool:
        """Try one failed event again; return whether it was applied."""
        try:
            await self._apply([Message.read(raw)], failure_id)
        except AWAY:
            raise
        except Exception as error:  # noqa: BLE001 - stored with the event
            await self._failed_again(failure_id, error)
            return False
        return True

    async def _apply(self, messages: Sequence[Message], failure_id: int | None = None) -> None:
        async with self._transaction() as connection:
            await lock(connection, self.queue)
            cursor = await connection.execute(
                # What failed before and is applied now is no failure any more.
                f"WITH {_INCOMING},"
                " mended AS (DELETE FROM inbox_failures WHERE event_id = ANY(%(ids)s) OR id = %(failure_id)s::bigint"
                " RETURNING event_id)"
                " INSERT INTO inbox (event_id, wire_name, place) SELECT event_id, wire_name, place FROM incoming"
                f" WHERE NOT {IS_FORGOTTEN} OR event_id IN (SELECT event_id FROM mended)"
                " OR %(failure_id)s::bigint IS NOT NULL"
                " ON CONFLICT (event_id) DO NOTHING RETURNING event_id",
                {**_incoming(messages), "failure_id": failure_id},
            )
            new = {row["event_id"] for row in await cursor.fetchall()}
            unique = {message.id: message for message in messages if message.id in new}
            for project, in_it in groupby(unique.values(), key=lambda message: message.project):
                async with in_project(connection, project):
                    for wire_name, run in groupby(in_it, key=lambda message: message.wire_name):
                        if wire_name in self._handlers:
                            payload, handler = self._handlers[wire_name]
                            await self._handle(connection, handler, payload, list(run))
            await self._advance(connection, messages)
        self._duplicates.inc(len(messages) - len(new))
        for message in unique.values():
            if message.wire_name not in self._known:
                self._unknown.inc()
                _log.warning("%s skips %s: it does not know %s", self.queue, message.id, message.wire_name)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Connection]:
        """A transaction of the inbox's own: what it receives is of all projects."""
        with projects.across():
            async with self._database.transaction() as connection:
                yield connection

    async def _handle(
        self, connection: Connection, handler: Handler, payload: type[Payload], messages: Sequence[Message]
    ) -> None:
        with event_spans.applying(self.queue, [message.attributes for message in messages]):
            events = [message.decode(payload) for message in messages]
            first = events[0]
            with request_context.of_event(
                str(first.id),
                request=first.correlation_id,
                gateway_request=first.gateway_request_id,
                actor=first.actor.id,
            ):
                await handler(connection, events)

    async def _advance(self, connection: Connection, messages: Sequence[Message]) -> None:
        """Move the position of each source over what is contiguous; a gap stays visible until it is filled."""
        received: dict[str, set[tuple[int, int]]] = {}
        for message in messages:
            if message.source in self.sources:
                received.setdefault(message.source, set()).add((message.after + 1, message.sequence))
        for source, places in received.items():
            for first, last in _runs(sorted(places)):
                await connection.execute(
                    "INSERT INTO inbox_positions AS known (source, position)"
                    " VALUES (%(source)s, CASE WHEN %(first)s = 1 THEN %(last)s ELSE 0 END)"
                    " ON CONFLICT (source) DO UPDATE SET position = %(last)s"
                    " WHERE %(first)s <= known.position + 1 AND known.position < %(last)s",
                    {"source": source, "first": first, "last": last},
                )

    async def _store_failure(self, message: Message, error: Exception) -> None:
        attributes = message.attributes
        with request_context.of_event(
            str(message.id),
            request=attributes.get("correlationid", ""),
            gateway_request=attributes.get("gatewayrequestid", ""),
            actor=attributes.get("actorid"),
        ):
            _log.warning(
                "%s could not apply %s %s: %s", self.queue, message.wire_name, message.id, error, exc_info=error
            )
        parked = isinstance(error, UndecodableMessage)
        async with self._transaction() as connection:
            await connection.execute(
                "INSERT INTO inbox_failures"
                " (project_id, event_id, wire_name, message, error, attempts, next_attempt_at, parked_at)"
                " VALUES (%s, %s, %s, %s, %s, 1, now() + interval '1 second', CASE WHEN %s THEN now() END)"
                " ON CONFLICT (event_id) DO NOTHING",
                (message.project, message.id, message.wire_name, message.raw, _describe(error), parked),
            )
            await self._advance(connection, [message])

    async def _park_unreadable(self, raw: bytes, error: str) -> None:
        _log.error("%s parked a message that it cannot read: %s", self.queue, error)
        # Named by its content, so that the same message delivered again is parked once.
        event_id = uuid.uuid5(uuid.NAMESPACE_OID, raw.hex())
        async with self._transaction() as connection:
            await connection.execute(
                "INSERT INTO inbox_failures"
                " (project_id, event_id, wire_name, message, error, attempts, next_attempt_at, parked_at)"
                " VALUES (%s, %s, '', %s, %s, 1, now(), now()) ON CONFLICT (event_id) DO NOTHING",
                (projects.NONE, event_id, raw, error),
            )

    async def _failed_again(self, failure_id: int, error: Exception) -> None:
        async with self._transaction() as connection:
            await connection.execute(
                "UPDATE inbox_failures SET attempts = attempts + 1, error = %(error)s,"
                " next_attempt_at = now() + least(power(2, attempts), 300) * interval '1 second',"
                " parked_at = CASE WHEN %(hopeless)s OR attempts + 1 >= %(most)s THEN now() END WHERE id = %(id)s",
                {
                    "error": _describe(error),
                    "hopeless": isinstance(error, UndecodableMessage),
                    "most": MAX_ATTEMPTS,
                    "id": failure_id,
                },
            )


async def lock(connection: Connection, queue: str) -> None:
    """Let nothing else enter by the inbox of `queue` until the transaction ends; wait for what is entering.

    So two replicas, or the bus and a reader who catches up, neither deadlock nor overtake.
    """
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"inbox:{queue}",))


async def knows(connection: Connection, raw: bytes) -> bool:
    """Check whether the service's inbox has received an event, see `Inbox.knows`."""
    try:
        message = Message.read(raw)
    except UndecodableMessage:
        return True
    if await applied(connection, [message]):
        return True
    failed = await fetch_column(connection, "SELECT id FROM inbox_failures WHERE event_id = %s", (message.id,))
    return bool(failed)


async def applied(connection: Connection, messages: Sequence[Message]) -> set[uuid.UUID]:
    """Return the ids of those of some events that the service's inbox has applied."""
    return set(
        await fetch_column(
            connection,
            f"WITH {_INCOMING} SELECT event_id FROM incoming"
            f" WHERE {IS_FORGOTTEN} OR event_id IN (SELECT event_id FROM inbox WHERE event_id = ANY(%(ids)s))",
            _incoming(messages),
        )
    )


async def failed_counts(connection: Connection) -> dict[str, int]:
    """Return how many events have failed, see `Inbox.failed`."""
    cursor = await connection.execute(
        "SELECT count(*) FILTER (WHERE parked_at IS NULL) AS waiting, count(parked_at) AS parked FROM inbox_failures"
    )
    row = await cursor.fetchone()
    assert row is not None, "an aggregate gives one row"
    return row


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000].replace("\0", "\\0")


def _runs(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return (first, last) of each run without a gap in ascending ones."""
    runs: list[tuple[int, int]] = []
    for first, last in places:
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
        else:
            runs.append((first, last))
    return runs
