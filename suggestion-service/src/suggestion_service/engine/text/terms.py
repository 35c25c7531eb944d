"""From the texts of an item to its terms: stems, split identifiers, and whole identifiers."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from suggestion_service.engine.text.languages import ENGLISH, language_of, stem, stop_words

# The title says what an item is about in the fewest words, so each of its words counts as often as this.
_TITLE_WEIGHT = 3
_LONGEST_TERM = 64

# Signs that belong to the letter before them, although Python's \w does not count all of them in.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u109f\u1780-\u17ff"
# Scripts without spaces between words (Thai to Myanmar, Khmer, Kana, Han), and Hangul, whose particles join
# the word: read in pairs of letters, as search engines do.
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"

_WORD = re.compile(rf"[\w{_MARKS}]+")
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]+")
# "UARTs" is one part, "HTTPServer" is two, "sha256" is two.
_ASCII_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_OTHER_PART = re.compile(rf"[{_UNSPACED}]+|\d+|[^\W\d_{_UNSPACED}](?:[^\W\d_{_UNSPACED}]|[{_MARKS}])*")

# Hiragana hold a Japanese sentence together, as these letters do a Chinese one.
_OF_ONE_SCRIPT = re.compile("[\u3041-\u309f]+|[\u30a1-\u30fa\u30fc-\u30ff]+|\u30fb|[^\u3041-\u30ff]+")
_HIRAGANA, _KATAKANA = re.compile("[\u3041-\u309f\u30fb]"), re.compile("[\u30a1-\u30ff]")
KATAKANA_WORD = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]+")
"""A word from elsewhere, or several that are joined."""
_CHINESE_GRAMMAR = frozenset("的了着和与或是被")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemText:
    """What a requirement or a test case says. `steps` maps the number of a step to its text."""

    title: str
    description: str
    steps: Mapping[str, str] | None = None
    preconditions: str | None = None
    postconditions: str | None = None
    module: str | None = None
    tags: Sequence[str] = ()


class Token(NamedTuple):
    """A term where it stands in a word, from `start` to `end`; `shown` is how to show it to a person."""

    term: str
    shown: str
    start: int
    end: int


def terms(item: ItemText, language: str | None = None) -> dict[str, int]:
    """Count the terms of an item: what every algorithm scores by. Compute once a text; store it as JSON.

    Words of the title count three times, unless the description starts with the title. A text without words gives
    an empty dict. `language`: that of `item_language`, unless it is known.
    """
    language = item_language(item) if language is None else language
    counts: dict[str, int] = {}
    for word, times in word_counts(item).items():
        for term, _, _, _ in tokens(word, language):
            counts[term] = counts.get(term, 0) + times
    return counts


def read_terms(item: ItemText, language: str | None = None) -> tuple[dict[str, int], str]:
    """Return the terms of an item, and the language that they were counted in: the given one, else what it shows."""
    language = item_language(item) if language is None else language
    return terms(item, language), language


def item_language(item: ItemText) -> str:
    """Return the language that an item is written in, by `language_of`."""
    said = [item.title, item.description, *(item.steps or {}).values(), item.preconditions, item.postconditions]
    return language_of(normalised(text) for text in said if text)


def word_counts(item: ItemText) -> Counter[str]:
    """Count the words of an item, as they stand in its normalised texts."""
    title, *texts = item_texts(item)
    return count_words(normalised(title), normalised("\n".join(texts)))


def count_words(title: str, texts: str) -> Counter[str]:
    """Count the words of an item by its title and its other texts, normalised."""
    counts = Counter(find_words(title) * _TITLE_WEIGHT)
    counts.update(find_words(texts))
    return counts


def item_texts(item: ItemText) -> list[str]:
    """Return the texts of an item, its title first: an empty one when the description starts with it."""
    title, description = item.title.strip(), item.description.strip()
    if description.casefold().startswith(title.casefold()):
        title = ""
    rest = [description, item.preconditions, item.postconditions, item.module, *(item.steps or {}).values(), *item.tags]
    return [title, *(text for text in rest if text)]


def words_in(text: str) -> Iterator[re.Match[str]]:
    """Return the words of a normalised text where they stand."""
    return _WORD.finditer(text)


def find_words(text: str) -> list[str]:
    """Return the words of a normalised text."""
    return _WORD.findall(text)


def normalised(text: str) -> str:
    """Return a text as its words are read: in the form NFKC."""
    return unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=65_536)
def tokens(word: str, language: str = ENGLISH) -> tuple[Token, ...]:
    """Return the terms of one word, as `words_in` finds it; first the whole where the word has several parts."""
    return tuple(_tokens_of(word, language))


@lru_cache(maxsize=65_536)
def terms_of(word: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the terms of one word."""
    return frozenset(token.term for token in tokens(word, language))


def is_whole(of_word: Sequence[Token]) -> bool:
    """Check whether the first of a word's tokens is the whole of several parts, the others."""
    return len(of_word) > 1 and of_word[0].start <= of_word[1].start and of_word[0].end >= of_word[-1].end


def unspaced_runs(text: str) -> Iterator[re.Match[str]]:
    """Return what stands in scripts without spaces in a normalised text."""
    return _UNSPACED_RUN.finditer(text)


def _tokens_of(word: str, language: str) -> Iterator[Token]:
    parts = list((_ASCII_PART if word.isascii() else _OTHER_PART).finditer(word))
    whole = word.strip("_")
    if len(parts) > 1 and not _UNSPACED_RUN.search(whole):
        yield from _token(whole, len(word) - len(word.lstrip("_")), language)
    for match in parts:
        part, start = match[0], match.start()
        if _UNSPACED_RUN.match(part):
            for run in _OF_ONE_SCRIPT.finditer(part):
                yield from _pairs(run[0], start + run.start(), language)
        else:
            yield from _token(part, start, language)


def _pairs(run: str, start: int, language: str) -> Iterator[Token]:
    """Yield the pairs of letters of a script without spaces; Katakana are words from elsewhere, and stay whole."""
    if _HIRAGANA.match(run):
        return
    if _KATAKANA.match(run):
        if len(run) > 1:
            yield Token(run[:_LONGEST_TERM], run[:_LONGEST_TERM], start, start + len(run))
        return
    for i in range(max(1, len(run) - 1)):
        pair = run[i : i + 2]
        if language != "zh" or _CHINESE_GRAMMAR.isdisjoint(pair):
            yield Token(pair, pair, start + i, start + i + len(pair))


def _token(word: str, start: int, language: str) -> Iterator[Token]:
    lower = word.lower()[:_LONGEST_TERM]
    # One ASCII letter or digit is a list marker or an article far more often than it is a name.
    if lower in stop_words(language) or (len(lower) == 1 and lower.isascii()):
        return
    shown = word[:_LONGEST_TERM]
    if shown.istitle() and "_" not in shown and language != "de":
        shown = shown.lower()
    yield Token(stem(lower, language) if lower.isalpha() else lower, shown, start, start + len(word))
