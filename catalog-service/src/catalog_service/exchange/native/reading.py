"""Reads records from JSON: a line an object (NDJSON), or one document."""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import orjson

from catalog_service.exchange.broken_json import reason_of
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.layout import END, LEVEL, PROFILE, SCHEMA, SECTIONS, Count, check_head, cut_off, is_head
from catalog_service.exchange.native import entries
from catalog_service.exchange.native.documents import open_document
from catalog_service.exchange.native.levels import levels_of
from catalog_service.exchange.native.members import LeftMembers
from catalog_service.exchange.native.schemas import TEXT, schemas_of
from catalog_service.exchange.records import Item, Notice, Record, Unreadable
from chassis.core.wording import shown
from chassis.web.strict_json import find_duplicate

MAX_RECORD = 8 * 1024 * 1024
"""Bytes of one line or object: an item that the API takes has a fifth of it at most."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Kinds:
    """Leaves out the kinds that were not asked for, and counts them."""

    def __init__(self, kind: str) -> None:
        self._left_out: dict[str, int] = {}
        self._wanted = {kind, "revisions"} if kind in SECTIONS.values() else set(SECTIONS.values())
        if kind == SECTIONS["requirement"]:
            self._wanted |= {SECTIONS["relation"], SECTIONS[LEVEL]}
        if kind == SECTIONS["link"]:
            self._wanted.add(SECTIONS["reference"])

    def take(self, kind: str) -> bool:
        section = SECTIONS[kind]
        if section in self._wanted:
            return True
        self._left_out[section] = self._left_out.get(section, 0) + 1
        return False

    def notices(self) -> Iterator[Notice]:
        for section, count in self._left_out.items():
            name = section.replace("_", " ")
            yield Notice("other_kind", f"{count} {name} of the file were left out: others were asked for.", count)


def read_lines(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of NDJSON: of our own, complete up to its end line, or of plain objects."""
    file.seek(0)
    lines = _lines(file)
    try:
        line, offset, content = next(lines)
    except StopIteration:
        raise Unreadable("The file is empty.", line=1) from None
    head = _parsed(content, line, offset)
    if is_head(head):
        check_head(head)
        yield from _own_lines(lines, content, head.get(PROFILE), options)
    else:
        yield from _plain_objects(_all_parsed([(line, offset, content)], lines), options)


def _own_lines(
    lines: Iterator[tuple[int, int, bytes]], head: bytes, profile: object, options: ReadOptions
) -> Iterator[Record]:
    count, kinds, row, line = Count(), _Kinds(options.kind), 0, 1
    schemas: list[object] = []
    levels: list[dict[str, Any]] = []
    count.sha256.update(head)
    for line, offset, content in lines:
        if not content.strip():
            count.sha256.update(content)
            continue
        try:
            entry = _parsed(content, line, offset)
        except Unreadable as problem:
            raise problem if content.endswith(b"\n") else cut_off(line=line) from None
        kind = entry.get(entries.KIND)
        if kind == END:
            count.check(entry, line=line)
            _check_nothing_behind(lines)
            yield from schemas_of(schemas)
            yield from levels_of(levels)
            yield from kinds.notices()
            return
        if not isinstance(kind, str) or kind not in SECTIONS:
            raise Unreadable(f"Line {line} says no kind of record that is known.", line=line)
        count.sha256.update(content)
        count.records[SECTIONS[kind]] += 1
        row += 1
        if kind == SCHEMA:
            schemas.append(entry.get(TEXT))
        elif kinds.take(kind):
            if kind == LEVEL:
                levels.append(entry)
            else:
                yield entries.exported(profile, kind, entry, row, line)
    raise cut_off(line=line)


def _check_nothing_behind(lines: Iterator[tuple[int, int, bytes]]) -> None:
    for line, _, content in lines:
        if content.strip():
            raise Unreadable("The file goes on behind its end line.", line=line)


def read_document(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a JSON document: of our own, complete up to its end, or a list of plain objects."""
    document = open_document(file, MAX_RECORD, is_beginning=options.is_beginning)
    if not is_head(document.head):
        yield from _plain_objects(_numbered(document.entries()), options)
        yield from document.others.notices()
        return
    check_head(document.head)
    kinds = _Kinds(options.kind)
    schemas: list[object] = []
    levels: list[dict[str, Any]] = []
    for row, (_, entry) in enumerate(document.entries(), start=1):
        kind = entry.get(entries.KIND)
        if not isinstance(kind, str) or kind not in SECTIONS:
            raise Unreadable(f"Object {row} says no kind of record that is known.")
        document.count.records[SECTIONS[kind]] += 1
        if kind == SCHEMA:
            schemas.append(entry.get(TEXT))
        elif kinds.take(kind):
            if kind == LEVEL:
                levels.append(entry)
            else:
                yield entries.exported(document.head.get(PROFILE), kind, entry, row, None)
    document.check_end()
    yield from schemas_of(schemas)
    yield from levels_of(levels)
    yield from kinds.notices()


def _numbered(found: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[None, int, dict[str, Any]]]:
    """Yield objects, each with its number, and with the kind that the list in which it stands has said, if any."""
    for row, (section, entry) in enumerate(found, start=1):
        if section in SECTIONS.values():
            entry.setdefault(entries.KIND, section)
        yield None, row, entry


def _plain_objects(found: Iterable[tuple[int | None, int, dict[str, Any]]], options: ReadOptions) -> Iterator[Record]:
    kinds, left = _Kinds(options.kind), LeftMembers()
    row = 0
    for line, row, entry in found:
        kind = entries.kind_of(entry, options, line=line, row=row)
        if kinds.take(kind):
            rest = entries.rest_of(kind, entry, has_levels=bool(options.levels))
            record = entries.plain(kind, entry, row, line, options.source_system, rest)
            if isinstance(record, Item):
                left.keep(record, rest)
            else:
                left.drop(rest)
            yield record
    if not row:
        yield Notice("no_rows", "No object is in the file: there is nothing to import.", unclean=True)
    yield from kinds.notices()
    yield from left.notices()


def _all_parsed(
    first: list[tuple[int, int, bytes]], lines: Iterator[tuple[int, int, bytes]]
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    row = 0
    for some in (first, lines):
        for line, offset, content in some:
            if content.strip():
                row += 1
                yield line, row, _parsed(content, line, offset)


def _lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Yield the lines of a file, each with its number and the offset of its first byte."""
    offset = 0
    number = 0
    while content := file.readline(MAX_RECORD + 1):
        number += 1
        if len(content) > MAX_RECORD:
            raise Unreadable(
                f"Line {number} is longer than {MAX_RECORD // 2**20} MiB: no item is that large.",
                line=number,
                offset=offset,
            )
        length = len(content)
        yield number, offset, content.removeprefix(_BYTE_ORDER_MARK) if number == 1 else content
        offset += length


def _parsed(content: bytes, line: int, offset: int) -> dict[str, Any]:
    try:
        entry = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Unreadable(
            f"Line {line} is no JSON: {reason_of(error)}, at column {error.colno}.",
            line=line,
            column=error.colno,
            offset=offset + len(content.decode(errors="replace")[: error.pos].encode()),
        ) from None
    if not isinstance(entry, dict):
        raise Unreadable(f"Line {line} is JSON, but not an object: {{...}} is expected.", line=line, offset=offset)
    if (name := find_duplicate(content)) is not None:
        raise Unreadable(f"Line {line} has {shown(name)} twice in an object; leave one.", line=line, offset=offset)
    return entry
