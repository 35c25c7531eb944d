"""What scores are, whoever asks, in whatever order the corpus was filled."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from math import nextafter
from uuid import UUID

import pytest
from explaining import explain_pair
from hypothesis import given, settings
from hypothesis import strategies as st

from suggestion_service.engine import ALGORITHMS, Algorithm, Corpus, Entry, ItemText, Query, Scorer, Side, terms

SIDES: tuple[Side, ...] = ("requirement", "test_case")
Items = dict[tuple[Side, UUID], Entry]
Scores = dict[tuple[UUID, UUID], float]


def new_id(chance: random.Random) -> UUID:
    return UUID(int=chance.getrandbits(128), version=4)


def random_entry(chance: random.Random, vocabulary: int = 200) -> Entry:
    """Some terms, common ones likelier than rare ones, and metadata that may be absent."""
    ranks = [int(vocabulary ** chance.random()) for _ in range(chance.randint(1, 40))]
    counts: dict[str, int] = {}
    for rank in ranks:
        counts[f"term{rank}"] = counts.get(f"term{rank}", 0) + 1
    return Entry(
        terms=counts,
        module=chance.choice([None, "billing", "login", "reports"]),
        tags=chance.sample(["smoke", "slow", "api", "ui"], chance.randint(0, 3)),
        priority=chance.choice([None, "high", "low"]),
    )


def random_items(seed: int, requirements: int = 25, test_cases: int = 40) -> Items:
    chance = random.Random(seed)
    items: Items = {("requirement", new_id(chance)): random_entry(chance) for _ in range(requirements)}
    return items | {("test_case", new_id(chance)): random_entry(chance) for _ in range(test_cases)}


def shuffle(chance: random.Random, counts: Mapping[str, int]) -> dict[str, int]:
    return dict(chance.sample(list(counts.items()), len(counts)))


def filled(items: Iterable[tuple[tuple[Side, UUID], Entry]]) -> Corpus:
    corpus = Corpus()
    for (side, item_id), entry in items:
        corpus.put(side, item_id, entry)
    return corpus


def scores(
    scorer: Scorer,
    algorithm: Algorithm,
    threshold: float = 0.0,
    requirements: list[UUID] | None = None,
    test_cases: list[UUID] | None = None,
    block_rows: int = 256,
) -> Scores:
    found: Scores = {}
    for block in scorer.score(Query(algorithm, threshold, requirements, test_cases, block_rows)):
        pairs = zip(block.requirement_ids.tolist(), block.test_case_ids.tolist(), strict=True)
        for pair, score in zip(pairs, block.scores.tolist(), strict=True):
            assert pair not in found
            found[pair] = score
    return found


every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def test_tfidf_is_made_of_the_cosine_that_scikit_learn_computes() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer  # takes a second or two

    items = random_items(1)
    requirements = [item_id for side, item_id in items if side == "requirement"]
    test_cases = [item_id for side, item_id in items if side == "test_case"]
    vectorizer = TfidfVectorizer(analyzer=lambda entry: Counter(entry.terms).elements(), sublinear_tf=True)
    vectors = vectorizer.fit_transform(items.values())
    cosines = (vectors[: len(requirements)] @ vectors[len(requirements) :].T).toarray()

    scorer = Scorer(filled(items.items()).snapshot())
    found = scores(scorer, "tfidf")

    for i, requirement_id in enumerate(requirements):
        for j, test_case_id in enumerate(test_cases):
            pair = requirement_id, test_case_id
            assert pair not in found or cosines[i, j] > 0
            exact = explain_pair(scorer, "tfidf", *pair).components["tfidf"]["score"]
            assert exact == pytest.approx(cosines[i, j], abs=1e-9)


@every_algorithm
def test_scores_after_single_changes_are_those_of_a_corpus_made_anew(algorithm: Algorithm) -> None:
    chance = random.Random(2)
    items = random_items(2)
    corpus = filled(items.items())
    for _ in range(60):
        side, item_id = chance.choice(list(items))
        match chance.choice(["add", "replace", "remove"]):
            case "add":
                item_id = new_id(chance)
                items[side, item_id] = random_entry(chance, vocabulary=400)
                corpus.put(side, item_id, items[side, item_id])
            case "replace":
                items[side, item_id] = random_entry(chance, vocabulary=400)
                corpus.put(side, item_id, items[side, item_id])
            case "remove":
                del items[side, item_id]
                corpus.remove(side, item_id)
        # Asked for each time, so that whatever is kept from one change to the next is put to the test.
        found = scores(Scorer(corpus.snapshot()), algorithm)
        assert found == scores(Scorer(filled(items.items()).snapshot()), algorithm)
    assert corpus.count("requirement") + corpus.count("test_case") == len(items)


@every_algorithm
def test_a_pair_has_one_score_whatever_the_order_of_arrival(algorithm: Algorithm) -> None:
    chance = random.Random(3)
    items = random_items(3)
    expected = scores(Scorer(filled(items.items()).snapshot()), algorithm)
    for _ in range(5):
        shuffled = list(items.items())
        chance.shuffle(shuffled)
        corpus = filled(shuffled)
        for (side, item_id), entry in chance.sample(shuffled, 20):
            corpus.remove(side, item_id)
            corpus.put(side, item_id, replace(entry, terms=dict(reversed(entry.terms.items()))))
        assert scores(Scorer(corpus.snapshot()), algorithm) == expected


@every_algorithm
def test_a_pair_has_one_score_whoever_asks(algorithm: Algorithm) -> None:
    items = random_items(4, requirements=12, test_cases=2_100)
    scorer = Scorer(filled(items.items()).snapshot())
    together = scores(scorer, algorithm)
    assert scores(scorer, algorithm, block_rows=5) == together
    apart: Scores = {}
    for side, item_id in items:
        if side == "requirement":
            apart |= scores(scorer, algorithm, requirements=[item_id])
    assert apart == together
    chosen = [item_id for side, item_id in items if side == "test_case"][::300]
    for item_id in chosen:
        of_one = {pair: score for pair, score in together.items() if pair[1] == item_id}
        assert scores(scorer, algorithm, test_cases=[item_id]) == of_one
    some = dict(list(together.items())[:50])
    assert {pair: explain_pair(scorer, algorithm, *pair).score for pair in some} == some


@every_algorithm
def test_one_item_has_the_suggestions_that_it_has_among_all_when_nothing_is_known_of_the_others(
    algorithm: Algorithm,
) -> None:
    items = random_items(15, requirements=300, test_cases=300)
    corpus = filled(items.items())
    for side, item_id in list(items)[::9]:
        corpus.remove(side, item_id)
        del items[side, item_id]
    together = scores(Scorer(corpus.snapshot()), algorithm, 0.3)
    assert len(together) > 50
    for side, item_id in list(items)[::8]:
        corpus.put(side, item_id, items[side, item_id])
        of_one = {pair: score for pair, score in together.items() if item_id in pair}
        asked = {"requirements" if side == "requirement" else "test_cases": [item_id]}
        assert scores(Scorer(corpus.snapshot()), algorithm, 0.3, **asked) == of_one


def test_what_is_said_quickly_of_neighbours_is_never_too_much_and_mostly_says_something() -> None:
    corpus = filled(random_items(16, requirements=300, test_cases=300).items())
    for side in SIDES:
        scorer = Scorer(corpus.snapshot())
        rows, neighbourhoods = scorer.snapshot.views[side].live_rows(), scorer._ranking("hybrid")._neighbourhoods
        lower_bounds = neighbourhoods.lower_bounds(side, rows)
        means = neighbourhoods.means(side, rows)
        assert (lower_bounds <= means).all()
        assert (lower_bounds == means).mean() > 0.25
        assert (neighbourhoods.lower_bounds(side, rows) == means).all()


def unrounded(scorer: Scorer, algorithm: Algorithm) -> Scores:
    """Scores before they are rounded: rounding hides sums that were made in another order, most of the time."""
    found: Scores = {}
    requirements, test_cases = scorer.snapshot.requirements, scorer.snapshot.test_cases
    ranking = scorer._ranking(algorithm)
    for pairs in ranking.candidates(scorer.snapshot.rows(Query(algorithm, 0.0))):
        ids = zip(requirements.ids[pairs.requirements], test_cases.ids[pairs.test_cases], strict=True)
        exact = ranking.scores(pairs.requirements, pairs.test_cases, pairs.similarity).score
        found |= dict(zip(ids, exact.tolist(), strict=True))
    return found


@every_algorithm
def test_the_order_of_arrival_does_not_change_the_last_bit_of_a_score(algorithm: Algorithm) -> None:
    chance = random.Random(12)
    items = random_items(12)
    expected = unrounded(Scorer(filled(items.items()).snapshot()), algorithm)
    for _ in range(5):
        shuffled = [(key, replace(entry, terms=shuffle(chance, entry.terms))) for key, entry in items.items()]
        chance.shuffle(shuffled)
        assert unrounded(Scorer(filled(shuffled).snapshot()), algorithm) == expected


@every_algorithm
def test_a_snapshot_knows_nothing_of_later_changes(algorithm: Algorithm) -> None:
    items = random_items(5)
    corpus = filled(items.items())
    scorer = Scorer(corpus.snapshot())
    pair = next(iter(scores(Scorer(filled(items.items()).snapshot()), algorithm)))
    for side, item_id in items:
        corpus.remove(side, item_id)
    for (side, item_id), entry in random_items(6).items():
        others = {f"other {term}": count for term, count in entry.terms.items()}
        corpus.put(side, item_id, replace(entry, terms=others))
    before = Scorer(filled(items.items()).snapshot())
    assert scores(scorer, algorithm) == scores(before, algorithm)
    assert explain_pair(scorer, algorithm, *pair) == explain_pair(before, algorithm, *pair)


@every_algorithm
def test_the_threshold_itself_is_enough(algorithm: Algorithm) -> None:
    scorer = Scorer(filled(random_items(7).items()).snapshot())
    everything = scores(scorer, algorithm)
    for threshold in sorted(set(everything.values()))[::7]:
        for limit in (threshold, nextafter(threshold, 2)):
            expected = {pair: score for pair, score in everything.items() if score >= limit}
            assert scores(scorer, algorithm, limit) == expected


@every_algorithm
def test_a_pair_that_shares_no_term_is_no_suggestion_even_at_threshold_zero(algorithm: Algorithm) -> None:
    corpus = Corpus()
    apart, alike, test_case = UUID(int=1), UUID(int=2), UUID(int=3)
    corpus.put("requirement", apart, Entry({"invoice": 1}, module="shop", tags=["smoke"], priority="high"))
    corpus.put("requirement", alike, Entry({"login": 1}))
    corpus.put("test_case", test_case, Entry({"login": 2}, module="shop", tags=["smoke"], priority="high"))
    assert scores(Scorer(corpus.snapshot()), algorithm).keys() == {(alike, test_case)}
    assert explain_pair(Scorer(corpus.snapshot()), algorithm, apart, test_case).score == 0.0


@every_algorithm
def test_blocks_count_every_pair_and_progress_ends_at_one(algorithm: Algorithm) -> None:
    scorer = Scorer(filled(random_items(8, requirements=30, test_cases=2_100).items()).snapshot())
    blocks = list(scorer.score(Query(algorithm, 0.3, block_rows=7)))
    assert len(blocks) > 2
    assert sum(block.pairs for block in blocks) == 30 * 2_100
    progress = [block.progress for block in blocks]
    assert all(earlier <= later for earlier, later in pairwise(progress))
    assert progress[-1] == 1.0


@every_algorithm
def test_ids_that_are_not_there_are_left_out_and_those_named_twice_count_once(algorithm: Algorithm) -> None:
    items = random_items(9)
    scorer = Scorer(filled(items.items()).snapshot())
    everything = scores(scorer, algorithm)
    known, unknown = next(iter(everything))[0], UUID(int=0)
    of_known = {pair: score for pair, score in everything.items() if pair[0] == known}
    assert scores(scorer, algorithm, requirements=[known, unknown, known]) == of_known
    assert list(scorer.score(Query(algorithm, 0.0, requirements=[unknown]))) == []
    assert list(Scorer(Corpus().snapshot()).score(Query(algorithm, 0.0))) == []


def test_removing_what_is_not_there_changes_nothing() -> None:
    corpus = filled(random_items(10).items())
    before = corpus.snapshot()
    corpus.remove("requirement", UUID(int=0))
    assert corpus.snapshot() is before


@every_algorithm
@given(texts=st.lists(st.tuples(st.text(max_size=40), st.text(max_size=200)), min_size=1, max_size=6))
@settings(max_examples=60)
def test_scores_of_any_texts_lie_in_0_to_1_and_identical_texts_with_a_rare_term_are_above_95(
    algorithm: Algorithm, texts: list[tuple[str, str]]
) -> None:
    corpus = Corpus()
    counted = [terms(ItemText(title=title, description=description)) for title, description in texts]
    for number, of_text in enumerate(counted):
        corpus.put("requirement", UUID(int=number), Entry(of_text, module="m", tags=["t"], priority="low"))
        corpus.put("test_case", UUID(int=number), Entry(of_text, module="m", tags=["t"], priority="low"))
    found = scores(Scorer(corpus.snapshot()), algorithm)
    assert all(0.0 < score <= 1.0 for score in found.values())
    for number, of_text in enumerate(counted):
        score = found.get((UUID(int=number), UUID(int=number)))
        assert (score is None) == (not of_text)
        # Of so few items all that three have is rare.
        has_rare = any(sum(term in other for other in counted) == 1 for term in of_text)
        assert score is None or score > 0.95 or not has_rare


def test_a_text_that_resembles_everything_is_no_strong_suggestion() -> None:
    corpus = Corpus()
    for number in range(30):
        corpus.put("requirement", UUID(int=number), Entry({"user": 1, "login": 1, f"only{number}": 1}))
        corpus.put("test_case", UUID(int=number), Entry({"user": 1, "login": 1, f"only{number}": 1}))
    corpus.put("test_case", UUID(int=99), Entry({"user": 1, "login": 1}))
    found = scores(Scorer(corpus.snapshot()), "hybrid")
    assert all(found[UUID(int=number), UUID(int=number)] > 0.9 for number in range(30))
    assert all(found[UUID(int=number), UUID(int=99)] < 0.3 for number in range(30))


@every_algorithm
def test_a_text_of_a_hundred_thousand_terms_can_be_scored(algorithm: Algorithm) -> None:
    corpus = Corpus()
    long, short = UUID(int=1), UUID(int=2)
    corpus.put("requirement", long, Entry({f"term{n}": 1 + n % 3 for n in range(100_000)}))
    corpus.put("test_case", long, Entry({f"term{n}": 1 + n % 3 for n in range(100_000)}))
    corpus.put("test_case", short, Entry({"term1": 1}))
    found = scores(Scorer(corpus.snapshot()), algorithm)
    assert found[long, long] > 0.95
    assert found.get((long, short), 0.0) < found[long, long]


def hybrid_score(requirement: Entry, test_case: Entry) -> float:
    """Score the one pair among others that are always the same."""
    items = {key: replace(entry, module=None, tags=[], priority=None) for key, entry in random_items(11).items()}
    corpus = filled(items.items())
    corpus.put("requirement", UUID(int=1), requirement)
    corpus.put("test_case", UUID(int=1), test_case)
    return scores(Scorer(corpus.snapshot()), "hybrid")[UUID(int=1), UUID(int=1)]


FULL: Mapping[str, object] = {"module": "shop", "tags": ("smoke", "api"), "priority": "high"}
OTHER: Mapping[str, object] = {"module": "login", "tags": ("slow",), "priority": "low"}
NONE: Mapping[str, object] = {"module": None, "tags": (), "priority": None}


@pytest.mark.parametrize("field", ["module", "tags", "priority"])
def test_metadata_raise_a_score_when_they_agree_and_lower_it_only_when_they_differ(field: str) -> None:
    requirement = Entry({"term1": 1, "term50": 2, "term77": 1})
    test_case = Entry({"term1": 2, "term50": 1, "term99": 1})
    bare = hybrid_score(requirement, test_case)

    def given_both(left: object, right: object) -> float:
        return hybrid_score(replace(requirement, **{field: left}), replace(test_case, **{field: right}))

    assert given_both(FULL[field], FULL[field]) > bare
    assert given_both(FULL[field], OTHER[field]) < bare
    assert given_both(FULL[field], NONE[field]) == bare
    assert given_both(NONE[field], FULL[field]) == bare


def test_labels_are_compared_without_regard_to_case_and_blanks() -> None:
    requirement, test_case = Entry({"term1": 1, "term5": 1}), Entry({"term1": 1, "term7": 1})
    agreeing = hybrid_score(
        replace(requirement, module="Shop", tags=["API", "smoke"]),
        replace(test_case, module=" shop ", tags=["smoke", "api", "Api", " "]),
    )
    exact = hybrid_score(
        replace(requirement, module="shop", tags=["api", "smoke"]),
        replace(test_case, module="shop", tags=["api", "smoke"]),
    )
    assert agreeing == exact


def test_keywords_count_by_how_many_more_than_by_how_rare_they_are() -> None:
    corpus = Corpus()
    for number in range(200):
        corpus.put("test_case", UUID(int=number), Entry({"system": 1, "user": 1, f"rare{number}": 1}))
    requirement_id = UUID(int=1_000)
    corpus.put("requirement", requirement_id, Entry({"system": 1, "user": 1, "rare7": 1}))
    scorer = Scorer(corpus.snapshot())
    for algorithm in ALGORITHMS:
        found = scores(scorer, algorithm)
        assert found[requirement_id, UUID(int=7)] == max(found.values())
    other = requirement_id, UUID(int=8)
    cosines = {
        algorithm: explain_pair(scorer, algorithm, *other).components[algorithm]["score"]
        for algorithm in ("tfidf", "keyword")
    }
    assert cosines["keyword"] > 2 * cosines["tfidf"]
