"""What a person is told about a score."""

import json
import math
from dataclasses import asdict
from itertools import product
from uuid import UUID

import pytest
from explaining import explain_pair, explain_pairs

from suggestion_service.engine import (
    ALGORITHMS,
    Algorithm,
    Corpus,
    Entry,
    Explanation,
    ItemText,
    Scorer,
    read,
    terms,
)
from suggestion_service.engine.explanation.explanation import Facts, explain

REQUIREMENTS = [
    ItemText(
        title="Lock accounts after failed logins",
        description="The account is locked for 15 minutes after five failed login attempts from any address.",
        module="login",
        tags=["security"],
    ),
    ItemText(
        title="UART parity",
        description="The UART sends the rx_parity_err interrupt when a received parity bit is wrong.",
        tags=["hardware", "smoke"],
    ),
    ItemText(title="Export invoices", description="Invoices can be exported as PDF and as spreadsheets."),
]
TEST_CASES = [
    ItemText(
        title="Five failed attempts lock an account",
        description="Check that the fifth failed attempt locks.",
        steps={"1": "Enter a wrong password five times", "2": "Log in with the right one: the account is locked"},
        module="login",
        tags=["security", "smoke"],
    ),
    ItemText(
        title="Parity error interrupts",
        description="Send a byte with wrong parity bits; rx_parity_err interrupts fire on the UART.",
        tags=["hardware"],
    ),
    ItemText(title="Backup", description="Nightly backups are restored on an empty machine."),
]
PRIORITIES = ["high", "low", None]
REQUIREMENT_IDS = [UUID(int=number) for number in range(1, 4)]
TEST_CASE_IDS = [UUID(int=number) for number in range(11, 14)]
LOCKING = REQUIREMENT_IDS[0], TEST_CASE_IDS[0]
PARITY = REQUIREMENT_IDS[1], TEST_CASE_IDS[1]
UNALIKE = REQUIREMENT_IDS[2], TEST_CASE_IDS[2]
READINGS = {
    item_id: read(item)
    for item_id, item in zip(REQUIREMENT_IDS + TEST_CASE_IDS, REQUIREMENTS + TEST_CASES, strict=True)
}

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


@pytest.fixture
def scorer() -> Scorer:
    corpus = Corpus()
    for item_id, item, priority in zip(REQUIREMENT_IDS, REQUIREMENTS, PRIORITIES, strict=True):
        corpus.put("requirement", item_id, Entry(terms(item), item.module, item.tags, priority))
    for item_id, item, priority in zip(TEST_CASE_IDS, TEST_CASES, reversed(PRIORITIES), strict=True):
        corpus.put("test_case", item_id, Entry(terms(item), item.module, item.tags, priority))
    return Scorer(corpus.snapshot())


@every_algorithm
def test_the_score_can_be_computed_again_from_the_components(scorer: Scorer, algorithm: Algorithm) -> None:
    for pair in product(REQUIREMENT_IDS, TEST_CASE_IDS):
        explained = explain_pair(scorer, algorithm, *pair)
        parts = explained.components.values()
        assert sum(part["weight"] for part in parts) == pytest.approx(1.0, abs=1e-8)
        assert sum(part["weight"] * part["score"] for part in parts) == pytest.approx(explained.score, abs=1e-6)
        assert sum(part["contribution"] for part in parts) == pytest.approx(explained.score, abs=1e-6)
        assert all(0.0 <= part["score"] <= 1.0 + 1e-9 for part in parts)


@every_algorithm
def test_a_score_can_be_computed_again_by_hand(scorer: Scorer, algorithm: Algorithm) -> None:
    for pair in product(REQUIREMENT_IDS, TEST_CASE_IDS):
        explained = explain_pair(scorer, algorithm, *pair)
        parts, steps = explained.components, explained.calculation
        assert steps is not None
        if steps["likeness"] == 0:
            assert explained.score == 0
            continue
        likeness = (
            (0.6 * steps["parts"]["semantic"]["score"] + 0.3 * steps["parts"]["keyword"]["score"]) / 0.9
            if algorithm == "hybrid"
            else parts[algorithm]["score"]
        )
        assert likeness == pytest.approx(steps["likeness"], abs=1e-8)
        advantage = 2 * likeness - steps["requirement_neighbours"] - steps["test_case_neighbours"]
        advantage = max(advantage, 0.3 - 20 * (1 - likeness))
        assert advantage == pytest.approx(steps["csls"], abs=1e-8)
        odds_against = math.exp(-(steps["intercept"] + steps["slope"] * advantage)) + math.exp(-steps["certainty"])
        probability = 1 / (1 + odds_against)
        assert probability == pytest.approx(parts["texts"]["score"], abs=1e-6)
        metadata = parts.get("heuristic", {"score": 0.0, "weight": 0.0})
        score = (1 - metadata["weight"]) * probability + metadata["weight"] * metadata["score"]
        assert score == pytest.approx(explained.score, abs=2e-6)


