"""The vectors in memory: loaded from the database, then brought up to date before each use."""

import asyncio
import struct
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chassis.db.database import Database
from suggestion_service.engine import EmbeddingStore, EmbeddingView, ItemVectors, Side
from suggestion_service.store import embedding_model, embeddings
from suggestion_service.store.embeddings import ChangedVectors

_PAGE = 500
_SIDES: tuple[Side, ...] = ("requirement", "test_case")
_HEADER = 4
"""Bytes before the numbers of a vector: how many there are, and nothing."""
_ELEMENT = 4
"""Bytes before each element of an array: its size."""

Views = Mapping[Side, EmbeddingView]


class LiveVectors:
    """A cache of the table `embeddings`, of the model in use, by the number of the items' last change."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._model: str | None = None
        self._place = embeddings.START
        self._stores: dict[Side, EmbeddingStore] = {}
        self._one_at_a_time = asyncio.Lock()

    @property
    def size(self) -> int:
        """About how many bytes they take."""
        return sum(store.size for store in self._stores.values())

    async def refresh(self) -> Views | None:
        """Return the vectors as they are committed now, None while none are in use: hybrid scores are lexical then.

        Costs as much as changed since the last call.
        """
        # A thread cannot be stopped: a caller who is leaves it to end behind them.
        return await asyncio.shield(self._refresh())

    async def _refresh(self) -> Views | None:
        async with self._one_at_a_time:
            while True:
                async with self._database.connection() as connection:
                    model, in_use = await embedding_model.declared(connection)
                    if model is None or not in_use:
                        self._forget(None)
                        return None
                    if model != self._model:
                        self._forget(model)
                    rows = await embeddings.changed(connection, model, self._place, _PAGE)
                if rows:
                    await asyncio.to_thread(self._take, rows)
                if len(rows) < _PAGE:
                    return {side: store.view() for side, store in self._stores.items()} or _nothing()

    def _forget(self, model: str | None) -> None:
        self._model, self._place, self._stores = model, embeddings.START, {}

    def _take(self, rows: list[ChangedVectors]) -> None:
        for row in rows:
            if row.whole is not None and row.passages is not None:
                vectors = ItemVectors(_vector(row.whole), _vectors(row.passages))
                if not self._stores:
                    self._stores = {side: EmbeddingStore(len(vectors.whole)) for side in _SIDES}
                self._stores[row.side].put(row.id, vectors)
            elif self._stores:
                self._stores[row.side].remove(row.id)
        self._place = (rows[-1].change, rows[-1].id)


def _nothing() -> Views:
    return {side: EmbeddingStore(0).view() for side in _SIDES}


def _vector(binary: bytes) -> NDArray[np.int16]:
    return np.frombuffer(binary, ">f2", offset=_HEADER).astype(np.int16)


def _vectors(binary: bytes) -> NDArray[np.int16]:
    """Read an array of vectors: dimensions, flags, type, for each dimension its size and lower bound; elements."""
    count = struct.unpack_from(">i", binary, 12)[0]
    elements = np.frombuffer(binary, np.uint8, offset=20).reshape(count, -1)
    return np.ascontiguousarray(elements[:, _ELEMENT + _HEADER :]).view(">f2").astype(np.int16)
