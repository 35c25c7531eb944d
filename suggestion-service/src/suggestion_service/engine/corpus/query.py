"""What is asked of the engine: by ids of items as callers know them, and by rows as the rooms work with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args
from uuid import UUID

from suggestion_service.engine.corpus.arrays import Ints

Side = Literal["requirement", "test_case"]
OTHER: dict[Side, Side] = {"requirement": "test_case", "test_case": "requirement"}
Algorithm = Literal["tfidf", "keyword", "hybrid"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


@dataclass(frozen=True, slots=True)
class Query:
    """Requirements to be scored against test cases; None means all items of that side.

    Asks for every pair whose score, rounded to 6 decimals, is at least `threshold` and above 0: threshold 0 means
    every pair that has something in common. Ids that the corpus does not have are left out. A block looks at
    `block_rows` items of one side, 0 for as many as is quick, against all that is asked for of the other.
    """

    algorithm: Algorithm
    threshold: float
    requirements: Sequence[UUID] | None = None
    test_cases: Sequence[UUID] | None = None
    block_rows: int = 0


class RowQuery(NamedTuple):
    """Rows of one side against all of the other: pairs at or above the threshold, `block_rows` rows at a time."""

    side: Side
    rows: Ints
    threshold: float
    block_rows: int = 0

    def blocks(self, usual_rows: int) -> Iterator["RowQuery"]:
        """Return queries for some of the rows each, `usual_rows` unless a number is asked for."""
        step = self.block_rows or usual_rows
        for start in range(0, len(self.rows), step):
            yield self if step >= len(self.rows) else self._replace(rows=self.rows[start : start + step])
