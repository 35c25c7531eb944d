"""What items say, read once a text for all that is explained in this process."""

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

from chassis.db.database import Database
from suggestion_service.engine import ItemText, Reading, read
from suggestion_service.store import items
from suggestion_service.store.items import KnownItem

_AT_ONCE = 500
_MOST_WORDS = 300_000
"""Some 40 MB."""


class Readings:
    """The readings of items, by the number of their last change; those that were used last are kept."""

    def __init__(self, database: Database, most_words: int = _MOST_WORDS) -> None:
        self._database = database
        self._most_words = most_words
        self._cached: dict[UUID, tuple[int, Reading]] = {}
        self._words = 0

    async def of(self, ids: Collection[UUID]) -> dict[UUID, Reading]:
        """Return what these items say, as the copy is now; it is read anew of those that have changed alone."""
        found: dict[UUID, Reading] = {}
        asked = list(ids)
        for start in range(0, len(asked), _AT_ONCE):
            some = asked[start : start + _AT_ONCE]
            known = {item_id: self._cached[item_id] for item_id in some if item_id in self._cached}
            changes = [known[item_id][0] if item_id in known else None for item_id in some]
            async with self._database.connection() as connection:
                rows = await items.changed_texts(connection, some, changes)
            known |= await asyncio.to_thread(_read, rows)
            for item_id, reading in known.items():
                self._keep(item_id, reading)
                found[item_id] = reading[1]
        return found

    def _keep(self, item_id: UUID, reading: tuple[int, Reading]) -> None:
        before = self._cached.pop(item_id, None)
        self._cached[item_id] = reading
        self._words += len(reading[1].words) - (len(before[1].words) if before is not None else 0)
        while self._words > self._most_words:
            _, oldest = self._cached.pop(next(iter(self._cached)))
            self._words -= len(oldest.words)


def _read(rows: Sequence[KnownItem]) -> dict[UUID, tuple[int, Reading]]:
    return {
        row.id: (row.change, read(ItemText(**row.text, module=row.module, tags=row.tags), row.language)) for row in rows
    }
