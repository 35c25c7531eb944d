"""Tables of our own: their columns are called as the fields of the API, and a mark says so."""

from collections.abc import Iterator
from typing import Any

from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.formulas import MARK, decode
from catalog_service.exchange.tabular.mapping import FIELDS
from catalog_service.exchange.tabular.table import Row

NAME = "traceline"
_ONLY = {"links": {"requirement", "requirement_id"}, "test_cases": {"steps", "automation_status", "preconditions"}}


def has_mark(header: list[str]) -> bool:
    """Check whether a header is that of our own."""
    return bool(header) and header[-1].strip() == MARK


def without_mark(header: list[str]) -> list[str]:
    """Return the header of our own as the names of its fields."""
    return header[:-1]


def decode_rows(rows: Iterator[Row], width: int) -> Iterator[Row]:
    """Yield the rows of a CSV file of our own with their texts as they were."""
    for row in rows:
        row.cells = [decode(cell) for cell in row.cells[:width]]
        yield row


def own_mapping(columns: Columns) -> dict[str, Any]:
    """Return the mapping of a table of our own: each column is the field that it is called."""
    names = set(columns.header)
    kind = next((kind for kind, some in _ONLY.items() if names & some), "requirements")
    fields = {name: {"column": name} for name in columns.header if name in FIELDS[kind]}
    return {"version": 1, "name": NAME, "kind": kind, "fields": fields}
