"""The corpus at one moment: scores pairs, and explains scores. Never changes; safe to use in any thread."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.column_store import Floats, Ints, ShelfView, Side
from suggestion_service.engine.explanation.evidence import Common
from suggestion_service.engine.explanation.explanation import Explanation, Facts, explanation
from suggestion_service.engine.explanation.reading import Reading
from suggestion_service.engine.explanation.term_ranking import Ranking, ranked
from suggestion_service.engine.lexical.similarity import LOOKED_UP_AT_ONCE, Alike, Likeness, Part, combined
from suggestion_service.engine.ranking import calibration as hybrid
from suggestion_service.engine.ranking.calibration import HybridScores
from suggestion_service.engine.ranking.metadata import compare, other_modules
from suggestion_service.engine.ranking.neighbourhoods import Neighbourhoods
from suggestion_service.engine.semantic.embeddings import EmbeddingView
from suggestion_service.engine.semantic.similarity import EmbeddedLikeness

Algorithm = Literal["tfidf", "keyword", "hybrid"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

_DECIMALS = 6
_EXPLAINED_AT_ONCE = 1024
_MOST_TERMS = 500
"""Shared terms that are looked at, the heaviest: texts of a megabyte share a hundred thousand."""
# More than rounding can lift a score by.
_ROUNDING = 1e-6
_MOST_KEPT = 8_000_000
"""Pairs that are kept until all neighbours are known; what comes after them is worked out a second time."""


@dataclass(frozen=True, slots=True)
class Block:
    """Pairs at or above the threshold, as parallel arrays, out of `pairs` that were looked at for this block.

    `requirement_ids` and `test_case_ids` are object arrays of UUID, `scores` float64 in 0..1 with 6 decimals.
    `progress` is the share of all pairs asked for that is done with this block; that of the last block is 1.
    """

    requirement_ids: NDArray[Any]
    test_case_ids: NDArray[Any]
    scores: Floats
    pairs: int
    progress: float


class Snapshot:
    """Get one from `Corpus.snapshot()`."""

    def __init__(
        self,
        *,
        requirements: ShelfView,
        test_cases: ShelfView,
        term_names: NDArray[Any],
        document_frequencies: Ints,
        embeddings: Mapping[Side, EmbeddingView] | None = None,
    ) -> None:
        """`term_names` and `document_frequencies` are by term number. `embeddings`: None for none."""
        self._requirements, self._test_cases, self._term_names = requirements, test_cases, term_names
        self._views: dict[Side, ShelfView] = {"requirement": requirements, "test_case": test_cases}
        self._document_frequencies = document_frequencies
        self.embeddings = embeddings
        self._calibration = hybrid.LEXICAL if embeddings is None else hybrid.EMBEDDED

    def score(
        self,
        algorithm: Algorithm,
        threshold: float,
        requirements: Sequence[UUID] | None = None,
        test_cases: Sequence[UUID] | None = None,
        block_rows: int = 0,
    ) -> Iterator[Block]:
        """Score requirements against test cases, block by block; None means all items of that side.

        Gives every pair whose score, rounded to 6 decimals, is at least `threshold` and above 0: threshold 0
        means every pair that has something in common. Ids that the corpus does not have are left out.
        The order of the pairs in a block means nothing. A block looks at `block_rows` items of one side, 0 for as
        many as is quick, against all that was asked for of the other.
        """
        side: Side = "requirement" if test_cases is None or requirements is not None else "test_case"
        view = self._views[side]
        chosen = requirements if side == "requirement" else test_cases
        slots = view.living() if chosen is None else view.slots_of(chosen)
        wanted = None if requirements is None or test_cases is None else self._test_cases.slots_of(test_cases)
        every = len(slots) * (self._requirements.count + self._test_cases.count - view.count)
        done = 0
        for alike in self._alike(algorithm, threshold - _ROUNDING, side, slots, block_rows):
            if wanted is not None:
                alike = alike.only(np.isin(alike.test_cases, wanted))
            scores = self._scores(algorithm, alike)
            kept = (scores >= threshold) & (scores > 0.0)
            done += alike.pairs
            yield Block(
                self._requirements.ids[alike.requirements[kept]],
                self._test_cases.ids[alike.test_cases[kept]],
                scores[kept],
                alike.pairs,
                done / every if every else 1.0,
            )

    def score_pairs(self, algorithm: Algorithm, pairs: Sequence[tuple[UUID, UUID]]) -> Floats:
        """Return the scores of (requirement, test case) pairs, in their order, as `explain_many` does.

        Raises KeyError for an id that the corpus does not have.
        """
        i = _slots(self._requirements, [requirement_id for requirement_id, _ in pairs])
        j = _slots(self._test_cases, [test_case_id for _, test_case_id in pairs])
        likeness = self._likenesses[algorithm]
        scores: list[Floats] = []
        for start in range(0, len(pairs), _EXPLAINED_AT_ONCE):
            some = slice(start, start + _EXPLAINED_AT_ONCE)
            matches = likeness.matches(i[some], j[some])
            if algorithm == "hybrid":
                _, alike = likeness.parts(i[some], j[some], matches)
                scores.append(self._hybrid(i[some], j[some], alike, self._neighbourhoods.means).score)
            else:
                scores.append(combined(matches.cosines, likeness.weights))
        return _rounded(np.concatenate(scores)) if scores else np.zeros(0)

    def explain(
        self,
        algorithm: Algorithm,
        requirement_id: UUID,
        test_case_id: UUID,
        readings: Mapping[UUID, Reading] | None = None,
    ) -> Explanation:
        """Explain the score of one pair; see `explain_many`."""
        return self.explain_many(algorithm, [(requirement_id, test_case_id)], readings)[0]

    def explain_many(
        self,
        algorithm: Algorithm,
        pairs: Sequence[tuple[UUID, UUID]],
        readings: Mapping[UUID, Reading] | None = None,
    ) -> list[Explanation]:
        """Explain the scores of (requirement, test case) pairs, in their order; far quicker than one by one.

        With the `readings` of both items words are shown as they stand in the requirement, passages are quoted, and
        what speaks against the pair is named; without, terms are shown as stems.
        Raises KeyError for an id that the corpus does not have.
        """
        explained: list[Explanation] = []
        for start in range(0, len(pairs), _EXPLAINED_AT_ONCE):
            explained += self._explain(algorithm, pairs[start : start + _EXPLAINED_AT_ONCE], readings or {})
        return explained

    def _alike(self, algorithm: Algorithm, least: float, side: Side, slots: Ints, rows: int) -> Iterator[Alike]:
        """Return the pairs that may have the score `least`."""
        likeness = self._likenesses[algorithm]
        if algorithm != "hybrid":
            return likeness.of_many(side, slots, max(0.0, least), rows)
        whole = len(slots) == self._requirements.count and side == "requirement"
        if likeness.looks_up(len(slots)) and not whole:
            return self._few(least, likeness, side, slots, rows)
        threshold = min(
            self._calibration.least, self._calibration.least_likeness(least, np.array(self._calibration.least)).item()
        )
        if whole:
            return self._everything(least, likeness, threshold, slots, rows)
        return self._some(least, likeness.of_many(side, slots, threshold, rows), side)

    def _few(self, least: float, likeness: Likeness, side: Side, slots: Ints, rows: int) -> Iterator[Alike]:
        """Look items up when their neighbours are known, and with them how alike others have to be."""
        step = rows or LOOKED_UP_AT_ONCE
        for start in range(0, len(slots), step):
            part = slots[start : start + step]
            thresholds = self._calibration.least_likeness(least, self._neighbourhoods.means(side, part))
            for alike in self._some(least, iter((likeness.looked_up(side, part, thresholds),)), side):
                # Most of what is left resembles others more: cheaper shown than the neighbours of each are found.
                i, j = alike.requirements, alike.test_cases
                most = self._hybrid(i, j, alike.likeness, self._neighbourhoods.at_least).score
                yield alike.only(most >= least)

    def _some(self, least: float, found: Iterator[Alike], side: Side) -> Iterator[Alike]:
        for alike in found:
            mine = alike.requirements if side == "requirement" else alike.test_cases
            means = self._neighbourhoods.means(side, mine)
            metadata = compare(self._requirements, alike.requirements, self._test_cases, alike.test_cases)
            yield alike.only(self._calibration.most(alike.likeness, means, metadata) >= least)

    def _everything(
        self, least: float, likeness: Likeness, threshold: float, slots: Ints, rows: int
    ) -> Iterator[Alike]:
        """Look at all pairs, and return those that may have the score once the neighbours of all items are known."""
        looked_at: list[Alike | Ints] = []
        kept = 0
        everything = self._neighbourhoods.seen(likeness.of_many("requirement", slots, threshold, rows))
        for alike in self._some(least, everything, "requirement"):
            kept += len(alike.likeness)
            looked_at.append(alike if kept <= _MOST_KEPT else alike.slots)
            # Nothing is found yet, but a caller may stop here.
            yield alike.only(np.zeros(len(alike.likeness), np.bool_))
        for found in looked_at:
            if isinstance(found, Alike):
                yield replace(found, pairs=0)
            else:
                again = likeness.of_many("requirement", found, threshold, rows)
                yield from (replace(alike, pairs=0) for alike in self._some(least, again, "requirement"))

    def _scores(self, algorithm: Algorithm, alike: Alike) -> Floats:
        scores = alike.likeness
        if algorithm == "hybrid" and len(scores):
            i, j = alike.requirements, alike.test_cases
            scores = self._hybrid(i, j, alike.likeness, self._neighbourhoods.means).score
        return _rounded(scores)

    def _hybrid(self, i: Ints, j: Ints, likeness: Floats, means: Callable[[Side, Ints], Floats]) -> HybridScores:
        agreement = compare(self._requirements, i, self._test_cases, j)
        return self._calibration.scores(likeness, means("requirement", i), means("test_case", j), agreement)

    @cached_property
    def _likenesses(self) -> dict[Algorithm, Likeness]:
        frequencies = self._document_frequencies
        items = self._requirements.count + self._test_cases.count
        idf = np.where(frequencies > 0, np.log((1.0 + items) / (1.0 + frequencies)) + 1.0, 0.0)
        semantic, keyword = idf[None], np.sqrt(idf)[None]
        both = np.concatenate((semantic, keyword)), np.array(list(hybrid.LEXICAL_PARTS.values()))
        alone = np.ones(1)
        return {
            "tfidf": Likeness("tfidf", self._views, semantic, alone),
            "keyword": Likeness("keyword", self._views, keyword, alone),
            "hybrid": Likeness("hybrid", self._views, *both)
            if self.embeddings is None
            else EmbeddedLikeness("hybrid", self._views, *both, self.embeddings),
        }

    @cached_property
    def _neighbourhoods(self) -> Neighbourhoods:
        return Neighbourhoods(self._likenesses["hybrid"], self._views, self._calibration.least)

    def _explain(
        self, algorithm: Algorithm, pairs: Sequence[tuple[UUID, UUID]], readings: Mapping[UUID, Reading]
    ) -> Iterator[Explanation]:
        i = _slots(self._requirements, [requirement_id for requirement_id, _ in pairs])
        j = _slots(self._test_cases, [test_case_id for _, test_case_id in pairs])
        likeness = self._likenesses[algorithm]
        matches = likeness.matches(i, j)
        lexical = combined(matches.cosines, likeness.weights)
        hybrid_facts: Sequence[dict[str, Any]] = [{}] * len(pairs)
        if algorithm == "hybrid":
            parts, alike = likeness.parts(i, j, matches)
            scored = self._hybrid(i, j, alike, self._neighbourhoods.means)
            scores = scored.score
            words_weight = (parts["semantic"].weight + parts["keyword"].weight) * scored.lift
            hybrid_facts = self._hybrid_facts(scored, parts)
            parts = {
                "texts": Part(scored.probability, scored.text_weight),
                "heuristic": Part(scored.agreed, scored.metadata_weight),
            }
        else:
            scores, words_weight = lexical, np.ones(len(pairs))
            parts = {algorithm: Part(lexical, words_weight)}
        weights = combined(matches.products, likeness.weights) * words_weight[matches.pair]
        frequencies = self._document_frequencies[matches.terms]
        ranking = ranked(matches.pair, weights, frequencies, len(pairs), _MOST_TERMS)
        names = self._term_names[matches.terms]
        best, weight_of = names[ranking.best].tolist(), weights[ranking.best].tolist()
        bounds, others, other_weight = (column.tolist() for column in (ranking.starts, *ranking[-2:]))
        common = self._common(names, frequencies, ranking)
        of_parts = {name: zip(part.score.tolist(), part.weight.tolist(), strict=True) for name, part in parts.items()}
        elsewhere = other_modules(self._requirements, i, self._test_cases, j).tolist()
        for k, ((requirement_id, test_case_id), score) in enumerate(zip(pairs, _rounded(scores).tolist(), strict=True)):
            of_pair = slice(bounds[k], bounds[k + 1])
            facts = Facts(
                algorithm,
                score,
                {name: next(part) for name, part in of_parts.items()},
                dict(zip(best[of_pair], weight_of[of_pair], strict=True)),
                common[k],
                others[k],
                other_weight[k],
                other_module=elsewhere[k],
                **hybrid_facts[k],
            )
            yield explanation(facts, readings.get(requirement_id), readings.get(test_case_id))

    def _common(self, names: NDArray[Any], frequencies: Ints, ranking: Ranking) -> list[Common | None]:
        """Return for each pair how common the terms are that it shares; None where it shares none."""
        items = self._requirements.count + self._test_cases.count
        if not len(names):
            return [None] * len(ranking.rarest)
        rarest, second = ranking.rarest, ranking.next
        columns = names[rarest], frequencies[rarest], np.where(second >= 0, frequencies[second], 0)
        return [
            Common(term, fewest, more, items) if place >= 0 else None
            for place, term, fewest, more in zip(rarest.tolist(), *(column.tolist() for column in columns), strict=True)
        ]

    def _hybrid_facts(self, scored: HybridScores, parts: Mapping[str, Part]) -> list[dict[str, Any]]:
        """Return for each pair what only a hybrid score knows."""
        steps = self._calibration.steps(scored, parts)
        return [
            {
                "agreement": agreement,
                "closer_test_cases": step["likeness"] < step["requirement_neighbours"],
                "closer_requirements": step["likeness"] < step["test_case_neighbours"],
                "by_meaning": "whole_text" in step["parts"],
                "calculation": step,
            }
            for agreement, step in zip(scored.metadata.in_words(), steps, strict=True)
        ]


def _slots(view: ShelfView, item_ids: Sequence[UUID]) -> Ints:
    slots = [view.slot(item_id) for item_id in item_ids]
    if None in slots:
        raise KeyError(item_ids[slots.index(None)])
    return np.array(slots, np.int64)


def _rounded(scores: Floats) -> Floats:
    rounded: Floats = scores.clip(0.0, 1.0).round(_DECIMALS)
    return rounded
