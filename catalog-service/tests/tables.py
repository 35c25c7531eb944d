"""Reads texts and workbooks as an import does."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import xlsxwriter

from catalog_service.exchange.formats import Inspection, ReadOptions
from catalog_service.exchange.records import Item, Link, Notice, Record
from catalog_service.exchange.registry import recognise


class Read:
    """What was read of a file."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.items = [record for record in records if isinstance(record, Item)]
        self.links = [record for record in records if isinstance(record, Link)]
        self.all_notices = [record for record in records if isinstance(record, Notice)]
        self.notices = {record.code: record for record in records if isinstance(record, Notice)}

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The fields of the items."""
        return [item.fields for item in self.items]


def read(content: str | bytes, name: str = "table.csv", **options: Any) -> Read:
    """Return what is read of a file, in the format that it is recognised as."""
    data = content.encode() if isinstance(content, str) else content
    known = recognise(BytesIO(data), name, None)
    return Read(list(known.read(BytesIO(data), ReadOptions(file_name=name, **options))))


def inspect(content: str | bytes, name: str = "table.csv", **options: Any) -> Inspection:
    """Return what a file looks like."""
    data = content.encode() if isinstance(content, str) else content
    known = recognise(BytesIO(data), name, None)
    assert known.inspect is not None
    return known.inspect(BytesIO(data), ReadOptions(file_name=name, **options))


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """Return a workbook with these rows in its sheets."""
    file = BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True, "strings_to_numbers": False})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for at, row in enumerate(rows):
            sheet.write_row(at, 0, row)
    book.close()
    return file.getvalue()
