"""Reads tables: finds the header, takes the mapping that was given or the likeliest one, and makes records."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any, BinaryIO

from catalog_service.exchange.formats import Inspection, ReadOptions
from catalog_service.exchange.records import Item, Link, Notice, Record, Unreadable
from catalog_service.exchange.tabular import notices
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.csv_reader import find_delimiter, read_csv
from catalog_service.exchange.tabular.described import describe
from catalog_service.exchange.tabular.kinds import kind_of_all
from catalog_service.exchange.tabular.known_headers import is_known_header
from catalog_service.exchange.tabular.mapper import PROBLEM, Mapper
from catalog_service.exchange.tabular.mapping import FieldRule, Mapping, parse_mapping
from catalog_service.exchange.tabular.own import (
    COVER,
    LONG_TEXTS,
    decode_rows,
    has_mark,
    has_our_names,
    own_mapping,
    put_long_texts,
    read_long_texts,
    without_mark,
)
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.presets import Sample, find_preset, get_preset, resolve
from catalog_service.exchange.tabular.proposals import Proposal, propose
from catalog_service.exchange.tabular.related import related_columns
from catalog_service.exchange.tabular.start import Chosen, Start
from catalog_service.exchange.tabular.table import Row, Table, limit_rows, with_merged
from catalog_service.exchange.tabular.xlsx import open_workbook
from catalog_service.exchange.text import find_encoding
from chassis.core.problems import Invalid
from chassis.core.wording import listed, shown

_SAMPLED_ROWS = 200
_SAMPLED_CHARACTERS = 1 << 20
_SEARCHED_ROWS = 30
_FIRST = 2.0
"""What the first row counts more as a header than others."""
_RECOGNISED = 2
"""What a sheet says of itself counts from so many known columns on."""
_DELIMITERS = {"\t": "TAB"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where a table is, as the request or else the mapping says; what is None is found."""

    sheet: str | None
    header_row: int | None
    encoding: str | None
    delimiter: str | None


@dataclass(slots=True)
class _Opened:
    """A file as tables, and what there is to say of it."""

    tables: list[Table]
    encoding: str | None = None
    dialect: dict[str, Any] | None = None
    warnings: list[Notice] = field(default_factory=list)


def read_table_file(file: BinaryIO, options: ReadOptions, format_name: str) -> Iterator[Record]:
    """Yield the records of a CSV file or a workbook. Raise Unreadable."""
    given = _given(options)
    asked = _asked(options, given)
    with _open(file, asked, format_name) as opened:
        yield from opened.warnings
        starts = _starts(opened.tables, asked)
        yield from notices.without_rows(starts)
        yield from notices.beside(starts)
        if given is None and any(start.is_own for start in starts):
            yield from _own_records(starts, options)
            return
        main = starts[0] if given is not None else _best(starts, options)
        chosen = Chosen(given) if given is not None else _choose(main, options)
        alike = [start for start in starts if start is main or _has_same_header(start, main)]
        for start in alike:
            yield from _records(start, chosen, options, sheet=start.table.name if len(alike) > 1 else None)
        others = _not_read(opened.tables, starts, alike)
        yield from notices.sheets_not_read(others, main.table.name, is_said=asked.sheet is not None)


def _own_records(starts: list[Start], options: ReadOptions) -> Iterator[Record]:
    """Yield the records of tables of our own: all that have the mark, or have lost it."""
    texts: dict[str, str] = {}
    tables: list[Start] = []
    others: list[Start] = []
    for start in starts:
        if start.is_own and start.table.name == LONG_TEXTS:
            texts = read_long_texts(start.columns, start.rows)
        elif _is_own(start):
            tables.append(start)
        elif start.table.name != COVER:
            others.append(start)
    yield from notices.sheets_not_ours(others)
    for start in tables:
        chosen = Chosen(parse_mapping(own_mapping(start.columns)), OWN)
        if options.kind in ("all", chosen.mapping.kind):
            if start.table.name is not None:
                start.rows = put_long_texts(start.rows, texts, len(start.columns))
            yield from _records(start, chosen, options, sheet=None)


