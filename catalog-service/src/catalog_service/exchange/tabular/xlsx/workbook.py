"""The parts of a workbook: which sheets it has, and how their numbers are to be taken."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import BinaryIO

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.refusals import archive_of
from catalog_service.exchange.tabular.table import Merge, Table
from catalog_service.exchange.tabular.xlsx.merges import read_merges
from catalog_service.exchange.tabular.xlsx.sheets import read_rows
from catalog_service.exchange.tabular.xlsx.values import SharedTexts, integer, is_on, kind_of_format
from chassis.files.archives import Archive
from chassis.files.xml_events import XmlHandler, read_xml

_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEAD = 1024
_PAGE = re.compile(rb"(\xef\xbb\xbf)?\s*<[?!a-z]", re.IGNORECASE)
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DRAWN = ("spreadsheetDrawing}pic", "spreadsheetDrawing}sp", "spreadsheetDrawing}graphicFrame")
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"


def looks_like_workbook(archive: Archive) -> bool:
    """Check whether an archive is a workbook."""
    return "[Content_Types].xml" in archive.names and any(name.startswith("xl/") for name in archive.names)


def looks_like_old_workbook(file: BinaryIO) -> bool:
    """Check whether a file is one that people take for a workbook that can be read."""
    return file.read(len(_OLD)) == _OLD


@contextmanager
def open_workbook(file: BinaryIO) -> Iterator[list[Table]]:
    """Open a workbook and give its sheets; their rows are read as they are taken. Raise Unreadable for others."""
    file.seek(0)
    head = file.read(_HEAD)
    if head.startswith(_OLD):
        raise Unreadable("This is an .xls file, or a workbook with a password. Save it as .xlsx without a password.")
    if _PAGE.match(head):
        raise Unreadable(
            "This is a web page or XML under the name of a workbook, as some tools export it. Open it in a spreadsheet"
            " program and save it as .xlsx."
        )
    with archive_of(file) as archive:
        yield _tables(archive)


def _tables(archive: Archive) -> list[Table]:
    if "mimetype" in archive.names and "content.xml" in archive.names:
        raise Unreadable("This is an OpenDocument file. Save it as .xlsx.")
    path = _find_workbook(archive)
    book = _Book()
    _read(archive, path, book)
    relations = _relations(archive, path)
    texts = _texts(archive, next((to for kind, to in relations.values() if kind == "sharedStrings"), None))
    styles = _Styles()
    if (to := next((to for kind, to in relations.values() if kind == "styles"), None)) in archive.names:
        _read(archive, to, styles)
    tables = []
    for sheet in book.sheets:
        kind, to = relations.get(sheet.relation, ("", ""))
        if kind == "worksheet" and to in archive.names:
            rows = read_rows(archive.open, to, texts, styles, book.from_1904)
            beside = _Beside(archive, to)
            tables.append(
                Table(
                    rows,
                    sheet.name,
                    is_hidden=sheet.is_hidden,
                    comments=beside.comments,
                    addresses=beside.addresses,
                    drawings=beside.drawings,
                    merges=cache(partial(_merges, archive, to)),
                )
            )
    if not tables:
        raise Unreadable("The workbook has no sheet.")
    return tables


def _merges(archive: Archive, path: str) -> list[Merge]:
    with archive.open(path) as sheet:
        return read_merges(sheet)


def _find_workbook(archive: Archive) -> str:
    path = next((to for kind, to in _relations(archive, "").values() if kind == "officeDocument"), "xl/workbook.xml")
    if path not in archive.names:
        raise Unreadable("This is no XLSX workbook: it is an archive of something else, or cut off.")
    return path


def _texts(archive: Archive, path: str | None) -> Callable[[], SharedTexts]:
    """Return what opens the shared texts when the first is asked for."""

    @cache
    def texts() -> SharedTexts:
        if path not in archive.names:
            raise Unreadable("The workbook is damaged: its texts are missing.")
        return SharedTexts(archive.open(path))

    return texts


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    relation: str
    is_hidden: bool


class _Book(XmlHandler):
    def __init__(self) -> None:
        self.sheets: list[_Sheet] = []
        self.from_1904 = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if name == "sheet":
            relation = attributes.get(_RELATION) or attributes.get(_STRICT_RELATION, "")
            hidden = attributes.get("state", "visible") != "visible"
            self.sheets.append(_Sheet(attributes.get("name", ""), relation, hidden))
        elif name == "workbookPr":
            self.from_1904 = attributes.get("date1904", "0") in ("1", "true")


class _Styles(XmlHandler):
    """By the cells' style: `kinds` are what number formats make of numbers, `struck` the styles that strike through."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.struck: set[int] = set()
        self._fonts = 0
        self._struck_fonts: set[int] = set()
        self._is_of_fonts = False
        self._codes: dict[int, str] = {}
        self._is_of_cells = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if name == "numFmt":
            self._codes[integer(attributes.get("numFmtId")) or 0] = attributes.get("formatCode", "")
        elif name == "fonts":
            self._is_of_fonts = True
        elif name == "font" and self._is_of_fonts:
            self._fonts += 1
        elif name == "strike" and self._is_of_fonts and is_on(attributes.get("val")):
            self._struck_fonts.add(self._fonts - 1)
        elif name == "cellXfs":
            self._is_of_cells = True
        elif name == "xf" and self._is_of_cells:
            if integer(attributes.get("fontId")) in self._struck_fonts:
                self.struck.add(len(self.kinds))
            number = integer(attributes.get("numFmtId")) or 0
            self.kinds.append(kind_of_format(number, self._codes.get(number)))

    def end(self, tag: str) -> None:
        if tag.endswith("}cellXfs"):
            self._is_of_cells = False
        elif tag.endswith("}fonts"):
            self._is_of_fonts = False


