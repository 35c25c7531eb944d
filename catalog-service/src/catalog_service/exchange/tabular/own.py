"""Tables of our own: their columns are called as the fields of the API, and a mark says so.

The header's last cell is the mark, in CSV files and in each sheet of a workbook. A cell of a workbook takes 32,767
characters: a longer text, and one that looks like a reference, stands in the sheet LONG_TEXTS in parts, under a number;
its cell refers to it, so that rows can be sorted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.formulas import MARK, decode, encode
from catalog_service.exchange.tabular.mapping import FIELDS
from catalog_service.exchange.tabular.table import Row
from catalog_service.exchange.uuids import UUID
from catalog_service.fields.definitions import PREFIX, ProjectField

NAME = "traceline"
SHEETS = {"requirement": "Requirements", "test_case": "Test cases", "link": "Links"}
COVER = "Traceline"
"""The sheet that says what a workbook is of."""
LONG_TEXTS = "Long texts"
LONG_TEXT_COLUMNS = ("number", "item", "field", "part", "text")
"""`item` and `field` are for people; the parts of a number, in their order, are its text."""

_MOST_LONG_TEXT = 128 << 20
REFERENCE = "[Long texts: "
"""How what stands for a long text begins."""
_REFERENCE = re.compile(r"\[Long texts: ([1-9][0-9]{0,8})\]")
_ID = re.compile(UUID, re.I)
_ONLY = {"links": {"requirement", "requirement_id"}, "test_cases": {"steps", "automation_status", "preconditions"}}


def has_mark(header: list[str]) -> bool:
    """Check whether a header is that of our own."""
    return MARK in header


def has_our_names(header: list[str], rows: list[list[str]]) -> bool:
    """Check whether columns are called as ours, and ids are such as ours: a table of our own that has lost the mark."""
    if not {"id", "external_id", "title"} <= set(header):
        return False
    ids = [cells[header.index("id")] for cells in rows]
    return any(ids) and all(_ID.fullmatch(one) for one in ids if one)


def without_mark(header: list[str]) -> list[str]:
    """Return the header of our own as the names of its fields; what stands behind the mark is none."""
    return header[: header.index(MARK)]


def decode_rows(rows: Iterator[Row], width: int) -> Iterator[Row]:
    """Yield the rows of a CSV file of our own with their texts as they were."""
    for row in rows:
        row.sent = row.cells[:width]
        row.cells = [decode(cell) for cell in row.sent]
        yield row


def own_mapping(columns: Columns, own: Iterable[ProjectField] = ()) -> dict[str, Any]:
    """Return the mapping of a table of our own: each column is the field that it is called.

    `own` are the fields of the project; values of others are in custom_metadata as well.
    """
    names = set(columns.header)
    kind = next((kind for kind, some in _ONLY.items() if names & some), "requirements")
    fields = {name: {"column": name} for name in columns.header if name in FIELDS[kind]}
    item = kind.removesuffix("s")
    known = {f"{PREFIX}{field.key}" for field in own if item in field.of}
    fields |= {name: {"column": name} for name in columns.header if name in known}
    ignored = [name for name in columns.header if name.startswith(PREFIX) and name not in known]
    mapping = {"version": 1, "name": NAME, "kind": kind, "fields": fields}
    return {**mapping, "ignore": ignored} if ignored else mapping


def reference_to(number: int) -> str:
    """Return the cell that stands for the long text of a number."""
    return f"{REFERENCE}{number}]"


def is_reference(text: str) -> bool:
    """Check whether a text looks like a reference: it is written as a long text, too."""
    return text.startswith(REFERENCE) and _REFERENCE.fullmatch(text) is not None


def read_long_texts(columns: Columns, rows: Iterator[Row]) -> dict[str, str]:
    """Return the long texts by what their cells say. Raise Unreadable."""
    places = [columns.position(name, of="long texts") for name in ("number", "part", "text")]
    parts: dict[str, dict[int, str]] = {}
    size = 0
    for row in rows:
        number, part, text = (row.cells[at] if at < len(row.cells) else "" for at in places)
        if not (number.isdecimal() and part.isdecimal()):
            raise Unreadable(f"Row {row.number} of the sheet {LONG_TEXTS!r} has no number or no part.")
        parts.setdefault(reference_to(int(number)), {})[int(part)] = text
        size += len(text)
        if size > _MOST_LONG_TEXT:
            raise Unreadable(f"The sheet {LONG_TEXTS!r} has more than {_MOST_LONG_TEXT >> 20} MiB of text.")
    return {reference: "".join(texts[part] for part in sorted(texts)) for reference, texts in parts.items()}


def put_long_texts(rows: Iterator[Row], texts: Mapping[str, str], width: int) -> Iterator[Row]:
    """Yield the rows of a sheet of our own with their long texts in place. Raise Unreadable where one is missing."""
    for row in rows:
        del row.cells[width:]
        row.sent = [encode(cell) for cell in row.cells]
        for at, cell in enumerate(row.cells):
            if is_reference(cell):
                if cell not in texts:
                    raise Unreadable(
                        f"Row {row.number} refers to {cell}, which the sheet {LONG_TEXTS!r} does not have."
                    )
                row.cells[at] = texts[cell]
        yield row
