"""The terms and vectors of the items of one size, made once and read by every process that is measured."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from scipy import sparse

Terms = dict[str, int]


class Inputs:
    """Files of one folder; `requirements` and `test_cases` are the sides."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add_terms(self, side: str, terms: list[Terms]) -> None:
        """Append items."""
        with (self._folder / f"{side}.jsonl").open("ab") as file:
            file.writelines(orjson.dumps(one) + b"\n" for one in terms)

    def terms(self, side: str) -> Iterator[Terms]:
        """Return the items of a side in order, without having all of them in memory."""
        with (self._folder / f"{side}.jsonl").open("rb") as file:
            yield from map(orjson.loads, file)

    def keep_vectors(self, name: str, requirements: Any, test_cases: Any) -> None:
        """Store unit vectors, a row an item, under the name of the words that they were made of."""
        sparse.save_npz(self._folder / f"{name}-requirements.npz", requirements, compressed=False)
        sparse.save_npz(self._folder / f"{name}-test_cases.npz", test_cases, compressed=False)

    def vectors(self, name: str) -> tuple[Any, Any]:
        """Return what was stored."""
        return (
            sparse.load_npz(self._folder / f"{name}-requirements.npz"),
            sparse.load_npz(self._folder / f"{name}-test_cases.npz"),
        )

    def keep_pairs(self, name: str, rows: Any, columns: Any, scores: Any) -> None:
        """Store pairs that were found, by their places."""
        np.savez(self._folder / f"{name}-pairs.npz", rows=rows, columns=columns, scores=scores)

    def pairs(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return what was stored."""
        with np.load(self._folder / f"{name}-pairs.npz") as found:
            return found["rows"], found["columns"], found["scores"]
