"""The vectors of the items of one side in arrays that only grow: a view of them never changes."""

from uuid import UUID

import numpy as np

from suggestion_service.engine.corpus.arrays import GrowingArray
from suggestion_service.engine.semantic.embeddings import EmbeddingView, ItemVectors

_FEW_DEAD = 1000


class EmbeddingStore:
    """Items in rows: a new version of an item takes a new row, and the old one is left until there are many."""

    def __init__(self, dimensions: int) -> None:
        """All vectors to come have these `dimensions`."""
        self.dimensions = dimensions
        self._rows: dict[UUID, int] = {}
        self._view: EmbeddingView | None = None
        self._clear()

    def __len__(self) -> int:
        """Count the items."""
        return len(self._rows)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return sum(array.nbytes for array in (self._whole, self._passages, self._starts, self._changes))

    def put(self, item_id: UUID, vectors: ItemVectors) -> None:
        """Add an item, or give it other vectors."""
        self._rows[item_id] = self._add(vectors)
        self._changes.append(item_id)
        self._view = None
        dead = self._whole.size - len(self._rows)
        if dead > _FEW_DEAD and dead > len(self._rows):
            self._compact()

    def remove(self, item_id: UUID) -> None:
        """Take an item out if it is there."""
        if self._rows.pop(item_id, None) is not None:
            self._changes.append(item_id)
            self._view = None

    def view(self) -> EmbeddingView:
        """Return the vectors as they are now."""
        if self._view is None:
            self._view = EmbeddingView(
                self._whole.values,
                self._passages.values,
                self._starts.values,
                self._changes.values,
                self._lineage,
                self._rows.copy(),
            )
        return self._view

    def _add(self, vectors: ItemVectors) -> int:
        row = self._whole.size
        self._whole.extend(vectors.whole[None])
        self._passages.extend(vectors.passages)
        self._starts.append(self._passages.size)
        return row

    def _clear(self) -> None:
        self._whole = GrowingArray(np.int16, self.dimensions)
        self._passages = GrowingArray(np.int16, self.dimensions)
        self._starts = GrowingArray(np.int64)
        self._starts.append(0)
        self._changes = GrowingArray(object)
        self._lineage = object()

    def _compact(self) -> None:
        old = self.view()
        self._clear()
        for item_id, row in old.items():
            self._rows[item_id] = self._add(ItemVectors(old.whole[row], old.passages_of(row)))
        self._view = None
