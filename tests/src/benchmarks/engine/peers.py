"""What people use today, each as a job to be measured."""

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity
from sparse_dot_topn import sp_matmul_topn

from benchmarks.engine.inputs import Inputs, Terms
from benchmarks.engine.measuring import Watch
from benchmarks.engine.sizes import Size
from benchmarks.engine.texts import make_items

OWN_WORDS, OUR_TERMS = "own-words", "our-terms"
_MOST_A_ROW = 1000
_DENSITY = 0.01
_MOST_WHOLE = 4 * 10**9
_SAMPLE = 5000


def sample(size: Size) -> int:
    """Return how many requirements `sparse_product` should multiply: all, unless that would take minutes."""
    return size.requirements if size.pairs <= _MOST_WHOLE else min(_SAMPLE, size.requirements)


def fit_each_pair(watch: Watch, items: int) -> int:
    """Fit and compare each pair of so many items a side by itself, as naive apps do; return the number of pairs."""
    texts = _texts(Size(items, items))
    cosine_similarity(TfidfVectorizer().fit_transform(["warm", "up"]))
    with watch():
        for requirement in texts[:items]:
            for test_case in texts[items:]:
                pair = TfidfVectorizer().fit_transform([requirement, test_case])
                cosine_similarity(pair[0], pair[1])
    return items * items


def fit(watch: Watch, inputs: Inputs, size: Size) -> None:
    """Make vectors of the texts, and store them."""
    texts = _texts(size)
    for _ in watch.rounds():
        with watch():
            vectors = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    inputs.keep_vectors(OWN_WORDS, vectors[: size.requirements], vectors[size.requirements :])


def fit_our_terms(_: Watch, inputs: Inputs, size: Size) -> None:
    """Make and store vectors that should be ours: of the same terms, over both sides."""
    vectorizer = TfidfVectorizer(analyzer=_repeated, sublinear_tf=True)
    vectors = vectorizer.fit_transform(chain(inputs.terms("requirement"), inputs.terms("test_case")))
    inputs.keep_vectors(OUR_TERMS, vectors[: size.requirements], vectors[size.requirements :])


def fit_again_for_one(watch: Watch, size: Size, threshold: float) -> None:
    """Fit everything again after a change, and compare one requirement with all test cases."""
    texts = _texts(size)
    with watch():
        vectors = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
        np.flatnonzero(cosine_similarity(vectors[0], vectors[size.requirements :]) >= threshold)


def dense_cosine(watch: Watch, inputs: Inputs, words: str, threshold: float) -> None:
    """Compare every pair, and look for those at the threshold."""
    requirements, test_cases = inputs.vectors(words)
    cosine_similarity(requirements[:2], test_cases[:2])
    for _ in watch.rounds():
        with watch():
            np.nonzero(cosine_similarity(requirements, test_cases) >= threshold)


def sparse_product(watch: Watch, inputs: Inputs, words: str, threshold: float, threads: int, rows: int) -> float:
    """Multiply the first `rows` requirements by all test cases, and store the pairs above the threshold.

    Gives the seconds that all requirements would take.
    """
    requirements, test_cases = inputs.vectors(words)
    asked = requirements[:rows]
    _multiply(asked, test_cases[:2].T.tocsr(), threshold, threads)
    seconds = []
    for _ in watch.rounds():
        with watch() as transposing:
            columns = test_cases.T.tocsr()
        with watch() as multiplying:
            found = _multiply(asked, columns, threshold, threads)
        seconds.append(transposing.seconds + multiplying.seconds * requirements.shape[0] / rows)
    if np.diff(found.indptr).max() >= _MOST_A_ROW:
        raise RuntimeError(f"A requirement has more than {_MOST_A_ROW} matches, and the others were cut off.")
    pairs = found.tocoo()
    inputs.keep_pairs(words, pairs.row, pairs.col, pairs.data)
    return float(np.median(seconds))


def _texts(size: Size) -> list[str]:
    items = make_items(size)
    return [item.whole for item in chain(items["requirement"], items["test_case"])]


def _multiply(requirements: Any, test_cases_as_columns: Any, threshold: float, threads: int) -> Any:
    # With a threshold it makes room for `top_n` matches a row times `density`: the default takes gigabytes.
    return sp_matmul_topn(
        requirements,
        test_cases_as_columns,
        top_n=_MOST_A_ROW,
        threshold=threshold,
        density=_DENSITY,
        n_threads=threads,
    )


def _repeated(terms: Terms) -> Iterator[str]:
    return chain.from_iterable(repeat(term, count) for term, count in terms.items())
