"""What headers of tables are known to mean."""

import re
from collections.abc import Sequence, Set
from functools import cache

from catalog_service.exchange.words import fold, words

LONGEST_HEADER = 200
"""Characters; what is longer is a text, and is not looked up."""
_ENDS = frozenset({"requirements", "test_cases"})
_IDS = _ENDS | {"external_id"}
_TOLD = _ENDS | {"title", "description"}


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


def is_header_of_items(cells: Sequence[str]) -> bool:
    """Check whether a row is a header: nothing but names of fields, of an id and of what else items have."""
    fields: list[Set[str]] = []
    for cell in cells:
        if not cell or cell.isspace():
            continue
        if cell[-1].isdigit() or len(cell) > LONGEST_HEADER:  # an id, mostly: no need to look it up
            return False
        fields.append(known_headers().get(fold(cell), {}).keys())
        if not fields[-1]:
            return False
    ids = [at for at, known in enumerate(fields) if not known.isdisjoint(_IDS)]
    return bool(ids) and any(not known.isdisjoint(_TOLD) for at, known in enumerate(fields) if at != ids[0])


def names_no_record(sheet: str | None) -> bool:
    """Check whether a sheet is called as those are that have neither items nor links, such as a glossary."""
    said = fold(sheet or "")
    return bool({said, *re.split(r"[\s\-/]+", said)} & _other_sheets())


@cache
def _other_sheets() -> frozenset[str]:
    return frozenset(map(fold, words()["other_sheets"]))
