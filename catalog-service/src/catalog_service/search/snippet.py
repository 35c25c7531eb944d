"""Snippets: the passages of a hit that the words of the query are found in, safe to put into a page."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from html import escape
from itertools import pairwise

from catalog_service.search.folding import CJK, composed, fold
from catalog_service.search.query import SearchQuery, Term, Word

_WHOLE = 260
"""Characters: a text of so many is shown as a whole."""
_PASSAGE = 150
_BEFORE = 30
_PASSAGES = 2
_LOOKED_AT = 200
"""So many hits of a text are enough to choose passages from."""
_BETWEEN = " · "
_LEFT_OUT = " … "
_VOWEL_SIGNS = "\u0900-\u0963\u0966-\u109f\u1780-\u17d3"
"""Scripts from Devanagari to Khmer: their words have signs that Python does not count among letters."""
_WORD = rf"(?:[^\W_{CJK}]|[{_VOWEL_SIGNS}])"
_BEGINS = f"(?<!{_WORD})"
_WITHIN = re.compile(r"(?<=[a-z])[0-9]*(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z][a-z])")
"""Where a word begins within another, as search_parts of the migrations has it: behind this."""
_GAP = rf"(?:(?![{_VOWEL_SIGNS}])[\W_])+"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")

Span = tuple[int, int]


class Snippets:
    """Makes the snippets of what a query has found."""

    def __init__(self, query: SearchQuery) -> None:
        patterns: dict[str, list[str]] = {}
        for term in query.wanted:
            patterns.setdefault(_BEGINS * (not term.words[0].cjk), []).append(_pattern(term))
        # Where no word begins, no term is tried.
        whole = "|".join(f"{begins}(?:{'|'.join(of_these)})" for begins, of_these in patterns.items())
        self._pattern = re.compile(whole) if whole else None
        words = "|".join(patterns.get(_BEGINS, ()))
        self._word = re.compile(words) if words else None

    def of(self, name: str | None, texts: Iterable[str | None]) -> str:
        """Return the snippet of a hit as HTML: hits in `<mark>`, everything else escaped.

        Args: `name` is the external_id, which is shown when it is what was searched for. Empty texts are left out.
        """
        said = [composed(_CONTROL.sub(" ", text)).strip() for text in texts if text]
        if name and self._hits(name := composed(name)):
            said.insert(0, name)
        whole = _BETWEEN.join(text for text in said if text)
        hits = self._hits(whole)
        return _LEFT_OUT.join(_marked(whole, passage, hits) for passage in _passages(whole, hits))

    def _hits(self, text: str) -> list[Span]:
        if self._pattern is None:
            return []
        folded = fold(text)
        hits = [folded.span(*match.span()) for match in self._pattern.finditer(folded.text)]
        if self._word is None or not (within := [match.end() for match in _WITHIN.finditer(text)]):
            return hits
        starts = within if folded.places is None else [bisect_left(folded.places, at) for at in within]
        matches = (self._word.match(folded.text, start) for start in starts)
        return _apart(hits + [folded.span(*match.span()) for match in matches if match])


def _apart(hits: list[Span]) -> list[Span]:
    """Return hits in the order of the text, without those that begin in another."""
    kept: list[Span] = []
    for hit in sorted(hits):
        if not kept or hit[0] >= kept[-1][1]:
            kept.append(hit)
    return kept


def _pattern(term: Term) -> str:
    """Return the pattern of a term where a word begins in folded text: it goes on, or is a form of it as a whole."""
    *before, last = term.words
    goes_on = f"{_WORD}*" if term.beginning else ""
    ends = "" if last.cjk else f"(?!{_WORD})"
    if before or term.typed.phrase:
        words = (
            f"(?:{'|'.join(map(re.escape, term.first))})"
            + "".join(_next(*two) for two in pairwise(term.words))
            + goes_on
        )
    else:
        words = "|".join([re.escape(last.lexeme) + goes_on, *map(re.escape, sorted(last.forms, reverse=True))])
    return f"(?:{words}){ends}"


def _next(word: Word, following: Word) -> str:
    if word.cjk and following.cjk and following.distance == 1:
        return re.escape(following.lexeme[1:])  # neighbouring pairs overlap by one character
    if word.cjk or following.cjk:
        return rf"[\W_]*{re.escape(following.lexeme)}"
    between = rf"(?:{_WORD}+{_GAP}){{{following.distance - 1}}}" if following.distance > 1 else ""
    return rf"{_GAP}{between}{re.escape(following.lexeme)}"


def _passages(text: str, hits: list[Span]) -> list[Span]:
    """Return the parts of a text to show: those with the most different hits, in the order of the text."""
    if len(text) <= _WHOLE or not hits:
        return [_to_blanks(text, 0, _WHOLE, 0)]
    shown: list[Span] = []
    left = hits[:_LOOKED_AT]
    while left and len(shown) < _PASSAGES:
        start, end = max(
            ((first, max(last, first + _PASSAGE)) for first, last in left),
            key=lambda passage: len({text[a:b].lower() for a, b in left if passage[0] <= a and b <= passage[1]}),
        )
        shown.append(_to_blanks(text, start - _BEFORE, end, max(b for a, b in left if start <= a and b <= end)))
        left = [(a, b) for a, b in left if b <= shown[-1][0] or a >= shown[-1][1]]
    shown.sort()
    for number in range(len(shown) - 1, 0, -1):
        if shown[number][0] <= shown[number - 1][1]:
            shown[number - 1 : number + 1] = [(shown[number - 1][0], max(shown[number - 1][1], shown[number][1]))]
    return shown


def _to_blanks(text: str, start: int, end: int, needed: int) -> Span:
    """Move the ends of a passage to blanks nearby, so that it has whole words; it goes on to `needed` at least."""
    if start > 0:
        blank = text.find(" ", start, start + _BEFORE)
        start = start if blank < 0 else blank + 1
    if end < len(text):
        blank = text.rfind(" ", max(needed, end - _BEFORE), end)
        end = end if blank < 0 else blank
    return max(0, start), min(end, len(text))


def _marked(text: str, passage: Span, hits: list[Span]) -> str:
    at, end = passage
    pieces = []
    for first, last in hits:
        if at <= first and last <= end:
            pieces += [escape(text[at:first]), "<mark>", escape(text[first:last]), "</mark>"]
            at = last
    return "".join([*pieces, escape(text[at:end])])
