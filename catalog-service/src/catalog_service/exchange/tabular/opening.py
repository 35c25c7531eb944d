"""Opens files as tables: the one table of a CSV file, the sheets of a workbook."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Notice
from catalog_service.exchange.tabular.csv_reader import find_delimiter, read_csv
from catalog_service.exchange.tabular.mapping import Mapping
from catalog_service.exchange.tabular.record_mapping import RecordMapping
from catalog_service.exchange.tabular.table import Table
from catalog_service.exchange.tabular.xlsx import open_workbook
from catalog_service.exchange.text import find_encoding


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a table is, as the request or else the mapping says; what is None is found."""

    sheet: str | None
    header_row: int | None
    encoding: str | None
    delimiter: str | None


@dataclass(slots=True)
class Opened:
    """A file as tables, and what there is to say of it."""

    tables: list[Table]
    encoding: str | None = None
    dialect: dict[str, Any] | None = None
    warnings: list[Notice] = field(default_factory=list)


def asked_of(options: ReadOptions, given: Mapping | RecordMapping | None) -> Asked:
    """Return where a table is, as the request says, else the mapping; one of a whole file says it of each sheet."""

    def said(name: str) -> Any:
        value = getattr(options, name)
        return getattr(given, name, None) if value is None and given is not None else value

    return Asked(said("sheet"), said("header_row"), said("encoding"), said("delimiter"))


@contextmanager
def open_tables(file: BinaryIO, asked: Asked, format_name: str) -> Iterator[Opened]:
    """Open a file and give its tables. Raise Unreadable."""
    if format_name == "xlsx":
        with open_workbook(file) as tables:
            yield Opened(tables)
        return
    encoding = find_encoding(file, asked.encoding)
    delimiter = asked.delimiter or find_delimiter(file, encoding)
    table = Table(read_csv(file, encoding, delimiter))
    warnings = [Notice("encoding_guessed", encoding.warning, len(encoding.examples))] if encoding.warning else []
    yield Opened([table], encoding.name, {"delimiter": delimiter, "quote": '"'}, warnings)
