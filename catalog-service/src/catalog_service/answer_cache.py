"""Answers that are worked out once for a state of the record, and given again for as long as it stays so."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypedDict, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_only, fetch_value

T = TypeVar("T")


class State(TypedDict):
    """What tells one state from others: how many changes the record has seen, the last of them, and what is pending."""

    changes: int
    last_change: UUID | None
    pending: UUID


# Not the head alone: an event gets its place in the feed only after the change that it tells of is to be seen.
_STATE = """
    SELECT head + (SELECT count(*) FROM outbox WHERE feed_seq IS NULL) AS changes,
           (SELECT event_id FROM outbox ORDER BY id DESC LIMIT 1) AS last_change,
           (SELECT state FROM pending_pairs_state) AS pending
    FROM feed_head
"""


async def state(connection: Connection) -> State:
    """Return the state of the record as the transaction sees it."""
    return await fetch_only(connection, State, _STATE)


async def state_of_results(connection: Connection) -> int:
    """Return another number after each change of how test cases stand; see state_changes."""
    changes: int = await fetch_value(connection, "SELECT coalesce(sum(changes), 0)::bigint FROM state_changes")
    return changes


async def state_of_verdicts(connection: Connection) -> Hashable:
    """Return what is another after each change that a verdict comes from: suggestions that wait make none."""
    record = await state(connection)
    return record["changes"], record["last_change"], await state_of_results(connection)


@dataclass(slots=True)
class _Entry(Generic[T]):
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    known: tuple[Hashable, T] | None = None


class AnswerCache(Generic[T]):
    """The newest answer to each question of one kind, of each database and project, in this process."""

    def __init__(self, most: int) -> None:
        """Args: ``most`` answers of a database are cached: those that were asked for last."""
        self._most = most
        self._of: WeakKeyDictionary[Database, OrderedDict[Hashable, _Entry[T]]] = WeakKeyDictionary()

    async def get(
        self,
        database: Database,
        question: Hashable,
        state: Hashable,
        answer: Callable[[], Awaitable[T]],
        *,
        is_right: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """Return the answer of a state: the one that is known, if it `is_right`, or else a new one.

        Who asks the same meanwhile waits for it.
        """
        entries = self._of.setdefault(database, OrderedDict())
        key = (projects.current.get(), question)
        entry = entries.setdefault(key, _Entry())
        entries.move_to_end(key)
        while len(entries) > self._most:
            entries.popitem(last=False)
        async with entry.lock:
            if entry.known is None or entry.known[0] != state or not is_right(entry.known[1]):
                entry.known = (state, await answer())
            return entry.known[1]
