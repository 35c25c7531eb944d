"""Excel workbooks written line by line, in constant memory; a text in them is a text, never a formula or a link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook as Frame
    from xlsxwriter.worksheet import Worksheet

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
LAST_ROW = 1_048_575
"""Index of the last row that a sheet can have."""
_BLOCK = 256 * 1024
_DIMENSION = re.compile(rb'(<dimension ref="A1:[A-Z]+)1')
_ID_WIDTH, _TITLE_WIDTH, _WIDTH = 38, 50, 16

# What XML cannot hold is spelled _xHHHH_ in a workbook, and so is the beginning of what looks like that.
_SPECIAL = re.compile(r"[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

Page = Callable[["Frame", "Worksheet", "Format"], None]
"""Writes a sheet of a few cells; given the format of heads."""


class _Sheet:
    """The lines of a sheet below its head, in a file of their own until the workbook is put together."""

    def __init__(self, name: str, columns: Sequence[str], folder: str) -> None:
        self.name = name
        self.columns = columns
        self.rows = 1
        self.file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the workbook

    def add(self, cells: Iterable[str]) -> None:
        """Add a line."""
        self.rows += 1
        self.file.write(f'<row r="{self.rows}">{"".join(cells)}</row>'.encode())


class Workbook:
    """A workbook under way: lines are added sheet after sheet, then it is finished; closed in any case."""

    def __init__(self, file: IO[bytes], folder: str, *, last_row: int = LAST_ROW) -> None:
        """`last_row`: index of the last row of a sheet; what comes after goes to another sheet."""
        self._file = file
        self._folder = folder
        self._last_row = last_row
        self._sheets: list[_Sheet] = []

    def add(self, name: str, columns: Sequence[str], cells: Iterable[str]) -> None:
        """Add a line, of cells as `cell` makes them, to the sheet of this name, or to another when that is full."""
        self.sheet(name, columns).add(cells)

    def sheet(self, name: str, columns: Sequence[str]) -> _Sheet:
        """Return the sheet that the next line of the sheets `name` goes to."""
        alike = [sheet for sheet in self._sheets if sheet.columns is columns]
        if alike and alike[-1].rows <= self._last_row:
            return alike[-1]
        self._sheets.append(_Sheet(f"{name} {len(alike) + 1}" if alike else name, columns, self._folder))
        return self._sheets[-1]

    def finish(
        self,
        title: str,
        made_at: datetime,
        pages: Mapping[str, Page],
        heading: Callable[[str], str] = str,
    ) -> None:
        """Write it: `pages` stand behind the first sheet; `heading` gives what is written above a column."""
        # xlsxwriter takes ten times as long for a cell: too long for some hundred thousand lines. It makes a workbook
        # of the heads, into which the lines are put.
        frame_file = self._frame(title, made_at, pages, heading)
        with ZipFile(frame_file) as frame, ZipFile(self._file, "w", ZIP_DEFLATED) as book:
            sheets = {f"xl/worksheets/sheet{number}.xml": sheet for number, sheet in self._numbered(pages)}
            for entry in frame.infolist():
                content = frame.read(entry)
                if entry.filename not in sheets:
                    book.writestr(entry, content, ZIP_DEFLATED)
                    continue
                sheet = sheets[entry.filename]
                whole = ZipInfo(entry.filename, entry.date_time)
                whole.compress_type = ZIP_DEFLATED
                head, end, rest = content.partition(b"</sheetData>")
                with sheet.file, book.open(whole, "w", force_zip64=True) as target:
                    target.write(_DIMENSION.sub(rf"\g<1>{sheet.rows}".encode(), head))
                    sheet.file.seek(0)
                    copyfileobj(sheet.file, target, _BLOCK)
                    target.write(end + rest)

    def close(self) -> None:
        """Give back what it holds; the file stays open."""
        for sheet in self._sheets:
            sheet.file.close()

    def _numbered(self, pages: Mapping[str, Page]) -> Iterator[tuple[int, _Sheet]]:
        """Yield the sheets with their numbers in the workbook, in which the pages stand behind the first."""
        return ((number + (number > 1) * len(pages), sheet) for number, sheet in enumerate(self._sheets, start=1))

    def _frame(
        self, title: str, made_at: datetime, pages: Mapping[str, Page], heading: Callable[[str], str]
    ) -> BytesIO:
        """Return the workbook without lines."""
        import xlsxwriter  # a tenth of the time that the program needs to start

        frame = BytesIO()
        with xlsxwriter.Workbook(frame, {"constant_memory": True, "tmpdir": self._folder}) as book:
            book.set_properties({"title": title, "created": made_at.replace(tzinfo=None)})
            head = book.add_format({"bold": True, "bg_color": "#DDE5EE", "bottom": 1})
            for number, sheet in self._numbered(pages):
                _write_head(book.add_worksheet(sheet.name), sheet, head, heading)
                if number == 1:
                    for name, write in pages.items():
                        write(book, book.add_worksheet(name), head)
        return frame


def _write_head(worksheet: Worksheet, sheet: _Sheet, head: Format, heading: Callable[[str], str]) -> None:
    worksheet.freeze_panes(1, 0)
    worksheet.set_landscape()
    worksheet.repeat_rows(0)
    for column, name in enumerate(sheet.columns):
        worksheet.set_column(column, column, _width(name))
        worksheet.write_string(0, column, heading(name), head)
    worksheet.autofilter(0, 0, sheet.rows - 1, len(sheet.columns) - 1)


def _width(column: str) -> int:
    if column.endswith("title"):
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
    text = _SPECIAL.sub(_escaped, value)
    if value == value.strip():
        return f'<c t="inlineStr"><is><t>{text}</t></is></c>'
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return _ENTITIES.get(character) or f"_x{ord(character):04X}_"
