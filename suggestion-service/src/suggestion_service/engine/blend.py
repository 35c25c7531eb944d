"""How the parts of a score add up to it."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from suggestion_service.engine.metadata import Agreement
from suggestion_service.engine.tile import Floats

SEMANTIC, KEYWORD, HEURISTIC = 0.6, 0.3, 0.1
_DECIMALS = 6


class Part(NamedTuple):
    """One part of the scores of some pairs: its own score, 0..1, and its weight in the whole."""

    score: Floats
    weight: Floats


def whole(name: str, score: Floats) -> dict[str, Part]:
    """Give the one part of scores that have no other."""
    return {name: Part(score, np.ones_like(score))}


def hybrid(semantic: Floats, keyword: Floats, metadata: Agreement) -> dict[str, Part]:
    """Weigh 0.6 semantic + 0.3 keyword + 0.1 heuristic over what each pair has.

    A metadata field that one side lacks takes its share of the weight with it, so that it lowers no score;
    and metadata without any likeness of the texts makes none.
    """
    known = np.where(semantic > 0, metadata.known, 0.0)
    weights = SEMANTIC + KEYWORD + HEURISTIC * known
    agreed = np.divide(metadata.agreed, known, out=np.zeros_like(known), where=known > 0)
    return {
        "semantic": Part(semantic, SEMANTIC / weights),
        "keyword": Part(keyword, KEYWORD / weights),
        "heuristic": Part(agreed, HEURISTIC * known / weights),
    }


def most_hybrid(semantic: Floats, keyword: Floats) -> Floats:
    """Give what a hybrid score cannot exceed, whatever the metadata say."""
    return SEMANTIC * semantic + KEYWORD * keyword + HEURISTIC


def total(parts: Mapping[str, Part]) -> Floats:
    """Add up the parts: scores in 0..1 with 6 decimals."""
    first, *rest = (part.weight * part.score for part in parts.values())
    for more in rest:
        first = first + more
    rounded: Floats = first.clip(0.0, 1.0).round(_DECIMALS)
    return rounded
