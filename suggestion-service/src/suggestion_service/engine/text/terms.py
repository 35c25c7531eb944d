"""From the texts of an item to its terms: stems, split identifiers, and whole identifiers."""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from suggestion_service.engine.text.stop_words import STOP_WORDS

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

_of_thread = threading.local()


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


def terms(item: ItemText) -> dict[str, int]:
    """Count the terms of an item: what every algorithm scores by. Compute once a text; store it as JSON.

    Words of the title count three times, unless the description starts with the title. A text without words gives
    an empty dict.
    """
    counts: dict[str, int] = {}
    for word, times in word_counts(item).items():
        for term, _, _, _ in tokens(word):
            counts[term] = counts.get(term, 0) + times
    return counts


def word_counts(item: ItemText) -> Counter[str]:
    """Count the words of an item, as they stand in its normalised texts."""
    title, *texts = item_texts(item)
    counts = Counter(find_words(normalised(title)) * _TITLE_WEIGHT)
    counts.update(find_words(normalised("\n".join(texts))))
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
def tokens(word: str) -> tuple[Token, ...]:
    """Return the terms of one word, as `words_in` finds it; first the whole where the word has several parts."""
    return tuple(_tokens_of(word))


@lru_cache(maxsize=65_536)
def terms_of(word: str) -> frozenset[str]:
    """Return the terms of one word."""
    return frozenset(token.term for token in tokens(word))


def is_whole(of_word: Sequence[Token]) -> bool:
    """Check whether the first of a word's tokens is the whole of several parts, the others."""
    return len(of_word) > 1 and of_word[0].start <= of_word[1].start and of_word[0].end >= of_word[-1].end


def unspaced_runs(text: str) -> Iterator[re.Match[str]]:
    """Return what stands in scripts without spaces in a normalised text."""
    return _UNSPACED_RUN.finditer(text)


def _tokens_of(word: str) -> Iterator[Token]:
    parts = list((_ASCII_PART if word.isascii() else _OTHER_PART).finditer(word))
    whole = word.strip("_")
    if len(parts) > 1 and not _UNSPACED_RUN.search(whole):
        yield from _token(whole, len(word) - len(word.lstrip("_")))
    for match in parts:
        part, start = match[0], match.start()
        if _UNSPACED_RUN.match(part):
            for i in range(max(1, len(part) - 1)):
                yield Token(part[i : i + 2], part[i : i + 2], start + i, start + len(part[: i + 2]))
        else:
            yield from _token(part, start)


def _token(word: str, start: int) -> Iterator[Token]:
    lower = word.lower()[:_LONGEST_TERM]
    # One ASCII letter or digit is a list marker or an article far more often than it is a name.
    if lower in STOP_WORDS or (len(lower) == 1 and lower.isascii()):
        return
    shown = word[:_LONGEST_TERM]
    if shown.istitle() and "_" not in shown:
        shown = shown.lower()
    yield Token(_stemmer().stemWord(lower) if lower.isalpha() else lower, shown, start, start + len(word))


def _stemmer() -> Stemmer.Stemmer:
    """Return this thread's stemmer: the object is not safe to share."""
    try:
        stemmer: Stemmer.Stemmer = _of_thread.stemmer
    except AttributeError:
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english")
    return stemmer
