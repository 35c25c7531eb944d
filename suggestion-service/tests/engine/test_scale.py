"""The one scale of all algorithms: what a score may be, and what moves it."""

import random
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suggestion_service.engine import ALGORITHMS, Algorithm, Corpus, Entry, Query, Scorer
from suggestion_service.engine.ranking.calibration import CALIBRATIONS, EMBEDDED, Calibration
from suggestion_service.engine.ranking.certainty import Evidence
from suggestion_service.engine.ranking.metadata import Agreement, nothing_known

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
every_calibration = pytest.mark.parametrize("calibration", [*CALIBRATIONS.values(), EMBEDDED])
shares = st.floats(0, 1)
nats = st.floats(0, 500)
PAIR = UUID(int=1), UUID(int=1)


def certainty(information: float, share: float, *, rare: bool = True) -> float:
    return float(Evidence(np.array([information]), np.array([share]), np.array([rare])).certainty[0])


def score(
    calibration: Calibration,
    similarity: float,
    neighbours: tuple[float, float],
    certain: float,
    metadata: Agreement | None = None,
) -> float:
    columns = (np.array([figure]) for figure in (similarity, *neighbours, certain))
    return float(calibration.scores(*columns, metadata or nothing_known(1)).score[0])


@every_calibration
@given(similar=shares, more=shares, of_one=shares, of_other=shares, information=nats, further=nats, share=shares)
def test_more_evidence_never_lowers_a_score_and_closer_others_never_raise_it(
    calibration: Calibration,
    similar: float,
    more: float,
    of_one: float,
    of_other: float,
    information: float,
    further: float,
    share: float,
) -> None:
    neighbours = of_one, of_other
    certain = certainty(information, share)
    found = score(calibration, similar, neighbours, certain)
    assert 0.0 <= found <= 1.0
    assert score(calibration, max(similar, more), neighbours, certain) >= found
    assert score(calibration, similar, neighbours, certainty(information + further, share)) >= found
    assert score(calibration, similar, neighbours, certainty(information, max(share, more))) >= found
    assert score(calibration, similar, (max(of_one, more), of_other), certain) <= found
    assert score(calibration, similar, neighbours, certainty(information, share, rare=False)) <= found


@every_calibration
@given(similar=shares, of_one=shares, of_other=shares, information=nats, share=shares)
def test_a_pair_without_a_rare_term_in_common_stays_below_9_whatever_its_metadata(
    calibration: Calibration, similar: float, of_one: float, of_other: float, information: float, share: float
) -> None:
    yes, one = np.ones(1, np.bool_), np.ones(1)
    agreeing = Agreement(same_module=yes, shared_tags=np.ones(1, np.int64), same_priority=yes, known=one, agreed=one)
    certain = certainty(information, share, rare=False)
    assert score(calibration, similar, (of_one, of_other), certain, agreeing) < 0.9


@every_calibration
@given(similar=shares, of_one=shares, of_other=shares, information=nats, share=shares)
def test_texts_alone_never_make_a_certainty(
    calibration: Calibration, similar: float, of_one: float, of_other: float, information: float, share: float
) -> None:
    assert score(calibration, similar, (of_one, of_other), certainty(information, share)) < 0.992


@every_calibration
@given(similar=st.floats(0.001, 1), of_one=shares, of_other=shares, share=shares)
def test_neither_side_counts_more_than_the_other(
    calibration: Calibration, similar: float, of_one: float, of_other: float, share: float
) -> None:
    there, back = (of_one, of_other), (of_other, of_one)
    certain = certainty(10.0, share)
    assert score(calibration, similar, there, certain) == pytest.approx(score(calibration, similar, back, certain))


def corpus_of(seed: int) -> tuple[list[Entry], list[Entry]]:
    chance = random.Random(seed)
    entries = [
        Entry({f"term{int(300 ** chance.random())}": chance.randint(1, 3) for _ in range(chance.randint(1, 25))})
        for _ in range(90)
    ]
    return entries[:40], entries[40:]


def scores(
    requirements: list[Entry], test_cases: list[Entry], algorithm: Algorithm, threshold: float = 0.0
) -> dict[tuple[int, int], float]:
    corpus = Corpus()
    for number, entry in enumerate(requirements):
        corpus.put("requirement", UUID(int=number), entry)
    for number, entry in enumerate(test_cases):
        corpus.put("test_case", UUID(int=number), entry)
    return {
        (requirement.int, test_case.int): value
        for block in Scorer(corpus.snapshot()).score(Query(algorithm, threshold))
        for requirement, test_case, value in zip(
            block.requirement_ids, block.test_case_ids, block.scores.tolist(), strict=True
        )
    }


@every_algorithm
def test_the_two_sides_changed_about_have_the_same_scores(algorithm: Algorithm) -> None:
    requirements, test_cases = corpus_of(1)
    there, back = scores(requirements, test_cases, algorithm), scores(test_cases, requirements, algorithm)
    assert back == pytest.approx({(j, i): value for (i, j), value in there.items()}, abs=2e-6)


@every_algorithm
def test_equal_texts_have_equal_scores(algorithm: Algorithm) -> None:
    requirements, test_cases = corpus_of(2)
    found = scores([*requirements, requirements[3]], [*test_cases, test_cases[5]], algorithm)
    assert {j: value for (i, j), value in found.items() if i == 3} == {
        j: value for (i, j), value in found.items() if i == len(requirements)
    }
    assert {i: value for (i, j), value in found.items() if j == 5} == {
        i: value for (i, j), value in found.items() if j == len(test_cases)
    }


@every_algorithm
def test_only_pairs_that_share_a_rare_term_reach_9(algorithm: Algorithm) -> None:
    for seed in range(5):
        requirements, test_cases = corpus_of(seed)
        uses = {
            term: sum(term in entry.terms for entry in requirements + test_cases)
            for entry in requirements + test_cases
            for term in entry.terms
        }
        for i, j in scores(requirements, test_cases, algorithm, 0.9):
            shared = requirements[i].terms.keys() & test_cases[j].terms.keys()
            assert min(uses[term] for term in shared) <= 0.05 * 90


@every_algorithm
def test_the_same_texts_with_a_rare_term_are_above_95_although_others_say_the_same(algorithm: Algorithm) -> None:
    requirements, test_cases = corpus_of(3)
    same = Entry({"only": 1, "here": 2, "term1": 1})
    found = scores([*requirements, same], [*test_cases, same, same], algorithm)
    assert found[40, 50] == found[40, 51] > 0.95


@every_algorithm
def test_the_same_texts_without_a_rare_term_are_no_near_certainty(algorithm: Algorithm) -> None:
    requirements, test_cases = corpus_of(4)
    same = Entry({f"term{n}": 1 for n in range(1, 4)})
    assert 0.3 < scores([*requirements, same], [*test_cases, same], algorithm)[40, 50] < 0.9


@every_algorithm
def test_a_requirement_of_one_word_is_nowhere_certain(algorithm: Algorithm) -> None:
    requirements, test_cases = corpus_of(5)
    long = Entry({"landscape": 1, **{f"other{n}": 1 for n in range(12)}})
    found = scores([*requirements, Entry({"landscape": 3})], [*test_cases, long], algorithm)
    assert found.get((40, 50), 0.0) < 0.75
