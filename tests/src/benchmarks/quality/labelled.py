"""Labelled data sets: folders with requirements.csv, test_cases.csv and links.csv, the links known to be right."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from suggestion_service import item_files
from suggestion_service.item_files import UnusableFile
from suggestion_service.score import ScoredPair

Truth = NDArray[np.bool_]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """One set. `row` and `column` number the ids of its requirements and of its test cases; `truth` has the links."""

    folder: Path
    row: dict[str, int]
    column: dict[str, int]
    truth: Truth

    @property
    def requirements(self) -> Path:
        return self.folder / "requirements.csv"

    @property
    def test_cases(self) -> Path:
        return self.folder / "test_cases.csv"

    @property
    def links(self) -> int:
        """The number of links."""
        return int(self.truth.sum())

    def matrix(self, scores: Path) -> Scores:
        """Read a file of scores: shape (requirements, test cases), 0 for a pair that it leaves out."""
        with scores.open(encoding="utf-8", newline="") as file:
            pairs = csv.DictReader(file)
            return self.matrix_of(
                ScoredPair(pair["requirement_id"], pair["test_case_id"], float(pair["score"])) for pair in pairs
            )

    def matrix_of(self, pairs: Iterable[ScoredPair]) -> Scores:
        """Return scores in the same shape."""
        matrix = np.zeros(self.truth.shape)
        for requirement_id, test_case_id, score in pairs:
            matrix[self.row[requirement_id], self.column[test_case_id]] = score
        return matrix


def find(folder: Path) -> list[LabelledSet]:
    """Read every data set in a folder, by name.

    Raises UnusableFile when there is none, or one cannot be used.
    """
    if not folder.is_dir():
        raise UnusableFile(f"There is no folder {folder}: say with DATASETS=... where the data sets are.")
    links = sorted(folder.glob("*/links.csv"))
    if not links:
        raise UnusableFile(
            f"{folder} has no data sets: each is a folder with requirements.csv, test_cases.csv and links.csv."
        )
    return [_read(file) for file in links]


def _read(links: Path) -> LabelledSet:
    folder = links.parent
    row = {item.id: i for i, item in enumerate(item_files.read(folder / "requirements.csv"))}
    column = {item.id: j for j, item in enumerate(item_files.read(folder / "test_cases.csv"))}
    truth = np.zeros((len(row), len(column)), bool)
    # A byte that is no UTF-8 stands in an id that no item has: it is refused below.
    with links.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        pairs = csv.DictReader(file)
        for pair in pairs:
            i, j = row.get(pair.get("requirement_id", "")), column.get(pair.get("test_case_id", ""))
            if i is None or j is None:
                raise UnusableFile(
                    f"{links}, line {pairs.line_num}: requirement_id and test_case_id must name items of the data set."
                )
            truth[i, j] = True
    if not truth.any():
        raise UnusableFile(f"{links} has no links: there is nothing to measure by.")
    return LabelledSet(folder, row, column, truth)
