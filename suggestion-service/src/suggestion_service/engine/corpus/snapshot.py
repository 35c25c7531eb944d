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

    Terms that are `inferred` were made of those that the texts have: they are no evidence by themselves. Where
    `languages` are named, words that these have in common are one term.
    """

    views: dict[Side, StoreView]
    term_names: NDArray[Any]
    document_frequencies: Ints
    label_names: NDArray[Any]
    inferred: Bools | None = None
    languages: tuple[str, ...] = ()

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
        frequencies, of_frequency = self._frequencies()
        of_frequency[frequencies] = np.log((1.0 + self.count) / (1.0 + frequencies)) + 1.0
        idf: Floats = of_frequency[self.document_frequencies]
        return idf

    def information(self) -> Floats:
        """Return what it says that an item has a term, in nats, by how many have it: nothing where all have it."""
        frequencies, of_frequency = self._frequencies()
        count = max(self.count, _LEAST_COUNT)
        of_frequency[frequencies] = np.log((1.0 + count) / (1.0 + np.minimum(frequencies, count)))
        return of_frequency

    def _frequencies(self) -> tuple[Ints, Floats]:
        """Return the document frequencies that terms have, and room for a figure by document frequency.

        Where there are more terms than frequencies, each comes once: a figure of each term would take long.
        """
        of_frequency = np.zeros(1 + int(self.document_frequencies.max(initial=0)))
        frequencies = self.document_frequencies
        if len(frequencies) > len(of_frequency):
            frequencies = np.flatnonzero(np.bincount(frequencies))
        return frequencies[frequencies > 0], of_frequency

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
