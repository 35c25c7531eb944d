"""Where the fields of a record come from, made ready once for the columns of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

from catalog_service.exchange.tabular.columns import Columns, without_number
from catalog_service.exchange.tabular.mapping import FieldRule
from catalog_service.exchange.tabular.proposed_values import meaning_of
from catalog_service.exchange.tabular.values import CLOSED, LONGEST_VALUE, converter
from catalog_service.exchange.words import fold
from chassis.core.wording import is_negated

_SHORT_TITLE = 120
_ANY_OTHER = "*"
_POSITIVE = "functional"
"""What nothing becomes that says no, only for want of a better value."""


class Values:
    """A table of values, in which case and white space do not count.

    `known` says what a value means that the table does not have, as far as that is known.
    """

    def __init__(self, values: dict[str, str], known: Callable[[str], str | None] | None = None) -> None:
        self._values = values
        self._by_look = {fold(value): result for value, result in values.items()}
        self._other = values.get(_ANY_OTHER)
        self._meaning = known
        self._known = lru_cache(1000)(self._find)

    def find(self, text: str) -> tuple[str | None, bool]:
        """Return what a value becomes, None where the table says nothing of it; and whether only `*` stands for it."""
        if len(text) <= LONGEST_VALUE:
            return self._known(text)
        found = self._values.get(text)
        return (self._other, True) if found is None else (found, False)

    def _find(self, text: str) -> tuple[str | None, bool]:
        found = self._values.get(text)
        if found is None:
            found = self._by_look.get(fold(text), self._by_look.get(fold(without_number(text))))
        if found is None and self._meaning is not None and text and not text.isspace():
            found = self._meaning(text)
        if found is None and self._other == _POSITIVE and is_negated(text):
            return None, False  # `not functional` is anything but functional
        return (self._other, True) if found is None else (found, False)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a field comes from: `take` gives the text of a row's cells, `convert` its value."""

    name: str
    take: Callable[[Sequence[str]], str]
    convert: Callable[[str], Any]
    values: Values | None
    constant: str | None
    default_from: str | None
    positions: list[int]

    @property
    def position(self) -> int | None:
        """The position of its one column, if it has one."""
        return self.positions[0] if len(self.positions) == 1 else None


def make_source(name: str, rule: FieldRule, columns: Columns, kind: str, *, is_own: bool = False) -> Source:
    """Return the source of a field; raise Unreadable where a column is missing."""
    split = rule.split
    if rule.columns_named is not None and name == "tags":
        split = split or "\n"
    take, positions = _taker(name, rule, columns, joint=split if name == "tags" and split else rule.join)
    known = partial(meaning_of, kind=kind, name=name) if rule.known_words and name in CLOSED[kind] else None
    values = None if rule.values is None else Values(rule.values, known)
    return Source(
        name, take, converter(name, kind, split, is_own=is_own), values, rule.constant, rule.default_from, positions
    )


def _taker(
    name: str, rule: FieldRule, columns: Columns, joint: str
) -> tuple[Callable[[Sequence[str]], str], list[int]]:
    if rule.column is not None:
        at = columns.position(rule.column, of=name)
        return itemgetter(at), [at]
    if rule.columns is not None:
        places = [columns.position(column, of=name) for column in rule.columns]
    elif rule.columns_named is not None:
        places = columns.all_named(rule.columns_named)
        if not places:
            raise columns.missing(rule.columns_named, of=name)
    else:
        constant = rule.constant or ""
        return lambda _: constant, []
    return lambda cells: joint.join(cells[at] for at in places if cells[at].strip()), places


def short_title(text: str) -> str:
    """Return the first line of a text as a title."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= _SHORT_TITLE:
        return line
    cut = line[: _SHORT_TITLE - 1].rsplit(" ", 1)[0]
    return f"{cut if len(cut) > _SHORT_TITLE // 2 else line[: _SHORT_TITLE - 1]}…"
