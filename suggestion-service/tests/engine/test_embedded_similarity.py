"""Hybrid scores with embeddings: the same for everybody, and from words alone where there is no embedding yet."""

import random
from itertools import product
from uuid import UUID

import numpy as np
import pytest
from explaining import explain_pair

from suggestion_service.engine import (
    Corpus,
    EmbeddingStore,
    EmbeddingView,
    Entry,
    ItemVectors,
    Query,
    Scorer,
    Side,
    quantized,
    unit_vectors,
)

DIMENSIONS = 24
REQUIREMENTS = [UUID(int=number) for number in range(1, 41)]
TEST_CASES = [UUID(int=number) for number in range(1001, 1061)]
WITHOUT = REQUIREMENTS[3], TEST_CASES[5]


def vectors(chance: np.random.Generator, about: int) -> ItemVectors:
    """Return vectors that lie near those of all items about the same."""
    centre = np.random.default_rng(about).normal(size=DIMENSIONS)
    passages = unit_vectors(centre + chance.normal(size=(int(chance.integers(1, 6)), DIMENSIONS)))
    return ItemVectors(quantized(unit_vectors(passages.mean(axis=0, keepdims=True)))[0], quantized(passages))


@pytest.fixture
def corpus() -> Corpus:
    chance, filled = random.Random(1), Corpus()
    for side, ids in (("requirement", REQUIREMENTS), ("test_case", TEST_CASES)):
        for item_id in ids:
            terms = {f"term{int(300 ** chance.random())}": 1 for _ in range(chance.randint(1, 12))}
            filled.put(side, item_id, Entry(terms))
    return filled


@pytest.fixture
def embeddings() -> dict[Side, EmbeddingView]:
    chance = np.random.default_rng(2)
    stores: dict[Side, EmbeddingStore] = {
        "requirement": EmbeddingStore(DIMENSIONS),
        "test_case": EmbeddingStore(DIMENSIONS),
    }
    for side, ids in (("requirement", REQUIREMENTS), ("test_case", TEST_CASES)):
        for number, item_id in enumerate(ids):
            if item_id not in WITHOUT:
                stores[side].put(item_id, vectors(chance, about=number % 9))
    return {side: store.view() for side, store in stores.items()}


def scores(scorer: Scorer, threshold: float = 0.0, **asked: list[UUID]) -> dict[tuple[UUID, UUID], float]:
    return {
        pair: score
        for block in scorer.score(Query("hybrid", threshold, **asked))
        for *pair_, score in zip(block.requirement_ids, block.test_case_ids, block.scores.tolist(), strict=True)
        for pair in [(pair_[0], pair_[1])]
    }


def test_a_pair_has_one_score_whoever_asks(corpus: Corpus, embeddings: dict[Side, EmbeddingView]) -> None:
    together = scores(Scorer(corpus.snapshot(), embeddings))
    assert len(together) > 500
    apart: dict[tuple[UUID, UUID], float] = {}
    for requirement_id in REQUIREMENTS:
        corpus.put("requirement", UUID(int=9999), Entry({"term1": 1}))
        corpus.remove("requirement", UUID(int=9999))  # so that nothing is remembered of the others
        apart |= scores(Scorer(corpus.snapshot(), embeddings), requirements=[requirement_id])
    assert apart == together
    for test_case_id in TEST_CASES[::7]:
        of_one = {pair: score for pair, score in together.items() if pair[1] == test_case_id}
        assert scores(Scorer(corpus.snapshot(), embeddings), test_cases=[test_case_id]) == of_one
    limit = sorted(together.values())[-60]
    best = {pair: score for pair, score in together.items() if score >= limit}
    assert scores(Scorer(corpus.snapshot(), embeddings), limit) == best
    assert {pair: explain_pair(Scorer(corpus.snapshot(), embeddings), "hybrid", *pair).score for pair in best} == best


def test_the_score_can_be_computed_again_from_its_components(
    corpus: Corpus, embeddings: dict[Side, EmbeddingView]
) -> None:
    scorer = Scorer(corpus.snapshot(), embeddings)
    with_passages = 0
    for pair in product(REQUIREMENTS[:12], TEST_CASES[:12]):
        explained = explain_pair(scorer, "hybrid", *pair)
        again = sum(part["weight"] * part["score"] for part in explained.components.values())
        assert again == pytest.approx(explained.score, abs=1e-6)
        assert sum(part["weight"] for part in explained.components.values()) == pytest.approx(1.0, abs=1e-8)
        steps = explained.calculation
        assert steps is not None
        assert sum(part["weight"] for part in steps["parts"].values()) == pytest.approx(1.0, abs=1e-8)
        likeness = sum(part["weight"] * part["score"] for part in steps["parts"].values())
        assert likeness == pytest.approx(steps["likeness"], abs=1e-8)
        assert ("whole_text" in steps["parts"]) == (not set(pair) & set(WITHOUT))
        with_passages += "passages" in steps["parts"]
    assert with_passages > 10


def test_an_item_without_an_embedding_is_as_alike_as_its_words(
    corpus: Corpus, embeddings: dict[Side, EmbeddingView]
) -> None:
    lexical, embedded = Scorer(corpus.snapshot()), Scorer(corpus.snapshot(), embeddings)
    for test_case_id in TEST_CASES[:10]:
        words = explain_pair(lexical, "hybrid", WITHOUT[0], test_case_id).calculation
        both = explain_pair(embedded, "hybrid", WITHOUT[0], test_case_id).calculation
        assert words is not None
        assert both is not None
        assert both["likeness"] == words["likeness"]


def test_items_that_mean_the_same_are_found_without_a_shared_word(corpus: Corpus) -> None:
    chance = np.random.default_rng(3)
    alike = vectors(chance, about=77)
    pair = UUID(int=5000), UUID(int=6000)
    corpus.put("requirement", pair[0], Entry({"cancel": 1}))
    corpus.put("test_case", pair[1], Entry({"abort": 1}))
    stores: dict[Side, EmbeddingStore] = {
        "requirement": EmbeddingStore(DIMENSIONS),
        "test_case": EmbeddingStore(DIMENSIONS),
    }
    for side, ids in (("requirement", REQUIREMENTS), ("test_case", TEST_CASES)):
        for item_id in ids:
            stores[side].put(item_id, vectors(chance, about=5))
    stores["requirement"].put(pair[0], alike)
    stores["test_case"].put(pair[1], alike)
    scorer = Scorer(corpus.snapshot(), {side: store.view() for side, store in stores.items()})
    assert scores(scorer, 0.3, requirements=[pair[0]]).keys() == {pair}
    assert "alike in meaning" in explain_pair(scorer, "hybrid", *pair).reason


def test_what_was_removed_is_not_found_again(corpus: Corpus, embeddings: dict[Side, EmbeddingView]) -> None:
    corpus.remove("test_case", TEST_CASES[0])
    corpus.put("test_case", TEST_CASES[1], Entry({"term1": 2, "term7": 1}))
    for requirement_id in REQUIREMENTS[:8]:
        found = scores(Scorer(corpus.snapshot(), embeddings), requirements=[requirement_id])
        assert {pair[1] for pair in found} <= set(TEST_CASES[1:])
        everything = scores(Scorer(corpus.snapshot(), embeddings))
        assert found == {pair: score for pair, score in everything.items() if pair[0] == requirement_id}
