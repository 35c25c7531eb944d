"""Reads tables: arranges those of a file, and makes records of their rows."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from catalog_service.exchange.formats import Inspection, ReadOptions
from catalog_service.exchange.records import Notice, Record, Unreadable
from catalog_service.exchange.tabular import notices
from catalog_service.exchange.tabular.arranging import arrange
from catalog_service.exchange.tabular.described import describe, describe_types, show_tables
from catalog_service.exchange.tabular.keys import Keys
from catalog_service.exchange.tabular.mapping import Mapping
from catalog_service.exchange.tabular.opening import Asked, Opened, asked_of, open_tables
from catalog_service.exchange.tabular.own import LONG_TEXTS, put_long_texts, read_long_texts
from catalog_service.exchange.tabular.parts import keys_of, read_parts
from catalog_service.exchange.tabular.proposed_parts import has_same_header
from catalog_service.exchange.tabular.record_mapping import RecordMapping, SheetRule, parse_any_mapping
from catalog_service.exchange.tabular.start import Arranged, Chosen, Part
from chassis.core.problems import Invalid
from chassis.core.wording import shown


def read_table_file(file: BinaryIO, options: ReadOptions, format_name: str) -> Iterator[Record]:
    """Yield the records of a CSV file or a workbook. Raise Unreadable."""
    given = _given(options)
    asked = asked_of(options, given)
    with open_tables(file, asked, format_name) as opened:
        yield from opened.warnings
        arranged = arrange(opened.tables, asked, given, options)
        yield from notices.without_rows(arranged.starts)
        yield from notices.beside(arranged.starts)
        if arranged.is_own:
            yield from _own_records(arranged, options)
            return
        keys = keys_of(arranged.parts)
        for parts in arranged.by_table():
            yield from _named_by_sheet(read_parts(parts, options, keys), parts[0], arranged)
        yield from notices.not_read(arranged)


def _named_by_sheet(records: Iterator[Record], part: Part, arranged: Arranged) -> Iterator[Record]:
    """Yield records; of several sheets, what is to be said says of which."""
    has_many = any(one.start is not part.start for one in arranged.parts)
    for record in records:
        if has_many and isinstance(record, Notice):
            record.message = f"Sheet {shown(part.start.table.name)}: {record.message}"
        yield record


def _own_records(arranged: Arranged, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of tables of our own: all that have the mark, or have lost it."""
    texts: dict[str, str] = {}
    for start in arranged.starts:
        if start.is_own and start.table.name == LONG_TEXTS:
            texts = read_long_texts(start.columns, start.rows)
    yield from notices.sheets_not_ours(arranged.others)
    for part in arranged.parts:
        if options.kind in ("all", part.chosen.mapping.kind):
            start = part.start
            if start.table.name is not None:
                start.rows = put_long_texts(start.rows, texts, len(start.columns))
            yield from read_parts([part], options, Keys())


def inspect_table_file(file: BinaryIO, options: ReadOptions, format_name: str) -> Inspection:
    """Return what a CSV file or a workbook looks like, with the likeliest mapping. Raise Unreadable."""
    given = _given(options)
    asked = asked_of(options, given)
    with open_tables(file, asked, format_name) as opened:
        arranged = arrange(opened.tables, asked, given, options)
        main, chosen = arranged.main, arranged.chosen
        begun = {id(start.table): start for start in (*arranged.starts, *arranged.others)}
        said = [
            *opened.warnings,
            *notices.without_rows(arranged.starts),
            *notices.beside(arranged.starts),
            *(
                notice
                for parts in arranged.by_table()
                for notice in _named_by_sheet(_about(parts), parts[0], arranged)
                if isinstance(notice, Notice)
            ),
            *(() if arranged.is_own else notices.not_read(arranged)),
        ]
        return Inspection(
            format_name,
            encoding=opened.encoding,
            dialect=opened.dialect,
            sheets=[
                {
                    "name": table.name,
                    "hidden": table.is_hidden,
                    "read": any(part.start.table is table for part in arranged.parts),
                    "columns": len(begun[id(table)].columns) if id(table) in begun else 0,
                    "role": next((part.chosen.role for part in arranged.parts if part.start.table is table), "ignore"),
                }
                for table in opened.tables
                if table.name is not None
            ],
            columns=describe(main, chosen),
            parts=[
                {
                    "sheet": part.start.table.name,
                    "role": part.chosen.role,
                    "header_row": part.start.header_row,
                    "preset": part.chosen.preset,
                    "columns": describe(part.start, part.chosen),
                }
                for part in arranged.parts
            ],
            tables=show_tables(begun[id(table)] for table in opened.tables if id(table) in begun),
            types=[
                described
                for parts in arranged.by_table()
                if (rule := parts[0].chosen.types) is not None
                for described in describe_types(parts[0].start, rule)
            ],
            mapping=_mapping_of_main(arranged, chosen, opened, asked, format_name),
            record_mapping=_mapping_of_all(arranged, given, opened, format_name),
            preset=chosen.preset,
            warnings=[{"code": notice.code, "message": notice.message} for notice in said],
        )


