"""The search for all pairs against the dense product of the same vectors."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from suggestion_service.engine.lexical.all_pairs import SearchIndex, SparseVectors, pairs_at_least

Floats = NDArray[np.float64]
WEIGHTS = {1: np.ones(1), 2: np.array([2 / 3, 1 / 3])}


def vectors(rows: list[list[int]], width: int, seed: int, parts: int = 1) -> SparseVectors:
    """Return unit vectors over the terms of each row; the spelling of term t is the t-th of a seeded permutation."""
    random = np.random.default_rng(seed)
    spelling = np.random.default_rng(width).permutation(width)
    terms = [np.array(sorted(row, key=lambda term: spelling[term]), np.int32) for row in rows]
    values = [random.uniform(0.05, 5.0, (parts, len(row))) for row in rows]
    values = [part / np.maximum(np.sqrt((part**2).sum(axis=1, keepdims=True)), 1e-9) for part in values]
    return SparseVectors(
        starts=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        terms=np.concatenate([np.empty(0, np.int32), *terms]),
        values=np.ascontiguousarray(np.concatenate([np.empty((parts, 0)), *values], axis=1)),
        weights=WEIGHTS[parts],
        width=width,
    )


def zipf_rows(count: int, width: int, seed: int, length: int = 12) -> list[list[int]]:
    """Return rows of terms, of which term 0 is the most frequent; some are much like a row before them."""
    random = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, width + 1)
    rows: list[list[int]] = []
    for _ in range(count):
        row = set(random.choice(width, random.integers(0, length), p=share / share.sum()).tolist())
        if rows and random.random() < 0.3:
            row |= set(rows[random.integers(len(rows))][1:])
        rows.append(list(row))
    return rows


def dense(side: SparseVectors) -> Floats:
    """Return the vectors as (parts, rows, width)."""
    table = np.zeros((len(side.weights), len(side), side.width))
    table[:, np.repeat(np.arange(len(side)), np.diff(side.starts)), side.terms] = side.values
    return table


def dense_scores(left: SparseVectors, right: SparseVectors) -> Floats:
    scores: Floats = np.tensordot(left.weights, dense(left) @ dense(right).transpose(0, 2, 1), axes=1)
    return scores


def found(left: SparseVectors, right: SparseVectors, threshold: float, **how: int) -> dict[tuple[int, int], float]:
    """Return the pairs of all left rows, each of which must come once."""
    i, j, scores = pairs_at_least(left, slice(None), SearchIndex(right, left, threshold, **how))
    pairs = dict(zip(zip(i.tolist(), j.tolist(), strict=True), scores.tolist(), strict=True))
    assert len(pairs) == len(i)
    return pairs


def assert_found(left: SparseVectors, right: SparseVectors, threshold: float, **how: int) -> None:
    """Check that just the pairs of the dense product are found, but for those too close to the threshold to tell."""
    expected, pairs = dense_scores(left, right), found(left, right, threshold, **how)
    sharing = expected > 0.0
    assert set(zip(*np.nonzero(sharing & (expected >= threshold)), strict=True)) <= set(pairs)
    assert set(pairs) <= set(zip(*np.nonzero(sharing & (expected >= threshold - 1.1e-9)), strict=True))
    assert all(abs(score - expected[pair]) < 1e-12 for pair, score in pairs.items())


@st.composite
def sides(draw: st.DrawFn) -> tuple[SparseVectors, SparseVectors]:
    width, parts, seed = draw(st.integers(1, 40)), draw(st.sampled_from((1, 2))), draw(st.integers(0, 2**32))
    # Low terms come up more often, as frequent words do.
    row = st.lists(st.integers(0, width - 1) | st.integers(0, min(3, width - 1)), max_size=15, unique=True)
    left, right = draw(st.lists(row, max_size=20)), draw(st.lists(row, max_size=150))
    return vectors(left, width, seed, parts), vectors(right, width, seed + 1, parts)


@given(sides(), st.sampled_from((0.0, 0.05, 0.09, 0.3, 0.7, 1.0)) | st.floats(0.0, 1.1), st.sampled_from((64, 8192)))
def test_the_pairs_and_scores_are_those_of_the_dense_product(
    both: tuple[SparseVectors, SparseVectors], threshold: float, block_rows: int
) -> None:
    assert_found(*both, threshold, block_rows=block_rows)


@given(sides(), st.sampled_from((0.0, 0.1, 0.3)), st.integers(0, 41))
def test_the_number_of_high_df_terms_changes_no_bit(
    both: tuple[SparseVectors, SparseVectors], threshold: float, high_df: int
) -> None:
    assert found(*both, threshold, high_df=high_df) == found(*both, threshold, high_df=0)


@given(sides(), st.sampled_from((0.0, 0.2)))
def test_a_pair_scores_the_same_to_the_last_bit_from_either_side_and_on_its_own(
    both: tuple[SparseVectors, SparseVectors], threshold: float
) -> None:
    left, right = both
    pairs = found(left, right, threshold)
    assert {(i, j): score for (j, i), score in found(right, left, threshold).items()} == pairs
    index = SearchIndex(right, left, threshold)
    for pair, score in list(pairs.items())[:5]:
        i, j, scores = pairs_at_least(left, [pair[0]], index)
        assert dict(zip(zip(i.tolist(), j.tolist(), strict=True), scores.tolist(), strict=True))[pair] == score


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("threshold", [0.0, 0.09, 0.3, 0.8])
def test_many_rows_over_many_blocks_are_as_exact_as_few(parts: int, threshold: float) -> None:
    left = vectors(zipf_rows(300, 500, 1), 500, 2, parts)
    right = vectors(zipf_rows(1000, 500, 3), 500, 4, parts)
    assert_found(left, right, threshold, block_rows=128)
    assert found(left, right, threshold, block_rows=128) == found(left, right, threshold)


def test_more_left_rows_than_are_searched_at_once_are_all_searched() -> None:
    left = vectors(zipf_rows(2500, 300, 1), 300, 2)
    assert_found(left, vectors(zipf_rows(70, 300, 3), 300, 4), 0.4)


def test_a_block_as_large_as_its_row_numbers_allow_is_searched_to_its_end() -> None:
    right = vectors([[0]] * 65536 + [[1], [0]], 2, 2)
    for left, expected in (([[1]], {65536}), ([[0]], {*range(65536), 65537})):
        pairs = found(vectors(left, 2, 1), right, 0.5, high_df=0, block_rows=65536)
        assert pairs == {(0, row): 1.0 for row in expected}


def test_rows_with_thousands_of_shared_terms_lose_no_pair_to_rounding() -> None:
    every_term = list(range(5000))
    left, right = vectors([every_term] * 10, 5000, 1), vectors([every_term] * 64, 5000, 2)
    for threshold in np.sort(dense_scores(left, right), axis=None)[::20]:
        assert_found(left, right, float(threshold), high_df=0)


def test_some_rows_are_searched_in_any_form_they_are_given_in() -> None:
    left, right = vectors(zipf_rows(50, 100, 1), 100, 2), vectors(zipf_rows(80, 100, 3), 100, 4)
    everything, index = found(left, right, 0.1), SearchIndex(right, left, 0.1)
    for rows in (slice(10, 20), list(range(10, 20)), np.arange(10, 20)):
        i, j, scores = pairs_at_least(left, rows, index)
        pairs = dict(zip(zip(i.tolist(), j.tolist(), strict=True), scores.tolist(), strict=True))
        assert pairs
        assert pairs == {pair: score for pair, score in everything.items() if 10 <= pair[0] < 20}


def test_threads_share_the_same_index() -> None:
    left, right = vectors(zipf_rows(4000, 400, 1), 400, 2, 2), vectors(zipf_rows(600, 400, 3), 400, 4, 2)
    index = SearchIndex(right, left, 0.2, block_rows=64)
    parts = [slice(start, start + 250) for start in range(0, 4000, 250)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda rows: pairs_at_least(left, rows, index), parts))
    for rows, pairs in zip(parts, together, strict=True):
        for here, there in zip(pairs, pairs_at_least(left, rows, index), strict=True):
            assert here.tobytes() == there.tobytes()


def test_identical_rows_score_one_and_disjoint_rows_are_no_pair_even_at_zero() -> None:
    side = vectors([[0, 1, 2], [3, 4], [5]], 6, 1)
    assert found(side, side, 0.0) == pytest.approx({(0, 0): 1.0, (1, 1): 1.0, (2, 2): 1.0})
    assert found(side, side, 1.0).keys() == {(0, 0), (1, 1), (2, 2)}


def test_no_pair_reaches_a_threshold_above_one() -> None:
    side = vectors([[0, 1], [0, 1], [1]], 2, 1)
    assert found(side, side, 1.01) == {}


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize(
    ("left", "right", "width"),
    [([], [], 0), ([[]], [[], []], 0), ([], [[0]], 1), ([[0]], [], 1), ([[], []], [[0], []], 3)],
)
def test_nothing_against_anything_is_no_pair(
    left: list[list[int]], right: list[list[int]], width: int, parts: int
) -> None:
    for threshold in (0.0, 0.3, 2.0):
        assert found(vectors(left, width, 1, parts), vectors(right, width, 2, parts), threshold) == {}


def test_a_part_that_is_all_zero_adds_nothing() -> None:
    side = vectors([[0, 1], [0]], 2, 1, parts=2)
    side.values[1] = 0.0
    assert found(side, side, 0.6).keys() == {(0, 0), (1, 1)}
    assert found(side, side, 0.6)[1, 1] == pytest.approx(2 / 3)
    assert found(side, side, 0.7) == {}
