"""Which row of the embeddings the item in each row of a column store has: kept from one view to the next."""

from typing import NamedTuple

import numpy as np

from suggestion_service.engine.corpus.arrays import Ints
from suggestion_service.engine.corpus.column_store import StoreView
from suggestion_service.engine.semantic.embeddings import EmbeddingView

_CACHED_AS = "embedding rows"


class _Cached(NamedTuple):
    rows: Ints
    lineage: object
    changes: int


def embedding_rows(view: StoreView, embeddings: EmbeddingView) -> Ints:
    """Return for each row of a store the row of its item in the embeddings, -1 where it has none.

    Costs as much as has changed since the last call; what was returned then stays as it was.
    """
    cached: _Cached | None = view.cache.get(_CACHED_AS)
    changes = len(embeddings.changes)
    if (
        cached is None
        or cached.lineage is not embeddings.lineage
        or cached.changes > changes
        or len(cached.rows) > len(view)
    ):
        cached = _Cached(np.empty(0, np.int64), embeddings.lineage, changes)
    new = np.fromiter(map(embeddings.row_of, view.ids[len(cached.rows) :]), np.int64)
    rows = np.concatenate((cached.rows, new))
    for item_id in embeddings.changes[cached.changes :]:
        row = view.row_of(item_id)
        if row is not None:
            rows[row] = embeddings.row_of(item_id)
    view.cache[_CACHED_AS] = _Cached(rows, embeddings.lineage, changes)
    return rows
