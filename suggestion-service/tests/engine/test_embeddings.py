"""Cosines of embeddings: exact, and the same whoever asks."""

from uuid import UUID, uuid4

import numpy as np

from suggestion_service.engine.semantic.embedding_store import EmbeddingStore
from suggestion_service.engine.semantic.embeddings import (
    SCALE,
    EmbeddingView,
    ItemVectors,
    pair_cosines,
    passage_cosines,
    quantized,
    unit_vectors,
    whole_cosines,
)

DIMENSIONS = 384


def random_vectors(random: np.random.Generator, passages: int) -> ItemVectors:
    rows = quantized(unit_vectors(random.normal(size=(passages + 1, DIMENSIONS))))
    return ItemVectors(rows[0], rows[1:])


def filled(random: np.random.Generator, count: int) -> tuple[EmbeddingView, list[UUID], list[ItemVectors]]:
    store, ids = EmbeddingStore(DIMENSIONS), [uuid4() for _ in range(count)]
    items = [random_vectors(random, int(random.integers(1, 9))) for _ in ids]
    for item_id, vectors in zip(ids, items, strict=True):
        store.put(item_id, vectors)
    return store.view(), ids, items


def products(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What cosines are made of, by whole numbers of 64 bits."""
    return one.astype(np.int64) @ other.astype(np.int64).T


def exact(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return products(one, other) / SCALE**2


def test_cosines_are_exact_alone_and_in_blocks() -> None:
    random = np.random.default_rng(1)
    one, _, mine = filled(random, 70)
    other, _, theirs = filled(random, 90)
    expected = exact(np.array([item.whole for item in mine]), np.array([item.whole for item in theirs]))
    rows = np.arange(70)
    assert np.array_equal(whole_cosines(one, rows, other), expected)
    assert np.array_equal(whole_cosines(one, np.array([5]), other)[0], expected[5])
    pairs = np.array([3, 69, 3]), np.array([89, 0, 7])
    assert np.array_equal(pair_cosines(one, pairs[0], other, pairs[1]), expected[pairs])


def test_quantised_cosines_are_close_to_those_of_the_vectors() -> None:
    vectors = unit_vectors(np.random.default_rng(2).normal(size=(50, DIMENSIONS)))
    assert np.abs(exact(quantized(vectors), quantized(vectors)) - vectors @ vectors.T).max() < 1e-3


def test_passages_are_the_mean_of_the_best_answers_to_each() -> None:
    random = np.random.default_rng(3)
    one, _, mine = filled(random, 20)
    other, _, theirs = filled(random, 30)
    rows, other_rows = random.integers(0, 20, 200), random.integers(0, 30, 200)
    found = passage_cosines(one, rows, other, other_rows)
    for k, (i, j) in enumerate(zip(rows, other_rows, strict=True)):
        assert found[k] == products(mine[i].passages, theirs[j].passages).max(axis=1).mean() / SCALE**2
        alone = passage_cosines(one, rows[k : k + 1], other, other_rows[k : k + 1])
        assert alone[0] == found[k]


def test_an_item_is_as_like_itself_as_can_be() -> None:
    view, _, _ = filled(np.random.default_rng(5), 40)
    own = np.diag(whole_cosines(view, np.arange(40), view))
    assert ((own > 0.999) & (own <= 1.0)).all()


def test_no_pairs_have_no_cosines() -> None:
    view, _, _ = filled(np.random.default_rng(6), 4)
    none = np.array([], np.int64)
    assert passage_cosines(view, none, view, none).shape == (0,)
    assert pair_cosines(view, none, view, none).shape == (0,)
    assert whole_cosines(view, none, view).shape == (0, 4)


def test_a_view_stays_as_it_was_while_its_items_change() -> None:
    random = np.random.default_rng(7)
    store, ids = EmbeddingStore(DIMENSIONS), [uuid4() for _ in range(300)]
    items = {item_id: random_vectors(random, 2) for item_id in ids}
    for item_id, vectors in items.items():
        store.put(item_id, vectors)
    view = store.view()
    for _ in range(8):  # enough to have the dead rows thrown out
        for item_id in ids[:200]:
            store.put(item_id, random_vectors(random, 3))
    store.remove(ids[-1])
    store.remove(uuid4())
    for item_id, row in zip(ids, map(view.row_of, ids), strict=True):
        assert np.array_equal(view.whole[row], items[item_id].whole)
        assert np.array_equal(view.passages_of(row), items[item_id].passages)
    later = store.view()
    assert later.row_of(ids[-1]) == -1
    assert np.array_equal(later.whole[later.row_of(ids[250])], items[ids[250]].whole)
    assert len(later) < 1500
