"""Where the terms of a pair stand in texts as they were written: exact to the code point."""

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from suggestion_service.engine.explanation.reading import BETWEEN
from suggestion_service.engine.text.languages import ENGLISH, common_form
from suggestion_service.engine.text.terms import Token, find_words, is_whole, normalised, terms_of, tokens, words_in

# With the ASCII character before, which marks may belong to. Between such runs nothing is normalised.
_NOT_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")

MOST_CHARACTERS = 200_000
"""Characters of a text that are looked through: its first eighty pages."""
_LONGEST_WORD = 1_000
"""Characters of a word that are: scripts without spaces have no longer ones between two signs."""

_NO_TERM = -1
_Mark = tuple[int, int, int, str]
"""From where to where a term stands, its number, and what it is; `_NO_TERM` where it counts in a quantity alone."""


class Span(NamedTuple):
    """Where a term stands, in code points; `term` is its number among the terms that were looked for."""

    term: int
    start: int
    end: int


class SpanFinder:
    """Finds terms, as `matches` shows them, in texts. Spans do not overlap."""

    def __init__(self, shown: Sequence[str], language: str = ENGLISH, other: str | None = None) -> None:
        """`language` is that of the texts, `other` that of others which they have terms in common with."""
        self._language = language
        self._languages = () if other in (None, language) else tuple(sorted((language, other)))
        self._single: dict[str, int] = {}
        self._quantities: dict[tuple[str, str], int] = {}
        self._runs: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for number, term in enumerate(shown):
            words = [self._tokens(word[0]) for word in words_in(normalised(term))]
            if len(words) == 2 and all(words):
                self._quantities.setdefault((words[0][0].term, words[1][0].term), number)
            elif len(words) == 1 and len(words[0]) > 1 and not is_whole(words[0]):
                self._runs[words[0][0].term].append((normalised(term), number))
            elif len(words) == 1 and words[0]:
                self._single.setdefault(words[0][0].term, number)
        for runs in self._runs.values():
            runs.sort(key=lambda run: -len(run[0]))
        self._sought = {*self._single, *self._runs, *(term for quantity in self._quantities for term in quantity)}

    def find(self, text: str, most: int = sys.maxsize, is_over: Callable[[], bool] = lambda: False) -> list[Span]:
        """Return the spans of all terms in a text, in their order, at most about `most`, the first.

        A longer text than MOST_CHARACTERS is looked through so far. `is_over` is asked while words are looked at;
        once it says so, there is nothing.
        """
        read, starts, ends = _origins(text[:MOST_CHARACTERS])
        marks_of: dict[str, list[_Mark]] = {}
        # Most words are none of those looked for: it takes a fraction of the time to sort them out first.
        for word in set(find_words(read)):
            if is_over():
                return []
            looked_at = word[:_LONGEST_WORD]
            if not self._sought.isdisjoint(self._terms_of(looked_at)):
                marks_of[word] = sorted(self._marks(looked_at))
        marks: list[_Mark] = []
        if marks_of:
            for match in words_in(read):
                if len(marks) >= most or is_over():
                    break
                at = match.start()
                for start, end, number, term in marks_of.get(match[0], ()):
                    marks.append((at + start, at + end, number, term))
        if self._quantities:
            marks = self._with_quantities(read, marks)
        found: list[Span] = []
        free = 0
        for start, end, number, _ in marks:
            if number != _NO_TERM and starts[start] >= free:
                free = ends[end - 1]
                found.append(Span(number, starts[start], free))
        return found

    def _tokens(self, word: str) -> Sequence[Token]:
        """Return the terms of a word, in the form that they have in both languages."""
        of_word = tokens(word, self._language)
        if not self._languages:
            return of_word
        return [token._replace(term=common_form(token.term, self._languages)) for token in of_word]

    def _terms_of(self, word: str) -> Iterable[str]:
        return terms_of(word, self._language) if not self._languages else (token.term for token in self._tokens(word))

    def _marks(self, word: str) -> list[_Mark]:
        of_word = self._tokens(word)
        if is_whole(of_word):
            whole = of_word[0]
            if (number := self._single.get(whole.term)) is not None:
                return [(whole.start, whole.end, number, whole.term)]
            of_word = of_word[1:]
        marks: list[_Mark] = []
        for term, _, start, end in of_word:
            if term in self._sought:
                run = next((run for run in self._runs.get(term, ()) if word.startswith(run[0], start)), None)
                if run is not None:
                    marks.append((start, start + len(run[0]), run[1], term))
                else:
                    marks.append((start, end, self._single.get(term, _NO_TERM), term))
        return marks

    def _with_quantities(self, text: str, marks: Sequence[_Mark]) -> list[_Mark]:
        joined: list[_Mark] = []
        for mark in marks:
            start, end, _, term = mark
            if joined and BETWEEN.fullmatch(text, joined[-1][1], start):
                number = self._quantities.get((joined[-1][3], term))
                if number is not None:
                    joined[-1] = (joined[-1][0], end, number, term)
                    continue
            joined.append(mark)
        return joined


def _origins(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the normalised text, and for each place in it where what it comes from starts and ends in `text`."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text, range(len(text)), range(1, len(text) + 1)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for run in _NOT_ASCII.finditer(text):
        for start, end in [(place, place + 1) for place in range(done, run.start())] + list(_clusters(text, run)):
            piece = text[start:end]
            piece = piece if piece.isascii() else normalised(piece)
            pieces.append(piece)
            starts += [start] * len(piece)
            ends += [end] * len(piece)
        done = run.end()
    pieces.append(text[done:])
    starts += range(done, len(text))
    ends += range(done + 1, len(text) + 1)
    return "".join(pieces), starts, ends


def _clusters(text: str, run: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Return the pieces of a run that are normalised each by itself, as small as can be."""
    start = run.start()
    for place in range(start + 1, run.end()):
        alone = normalised(text[place])
        if not unicodedata.combining(alone[0]):
            joined = normalised(text[start:place])[-1] + alone
            if normalised(joined) == joined:
                yield start, place
                start = place
    yield start, run.end()
