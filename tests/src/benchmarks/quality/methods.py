"""The methods that are measured: each writes the scores of a data set to a file."""

import csv
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.quality.labelled import LabelledSet
from suggestion_service import item_files, score
from suggestion_service.embeddings.port import Embedder, EmbeddingsUnavailable
from suggestion_service.embeddings.sentence_model import load_model
from suggestion_service.engine import ALGORITHMS, Algorithm

Method = Callable[[LabelledSet, Path], None]

PLAIN = "TfidfVectorizer() and cosine, fitted on both sides"


def methods() -> Mapping[str, Method]:
    """Return what is measured, by name: the plain way first, then every algorithm of ours.

    Embeddings are measured where the extra is installed; where it is not, that is said.
    """
    named: dict[str, Method] = {PLAIN: plain_tfidf}
    named |= {algorithm: partial(ours, algorithm) for algorithm in ALGORITHMS}
    try:
        named["hybrid with embeddings"] = partial(ours, "hybrid", embedder=load_model(None))
    except EmbeddingsUnavailable as reason:
        print(f"Not measured is hybrid with embeddings: {reason}\n")
    return named


def ours(algorithm: Algorithm, data_set: LabelledSet, to: Path, embedder: Embedder | None = None) -> None:
    """Score with the function of the scoring command."""
    with to.open("w", encoding="utf-8", newline="") as file:
        score.write(data_set.requirements, data_set.test_cases, algorithm, 0.0, file, embedder)


def plain_tfidf(data_set: LabelledSet, to: Path) -> None:
    """Score as one does without further thought: title and text joined, scikit-learn's defaults."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # takes a second or two

    left, right = _texts(data_set.requirements), _texts(data_set.test_cases)
    vectors = TfidfVectorizer().fit_transform([*left.values(), *right.values()])
    scores = (vectors[: len(left)] @ vectors[len(left) :].T).tocoo()
    requirements, test_cases = list(left), list(right)
    with to.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(score.ScoredPair._fields)
        for i, j, value in zip(scores.row, scores.col, scores.data, strict=True):
            out.writerow((requirements[i], test_cases[j], value))


def _texts(path: Path) -> dict[str, str]:
    """Return the texts by id, just as they are in the file."""
    return {row["id"]: f"{row['title']} {row['text']}" for _, row in item_files.rows(path)}
