"""Which row of the embeddings each slot of a shelf has: kept from one snapshot to the next."""

from typing import NamedTuple

import numpy as np

from suggestion_service.engine.corpus.column_store import Ints, ShelfView
from suggestion_service.engine.semantic.embeddings import EmbeddingView

_KEPT_AS = "embedding rows"


class _Kept(NamedTuple):
    rows: Ints
    lineage: object
    changes: int


def embedding_rows(view: ShelfView, embeddings: EmbeddingView) -> Ints:
    """Return the row of the item in each slot, -1 where it has none. Costs as much as has changed since the last call;
    what it gave out stays as it was.
    """
    kept: _Kept | None = view.kept.get(_KEPT_AS)
    changes = len(embeddings.changes)
    if kept is None or kept.lineage is not embeddings.lineage or kept.changes > changes or len(kept.rows) > view.slots:
        kept = _Kept(np.empty(0, np.int64), embeddings.lineage, changes)
    new = np.fromiter(map(embeddings.row_of, view.ids[len(kept.rows) :]), np.int64)
    rows = np.concatenate((kept.rows, new))
    for item_id in embeddings.changes[kept.changes :]:
        slot = view.slot(item_id)
        if slot is not None:
            rows[slot] = embeddings.row_of(item_id)
    view.kept[_KEPT_AS] = _Kept(rows, embeddings.lineage, changes)
    return rows
