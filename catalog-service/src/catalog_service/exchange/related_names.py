"""What columns and members are called that name other items of the same kind."""

import re
from functools import cache

from catalog_service.exchange.words import fold, words

_BELOW = re.compile(
    "child|downstream|refined by|decomposes|derived requirements|untergeordnet|out-?links|parentbinding"
)
_CUSTOM_FIELD = re.compile(r"custom field \((.+)\)", re.I)


def names_parents(name: str) -> bool:
    """Check whether a name is one of what stands above an item, or below it."""
    return _look(name) in _names("parents")


def names_above(name: str) -> bool:
    """Check whether a name is one of what stands above an item, and of nothing else."""
    return names_parents(name) and _BELOW.search(_look(name)) is None


def names_others(name: str) -> bool:
    """Check whether a name is one of other items, where their ids stand there."""
    return _look(name) in _names("others")


def _look(name: str) -> str:
    custom = _CUSTOM_FIELD.fullmatch(name)
    return fold(custom[1] if custom else name)


@cache
def _names(group: str) -> frozenset[str]:
    return frozenset(map(fold, words()["relations"][group]))
