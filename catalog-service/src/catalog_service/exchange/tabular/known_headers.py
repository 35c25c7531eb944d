"""What headers of tables are known to mean."""

import re
from functools import cache

from catalog_service.exchange.words import fold, words

LONGEST_HEADER = 200
"""Characters; what is longer is a text, and is not looked up."""


@cache
def known_headers() -> dict[str, dict[str, int]]:
    """Return the fields by header, each with the place of the header among its names."""
    known: dict[str, dict[str, int]] = {}
    for field, names in words()["headers"].items():
        for order, name in enumerate(names):
            known.setdefault(fold(name), {}).setdefault(field, order)
        known.setdefault(fold(field), {})[field] = -1
    return known


def is_known_header(header: str) -> bool:
    """Check whether a header is a usual name of some field."""
    return fold(header) in known_headers()


def names_no_record(sheet: str | None) -> bool:
    """Check whether a sheet is called as those are that have neither items nor links, such as a glossary."""
    said = fold(sheet or "")
    return bool({said, *re.split(r"[\s\-/]+", said)} & _other_sheets())


@cache
def _other_sheets() -> frozenset[str]:
    return frozenset(map(fold, words()["other_sheets"]))