def inspect_table_file(file: BinaryIO, options: ReadOptions, format_name: str) -> Inspection:
    """Return what a CSV file or a workbook looks like, with the likeliest mapping. Raise Unreadable."""
    given = _given(options)
    asked = _asked(options, given)
    with _open(file, asked, format_name) as opened:
        starts = _starts(opened.tables, asked)
        main = starts[0] if given is not None else _best(starts, options)
        chosen = Chosen(given) if given is not None else _choose(main, options)
        mapping = chosen.mapping.model_dump(exclude_none=True, exclude_defaults=True)
        mapping = {"version": 1, "format": format_name, **mapping, "header_row": main.header_row}
        if (
            main.table.name is not None
            and len(opened.tables) > 1
            and not any(_has_same_header(start, main) for start in starts if start is not main)
        ):
            mapping["sheet"] = main.table.name
        if asked.sheet is not None:
            mapping["sheet"] = main.table.name
        if opened.dialect is not None:
            mapping |= {"encoding": opened.encoding, "delimiter": opened.dialect["delimiter"]}
        alike = [start for start in starts if start is main or _has_same_header(start, main)]
        others = _not_read(opened.tables, starts, alike)
        not_read = notices.sheets_not_read(others, main.table.name, is_said=asked.sheet is not None)
        names = {start.table.name: start for start in (*starts, *others)}
        return Inspection(
            format_name,
            encoding=opened.encoding,
            dialect=opened.dialect,
            sheets=[
                {
                    "name": table.name,
                    "hidden": table.is_hidden,
                    "read": any(start.table is table for start in alike),
                    "columns": len(names[table.name].columns) if table.name in names else 0,
                }
                for table in opened.tables
                if table.name is not None
            ],
            columns=describe(main, chosen),
            mapping=mapping,
            preset=chosen.preset,
            warnings=[
                {"code": notice.code, "message": notice.message}
                for notice in [
                    *opened.warnings,
                    *notices.without_rows(starts),
                    *notices.beside(starts),
                    *notices.about(main, chosen),
                    *(() if chosen.preset == OWN else not_read),
                ]
            ],
        )


def _given(options: ReadOptions) -> Mapping | None:
    if options.mapping is None or "preset" in options.mapping:
        return None
    try:
        return parse_mapping(options.mapping)
    except Invalid as problem:
        raise Unreadable(f"The mapping is not valid: {problem.detail}", code="invalid_mapping") from None


def _asked(options: ReadOptions, given: Mapping | None) -> _Asked:
    def said(name: str) -> Any:
        value = getattr(options, name)
        return getattr(given, name) if value is None and given is not None else value

    return _Asked(said("sheet"), said("header_row"), said("encoding"), said("delimiter"))


@contextmanager
def _open(file: BinaryIO, asked: _Asked, format_name: str) -> Iterator[_Opened]:
    if format_name == "xlsx":
        with open_workbook(file) as tables:
            yield _Opened(tables)
        return
    encoding = find_encoding(file, asked.encoding)
    delimiter = asked.delimiter or find_delimiter(file, encoding)
    table = Table(read_csv(file, encoding, delimiter))
    warnings = [Notice("encoding_guessed", encoding.warning, len(encoding.examples))] if encoding.warning else []
    yield _Opened([table], encoding.name, {"delimiter": delimiter, "quote": '"'}, warnings)


def _starts(tables: list[Table], asked: _Asked) -> list[Start]:
    """Return the tables that have a header, those of the sheet that is asked for if one is."""
    if asked.sheet is not None:
        named = [table for table in tables if table.name is not None and table.name.strip() == asked.sheet.strip()]
        if not named:
            names = listed([shown(table.name) for table in tables], "and")
            raise Unreadable(f"There is no sheet {shown(asked.sheet)}; there are {names}.", code="sheet_not_found")
        tables = named
    visible = [table for table in tables if not table.is_hidden] or tables
    starts = [start for table in visible if (start := _start(table, asked.header_row)) is not None]
    if not starts:
        raise Unreadable("The file has no table: no row of it says anything.", code="empty_file")
    return starts


def _not_read(tables: list[Table], starts: list[Start], read: list[Start]) -> list[Start]:
    """Return the sheets that are not read but have something to read, of which `starts` are begun."""
    others = [start for start in starts if not any(start is one for one in read)]
    for table in tables:
        if not any(start.table is table for start in starts):
            with suppress(Unreadable):
                start = _start(table, None)
                if start is not None:
                    others.append(start)
    return others