def test_neighbours_are_the_four_most_alike_of_the_other_side() -> None:
    corpus = Corpus()
    requirement_id = UUID(int=1)
    corpus.put("requirement", requirement_id, Entry({f"word{n}": 1 for n in range(10)}))
    for number in range(11, 17):
        corpus.put("test_case", UUID(int=number), Entry({f"word{n}": 1 for n in range(number - 10)}))
    corpus.put("test_case", UUID(int=99), Entry({"nothing": 1, "alike": 1}))
    scorer = Scorer(corpus.snapshot())
    steps = {
        number: explain_pair(scorer, "hybrid", requirement_id, UUID(int=number)).calculation for number in range(11, 17)
    }
    best = sorted((step["likeness"] for step in steps.values() if step), reverse=True)[:4]
    told = steps[11]
    assert told is not None
    assert told["requirement_neighbours"] == pytest.approx(sum(best) / 4, abs=1e-8)
    # There is one requirement: the three that are missing count 0.3 each.
    assert told["test_case_neighbours"] == pytest.approx((max(told["likeness"], 0.15) + 0.9) / 4, abs=1e-8)


@every_algorithm
def test_the_matched_terms_and_the_others_make_up_what_the_texts_give(scorer: Scorer, algorithm: Algorithm) -> None:
    for pair in (LOCKING, PARITY):
        explained = explain_pair(scorer, algorithm, *pair)
        metadata = explained.components.get("heuristic", {"weight": 0.0, "score": 0.0})
        from_texts = explained.score - metadata["weight"] * metadata["score"]
        weights = [float(term["weight"]) for term in explained.matched_terms]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) + explained.other_weight == pytest.approx(from_texts, abs=1e-5)


def test_many_matched_terms_are_summed_up_in_the_others() -> None:
    corpus = Corpus()
    pair = UUID(int=1), UUID(int=2)
    corpus.put("requirement", pair[0], Entry({f"term{n:02}": 1 + n for n in range(25)}))
    corpus.put("test_case", pair[1], Entry({f"term{n:02}": 1 + n for n in range(25)}))
    explained = explain_pair(Scorer(corpus.snapshot()), "tfidf", *pair)
    assert [term["term"] for term in explained.matched_terms] == [f"term{n}" for n in range(24, 14, -1)]
    assert explained.other_terms == 15
    assert 0.0 < explained.other_weight < 1.0
    assert "“term24”, “term23”, “term22”, “term21”, “term20” and 20 more" in explained.reason


@every_algorithm
def test_a_reason_names_the_words_that_count_as_the_texts_write_them(scorer: Scorer, algorithm: Algorithm) -> None:
    explained = explain_pair(scorer, algorithm, *PARITY, READINGS)
    assert "“parity”" in explained.reason
    assert "pariti" not in explained.reason.replace("parity", "")
    named = {term["term"] for term in explained.matched_terms}
    assert {"parity", "rx_parity_err", "UART"} <= named


def test_without_the_texts_stems_are_named(scorer: Scorer) -> None:
    assert "pariti" in {term["term"] for term in explain_pair(scorer, "tfidf", *PARITY).matched_terms}


def test_a_hybrid_reason_says_which_metadata_agree(scorer: Scorer) -> None:
    locking = explain_pair(scorer, "hybrid", *LOCKING, READINGS)
    assert "same module, 1 shared tag, combined score" in locking.reason
    assert set(locking.components) == {"texts", "heuristic"}
    parity = explain_pair(scorer, "hybrid", *PARITY, READINGS)
    assert "1 shared tag, same priority, combined score" in parity.reason
    assert "module" not in parity.reason


