"""How sure what two items share lets one be that they belong together: what caps a probability."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.snapshot import Snapshot, rare_up_to
from suggestion_service.engine.native import call, ffi

_ALONE, _OF_INFORMATION, _OF_SHARE = 0.1, 0.1, 5.0
_MOST = 4.8
"""Log-odds of .99: texts alone never make a certainty."""
_WITHOUT_RARE = 2.0
"""Log-odds of .88: whatever the metadata add, a hybrid score stays below .9, too."""


class Evidence(NamedTuple):
    """What the terms that pairs have in common say, parallel arrays: their `information` in nats, the smaller of the
    `share`s that it is of all that either item says (0..1), and whether one of them is `rare`.
    """

    information: Floats
    share: Floats
    rare: Bools

    @property
    def certainty(self) -> Floats:
        """The log-odds that the probability of each pair stays below: the more, the more is shared, and most where the
        texts are the same; without a rare term those of .88 at most.
        """
        most: Floats = _ALONE + _OF_INFORMATION * self.information + _OF_SHARE * self.share**4
        certainty: Floats = -np.logaddexp(-most, -np.where(self.rare, _MOST, _WITHOUT_RARE))
        return certainty


class SharedEvidence:
    """The evidence that items of one snapshot share."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def of(self, i: Ints, j: Ints) -> Evidence:
        """Return that of the items in rows i[k] and j[k], for every k."""
        found = np.empty(len(i)), np.empty(len(i)), np.empty(len(i), np.bool_)
        requirements, test_cases = self._snapshot.requirements, self._snapshot.test_cases
        rows = requirements.starts, requirements.terms, i, test_cases.starts, test_cases.terms, j
        frequencies, inferred = self._snapshot.document_frequencies, self._snapshot.inferred
        place = np.full(len(frequencies), -1, np.int64)
        terms = frequencies, self._information, ffi.NULL if inferred is None else inferred
        call("write_evidence", *rows, len(i), *terms, rare_up_to(self._snapshot.count), place, *found)
        return Evidence(*found)

    @cached_property
    def _information(self) -> Floats:
        return self._snapshot.information()
