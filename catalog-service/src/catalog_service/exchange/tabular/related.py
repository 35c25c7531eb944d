"""The columns that name other items of the same kind: what stands above a row, or what it depends on."""

import re
from collections.abc import Iterable

from catalog_service.exchange.related_names import names_others, names_parents
from catalog_service.exchange.tabular.columns import Columns, ids_in, is_id
from catalog_service.exchange.tabular.known_headers import known_headers
from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposed_kind import are_ids
from catalog_service.exchange.words import fold

_OF_JIRA = re.compile(r"(?:out|in)ward issue link \(", re.I)
_LEVEL = re.compile(r"title ([2-9]|1\d)", re.I)
_ENDS = frozenset({"requirements", "test_cases"})
_ENOUGH = 0.5
"""The share of the ids in a column that have to be ids of rows."""


def related_columns(sample: Sample, id_at: int | None) -> frozenset[int]:
    """Return the positions of columns that name items, by what they are called or by what stands in them."""
    own_ids = {cells[id_at].strip() for cells in sample.rows} if id_at is not None else set[str]()
    return frozenset(
        at
        for at in range(len(sample.columns))
        if at != id_at and (_is_called_so(sample, at) or _names_rows(sample, at, id_at, own_ids))
    )


def level_columns(columns: Columns, places: Iterable[int]) -> frozenset[int]:
    """Return which columns of titles are of rows below others: Title 2, Title 3, as Azure DevOps exports a tree."""
    return frozenset(at for at in places if _LEVEL.fullmatch(columns.header[at]))


def count_named(cell: str) -> int:
    """Return how many items a cell names: as many as it has ids, else one by its title."""
    ids = ids_in(cell)
    return len(ids) if all(map(is_id, ids)) else 1


def _is_called_so(sample: Sample, at: int) -> bool:
    header = sample.columns.header[at]
    if _OF_JIRA.match(header) or names_parents(header):
        return True
    names_items = names_others(header) or not known_headers().get(fold(header), {}).keys().isdisjoint(_ENDS)
    return names_items and are_ids(sample.values(at))


def _names_rows(sample: Sample, at: int, id_at: int | None, own_ids: set[str]) -> bool:
    """Check whether a column names rows by their ids; numbers may mean anything, and its own id names no other row."""
    values = sample.values(at)
    if id_at is None or not values or not are_ids(values):
        return False
    if any(cells[at].strip() == cells[id_at].strip() for cells in sample.rows if cells[at].strip()):
        return False
    ids = [one for value in values for one in ids_in(value)]
    named = [one for one in ids if one in own_ids and not one.isdecimal()]
    return len(named) >= _ENOUGH * len(ids)
