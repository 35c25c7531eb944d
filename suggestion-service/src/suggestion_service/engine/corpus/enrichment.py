"""What a small corpus gets beside its words: parts of compounds; where its sides differ in language, words that both
languages have as one, and letters.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suggestion_service.engine.corpus.arrays import Bools, Floats, Ints
from suggestion_service.engine.corpus.column_store import StoreView
from suggestion_service.engine.corpus.snapshot import Snapshot

_MOST_ITEMS = 4_000
"""What is inferred is so anew for each snapshot."""
_COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "ja"})
_SHORTEST_COMPOUND, _SHORTEST_WORD = 8, 4
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]+")
"""Words from elsewhere: a letter is a syllable, and nothing stands between those that are joined."""
_SHORTEST_IN_KATAKANA = 3
_BETWEEN = ("", "s", "n", "en", "er", "es", "e", "ungs", "heits", "keits")
"""What may stand between the words of a compound, of which the last has its ending."""
_SHORTEST, _LONGEST = 3, 5
_SHARE = 0.25
"""Of the likeness, what letters make of it."""
_MARK = "\u2063"
"""Before the name of a term that is some letters of words: no word has it."""

CommonForm = Callable[[str, tuple[str, ...]], str]
"""Gives a term the form that it has in all of some languages."""


def enriched(snapshot: Snapshot, common_form: CommonForm) -> Snapshot:
    """Return the snapshot with the words that its compounds are made of, where it has them as words of their own, too.

    Where its two sides differ in language, terms of one `common_form` are one: a word that both languages have is
    stemmed otherwise in each. The letters of terms count there, too, three to five at a time: words make 0.75 of the
    cosine of two items then, their letters 0.25. A snapshot that needs none of it, or is large, is returned as it is.
    """
    of_sides = {snapshot.language(side) for side in snapshot.views}
    differ = len(of_sides) > 1 and None not in of_sides
    languages = tuple(sorted(language for language in of_sides if language)) if differ else ()
    compounds = not of_sides.isdisjoint(_COMPOUNDING)
    if snapshot.count > _MOST_ITEMS or not (differ or compounds):
        return snapshot
    used = snapshot.document_frequencies > 0
    words, names = len(snapshot.term_names), snapshot.term_names
    one_of = _brought_together(names, used, lambda term: common_form(term, languages)) if differ else np.arange(words)
    added: list[list[int]] = _compounds(names, used, one_of) if compounds else [[] for _ in range(words)]
    if differ:
        letters, of_terms = _letters(names)
        names = np.concatenate((names, np.array([*(f"{_MARK}{some}" for some in letters), ""], object)[:-1]))
        added = [own + [words + number for number in of_term] for own, of_term in zip(added, of_terms, strict=True)]
    # Words by their spelling, letters behind them: sums over a row come out the same however the corpus was filled.
    rank = np.empty(len(names), np.int64)
    rank[np.argsort(names.astype(str), kind="stable")] = np.arange(len(names))
    views = {side: _with(view, one_of, added, rank) for side, view in snapshot.views.items()}
    frequencies = [
        np.bincount(view.terms[np.repeat(view.alive, np.diff(view.starts))], minlength=len(names))
        for view in views.values()
    ]
    inferred = np.arange(len(names)) >= words
    raw = Snapshot(views, names, np.asarray(sum(frequencies), np.int64), snapshot.label_names, inferred)
    idf = raw.idf()
    weighed = {side: _weighed(view, idf, inferred) for side, view in views.items()}
    return replace(raw, views=weighed, languages=languages)


def _brought_together(names: NDArray[Any], used: Bools, common_form: Callable[[str], str]) -> Ints:
    """Return for each term the number that it has from now on: that of the first, by spelling, of the same form."""
    one_of = np.arange(len(names))
    first: dict[str, int] = {}
    for number in np.argsort(names.astype(str), kind="stable").tolist():
        if used[number]:
            one_of[number] = first.setdefault(common_form(names[number]), number)
    return one_of


def _compounds(names: NDArray[Any], used: Bools, one_of: Ints) -> list[list[int]]:
    """Return for each term the numbers of the words that it is made of, if it is a compound of words that are used."""
    numbers = {name: one for name, one, there in zip(names.tolist(), one_of.tolist(), used, strict=True) if there}
    numbers = {name: one for name, one in numbers.items() if name.isalpha()}
    return [[numbers[part] for part in _split(name, numbers)] for name in names.tolist()]


def _split(word: str, known: dict[str, int]) -> list[str]:
    in_katakana = _KATAKANA.fullmatch(word) is not None
    shortest = _SHORTEST_IN_KATAKANA if in_katakana else _SHORTEST_WORD
    if len(word) < (2 * shortest if in_katakana else _SHORTEST_COMPOUND) or not word.isalpha():
        return []
    for size in range(len(word) - shortest, shortest - 1, -1):
        last, before = word[-size:], word[:-size]
        if last not in known:
            continue
        for between in ("",) if in_katakana else _BETWEEN:
            first = before.removesuffix(between) if before.endswith(between) else ""
            if len(first) >= shortest and first in known:
                return [first, last]
            if first and (parts := _split(first, known)):
                return [*parts, last]
    return _known_end(word, known) if in_katakana else []


def _known_end(word: str, known: dict[str, int]) -> list[str]:
    """Return the longest word that words joined in Katakana end or begin with, and what the rest is made of."""
    for size in range(len(word) - _SHORTEST_IN_KATAKANA, _SHORTEST_IN_KATAKANA - 1, -1):
        if word[-size:] in known:
            return [*_split(word[:-size], known), word[-size:]]
        if word[:size] in known:
            return [word[:size], *_split(word[size:], known)]
    return []


def _letters(terms: NDArray[Any]) -> tuple[list[str], list[list[int]]]:
    """Return the runs of letters of all terms by their spelling, and for each term the numbers of its own."""
    of_terms = [_runs_of(term) if term.isalpha() else set[str]() for term in terms.tolist()]
    letters = sorted(set[str]().union(*of_terms))
    numbers = {some: number for number, some in enumerate(letters)}
    return letters, [sorted(numbers[some] for some in own) for own in of_terms]


def _runs_of(term: str) -> set[str]:
    word = f"{term} "
    sizes = range(_SHORTEST, _LONGEST + 1)
    return {word[start : start + size] for size in sizes for start in range(len(word) - size + 1)}


def _with(view: StoreView, one_of: Ints, added: list[list[int]], rank: Ints) -> StoreView:
    """Return the view with the terms that those of its rows are from now on, and others added beside them."""
    lengths = np.array([len(own) for own in added], np.int64)
    flat = np.array([number for own in added for number in own], np.int64)
    begins = np.cumsum(lengths) - lengths
    rows = np.repeat(np.arange(len(view)), np.diff(view.starts))
    more = lengths[view.terms]
    places = np.repeat(begins[view.terms] - (np.cumsum(more) - more), more) + np.arange(more.sum())
    # How often a word is there, not its logarithm: what several words have in common adds up.
    times = np.exp(view.counts - 1.0)
    all_rows, all_times = np.concatenate((rows, np.repeat(rows, more))), np.concatenate((times, np.repeat(times, more)))
    ranks = rank[np.concatenate((one_of[view.terms], flat[places]))]
    keys, which = np.unique(all_rows * len(rank) + ranks, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(len(view) + 1) * len(rank))
    counts = 1.0 + np.log(np.bincount(which, all_times, minlength=len(keys)))
    terms = np.argsort(rank)[keys % len(rank)].astype(np.int32)
    return replace(view, starts=starts.astype(np.int64), terms=terms, counts=counts, cache={})


def _weighed(view: StoreView, idf: Floats, inferred: Bools) -> StoreView:
    """Return the view with its letters so counted that they have their share of each row's length."""
    rows = np.repeat(np.arange(len(view)), np.diff(view.starts))
    squares = (view.counts * idf[view.terms]) ** 2
    is_letters = inferred[view.terms]
    of_words, of_letters = (
        np.sqrt(np.bincount(rows[some], squares[some], minlength=len(view))) for some in (~is_letters, is_letters)
    )
    factor = np.divide(of_words, of_letters, out=np.ones(len(view)), where=of_letters > 0.0)
    factor *= np.sqrt(_SHARE / (1.0 - _SHARE))
    return replace(view, counts=np.where(is_letters, view.counts * factor[rows], view.counts), cache={})
