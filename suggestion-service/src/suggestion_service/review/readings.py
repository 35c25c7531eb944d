"""What items say, read once a text for all reasons that this process gives."""

from collections.abc import Collection, Sequence
from uuid import UUID

from chassis.core.turns import take_turns
from chassis.db.database import Database
from chassis.web.costly import Deadline, in_thread
from suggestion_service.engine import ItemText, Reading, read
from suggestion_service.store import items
from suggestion_service.store.items import KnownItem

_MOST_WORDS = 100_000
"""Some 13 MB."""
_LONG = 4_000
"""Characters that take a millisecond or more to read."""
_SECONDS = 3
"""Of work, within which an answer has read all long texts that it will have."""

_Known = dict[UUID, tuple[int, Reading]]


class Readings:
    """The readings of items, by the number of their last change; those that were used last are kept."""

    def __init__(self, database: Database, most_words: int = _MOST_WORDS) -> None:
        self._database = database
        self._most_words = most_words
        self._cached: _Known = {}
        self._words = 0

    async def read(self, ids: Collection[UUID]) -> dict[UUID, Reading]:
        """Return what these items say, as the copy is now; it is read anew of those that have changed alone.

        Very long texts that there was no time for are missing.
        """
        asked = list(dict.fromkeys(ids))
        known = {item_id: self._cached[item_id] for item_id in asked if item_id in self._cached}
        changes = [known[item_id][0] if item_id in known else None for item_id in asked]
        async with self._database.connection() as connection:
            rows = await items.changed_texts(connection, asked, changes)
        for row in rows:  # what it said before is no answer, whether or not there is time for what it says now
            known.pop(row.id, None)
        long = [row for row in rows if _characters(row) > _LONG]
        async for row in take_turns(row for row in rows if _characters(row) <= _LONG):
            known[row.id] = _read(row)
        if long:
            known |= await in_thread(_SECONDS, lambda deadline: _read_until(long, deadline))
        for item_id, reading in known.items():
            self._keep(item_id, reading)
        return {item_id: reading for item_id, (_, reading) in known.items()}

    def _keep(self, item_id: UUID, reading: tuple[int, Reading]) -> None:
        before = self._cached.pop(item_id, None)
        self._cached[item_id] = reading
        self._words += len(reading[1].words) - (len(before[1].words) if before is not None else 0)
        while self._words > self._most_words:
            _, oldest = self._cached.pop(next(iter(self._cached)))
            self._words -= len(oldest.words)


def _characters(row: KnownItem) -> int:
    return sum(
        len(said) if isinstance(said, str) else sum(map(len, (said or {}).values())) for said in row.text.values()
    )


def _read(row: KnownItem) -> tuple[int, Reading]:
    return row.change, read(ItemText(**row.text, module=row.module, tags=row.tags), row.language)


def _read_until(rows: Sequence[KnownItem], deadline: Deadline) -> _Known:
    known: _Known = {}
    for row in rows:
        if deadline.is_over():
            break
        known[row.id] = _read(row)
    return known
