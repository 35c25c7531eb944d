"""Explains pairs of a scorer as a suggestion is explained: its facts first, then its reason."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from suggestion_service.engine import Algorithm, Explanation, Reading, Scorer, explain


def explain_pairs(
    scorer: Scorer,
    algorithm: Algorithm,
    pairs: Sequence[tuple[UUID, UUID]],
    readings: Mapping[UUID, Reading] | None = None,
) -> list[Explanation]:
    """Explain the scores of (requirement, test case) pairs, in their order, by the readings that there are."""
    known = readings or {}
    return [
        explain(facts, known.get(requirement_id), known.get(test_case_id))
        for facts, (requirement_id, test_case_id) in zip(scorer.facts(algorithm, pairs), pairs, strict=True)
    ]


def explain_pair(
    scorer: Scorer,
    algorithm: Algorithm,
    requirement_id: UUID,
    test_case_id: UUID,
    readings: Mapping[UUID, Reading] | None = None,
) -> Explanation:
    """Explain the score of one pair."""
    return explain_pairs(scorer, algorithm, [(requirement_id, test_case_id)], readings)[0]
