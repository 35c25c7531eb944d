"""The keys that the items of a file have, as far as its first rows show them."""

import re
from collections.abc import Iterable, Iterator

from catalog_service.exchange.tabular.columns import ids_in, is_id

_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
_END = ":;,.)]"
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,100})[)\]]")
_LONGEST = 300
"""Characters of a key with a title."""
MOST = 0.6
"""The share of the ids of a column that have to be keys of a kind."""


def look_of(key: str) -> str:
    """Return how a key looks: such as `REQ-0` for REQ-17; nothing for a number, which may be anything."""
    return _DIGITS.sub("0", key) if _LETTER.search(key) else ""


def key_in(text: str) -> str | None:
    """Return the key that a text has, alone or with a title: the first of its words that can be one; None for none."""
    for found in _possible(text):
        if is_id(found) and any(map(str.isdigit, found)):
            return found
    return None


def _possible(text: str) -> Iterator[str]:
    """Yield what may be the key of a text: all of it, its first word, what stands in brackets, its last word."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return
    yield text
    words = text.split()
    yield words[0].rstrip(_END).lstrip("([")
    yield from (found.strip() for found in _IN_BRACKETS.findall(text))
    yield words[-1].strip("()[]")


class Keys:
    """Keys by the kind of their items, and how keys of a kind look."""

    def __init__(self) -> None:
        self._keys: dict[str, set[str]] = {"requirements": set(), "test_cases": set()}
        self._looks: dict[str, set[str]] = {"requirements": set(), "test_cases": set()}

    def add(self, kind: str, keys: Iterable[str]) -> None:
        """Add the keys of items."""
        found = {key.strip() for key in keys if key.strip()}
        self._keys[kind] |= found
        self._looks[kind] |= {look for key in found if (look := look_of(key))}

    def has(self, kind: str) -> bool:
        """Check whether items of a kind are known."""
        return bool(self._keys[kind])

    def find(self, text: str, kind: str) -> str | None:
        """Return the key of a kind that a text is, or that stands in it with a title; None where it has none."""
        possible = list(_possible(text))
        known = next((one for one in possible if one in self._keys[kind]), None)
        if known is not None:
            return known
        return next((one for one in possible if is_id(one) and look_of(one) in self._looks[kind]), None)

    def are_of(self, values: list[str], kind: str) -> bool:
        """Check whether the cells of a column name items of a kind, several in a cell or one with its title."""
        if not values or not self.has(kind):
            return False
        return sum(self._names(value, kind) for value in values) >= MOST * len(values)

    def are_known(self, values: list[str], kind: str) -> bool:
        """Check whether the cells of a column are keys of a kind that stand elsewhere, each alone."""
        return bool(values) and sum(value.strip() in self._keys[kind] for value in values) >= MOST * len(values)

    def _names(self, value: str, kind: str) -> bool:
        ids = ids_in(value)
        return (bool(ids) and all(self.find(one, kind) for one in ids)) or self.find(value, kind) is not None
