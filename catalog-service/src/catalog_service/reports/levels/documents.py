"""The tree as a document: what stands below another is set in."""

import csv
from collections.abc import Sequence
from io import StringIO
from typing import IO, Any, ClassVar, Protocol

from catalog_service.reports.formats.csv_format import BYTE_ORDER_MARK
from catalog_service.reports.formats.csv_format import cell as csv_cell
from catalog_service.reports.formats.html_format import ENDING, POLICY, beginning, label, table_of, text_of
from catalog_service.reports.levels.tree import Line
from catalog_service.verdicts import Basis
from catalog_service.workbook import MEDIA_TYPE, Cover, Workbook, cell
from chassis.core import projects

TITLE = "Trace tree"
COLUMNS = (
    *("depth", "outline", "external_id", "title", "module", "status", "verdict", "rolled_verdict", "rolled_coverage"),
    *("tests", "children", "again", "id"),
)
_SHOWN = ("Requirement", "Title", "Status", "Rolled verdict", "Rolled coverage", "Own verdict", "Tests")
_STEP = "\u2003"
"""What a line is set in by, a time for each depth."""


def said(basis: Basis) -> str:
    """Return of what a document is, in one line."""
    return f"Project {projects.current.get()}, {basis.said}, {basis.now:%Y-%m-%d %H:%M} UTC."


class TreeDocument(Protocol):
    """A document under way: begun, given the lines, finished, closed; what it needs goes to `folder`."""

    media_type: ClassVar[str]
    headers: ClassVar[dict[str, str]]

    def __init__(self, file: IO[bytes], folder: str, basis: Basis) -> None: ...

    def write(self, lines: Sequence[Line]) -> None:
        """Take some more lines."""

    def finish(self) -> None:
        """Write what comes last."""

    def close(self) -> None:
        """Release what it holds; the file stays open."""


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


class _Text:
    """What documents of text have in common."""

    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, file: IO[bytes], folder: str, basis: Basis) -> None:
        self._file = file
        self._said = said(basis)

    def _put(self, text: str) -> None:
        self._file.write(text.encode())

    def finish(self) -> None:
        """See TreeDocument.finish."""

    def close(self) -> None:
        """See TreeDocument.close."""


class CsvTree(_Text):
    """A line a place in the tree; of what it is stands in each."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8; header=present"

    def __init__(self, file: IO[bytes], folder: str, basis: Basis) -> None:
        super().__init__(file, folder, basis)
        self._put(BYTE_ORDER_MARK)
        self._add([(*COLUMNS, "about")])

    def write(self, lines: Sequence[Line]) -> None:
        """See TreeDocument.write."""
        about = csv_cell(self._said)
        self._add([(*map(csv_cell, _cells(line)), about) for line in lines])

    def _add(self, lines: Sequence[Sequence[object]]) -> None:
        text = StringIO(newline="")
        csv.writer(text).writerows(lines)
        self._put(text.getvalue())


class XlsxTree(_Text):
    """One sheet, and one that says of what it is."""

    media_type: ClassVar[str] = MEDIA_TYPE

    def __init__(self, file: IO[bytes], folder: str, basis: Basis) -> None:
        super().__init__(file, folder, basis)
        self._book = Workbook(
            file, folder, Cover(TITLE, basis.now, {"Summary": self._summary}, label), ("Tree", COLUMNS)
        )

    def write(self, lines: Sequence[Line]) -> None:
        """See TreeDocument.write."""
        for line in lines:
            self._book.add("Tree", COLUMNS, map(cell, _cells(line)))

    def finish(self) -> None:
        """See TreeDocument.finish."""
        self._book.finish()

    def close(self) -> None:
        """See TreeDocument.close."""
        self._book.close()

    def _summary(self, book: Any, worksheet: Any, head: Any) -> None:
        worksheet.set_column(0, 1, 24)
        worksheet.write_string(0, 0, TITLE, head)
        worksheet.write_string(0, 1, self._said)


class HtmlTree(_Text):
    """A table that needs nothing else and runs nothing."""

    media_type: ClassVar[str] = "text/html; charset=utf-8"
    headers: ClassVar[dict[str, str]] = {"Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'; sandbox"}

    def __init__(self, file: IO[bytes], folder: str, basis: Basis) -> None:
        super().__init__(file, folder, basis)
        self._put(beginning(TITLE, self._said, (), ()) + table_of(_SHOWN))

    def write(self, lines: Sequence[Line]) -> None:
        """See TreeDocument.write."""
        self._put("".join(_row(line) for line in lines))

    def finish(self) -> None:
        """See TreeDocument.finish."""
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
