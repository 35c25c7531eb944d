"""From the texts of an item to its terms: stems, split identifiers, and identifiers kept whole."""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from suggestion_service.engine.stop_words import STOP_WORDS

# The title says what an item is about in the fewest words, so each of its words counts as often as this.
_TITLE_WEIGHT = 2
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


def terms(item: ItemText) -> dict[str, int]:
    """Count the terms of an item: what every algorithm scores by. Compute once a text; keep it as JSON.

    Words of the title count double, unless the description starts with the title. A text without words gives
    an empty dict.
    """
    counts: Counter[str] = Counter()
    for word, times in _count_words(item).items():
        for term, _ in _read(word):
            counts[term] += times
    return dict(counts)


def readable_words(item: ItemText) -> dict[str, str]:
    """Give for each term of `terms(item)` the word that stands most often for it in the texts of the item."""
    counts = _count_words(item)
    words: dict[str, str] = {}
    rivals: dict[str, Counter[str]] = {}
    for word in counts:
        for term, shown in _read(word):
            if words.setdefault(term, shown) != shown:
                rivals[term] = Counter()
    if rivals:
        for word, times in counts.items():
            for term, shown in _read(word):
                if term in rivals:
                    rivals[term][shown] += times
        words |= {term: forms.most_common(1)[0][0] for term, forms in rivals.items()}
    return words


def _count_words(item: ItemText) -> Counter[str]:
    title, description = item.title.strip(), item.description.strip()
    counts: Counter[str] = Counter()
    if not description.casefold().startswith(title.casefold()):
        for word, times in _words_of(title).items():
            counts[word] += _TITLE_WEIGHT * times
    rest = [description, item.preconditions, item.postconditions, item.module]
    texts = [*rest, *(item.steps or {}).values(), *item.tags]
    counts.update(_words_of("\n".join(text for text in texts if text)))
    return counts


def _words_of(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text)))


@lru_cache(maxsize=65_536)
def _read(word: str) -> tuple[tuple[str, str], ...]:
    """Give the terms of one word as it stands in a text, each with the form to show to a person."""
    return tuple(_terms_of(word))


def _terms_of(word: str) -> Iterator[tuple[str, str]]:
    parts = (_ASCII_PART if word.isascii() else _OTHER_PART).findall(word)
    whole = word.strip("_")
    if len(parts) > 1 and not _UNSPACED_RUN.search(whole):
        yield from _term(whole)
    for part in parts:
        if _UNSPACED_RUN.match(part):
            yield from ((part[i : i + 2], part[i : i + 2]) for i in range(max(1, len(part) - 1)))
        else:
            yield from _term(part)


def _term(word: str) -> Iterator[tuple[str, str]]:
    lower = word.lower()[:_LONGEST_TERM]
    # One ASCII letter or digit is a list marker or an article far more often than it is a name.
    if lower in STOP_WORDS or (len(lower) == 1 and lower.isascii()):
        return
    shown = word[:_LONGEST_TERM]
    if shown.istitle() and "_" not in shown:
        shown = shown.lower()
    yield (_stemmer().stemWord(lower) if lower.isalpha() else lower), shown


def _stemmer() -> Stemmer.Stemmer:
    """Give this thread's stemmer: the object is not safe to share."""
    try:
        stemmer: Stemmer.Stemmer = _of_thread.stemmer
    except AttributeError:
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english")
    return stemmer
