"""Vectors such as a sentence model gives, made of the words alone: a model would take an hour for these items."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.engine.inputs import Terms
from benchmarks.engine.texts import item_id
from suggestion_service.engine import EmbeddingStore, EmbeddingView, ItemVectors, Side, quantized, unit_vectors

_DIMENSIONS = 384
_PASSAGES = 4
_IN_COMMON = 0.2
"""How far every vector leans the same way: texts of one project have a cosine of about 0.15 with a real model."""
_AT_ONCE = 10_000


def embed(items: dict[Side, list[Terms]]) -> dict[Side, EmbeddingView]:
    """Return vectors for all items: rarer words count more, and each word has a direction of its own."""
    frequencies: dict[str, int] = {}
    for side in items.values():
        for counted in side:
            for term in counted:
                frequencies[term] = frequencies.get(term, 0) + 1
    numbers = {term: number for number, term in enumerate(frequencies)}
    random = np.random.default_rng(2)
    directions = random.standard_normal((len(numbers), _DIMENSIONS), np.float32) / np.sqrt(_DIMENSIONS)
    total = sum(len(side) for side in items.values())
    directions *= np.log(total / np.array(list(frequencies.values())))[:, None].astype(np.float32)
    common = unit_vectors(random.standard_normal((1, _DIMENSIONS)))
    return {side: _view(side, counted, numbers, directions, common) for side, counted in items.items()}


def _view(
    side: Side,
    items: Sequence[Terms],
    numbers: dict[str, int],
    directions: NDArray[np.float32],
    common: NDArray[np.float64],
) -> EmbeddingView:
    store = EmbeddingStore(_DIMENSIONS)
    for start in range(0, len(items), _AT_ONCE):
        some = items[start : start + _AT_ONCE]
        terms = [numbers[term] for counted in some for term in counted]
        places = [n * _PASSAGES + k % _PASSAGES for n, counted in enumerate(some) for k in range(len(counted))]
        words = sparse.csr_matrix(
            (np.ones(len(terms), np.float32), (places, terms)), (len(some) * _PASSAGES, len(numbers))
        )
        passages = unit_vectors(words @ directions) + _IN_COMMON * common
        whole = quantized(unit_vectors(passages.reshape(len(some), _PASSAGES, -1).mean(axis=1)))
        sentences = quantized(unit_vectors(passages)).reshape(len(some), _PASSAGES, -1)
        for n in range(len(some)):
            store.put(item_id(side, start + n), ItemVectors(whole[n], sentences[n]))
    return store.view()
