"""The heuristic part: what module, tags and priority say about a pair."""

from dataclasses import dataclass

import numpy as np

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.column_store import ABSENT
from suggestion_service.engine.corpus.snapshot import Snapshot
from suggestion_service.engine.native import call

MODULE, TAGS, PRIORITY = 0.3, 0.6, 0.1


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the metadata of some pairs agree: parallel arrays.

    `known` is the weight, 0..1, of the fields that both sides have, `agreed` the part of it that agrees.
    What one side lacks counts neither way.
    """

    same_module: Bools
    shared_tags: Ints
    same_priority: Bools
    known: Floats
    agreed: Floats

    def in_words(self) -> list[list[str]]:
        """Return for each pair which fields agree, in words."""
        fields = zip(self.same_module.tolist(), self.shared_tags.tolist(), self.same_priority.tolist(), strict=True)
        return [
            ["same module"] * module
            + [f"{tags} shared tag{'s' if tags > 1 else ''}"] * (tags > 0)
            + ["same priority"] * priority
            for module, tags, priority in fields
        ]


def other_modules(snapshot: Snapshot, i: Ints, j: Ints) -> Bools:
    """Check for the items in rows i[k] and j[k], for every k, whether both have a module, and not the same."""
    same, both = _same(snapshot.requirements.modules[i], snapshot.test_cases.modules[j])
    return both & ~same


def compare(snapshot: Snapshot, i: Ints, j: Ints) -> Agreement:
    """Compare the items in rows i[k] and j[k], for every k."""
    requirements, test_cases = snapshot.requirements, snapshot.test_cases
    same_module, both_modules = _same(requirements.modules[i], test_cases.modules[j])
    same_priority, both_priorities = _same(requirements.priorities[i], test_cases.priorities[j])
    left_tags, right_tags = np.diff(requirements.tag_starts)[i], np.diff(test_cases.tag_starts)[j]
    shared_tags = np.empty(len(i), np.int64)
    tags = requirements.tag_starts, requirements.tags, i, test_cases.tag_starts, test_cases.tags, j
    call("count_shared_labels", *tags, len(i), shared_tags)
    tag_share = shared_tags / np.maximum(left_tags + right_tags - shared_tags, 1)
    both_tags = (left_tags > 0) & (right_tags > 0)
    return Agreement(
        same_module=same_module,
        shared_tags=shared_tags,
        same_priority=same_priority,
        known=MODULE * both_modules + TAGS * both_tags + PRIORITY * both_priorities,
        agreed=MODULE * same_module + TAGS * tag_share + PRIORITY * same_priority,
    )


def nothing_known(pairs: int) -> Agreement:
    """Return what there is to say of so many pairs where metadata count for nothing."""
    no, none, nothing = np.zeros(pairs, np.bool_), np.zeros(pairs, np.int64), np.zeros(pairs)
    return Agreement(same_module=no, shared_tags=none, same_priority=no, known=nothing, agreed=nothing)


def _same(left: Ints, right: Ints) -> tuple[Bools, Bools]:
    both = (left != ABSENT) & (right != ABSENT)
    return both & (left == right), both
