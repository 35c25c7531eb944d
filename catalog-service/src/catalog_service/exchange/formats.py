"""The formats that files are read from, each with its reader."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO

from catalog_service.exchange.records import Record
from catalog_service.fields.definitions import ProjectField
from chassis.files.archives import Archive


class Kinds(StrEnum):
    """Which records of a file count: those of one kind, or all."""

    ALL = "all"
    REQUIREMENTS = "requirements"
    TEST_CASES = "test_cases"
    LINKS = "links"


def kinds_of_types(mapping: Mapping[str, Any] | None) -> dict[str, str]:
    """Return what a mapping says that items of types become: `types`, which was called `kinds`."""
    said = mapping or {}
    return {**(said.get("kinds") or {}), **(said.get("types") or {})}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is to be read; what is None or empty is found in the file.

    `mapping` is a mapping of section A3 of the specification, `{"preset": name}`, or None for the proposed one.
    `kind` is one of Kinds. `sheet`, `header_row` (from 1) and `delimiter` say where a table is, whatever the mapping
    says. `file_name` as it was sent; some formats name things by it.
    `is_beginning`: the file may be cut off, and is read as far as it goes. `most_rows`: of a table no more are read.
    """

    kind: str = "all"
    encoding: str | None = None
    file_name: str | None = None
    source_system: str | None = None
    mapping: Mapping[str, Any] | None = None
    is_beginning: bool = False
    sheet: str | None = None
    header_row: int | None = None
    delimiter: str | None = None
    most_rows: int | None = None
    fields: tuple[ProjectField, ...] = ()
    """Those of the project: columns that are called so become them."""
    levels: Mapping[str, str] = field(default_factory=dict)
    """Those of the project, from the top: what each is called, by its key."""

    @property
    def external_id_prefix(self) -> str:
        """What the mapping puts before the external ids of the items of the file, also where its links name them.

        What a link names beside these is in the record already, as it is called there.
        """
        return str((self.mapping or {}).get("external_id_prefix") or "")

    @property
    def system(self) -> str | None:
        """The source system, as the request or the mapping names it."""
        return self.source_system or (self.mapping or {}).get("source_system")


@dataclass(slots=True)
class Inspection:
    """What a file looks like, for the answer of POST /imports/inspect.

    `columns` and `mapping` are of its main table, `parts` are all tables that are read, by `record_mapping`; `tables`
    are all that there are, with their first rows as they stand in the file.
    """

    format: str
    encoding: str | None = None
    dialect: dict[str, Any] | None = None
    sheets: list[dict[str, Any]] = field(default_factory=list)
    columns: list[dict[str, Any]] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    types: list[dict[str, Any]] = field(default_factory=list)
    mapping: dict[str, Any] | None = None
    record_mapping: dict[str, Any] | None = None
    preset: str | None = None
    warnings: list[dict[str, Any]] = field(default_factory=list)


def _is_none(*_: object) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what it is called, how a file of it is recognised, and how it is read.

    `recognise` gets the first 64 KiB of a file that is no archive and the name in lower case, `recognise_archive` an
    open archive; both return how sure they are, 0..1. `read` gets a seekable binary file, yields as it reads, holds no
    file whole, and raises Unreadable. `inspect` may be left out where there are no columns to map.
    """

    name: str
    label: str
    media_types: tuple[str, ...]
    suffixes: tuple[str, ...]
    read: Callable[[BinaryIO, ReadOptions], Iterator[Record]]
    recognise: Callable[[BinaryIO, str], float] = _is_none
    recognise_archive: Callable[[Archive], float] = _is_none
    inspect: Callable[[BinaryIO, ReadOptions], Inspection] | None = None
    is_native: bool = False
