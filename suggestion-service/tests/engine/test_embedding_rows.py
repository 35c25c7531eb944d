"""The embedding rows that items have are those of a full look, whatever changed in between and whoever asks first."""

import random
from uuid import UUID

import numpy as np
import pytest

from suggestion_service.engine import EmbeddingStore, EmbeddingView, ItemVectors, quantized, unit_vectors
from suggestion_service.engine.corpus.column_store import ABSENT, ColumnStore, Row, StoreView
from suggestion_service.engine.semantic.embedding_rows import embedding_rows

NOTHING = Row(np.empty(0, np.int32), np.empty(0), ABSENT, ABSENT, np.empty(0, np.int32))
ITEMS = [UUID(int=number) for number in range(1, 31)]


def vectors(chance: random.Random) -> ItemVectors:
    rows = quantized(unit_vectors(np.array([[chance.gauss(0, 1) for _ in range(4)]])))
    return ItemVectors(rows[0], rows)


def expected(view: StoreView, embeddings: EmbeddingView) -> dict[int, int]:
    return {row: embeddings.row_of(view.ids[row]) for row in view.live_rows().tolist()}


def found(view: StoreView, embeddings: EmbeddingView) -> dict[int, int]:
    rows = embedding_rows(view, embeddings)
    return {row: int(rows[row]) for row in view.live_rows().tolist()}


@pytest.mark.parametrize("seed", range(5))
def test_rows_follow_every_change(seed: int) -> None:
    chance, items, embeddings = random.Random(seed), ColumnStore(), EmbeddingStore(4)
    before = items.view(), embeddings.view()
    for step in range(3000):
        item_id = chance.choice(ITEMS)
        change = chance.randrange(5)
        if change < 2:
            embeddings.put(item_id, vectors(chance))
        elif change == 2:
            embeddings.remove(item_id)
        elif change == 3:
            items.put(item_id, NOTHING)
        else:
            items.remove(item_id)
        if chance.random() < 0.3:
            now = items.view(), embeddings.view()
            assert found(*now) == expected(*now)
            if step % 7 == 0:  # a snapshot that was taken earlier is asked later
                assert found(*before) == expected(*before)
            before = now
