"""Texts as search compares them, with the way back: what search_text does in PostgreSQL, for places in a text."""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

CJK = "\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
"""Scripts that are written without blanks, as a range of a regular expression; see search_text in the migrations."""

_ACCENTS = frozenset(
    chr(point)
    for first, last in (
        (0x300, 0x36F),
        (0x591, 0x5BD),
        (0x5BF, 0x5BF),
        (0x5C1, 0x5C2),
        (0x5C4, 0x5C5),
        (0x5C7, 0x5C7),
        (0x640, 0x640),
        (0x64B, 0x65F),
        (0x670, 0x670),
    )
    for point in range(first, last + 1)
)
_PLAIN = {
    "ß": "ss",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "ı": "i",
    "ħ": "h",
    "ς": "σ",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
}


class Folded(NamedTuple):
    """A text without case and accents; `places[i]` is where its i-th character comes from, None when at i."""

    text: str
    places: list[int] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where start and end (not empty) are in the text that was folded."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1


def composed(text: str) -> str:
    """Return a text of which `fold` can tell the places: letters and their accents are one character."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> Folded:
    """Return a composed text without case and accents."""
    beyond = {ord(character): _plain(character) for character in set(text) if not character.isascii()}
    if all(len(plain) == 1 for plain in beyond.values()):
        return Folded(text.translate(beyond).lower(), None)
    pieces = [_plain(character) for character in text]
    places = [place for place, piece in enumerate(pieces) for _ in piece]
    return Folded("".join(pieces), places)


@lru_cache(4096)
def _plain(character: str) -> str:
    letters = unicodedata.normalize("NFKD", character.lower())
    kept = "".join(letter for letter in letters if letter not in _ACCENTS)
    return "".join(_PLAIN.get(letter, letter) for letter in unicodedata.normalize("NFKC", kept).lower())