def _start(table: Table, header_row: int | None) -> Start | None:
    """Return where a table begins; None where it has no rows."""
    rows = limit_rows(table.rows)
    first: list[Row] = []
    broken: Unreadable | None = None
    size = 0
    is_whole = False
    try:
        for row in rows:
            first.append(row)
            size += sum(map(len, row.cells))
            if len(first) > _SAMPLED_ROWS or size > _SAMPLED_CHARACTERS:
                break
        else:
            is_whole = True
    except Unreadable as error:
        broken = error
    if not first:
        if broken is not None:
            raise broken
        return None
    at = _find_header(first, header_row)
    header = _with_names_above(first, at)
    below: Iterator[Row] = chain(first[at + 1 :], _raise(broken) if broken is not None else rows)
    is_own = has_mark(header)
    if is_own:
        header = without_mark(header)
        if table.name is None:
            below = decode_rows(below, len(header))
    columns = Columns(header)
    width = len(columns)
    sampled = [(row.cells + [""] * (width - len(row.cells)))[: max(width, len(row.cells))] for row in first[at + 1 :]]
    known = len(sampled) if is_whole else None
    return Start(
        table, first[at].number, Sample(columns, sampled), below, is_own, known, header_row is not None, first[:at]
    )


def _raise(error: Unreadable) -> Iterator[Row]:
    """Raise what was found in the first rows, when all before it was read."""
    raise error
    yield


def _find_header(rows: list[Row], header_row: int | None) -> int:
    """Return the place of the header: the row that is named, else the one that looks most like a header."""
    if header_row is not None:
        for at, row in enumerate(rows):
            if row.number == header_row:
                return at
        raise Unreadable(
            f"Row {header_row}, which is to be the header, is blank or missing.",
            code="header_not_found",
        )
    searched = rows[:_SEARCHED_ROWS]
    first = next((at for at, row in enumerate(searched) if sum(map(bool, row.cells)) > 1), 0)
    found = max(
        range(len(searched)),
        key=lambda at: (_looks_like_header(searched[at]) + _FIRST * (at == first) - 0.1 * at, -at),
    )
    return found + _has_second_row(rows, found)


def _has_second_row(rows: list[Row], at: int) -> bool:
    """Check whether below a header there is nothing but names, of which some stand where it has none."""
    if at + 1 == len(rows) or rows[at + 1].number != rows[at].number + 1 or has_mark(rows[at].cells):
        return False
    pairs = zip_longest(rows[at].cells, rows[at + 1].cells, fillvalue="")
    below = [(name, cell) for name, cell in pairs if cell.strip()]
    return (
        len(below) > 1
        and all(is_known_header(cell) for _, cell in below)
        and any(not name.strip() for name, _ in below)
    )


def _with_names_above(rows: list[Row], at: int) -> list[str]:
    """Return the cells of the header; a blank one is the cell above it, which reaches down in a header of two rows."""
    header, above = rows[at].cells, rows[at - 1] if at else None
    if above is None or above.number != rows[at].number - 1 or sum(map(bool, above.cells)) < 2 or has_mark(header):
        return header
    return [cell if cell.strip() else name for cell, name in zip_longest(header, above.cells, fillvalue="")]


def _looks_like_header(row: Row) -> float:
    """Return how much a row looks like names: those that are known count most, long texts count against it."""
    if has_mark(row.cells):
        return 10_000
    filled = [cell.strip() for cell in row.cells if cell.strip()]
    names = {cell.casefold() for cell in filled if len(cell) <= 80 and not cell.replace(".", "").isdecimal()}
    known = sum(is_known_header(cell) for cell in filled)
    known += 5 * (known < 2 and len(filled) > 1 and find_preset(Columns(row.cells)) is not None)
    long = sum(len(cell) > 80 for cell in filled)
    return 2.0 * known + 0.5 * min(len(names), 20) - 2 * long - 0.2 * (len(filled) - len(names))


def _best(starts: list[Start], options: ReadOptions) -> Start:
    """Return which sheet is read: the one that is recognised best, of those of the kind that is asked for."""
    of_kind: list[Start] = []
    if len(starts) > 1 and options.kind != "all" and options.mapping is None:
        by_themselves = replace(options, kind="all")
        of_kind = [start for start in starts if _choose(start, by_themselves).mapping.kind == options.kind]
    return max([start for start in of_kind if _recognised(start) >= _RECOGNISED] or starts, key=_recognised)


