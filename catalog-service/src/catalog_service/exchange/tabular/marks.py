"""What stands where the row and the column of a matrix cross: nothing, a mark, the type of a link, or a result."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from catalog_service.exchange.tabular.proposed_values import known_in
from catalog_service.exchange.words import fold, words

_BLANK = re.compile(r"[\s\-\u2010-\u2015_/.]*")


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark: the type of link that it names, if it names one; what else it says, which no link has a place for.

    `is_result`: what it says is how a test ended.
    """

    link_type: str | None = None
    text: str | None = None
    is_result: bool = False


@lru_cache(1000)
def read_mark(cell: str) -> Mark | None:
    """Return what a crossing says; None where it says that there is no link."""
    if _BLANK.fullmatch(cell) or fold(cell) in _words("no"):
        return None
    if fold(cell) in _words("yes"):
        return Mark()
    types = known_in([cell.strip()])
    if types:
        return Mark(link_type=next(iter(types.values())))
    return Mark(text=cell.strip(), is_result=is_result(cell))


def is_result(text: str) -> bool:
    """Check whether a text says how a test ended."""
    return fold(text) in _words("results")


def are_marks(values: list[str]) -> bool:
    """Check whether cells are marks, types of links or results, or say that there is none."""
    return bool(values) and all(_is_plain(value) for value in values)


def _is_plain(cell: str) -> bool:
    mark = read_mark(cell)
    return mark is None or mark.text is None or mark.is_result


@cache
def _words(group: str) -> frozenset[str]:
    return frozenset(map(fold, words()["marks"][group]))
