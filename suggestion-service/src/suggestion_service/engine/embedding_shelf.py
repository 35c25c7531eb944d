"""The vectors of the items of one side in arrays that only grow: a view of them never changes."""

from typing import Any, Generic, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.embedding import EmbeddingView, ItemVectors

_FIRST_CAPACITY = 64
_FEW_DEAD = 1000

N = TypeVar("N", bound=np.generic)


class _Rows(Generic[N]):
    """Rows of numbers one below the other, with room to grow. What was given out as `values` stays as it was."""

    def __init__(self, width: int, dtype: type[N]) -> None:
        self._room: NDArray[N] = np.empty((_FIRST_CAPACITY, width), dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[N]:
        return self._room[: self.size]

    def extend(self, rows: NDArray[Any]) -> None:
        end = self.size + len(rows)
        if end > len(self._room):
            grown = np.empty((max(end, 2 * len(self._room)), self._room.shape[1]), self._room.dtype)
            grown[: self.size] = self.values
            self._room = grown
        self._room[self.size : end] = rows
        self.size = end


class EmbeddingShelf:
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

    def put(self, item_id: UUID, vectors: ItemVectors) -> None:
        """Add an item, or give it other vectors."""
        self._rows[item_id] = self._add(vectors)
        self._view = None
        dead = self._whole.size - len(self._rows)
        if dead > _FEW_DEAD and dead > len(self._rows):
            self._compact()

    def remove(self, item_id: UUID) -> None:
        """Take an item out if it is there."""
        if self._rows.pop(item_id, None) is not None:
            self._view = None

    def view(self) -> EmbeddingView:
        """Give the vectors as they are now."""
        if self._view is None:
            starts = self._starts.values[:, 0]
            self._view = EmbeddingView(self._whole.values, self._passages.values, starts, self._rows.copy())
        return self._view

    def _add(self, vectors: ItemVectors) -> int:
        row = self._whole.size
        self._whole.extend(vectors.whole[None])
        self._passages.extend(vectors.passages)
        self._starts.extend(np.array([[self._passages.size]]))
        return row

    def _clear(self) -> None:
        self._whole = _Rows(self.dimensions, np.float32)
        self._passages = _Rows(self.dimensions, np.int16)
        self._starts = _Rows(1, np.int64)
        self._starts.extend(np.zeros((1, 1)))

    def _compact(self) -> None:
        old = self.view()
        self._clear()
        for item_id, row in old.items():
            self._rows[item_id] = self._add(ItemVectors(old.whole[row].astype(np.int16), old.passages_of(row)))
        self._view = None
