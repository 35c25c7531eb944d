"""The tree as a document: what stands below another is set in."""

from collections.abc import Sequence
from typing import IO, Any, ClassVar

from catalog_service.reports.formats.csv_format import csv_beginning
from catalog_service.reports.formats.document import TextDocument
from catalog_service.reports.formats.html_format import ENDING, HEADERS, beginning, label, table_of, text_of
from catalog_service.reports.formats.xlsx_format import is_id, write_front
from catalog_service.reports.front import Front
from catalog_service.reports.levels.tree import Line
from catalog_service.workbook import MEDIA_TYPE, Cover, Workbook, cell
from chassis.files.csv_writing import cell as csv_cell
from chassis.files.csv_writing import csv_text

TITLE = "Trace tree"
COLUMNS = (
    *("depth", "outline", "external_id", "title", "module", "status", "verdict", "rolled_verdict", "rolled_coverage"),
    *("tests", "children", "again", "id"),
)
_SHOWN = ("Requirement", "Title", "Status", "Rolled verdict", "Rolled coverage", "Own verdict", "Tests")
_STEP = "\u2003"
"""What a line is set in by, a time for each depth."""


def _cells(line: Line) -> list[Any]:
    one = line.requirement
    return [
        line.depth,
        _STEP * line.depth + _name(line),
        one.external_id,
        one.title,
        one.module,
        one.status,
        one.verdict,
        one.rolled_verdict,
        one.rolled_coverage,
        one.tests,
        line.children,
        line.again,
        str(one.id),
    ]


def _name(line: Line) -> str:
    return line.requirement.external_id or line.requirement.title


class CsvTree(TextDocument[Front]):
    """A line a place in the tree."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8; header=present"

    def __init__(self, file: IO[bytes], folder: str, front: Front) -> None:
        super().__init__(file, folder, front)
        self._put(csv_beginning(front) + csv_text([COLUMNS]))

    def write(self, rows: Sequence[Line]) -> None:
        """See Document.write."""
        self._put(csv_text([[*map(csv_cell, _cells(line))] for line in rows]))


class XlsxTree(TextDocument[Front]):
    """One sheet behind one that says of what it is."""

    media_type: ClassVar[str] = MEDIA_TYPE

    def __init__(self, file: IO[bytes], folder: str, front: Front) -> None:
        super().__init__(file, folder, front)
        cover = Cover(TITLE, front.made_at, {"Summary": self._summary}, label, leads=True, hidden=is_id)
        self._book = Workbook(file, folder, cover, ("Tree", COLUMNS))

    def write(self, rows: Sequence[Line]) -> None:
        """See Document.write."""
        for line in rows:
            self._book.add("Tree", COLUMNS, map(cell, _cells(line)))

    def finish(self) -> None:
        """See Document.finish."""
        self._book.finish()

    def close(self) -> None:
        """See Document.close."""
        self._book.close()

    def _summary(self, book: Any, worksheet: Any, head: Any) -> None:
        write_front(book, worksheet, head, TITLE, self._about.facts)


class HtmlTree(TextDocument[Front]):
    """A table that needs nothing else and runs nothing."""

    media_type: ClassVar[str] = "text/html; charset=utf-8"
    headers: ClassVar[dict[str, str]] = HEADERS

    def __init__(self, file: IO[bytes], folder: str, front: Front) -> None:
        super().__init__(file, folder, front)
        self._put(beginning(TITLE, front.facts, (), ()) + table_of(_SHOWN, f"{TITLE}: {front.running}"))

    def write(self, rows: Sequence[Line]) -> None:
        """See Document.write."""
        self._put("".join(_row(line) for line in rows))

    def finish(self) -> None:
        """See Document.finish."""
        self._put(ENDING)


def _row(line: Line) -> str:
    one = line.requirement
    again = " (see above)" if line.again and line.children else ""
    values = (
        f"{_STEP * line.depth}{_name(line)}{again}",
        one.title,
        one.status,
        one.rolled_verdict.replace("_", " "),
        one.rolled_coverage.replace("_", " "),
        one.verdict.replace("_", " "),
        str(one.tests),
    )
    cells = "".join(
        f'<td data-label="{name}">{text_of(value)}</td>' for name, value in zip(_SHOWN, values, strict=True)
    )
    return f"<tbody><tr>{cells}</tr></tbody>\n"