class _Comments(XmlHandler):
    def __init__(self) -> None:
        self.count = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.count += tag.endswith("}comment")


class _Drawings(XmlHandler):
    def __init__(self) -> None:
        self.count = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.count += tag.startswith("{") and tag.endswith(_DRAWN)


class _Beside:
    """What a sheet has beside the texts of its cells.

    How many comments, how many pictures and shapes, and how many addresses that cells lead to.
    """

    def __init__(self, archive: Archive, path: str) -> None:
        comments, drawings, relations = _Comments(), _Drawings(), _relations_of(archive, path)
        handlers: dict[str, XmlHandler] = {"comments": comments, "drawing": drawings}
        for kind, to in relations.found.values():
            if kind in handlers and to in archive.names:
                _read(archive, to, handlers[kind])
        self.comments = comments.count
        self.drawings = drawings.count
        self.addresses = relations.addresses


class _Relations(XmlHandler):
    def __init__(self, folder: str) -> None:
        self.found: dict[str, tuple[str, str]] = {}
        self.addresses = 0
        self._folder = folder

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if not tag.endswith("}Relationship"):
            return
        if attributes.get("TargetMode") == "External":
            self.addresses += attributes.get("Type", "").endswith("/hyperlink")
        else:
            target = posixpath.normpath(posixpath.join("/", self._folder, attributes.get("Target", ""))).lstrip("/")
            self.found[attributes.get("Id", "")] = (attributes.get("Type", "").rpartition("/")[2], target)


def _relations(archive: Archive, path: str) -> dict[str, tuple[str, str]]:
    """Return the kind and the path of what a part names, by id."""
    return _relations_of(archive, path).found


def _relations_of(archive: Archive, path: str) -> _Relations:
    folder, name = posixpath.split(path)
    handler = _Relations(folder)
    place = posixpath.join(folder, "_rels", f"{name}.rels")
    if place in archive.names:
        _read(archive, place, handler)
    return handler


def _read(archive: Archive, path: str, handler: XmlHandler) -> None:
    for _ in read_xml(archive.open(path), handler):
        pass
