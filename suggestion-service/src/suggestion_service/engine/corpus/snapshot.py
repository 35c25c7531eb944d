"""The corpus at one moment."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.column_store import ABSENT, StoreView
from suggestion_service.engine.corpus.query import Query, RowQuery, Side

_FEW_ITEMS = 3
_RARE = 0.05
_LEAST_COUNT = 50
"""Of fewer items one cannot tell what is rare: they count as so many."""


def rare_up_to(items: int) -> float:
    """Return how many of so many items may have a term that is rare."""
    return max(_RARE * items, _FEW_ITEMS)


# More than rounding can raise a score by.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Both sides, `term_names` and `document_frequencies` by term number, `label_names`. It never changes.

    Terms that are `inferred` were made of those that the texts have: they are no evidence by themselves.
    """

    views: dict[Side, StoreView]
    term_names: NDArray[Any]
    document_frequencies: Ints
    label_names: NDArray[Any]
    inferred: Bools | None = None

    @property
    def requirements(self) -> StoreView:
        return self.views["requirement"]

    @property
    def test_cases(self) -> StoreView:
        return self.views["test_case"]

    @property
    def count(self) -> int:
        """The number of items on both sides."""
        return self.requirements.count + self.test_cases.count

    def idf(self) -> Floats:
        """Return the inverse document frequency of each term over both sides, 0 for one that no item has."""
        frequencies = self.document_frequencies
        return np.where(frequencies > 0, np.log((1.0 + self.count) / (1.0 + frequencies)) + 1.0, 0.0)

    def information(self) -> Floats:
        """Return what it says that an item has a term, in nats: nothing where all have it."""
        count = max(self.count, _LEAST_COUNT)
        information = np.log((1.0 + count) / (1.0 + np.minimum(self.document_frequencies, count)))
        return information if self.inferred is None else np.where(self.inferred, 0.0, information)

    def rare(self) -> Bools:
        """Return which terms are rare."""
        rare: Bools = self.document_frequencies <= rare_up_to(self.count)
        return rare if self.inferred is None else rare & ~self.inferred

    def language(self, side: Side) -> str | None:
        """Return the language that most items of a side are in, None where none is known."""
        view = self.views[side]
        known = view.languages[view.alive & (view.languages != ABSENT)]
        return self.label_names[np.bincount(known).argmax()] if len(known) else None

    def rows(self, query: Query) -> RowQuery:
        """Return the query by rows: of the test cases where they alone are chosen, else of the requirements.

        Its threshold is so low that no pair is lost whose score is rounded up to that of the query.
        """
        side: Side = "requirement" if query.test_cases is None or query.requirements is not None else "test_case"
        view, chosen = self.views[side], query.requirements if side == "requirement" else query.test_cases
        rows = view.live_rows() if chosen is None else view.rows_of(chosen)
        return RowQuery(side, rows, max(0.0, query.threshold - _ROUNDING), query.block_rows)