def test_a_pair_without_metadata_has_no_heuristic_part() -> None:
    corpus = Corpus()
    pair = UUID(int=1), UUID(int=2)
    corpus.put("requirement", pair[0], Entry({"login": 1}, module="shop"))
    corpus.put("test_case", pair[1], Entry({"login": 1}, priority="low"))
    explained = explain_pair(Scorer(corpus.snapshot()), "hybrid", *pair)
    assert set(explained.components) == {"texts"}
    assert explained.score > 0.9


@pytest.mark.parametrize("algorithm", ["tfidf", "keyword"])
def test_the_plain_cosine_stands_among_the_components_without_a_weight(scorer: Scorer, algorithm: Algorithm) -> None:
    components = explain_pair(scorer, algorithm, *PARITY).components
    assert set(components) == {"texts", algorithm}
    assert 0 < components[algorithm]["score"] < 1
    assert components[algorithm]["weight"] == components[algorithm]["contribution"] == 0


@every_algorithm
def test_a_pair_with_nothing_in_common_says_so(scorer: Scorer, algorithm: Algorithm) -> None:
    explained = explain_pair(scorer, algorithm, *UNALIKE)
    assert explained.score == 0.0
    assert explained.matched_terms == []
    assert explained.reason.startswith("The two texts share no word that counts")


@every_algorithm
def test_many_at_once_are_explained_as_one_by_one(scorer: Scorer, algorithm: Algorithm) -> None:
    # More pairs than are worked on in one go.
    pairs = list(product(REQUIREMENT_IDS, TEST_CASE_IDS)) * 80
    together = explain_pairs(scorer, algorithm, pairs, READINGS)
    apart = {pair: explain_pair(scorer, algorithm, *pair, READINGS) for pair in set(pairs)}
    assert together == [apart[pair] for pair in pairs]
    assert explain_pairs(scorer, algorithm, []) == []


@every_algorithm
def test_an_explanation_is_plain_json(scorer: Scorer, algorithm: Algorithm) -> None:
    plain = asdict(explain_pair(scorer, algorithm, *LOCKING))
    assert json.loads(json.dumps(plain)) == plain


@every_algorithm
def test_an_id_that_is_not_there_cannot_be_explained(scorer: Scorer, algorithm: Algorithm) -> None:
    with pytest.raises(KeyError):
        explain_pair(scorer, algorithm, UUID(int=0), TEST_CASE_IDS[0])


def test_the_reason_names_telling_words_before_numbers_and_splinters() -> None:
    told = told_of({"50": 0.5, "th": 0.2, "allocation": 0.1})
    assert told.reason == "Both texts speak of “allocation” and 2 more; text similarity 0.80."
    assert [term["term"] for term in told.matched_terms] == ["50", "th", "allocation"]
    assert "“50”" in told_of({"50": 0.8}).reason


def told_of(weights: dict[str, float]) -> Explanation:
    return explain(Facts("tfidf", 0.8, {"tfidf": (0.8, 1.0)}, weights, None), None, None)


@pytest.mark.parametrize(
    ("requirement", "test_case", "named", "never"),
    [
        ("isPaginated lists reports", "getPaginated of reports", "“reports”", "aginated”"),
        ("pub-lang0 sets the language", "pub-dir1 keeps the language", "“language”", "“pub”"),
        ("利用者認証を行う", "再認証画面と利用者", "“利用者”", "“用者”"),
    ],
)
def test_a_reason_names_whole_words_and_no_pieces_of_names_or_of_runs_of_kanji(
    requirement: str, test_case: str, named: str, never: str
) -> None:
    corpus = Corpus()
    items = {
        UUID(int=1): ItemText(title="", description=requirement),
        UUID(int=2): ItemText(title="", description=test_case),
    }
    corpus.put("requirement", UUID(int=1), Entry(terms(items[UUID(int=1)])))
    corpus.put("test_case", UUID(int=2), Entry(terms(items[UUID(int=2)])))
    readings = {item_id: read(item) for item_id, item in items.items()}
    reason = explain_pair(Scorer(corpus.snapshot()), "tfidf", UUID(int=1), UUID(int=2), readings).reason
    named_words = reason.partition(";")[0]
    assert named in named_words
    assert never not in named_words
