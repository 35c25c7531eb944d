"""CSV and XLSX as formats that are read."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from catalog_service.exchange.formats import Format, Inspection, ReadOptions
from catalog_service.exchange.records import Record, Unreadable
from catalog_service.exchange.tabular.csv_reader import find_delimiter, read_csv
from catalog_service.exchange.tabular.own import has_mark
from catalog_service.exchange.tabular.reading import inspect_table_file, read_table_file
from catalog_service.exchange.tabular.xlsx import looks_like_old_workbook, looks_like_workbook
from catalog_service.exchange.text import find_encoding, read_lines
from chassis.files.archives import Archive

_MARKUP = re.compile(r"\s*[<{\[]")
_SAMPLED_ROWS = 10


def _recognise_csv(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a table: that its first rows have the same columns says most."""
    try:
        encoding = find_encoding(file)
        if _MARKUP.match(next(read_lines(file, encoding), "")):
            return 0
        delimiter = find_delimiter(file, encoding)
    except Unreadable:
        return 0
    widths = []
    try:
        for row in read_csv(file, encoding, delimiter):
            if has_mark(row.cells):
                return 0.95
            if not row.is_blank:
                widths.append(len(row.cells))
            if len(widths) == _SAMPLED_ROWS:
                break
    except Unreadable:  # the beginning of a file may end anywhere
        pass
    if not widths or max(widths) < 2:
        return 0
    return 0.1 + 0.3 * widths.count(max(widths)) / len(widths)


def _recognise_xls(file: BinaryIO, name: str) -> float:
    return 0.9 if looks_like_old_workbook(file) else 0


def _recognise_xlsx(archive: Archive) -> float:
    return 0.9 if looks_like_workbook(archive) else 0


def _read_csv(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    return read_table_file(file, options, "csv")


def _read_xlsx(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    return read_table_file(file, options, "xlsx")


def _inspect_csv(file: BinaryIO, options: ReadOptions) -> Inspection:
    return inspect_table_file(file, options, "csv")


def _inspect_xlsx(file: BinaryIO, options: ReadOptions) -> Inspection:
    return inspect_table_file(file, options, "xlsx")


CSV = Format(
    name="csv",
    label="CSV or TSV, of any tool",
    media_types=("text/csv", "text/tab-separated-values", "application/csv", "text/comma-separated-values"),
    suffixes=(".csv", ".tsv", ".tab"),
    recognise=_recognise_csv,
    read=_read_csv,
    inspect=_inspect_csv,
)
XLSX = Format(
    name="xlsx",
    label="Excel workbook",
    media_types=(
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.ms-excel",
        "application/vnd.ms-excel.sheet.macroenabled.12",
    ),
    suffixes=(".xlsx", ".xlsm", ".xls"),
    recognise=_recognise_xls,
    recognise_archive=_recognise_xlsx,
    read=_read_xlsx,
    inspect=_inspect_xlsx,
)
