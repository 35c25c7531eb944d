"""Scores requirements against test cases that stand in CSV files, with the engine that Traceline suggests with.

`python -m suggestion_service.score REQUIREMENTS.csv TEST_CASES.csv > scores.csv`
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import NamedTuple, TextIO
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from chassis.core.settings import read
from chassis.core.start_failure import StartFailure
from suggestion_service import item_files
from suggestion_service.embeddings.item_vectors import embed_items
from suggestion_service.embeddings.port import Embedder, EmbeddingsUnavailable
from suggestion_service.embeddings.sentence_model import load_model
from suggestion_service.engine import (
    ALGORITHMS,
    Algorithm,
    Calibration,
    Corpus,
    EmbeddingStore,
    EmbeddingView,
    Entry,
    Query,
    Scorer,
    Side,
    read_terms,
)
from suggestion_service.item_files import FileItem, UnusableFile
from suggestion_service.settings import EmbeddingSettings

# What is held of the scores at any time, however many items there are: less than 200 MB.
_PAIRS_SORTED_AT_ONCE = 2_000_000
_PAIRS_GIVEN_AT_ONCE = 50_000
_EMBEDDED_AT_ONCE = 500


class ScoredPair(NamedTuple):
    """A requirement and a test case by their ids in the files, and their score, above 0 to 1, with 6 decimals."""

    requirement_id: str
    test_case_id: str
    score: float


class FileCorpus:
    """Items of files, ready to be scored. Inside, an item is the UUID of its number over both files."""

    def __init__(
        self,
        requirements: Sequence[FileItem],
        test_cases: Sequence[FileItem],
        embedder: Embedder | None = None,
    ) -> None:
        """With an `embedder`, hybrid scores are made of sentence embeddings, too: some milliseconds a sentence."""
        self._names: list[str] = []
        corpus = Corpus()
        self._requirements = self._add(corpus, "requirement", requirements)
        self._test_cases = self._add(corpus, "test_case", test_cases)
        embeddings: dict[Side, EmbeddingView] | None = None
        if embedder is not None:
            embeddings = {
                "requirement": _embeddings(embedder, self._requirements, requirements),
                "test_case": _embeddings(embedder, self._test_cases, test_cases),
            }
        self._scorer = Scorer(corpus.snapshot(), embeddings)

    def _add(self, corpus: Corpus, side: Side, items: Iterable[FileItem]) -> list[UUID]:
        ids: list[UUID] = []
        for item in items:
            ids.append(UUID(int=len(self._names)))
            self._names.append(item.id)
            counted, language = read_terms(item.text)
            corpus.put(side, ids[-1], Entry(counted, item.text.module, item.text.tags, item.priority, language))
        return ids

    def calibrated(self, algorithm: Algorithm, calibration: Calibration) -> "FileCorpus":
        """Return the same items, to be scored by another calibration than the one that is shipped."""
        other = copy(self)
        other._scorer = Scorer(self._scorer.snapshot, self._scorer.embeddings, {algorithm: calibration})
        return other

    def scores(self, algorithm: Algorithm, threshold: float = 0.0) -> Iterator[ScoredPair]:
        """Return the pairs at or above the threshold and above 0: requirements as they stand, each with its best first.

        Test cases of the same score come as they stand.
        """
        step = max(1, _PAIRS_SORTED_AT_ONCE // max(1, len(self._test_cases)))
        for start in range(0, len(self._requirements), step):
            yield from self._best_first(algorithm, threshold, self._requirements[start : start + step])

    def _best_first(self, algorithm: Algorithm, threshold: float, requirements: list[UUID]) -> Iterator[ScoredPair]:
        blocks = [
            (_numbers(block.requirement_ids), _numbers(block.test_case_ids), block.scores)
            for block in self._scorer.score(Query(algorithm, threshold, requirements))
        ]
        if not blocks:
            return
        columns = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
        i, j, scores = columns
        order = np.lexsort((j, -scores, i))
        for start in range(0, len(order), _PAIRS_GIVEN_AT_ONCE):
            part = order[start : start + _PAIRS_GIVEN_AT_ONCE]
            for requirement, test_case, score in zip(*(column[part].tolist() for column in columns), strict=True):
                yield ScoredPair(self._names[requirement], self._names[test_case], score)


def write(
    requirements: Path,
    test_cases: Path,
    algorithm: Algorithm,
    threshold: float,
    to: TextIO,
    embedder: Embedder | None = None,
) -> None:
    """Score the items of two files and write the pairs as CSV; with an `embedder`, hybrid by what they mean, too.

    Raises UnusableFile before anything is written.
    """
    corpus = FileCorpus(list(item_files.read(requirements)), list(item_files.read(test_cases)), embedder)
    out = csv.writer(to, lineterminator="\n")
    out.writerow(ScoredPair._fields)
    out.writerows((pair[0], pair[1], f"{pair[2]:.6f}") for pair in corpus.scores(algorithm, threshold))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, or 2 when the files or the arguments cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        with open(sys.stdout.fileno(), "w", encoding="utf-8", newline="", closefd=False) as out:
            embedder = _embedder(options.algorithm, options.embeddings)
            write(options.requirements, options.test_cases, options.algorithm, options.threshold, out, embedder)
    except (UnusableFile, EmbeddingsUnavailable, StartFailure) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2
    except BrokenPipeError:  # whoever reads has seen enough, as `head` does
        return 0
    return 0


def _embedder(algorithm: Algorithm, model: str | None) -> Embedder | None:
    """Load the model for hybrid scores: the named one, "" for that of the settings, None for that if it is enabled.

    Raises EmbeddingsUnavailable, and StartFailure for a wrong setting.
    """
    if algorithm != "hybrid":
        return None
    settings = read(EmbeddingSettings)
    if model is not None:
        return load_model(model or settings.embeddings_model)
    if not settings.embeddings_enabled:
        return None
    try:
        return load_model(settings.embeddings_model)
    except EmbeddingsUnavailable as unavailable:
        raise EmbeddingsUnavailable(f"{unavailable} With EMBEDDINGS_ENABLED=false words alone count.") from None


def _embeddings(embedder: Embedder, ids: Sequence[UUID], items: Sequence[FileItem]) -> EmbeddingView:
    store: EmbeddingStore | None = None
    for start in range(0, len(items), _EMBEDDED_AT_ONCE):
        part = slice(start, start + _EMBEDDED_AT_ONCE)
        for item_id, vectors in zip(ids[part], embed_items(embedder, [item.text for item in items[part]]), strict=True):
            if vectors is not None:
                store = store or EmbeddingStore(len(vectors.whole))
                store.put(item_id, vectors)
    return (store or EmbeddingStore(0)).view()


def _numbers(ids: Iterable[UUID]) -> NDArray[np.int32]:
    return np.fromiter((item_id.int for item_id in ids), np.int32)


def _parser() -> argparse.ArgumentParser:
    files = "CSV in UTF-8 with the columns id, title, text"
    parser = argparse.ArgumentParser(
        prog="python -m suggestion_service.score",
        description="Score every requirement against every test case; prints CSV, best first within a requirement.",
    )
    parser.add_argument("requirements", type=Path, metavar="REQUIREMENTS.csv", help=files)
    parser.add_argument("test_cases", type=Path, metavar="TEST_CASES.csv", help=files)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="hybrid", help="default: hybrid")
    parser.add_argument(
        "--threshold", type=_threshold, default=0.0, help="leave out pairs below this score, 0 to 1; default: 0"
    )
    parser.add_argument(
        "--embeddings",
        nargs="?",
        const="",
        metavar="MODEL",
        help="make hybrid scores of sentence embeddings, too, as with EMBEDDINGS_ENABLED=true; MODEL is a folder or a"
        " name, by default that of EMBEDDINGS_MODEL, else the packaged one",
    )
    return parser


def _threshold(text: str) -> float:
    try:
        threshold = float(text)
    except ValueError:
        threshold = -1.0
    if not 0 <= threshold <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 0 to 1")
    return threshold


if __name__ == "__main__":
    sys.exit(main())