def _about(parts: list[Part]) -> Iterator[Record]:
    yield from notices.about(parts[0].start, [part.chosen for part in parts])


def _mapping_of_main(
    arranged: Arranged, chosen: Chosen, opened: Opened, asked: Asked, format_name: str
) -> dict[str, Any] | None:
    """Return the mapping of the main table alone, in version 1; None of a matrix, for which that has no words."""
    if chosen.matrix is not None:
        return None
    main = arranged.main
    mapping = {"version": 1, "format": format_name, **_content(chosen.mapping), "header_row": main.header_row}
    has_others_alike = any(has_same_header(start, main) for start in arranged.starts if start is not main)
    if asked.sheet is not None or (main.table.name is not None and len(opened.tables) > 1 and not has_others_alike):
        mapping["sheet"] = main.table.name
    return mapping | _dialect(opened)


def _mapping_of_all(
    arranged: Arranged, given: Mapping | RecordMapping | None, opened: Opened, format_name: str
) -> dict[str, Any]:
    """Return the mapping of all tables, in version 2: those that are not read are ignored by it."""
    contents = [_content(part.chosen.mapping) for part in arranged.parts]
    keys = [content.pop("key") for content in contents if "key" in content]
    if isinstance(given, RecordMapping) and given.key is not None and not keys:
        fields = {name for content in contents for name in content.get("fields", ())}
        keys = [given.key] if fields.issuperset(given.key) else []
    common = {"key": keys[0]} if keys and all(key == keys[0] for key in keys) else {}
    if all("external_id_prefix" in content for content in contents):
        common["external_id_prefix"] = contents[0]["external_id_prefix"]
    sheets: list[dict[str, Any]] = []
    for part, content in zip(arranged.parts, contents, strict=True):
        start = part.start
        rules = {name: value for name, value in content.items() if name in SheetRule.model_fields}
        where = {"sheet": start.table.name, "role": part.chosen.role, "header_row": start.header_row}
        if part.chosen.matrix is not None:
            rules = {"matrix": part.chosen.matrix.model_dump(exclude_defaults=True)}
        if part.chosen.types is not None:
            rules["types"] = part.chosen.types.model_dump()
        if part.chosen.repeats:
            rules["repeats"] = True
        sheets.append({**where, **rules, "sheet": start.table.name})
    unread = [start.table.name for start in (*arranged.others, *arranged.ignored)]
    sheets += [{"sheet": name, "role": "ignore"} for name in unread]
    named = [{name: value for name, value in sheet.items() if value is not None} for sheet in sheets]
    return {"version": 2, "format": format_name, **common, **_dialect(opened), "sheets": named}


def _content(mapping: Mapping) -> dict[str, Any]:
    return mapping.model_dump(exclude_none=True, exclude_defaults=True)


def _dialect(opened: Opened) -> dict[str, Any]:
    if opened.dialect is None:
        return {}
    return {"encoding": opened.encoding, "delimiter": opened.dialect["delimiter"]}


def _given(options: ReadOptions) -> Mapping | RecordMapping | None:
    if options.mapping is None or "preset" in options.mapping:
        return None
    try:
        return parse_any_mapping(options.mapping)
    except Invalid as problem:
        raise Unreadable(f"The mapping is not valid: {problem.detail}", code="invalid_mapping") from None
