"""The engine by its public face, each piece of work as a job to be measured."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from uuid import UUID

import numpy as np

from benchmarks.engine.inputs import Inputs
from benchmarks.engine.measuring import Watch
from benchmarks.engine.sizes import Size
from benchmarks.engine.synthetic_embeddings import embed
from benchmarks.engine.texts import Items, item_id, make_items, numbers
from suggestion_service.engine import ALGORITHMS, Algorithm, Corpus, Entry, Query, Scorer, Side, terms

_AT_ONCE = 1000
_WARMING = 300
_WARMING_QUERIES = 10


def vectorise(watch: Watch, inputs: Inputs, size: Size) -> None:
    """Count the terms of all texts, which a service does once a text; store them."""
    for side, items in make_items(size).items():
        for start in range(0, len(items), _AT_ONCE):
            texts = [item.text for item in items[start : start + _AT_ONCE]]
            with watch():
                counted = [terms(text) for text in texts]
            inputs.add_terms(side, counted)


def load(watch: Watch, inputs: Inputs, size: Size) -> None:
    """Fill a corpus with all items, as a worker does when it starts."""
    corpus = Corpus()
    entries = _entries(inputs, make_items(size))
    while page := list(islice(entries, _AT_ONCE)):
        with watch():
            for side, its_id, entry in page:
                corpus.put(side, its_id, entry)


def score(watch: Watch, inputs: Inputs, size: Size, algorithm: Algorithm, threshold: float) -> None:
    """Score everything against everything, each time after a change; store the pairs."""
    items = make_items(size)
    corpus = _filled(inputs, items)
    changed = next(_entries(inputs, items))
    for _ in watch.rounds():
        corpus.put(*changed)
        with watch():
            blocks = list(Scorer(corpus.snapshot()).score(Query(algorithm, threshold)))
    inputs.keep_pairs(
        algorithm,
        numbers(np.concatenate([block.requirement_ids for block in blocks])),
        numbers(np.concatenate([block.test_case_ids for block in blocks])),
        np.concatenate([block.scores for block in blocks]),
    )


class Asked(NamedTuple):
    """How one item is scored."""

    algorithm: Algorithm
    threshold: float
    embedded: bool


def score_one(_watch: Watch, inputs: Inputs, size: Size, asked: Asked, queries: int, enough: float) -> list[float]:
    """Change an item and score it against the other side, again and again, the sides in turns.

    Gives the seconds of each time: fewer than `queries` when `enough` seconds are over.
    """
    items = make_items(size)
    corpus = _filled(inputs, items)
    embeddings = embed({side: list(inputs.terms(side)) for side in items}) if asked.embedded else None
    entries = {side: list(_entries(inputs, {side: items[side][:queries]})) for side in items}
    seconds = []
    end = time.perf_counter() + enough
    for number in range(_WARMING_QUERIES + queries):
        side: Side = "test_case" if number % 2 else "requirement"
        place = number % len(entries[side])
        _, changed, _ = entries[side][place]
        # The item gets the texts of the one before it.
        _, _, entry = entries[side][place - 1]
        began = time.perf_counter()
        corpus.put(side, changed, entry)
        of_side = ([changed], None) if side == "requirement" else (None, [changed])
        list(Scorer(corpus.snapshot(), embeddings).score(Query(asked.algorithm, asked.threshold, *of_side)))
        seconds.append(time.perf_counter() - began)
        if began > end:
            break
    return seconds[_WARMING_QUERIES:] or seconds


def _filled(inputs: Inputs, items: Items) -> Corpus:
    """Return the corpus of all items, when all that is loaded or compiled once has been."""
    warm = Corpus()
    for entry in _entries(inputs, {side: items[side][:_WARMING] for side in items}):
        warm.put(*entry)
    for algorithm in ALGORITHMS:
        scorer = Scorer(warm.snapshot())
        list(scorer.score(Query(algorithm, 0.3)))
        list(scorer.score(Query(algorithm, 0.3, [item_id("requirement", 0)])))
    corpus = Corpus()
    for entry in _entries(inputs, items):
        corpus.put(*entry)
    return corpus


def _entries(inputs: Inputs, items: Items) -> Iterator[tuple[Side, UUID, Entry]]:
    """Return what `Corpus.put` takes, with the terms of the items that were vectorised."""
    for side in items:
        for number, (item, counted) in enumerate(zip(items[side], inputs.terms(side), strict=False)):
            yield side, item_id(side, number), Entry(counted, item.text.module, item.text.tags, item.priority)
