"""The heuristic part: what module, tags and priority say about a pair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.column_store import ABSENT, Floats, Ints, ShelfView
from suggestion_service.engine.lexical.inverted_index import shared_labels

MODULE, TAGS, PRIORITY = 0.3, 0.6, 0.1


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the metadata of some pairs agree: parallel arrays.

    `known` is the weight, 0..1, of the fields that both sides have, `agreed` the part of it that agrees.
    What one side lacks counts neither way.
    """

    same_module: NDArray[np.bool_]
    shared_tags: Ints
    same_priority: NDArray[np.bool_]
    known: Floats
    agreed: Floats

    def in_words(self) -> list[list[str]]:
        """Say for each pair which fields agree."""
        fields = zip(self.same_module.tolist(), self.shared_tags.tolist(), self.same_priority.tolist(), strict=True)
        return [
            ["same module"] * module
            + [f"{tags} shared tag{'s' if tags > 1 else ''}"] * (tags > 0)
            + ["same priority"] * priority
            for module, tags, priority in fields
        ]


def other_modules(requirements: ShelfView, i: Ints, test_cases: ShelfView, j: Ints) -> NDArray[np.bool_]:
    """Say of the items in slots i[k] and j[k], for every k, whether both have a module, and not the same."""
    same, both = _same(requirements.modules[i], test_cases.modules[j])
    return both & ~same


def compare(requirements: ShelfView, i: Ints, test_cases: ShelfView, j: Ints) -> Agreement:
    """Compare the items in slots i[k] and j[k], for every k."""
    same_module, both_modules = _same(requirements.modules[i], test_cases.modules[j])
    same_priority, both_priorities = _same(requirements.priorities[i], test_cases.priorities[j])
    left_tags, right_tags = np.diff(requirements.tag_starts)[i], np.diff(test_cases.tag_starts)[j]
    shared_tags: Ints = shared_labels(
        requirements.tag_starts, requirements.tags, i, test_cases.tag_starts, test_cases.tags, j
    )
    tag_share = shared_tags / np.maximum(left_tags + right_tags - shared_tags, 1)
    both_tags = (left_tags > 0) & (right_tags > 0)
    return Agreement(
        same_module=same_module,
        shared_tags=shared_tags,
        same_priority=same_priority,
        known=MODULE * both_modules + TAGS * both_tags + PRIORITY * both_priorities,
        agreed=MODULE * same_module + TAGS * tag_share + PRIORITY * same_priority,
    )


def _same(left: Ints, right: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    both = (left != ABSENT) & (right != ABSENT)
    return both & (left == right), both