def _recognised(start: Start) -> float:
    """Return how much of a table is recognised."""
    if start.is_own:
        return 1000 - 500 * (start.table.name == LONG_TEXTS) + len(start.columns)
    known = sum(map(is_known_header, start.columns.header))
    preset = find_preset(start.columns) is not None
    return known + 10 * preset - (50 if not start.sample.rows else 0)


def _is_own(start: Start) -> bool:
    return start.is_own or has_our_names(start.columns.header, start.sample.rows)


def _choose(start: Start, options: ReadOptions) -> Chosen:
    """Return the mapping of a table for which none was given."""
    named = (options.mapping or {}).get("preset")
    if named == OWN or (named is None and _is_own(start)):
        return Chosen(parse_mapping(own_mapping(start.columns)), OWN)
    preset = find_preset(start.columns) if named is None else get_preset(named)
    kind = options.kind if options.kind != "all" else kind_of_all(start.sample) or "all"
    if preset is not None and (named is not None or kind in ("all", preset.mapping["kind"])):
        return Chosen(_parsed(_completed(resolve(preset, start.sample), start.sample)), preset.name)
    about = f"{options.file_name or ''} | {start.table.name or ''}"
    source_system = options.source_system or (preset.mapping["source_system"] if preset is not None else None)
    proposal: Proposal = propose(start.sample, kind=kind, about=about, source_system=source_system)
    return Chosen(_parsed(_completed(proposal.mapping, start.sample)), None, proposal.guesses)


def _completed(mapping: dict[str, Any], sample: Sample) -> dict[str, Any]:
    """Return a mapping with what all files have in common whose rows are sent once or again."""
    header = sample.columns.header
    if header and header[-1] == PROBLEM:
        mapping = {**mapping, "ignore": [*mapping.get("ignore", ()), sample.reference(len(header) - 1)]}
    return _with_key(mapping, sample)


def _with_key(mapping: dict[str, Any], sample: Sample) -> dict[str, Any]:
    """Return a mapping by which a file without ids can be imported again, where its titles tell its items apart."""
    fields = mapping["fields"]
    if mapping["kind"] == "links" or "external_id" in fields:
        return mapping
    places = {
        name: at
        for name in ("title", "module")
        if "column" in fields.get(name, {}) and (at := sample.columns.find(fields[name]["column"])) is not None
    }
    if "title" not in places or "fill_down" in fields.get("module", {}):
        return mapping
    found = [tuple(cells[at] for at in places.values()) for cells in sample.rows if cells[places["title"]].strip()]
    return {**mapping, "key": list(places)} if len(set(found)) == len(found) else mapping


def _parsed(content: dict[str, Any]) -> Mapping:
    return parse_mapping(content)


def _records(start: Start, chosen: Chosen, options: ReadOptions, *, sheet: str | None) -> Iterator[Record]:
    mapper = Mapper(
        chosen.mapping,
        start.columns,
        source_system=options.source_system,
        sheet=sheet,
        is_own=chosen.preset == OWN,
        has_mark=start.is_own,
        related=_related(start, chosen),
        blocks=_blocks(start, chosen),
    )
    yield from notices.about(start, chosen)
    for record in mapper.read(with_merged(start.rows, start.table.merges())):
        if isinstance(record, Item | Link):
            record.sheet = start.table.name
        yield record


def _related(start: Start, chosen: Chosen) -> frozenset[int]:
    """Return the columns of a table that name other items of the same kind; of our own tables none does."""
    if chosen.preset == OWN or chosen.mapping.kind == "links":
        return frozenset()
    rule = chosen.mapping.fields.get("external_id")
    column = rule.column if isinstance(rule, FieldRule) else None
    return related_columns(start.sample, None if column is None else start.columns.find(column))


def _blocks(start: Start, chosen: Chosen) -> frozenset[int]:
    """Return the columns that say once for several test cases which requirement they are linked with."""
    links = chosen.mapping.links
    if chosen.mapping.kind != "test_cases" or links is None or links.requirements is None:
        return frozenset()
    column = links.requirements.column
    at = None if column is None else start.columns.find(column)
    return frozenset({at}) if at is not None and start.sample.has_blocks(at) else frozenset()


def _has_same_header(start: Start, main: Start) -> bool:
    return [name.casefold() for name in start.columns.header] == [name.casefold() for name in main.columns.header]
