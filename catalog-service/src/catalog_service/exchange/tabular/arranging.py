"""Arranges the tables of a file: which of them are read, each by which mapping, and which are not."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.choosing import best, choose_of_kind, is_own
from catalog_service.exchange.tabular.header import find_start
from catalog_service.exchange.tabular.mapping import Mapping, parse_mapping
from catalog_service.exchange.tabular.opening import Asked
from catalog_service.exchange.tabular.own import COVER, LONG_TEXTS, own_mapping
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.parts import keys_of
from catalog_service.exchange.tabular.proposed_links import choose_links, choose_matrix, chosen_matrix
from catalog_service.exchange.tabular.proposed_parts import has_same_header, parts_of, propose_parts
from catalog_service.exchange.tabular.record_mapping import RecordMapping, SheetRule
from catalog_service.exchange.tabular.start import Arranged, Chosen, Part, Start
from catalog_service.exchange.tabular.table import Table
from chassis.core.wording import listed, shown


def arrange(tables: list[Table], asked: Asked, given: Mapping | RecordMapping | None, options: ReadOptions) -> Arranged:
    """Return which tables of a file are read, and how: as a mapping says, else all that have items or links.

    Raise Unreadable.
    """
    if isinstance(given, RecordMapping):
        return _arrange_as_said(tables, asked, given, replace(options, kind="all", mapping=None))
    starts = _starts(tables, asked)
    if given is None and any(start.is_own for start in starts):
        return _arrange_own(starts, options)
    is_said = asked.sheet is not None
    if given is not None:
        main = starts[0]
        parts = parts_of([start for start in starts if start is main or has_same_header(start, main)], Chosen(given))
    else:
        parts = propose_parts(starts, options)
        main = _main(starts, parts, options)
    return Arranged(starts, parts, main, _not_read(tables, starts, [part.start for part in parts]), is_said=is_said)


def _main(starts: list[Start], parts: list[Part], options: ReadOptions) -> Start:
    """Return the table that says most of what is read: no matrix, if there is another one."""
    read = [part.start for part in parts if part.chosen.matrix is None] or [part.start for part in parts]
    return best([start for start in starts if any(start is one for one in read)], options)


def _arrange_own(starts: list[Start], options: ReadOptions) -> Arranged:
    """Return a table or a workbook of our own: all tables with the mark, or such as have lost it."""
    ours = [start for start in starts if is_own(start) and not _is_of_long_texts(start)]
    if not ours:
        raise Unreadable(f"The workbook has the sheet {LONG_TEXTS!r} of an export of ours, but none of its tables.")
    parts = [Part(start, Chosen(parse_mapping(own_mapping(start.columns, options.fields)), OWN)) for start in ours]
    others = [start for start in starts if not is_own(start) and start.table.name != COVER]
    return Arranged(starts, parts, best(ours, ReadOptions()), others, is_own=True)


def _is_of_long_texts(start: Start) -> bool:
    return start.is_own and start.table.name == LONG_TEXTS


def _propose_open(open_tables: dict[str, list[Start]], said: list[Part], options: ReadOptions) -> list[Part]:
    """Return how tables are read of which at most the role is said, beside those of which all is. Raise Unreadable."""
    parts = [
        Part(start, choose_of_kind(start, role, options))
        for role in ("requirements", "test_cases")
        for start in open_tables.get(role, ())
    ]
    keys = keys_of([*said, *parts])
    parts += [
        Part(start, choose_links(start.sample, keys) or choose_of_kind(start, "links", options))
        for start in open_tables.get("links", ())
    ]
    for start in open_tables.get("matrix", ()):
        matrix = choose_matrix(start.sample, keys)
        if matrix is None:
            message = (
                f"{shown(start.table.name or 'The table')} is no matrix: that has ids of requirements or test cases in"
                " its header and in a column, and marks where they meet. Choose another role for it."
            )
            raise Unreadable(message, code="no_matrix")
        parts.append(Part(start, matrix))
    if by_themselves := open_tables.get("auto"):
        others = [*said, *parts]
        parts += propose_parts(by_themselves, options, keys_of(others), has_main=not others)
    return parts


def _arrange_as_said(tables: list[Table], asked: Asked, given: RecordMapping, options: ReadOptions) -> Arranged:
    parts: list[Part] = []
    ignored: list[Start] = []
    starts: list[Start] = []
    open_tables: defaultdict[str, list[Start]] = defaultdict(list)
    for rule in given.sheets:
        table = tables[0] if rule.sheet is None else _named(tables, rule.sheet)
        if asked.sheet is not None and (table.name or "").strip() != asked.sheet.strip():
            continue
        start = next((one for one in starts if one.table is table), None)
        if start is None:
            start = _begin(table, asked.header_row or rule.header_row)
            if start is None:
                continue
            starts.append(start)
        if rule.role == "ignore":
            ignored.append(start)
        elif rule.is_open:
            open_tables[rule.role].append(start)
        else:
            parts.append(Part(start, _said(rule, given, start)))
    proposed = _propose_open(open_tables, parts, options)
    read = [part.start for part in proposed]
    opened = [start for of_role in open_tables.values() for start in of_role]
    ignored += [start for start in opened if not any(start is one for one in read)]
    parts = sorted([*parts, *proposed], key=lambda part: [part.start is start for start in starts].index(True))
    if not parts:
        message = "The mapping has nothing read: each sheet that it names is ignored, blank, or not asked for."
        raise Unreadable(message, code="empty_file")
    for part in parts:
        if any(has_same_header(one.start, part.start) for one in parts if one.start is not part.start):
            part.sheet = part.start.table.name
    others = _begun(tables, starts)
    return Arranged(starts, parts, parts[0].start, others, ignored, is_said=asked.sheet is not None)


def _said(rule: SheetRule, given: RecordMapping, start: Start) -> Chosen:
    """Return how a table is read as a mapping says it."""
    if rule.matrix is not None:
        return chosen_matrix(rule.matrix, start.sample)
    return Chosen(given.of_sheet(rule), types=rule.types, repeats=rule.repeats, is_said=True)


def _starts(tables: list[Table], asked: Asked) -> list[Start]:
    """Return the tables that have a header, those of the sheet that is asked for if one is."""
    if asked.sheet is not None:
        tables = [_named(tables, asked.sheet)]
    visible = [table for table in tables if not table.is_hidden] or tables
    starts = [start for table in visible if (start := _begin(table, asked.header_row)) is not None]
    if not starts:
        raise Unreadable("The file has no table: no row of it says anything.", code="empty_file")
    return starts


def _named(tables: list[Table], name: str) -> Table:
    found = [table for table in tables if table.name is not None and table.name.strip() == name.strip()]
    if len(found) > 1:
        message = (
            f"There are {len(found)} sheets called {shown(name)}. Give each a name of its own, to say which is meant."
        )
        raise Unreadable(message, code="sheet_not_unique")
    if found:
        return found[0]
    names = listed([shown(table.name) for table in tables], "and")
    raise Unreadable(f"There is no sheet {shown(name)}; there are {names}.", code="sheet_not_found")


def _begin(table: Table, header_row: int | None) -> Start | None:
    """Return where a table begins; None where it has no rows. Raise Unreadable, which names its sheet."""
    try:
        return find_start(table, header_row)
    except Unreadable as error:
        if table.name is not None:
            error.message = f"Sheet {shown(table.name)}: {error.message}"
        raise


def _not_read(tables: list[Table], starts: list[Start], read: list[Start]) -> list[Start]:
    """Return the sheets that are not read but have something to read, of which `starts` are begun."""
    return [*(start for start in starts if not any(start is one for one in read)), *_begun(tables, starts)]


def _begun(tables: Iterable[Table], starts: list[Start]) -> list[Start]:
    """Return the beginnings of the tables that have one, beside `starts`."""
    others = []
    for table in tables:
        if not any(start.table is table for start in starts):
            with suppress(Unreadable):
                start = find_start(table, None)
                if start is not None:
                    others.append(start)
    return others
