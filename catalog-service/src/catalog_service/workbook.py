"""Excel workbooks written line by line, in constant memory; a text in them is a text, never a formula or a link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZipFile

from chassis.files.archive_writing import begin_entry, write_archive

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook as Frame
    from xlsxwriter.worksheet import Worksheet

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
LAST_ROW = 1_048_575
"""Index of the last row that a sheet can have."""
_BLOCK = 256 * 1024
_DIMENSION = re.compile(rb"<dimension [^>]*>")
_PART = "xl/worksheets/sheet{}.xml"
_FIRST = ("_rels/.rels", "docProps/core.xml")
"""By these, and by a part of `xl` as the third, programs know an archive for a workbook."""
_TEXT, _END_OF_TEXT = '<c t="inlineStr"><is><t>', "</t></is></c>"
"""What stands around the text of most cells."""
_ID_WIDTH, _TITLE_WIDTH, _WIDTH = 38, 50, 16

# What XML cannot hold is spelled _xHHHH_ in a workbook, and so is the beginning of what looks like that.
_SPECIAL = re.compile(r"[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

Page = Callable[["Frame", "Worksheet", "Format"], None]
"""Writes a sheet of a few cells; given the format of heads."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What a workbook says of itself: its title, when it was made, and pages, which stand behind the first sheet.

    `heading` returns what is written above a column, `hidden` whether a column is hidden. `leads`: the pages stand
    before all sheets.
    """

    title: str
    made_at: datetime
    pages: Mapping[str, Page]
    heading: Callable[[str], str] = str
    leads: bool = False
    hidden: Callable[[str], bool] = lambda _: False


class _Sheet:
    """A sheet under way: `file` takes its lines below its head."""

    def __init__(self, name: str, columns: Sequence[str], file: IO[bytes]) -> None:
        self.name = name
        self.columns = columns
        self.rows = 1
        self.file = file

    def add(self, cells: Iterable[str]) -> None:
        """Add a line."""
        self.rows += 1
        self.file.write(f'<row r="{self.rows}">{"".join(cells)}</row>'.encode())


class Workbook:
    """A workbook under way: lines are added to its sheets in any order, then it is finished; closed in any case.

    What is added to the first sheet is written at once, so that a reader gets it while the workbook is made; other
    sheets wait for its end, in files of their own.
    """

    def __init__(
        self,
        file: IO[bytes],
        folder: str,
        cover: Cover,
        *sheets: tuple[str, Sequence[str]],
        last_row: int = LAST_ROW,
    ) -> None:
        """`sheets`: the first ones, with their columns; `last_row`: index of the last row that a sheet may have."""
        self._folder = folder
        self._cover = cover
        self._last_row = last_row
        self._sheets: list[_Sheet] = []
        self._archive = write_archive(file)
        self._begin(*sheets[0])
        for name, columns in sheets[1:]:
            self.sheet(name, columns)

    def add(self, name: str, columns: Sequence[str], cells: Iterable[str]) -> None:
        """Add a line, of cells as `cell` makes them, to the sheet of this name, or to another when that is full."""
        self.sheet(name, columns).add(cells)

    def sheet(self, name: str, columns: Sequence[str]) -> _Sheet:
        """Return the sheet that the next line of the sheets `name` goes to."""
        alike = [sheet for sheet in self._sheets if sheet.columns is columns]
        if alike and alike[-1].rows <= self._last_row:
            return alike[-1]
        file = TemporaryFile(dir=self._folder, buffering=_BLOCK)  # noqa: SIM115 - closed with the workbook
        self._sheets.append(_Sheet(f"{name} {len(alike) + 1}" if alike else name, columns, file))
        return self._sheets[-1]

    def _begin(self, name: str, columns: Sequence[str]) -> None:
        self._sheets.append(_Sheet(name, columns, BytesIO()))
        with ZipFile(self._frame()) as frame:
            for part in _FIRST:
                self._archive.writestr(part, frame.read(part))
            head, _ = _halves(frame, self._first)
        self._sheets[0].file = begin_entry(self._archive, _PART.format(self._first), self._cover.made_at)
        self._sheets[0].file.write(head)

    def finish(self) -> None:
        """Write what comes after the lines of the first sheet."""
        with ZipFile(self._frame()) as frame:
            (number, first), *others = self._numbered()
            _, rest = _halves(frame, number)
            first.file.write(rest)
            first.file.close()
            for number, sheet in others:
                head, rest = _halves(frame, number)
                with sheet.file, begin_entry(self._archive, _PART.format(number), self._cover.made_at) as target:
                    target.write(head)
                    sheet.file.seek(0)
                    copyfileobj(sheet.file, target, _BLOCK)
                    target.write(rest)
            written = set(self._archive.namelist())
            for part in frame.namelist():
                if part not in written:
                    self._archive.writestr(part, frame.read(part))
        self._archive.close()

    def close(self) -> None:
        """Release what it holds; the file stays open."""
        for sheet in self._sheets:
            sheet.file.close()
        self._archive.close()

    @property
    def _first(self) -> int:
        """The number of the first sheet in the workbook."""
        return 1 + len(self._cover.pages) * self._cover.leads

    def _numbered(self) -> Iterator[tuple[int, _Sheet]]:
        """Yield the sheets with their numbers in the workbook, in which pages stand before or behind the first."""
        pages, first = len(self._cover.pages), self._first
        return ((first if number == 1 else number + pages, sheet) for number, sheet in enumerate(self._sheets, start=1))

    def _frame(self) -> BytesIO:
        """Return the workbook without lines.

        xlsxwriter takes ten times as long for a cell: too long for some hundred thousand lines. So it makes the heads,
        and lines are put between.
        """
        import xlsxwriter  # a tenth of the time that the program needs to start

        frame = BytesIO()
        with xlsxwriter.Workbook(frame, {"constant_memory": True, "tmpdir": self._folder}) as book:
            book.set_properties({"title": self._cover.title, "created": self._cover.made_at.replace(tzinfo=None)})
            head = book.add_format({"bold": True, "bg_color": "#DDE5EE", "bottom": 1})
            for place, (_, sheet) in enumerate(self._numbered()):
                if not self._cover.leads:
                    _write_head(book.add_worksheet(sheet.name), sheet, head, self._cover)
                if not place:
                    for name, write in self._cover.pages.items():
                        write(book, book.add_worksheet(name), head)
                if self._cover.leads:
                    _write_head(book.add_worksheet(sheet.name), sheet, head, self._cover)
        return frame


def _halves(frame: ZipFile, number: int) -> tuple[bytes, bytes]:
    """Return what of a sheet comes before its lines, and what comes behind them; it says nowhere how many there are."""
    head, end, rest = frame.read(_PART.format(number)).partition(b"</sheetData>")
    return _DIMENSION.sub(b"", head), end + rest


def _write_head(worksheet: Worksheet, sheet: _Sheet, head: Format, cover: Cover) -> None:
    worksheet.freeze_panes(1, 0)
    worksheet.set_landscape()
    worksheet.repeat_rows(0)
    for column, name in enumerate(sheet.columns):
        worksheet.set_column(column, column, _width(name), None, {"hidden": cover.hidden(name)})
        worksheet.write_string(0, column, cover.heading(name), head)
    worksheet.autofilter(0, 0, sheet.rows - 1, len(sheet.columns) - 1)


def _width(column: str) -> int:
    if column.casefold().endswith("title"):
        return _TITLE_WIDTH
    return _ID_WIDTH if re.fullmatch("(requirement_|test_case_|link_)?id", column) else _WIDTH


def cell(value: Any) -> str:
    """Return a cell in the XML of a sheet; its place is that in its row."""
    # Most cells are texts, and most of these as they are.
    if not isinstance(value, str):
        if value is None:
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{value:d}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value!r}</v></c>"
        value = str(value)
    text = value if _is_plain(value) else _SPECIAL.sub(_escaped, value)
    if value == value.strip():
        return f"{_TEXT}{text}{_END_OF_TEXT}"
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def text_cells(texts: Sequence[str | None]) -> list[str]:
    """Return the cells of a line of texts, as `cell` makes them: most have plain ones alone, which one look tells."""
    if not _is_plain("\n".join(filter(None, texts))):
        return list(map(cell, texts))
    return [
        "<c/>" if text is None else f"{_TEXT}{text}{_END_OF_TEXT}" if text == text.strip() else cell(text)
        for text in texts
    ]


def _is_plain(text: str) -> bool:
    """Check whether a text has nothing special: to know that costs a tenth of looking for it."""
    return (
        (text.isprintable() or text.replace("\n", "").isprintable())
        and "&" not in text
        and "<" not in text
        and ">" not in text
        and "_x" not in text
    )


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return _ENTITIES.get(character) or f"_x{ord(character):04X}_"
