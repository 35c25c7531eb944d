"""The verification report as a document: each format writes the rows as they come."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any, ClassVar

from catalog_service.reports.formats.csv_format import BYTE_ORDER_MARK
from catalog_service.reports.formats.csv_format import cell as csv_cell
from catalog_service.reports.formats.document import TextDocument, csv_text
from catalog_service.reports.formats.html_format import ENDING, HEADERS, beginning, label, table_of, text_of
from catalog_service.verdicts import COUNTED, Basis
from catalog_service.workbook import MEDIA_TYPE, Cover, Workbook, cell
from chassis.core import projects
from chassis.core.wording import percent
from chassis.web.listing import Row

_TITLE = "Verification report"
_ITEM = ("external_id", "title", "module", "type", "priority", "status", "version")
_COUNTS = ("tests_linked", "tests_run", *COUNTED)
COLUMNS = (
    *(f"requirement_{name}" if name != "module" else name for name in ("id", *_ITEM)),
    *("verdict", "verified", *_COUNTS),
)
"""Of the flat form: a line a requirement."""
ROLLED = ("rolled_verdict", "rolled_coverage")
"""What a line tells beside, where it is asked for."""
_SHOWN = ("Requirement", "Title", "Priority", "Verdict", "Tests", *map(label, COUNTED))
"""Of what people read: the verdict, and all that it can be worked out from again."""


@dataclass(frozen=True)
class About:
    """What a document says of itself."""

    summary: Row
    basis: Basis
    filters: dict[str, str]
    notes: Sequence[str]
    """What a reader has to know before all else, such as results of other commits that count."""
    rolled: bool = False
    """Whether lines tell what requirements come to with those below them."""
    project: str = field(default_factory=projects.current.get)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the flat form."""
        return (*COLUMNS, *ROLLED) if self.rolled else COLUMNS

    @property
    def headings(self) -> tuple[str, ...]:
        """What stands above the columns that people read."""
        return (*_SHOWN, *map(label, ROLLED)) if self.rolled else _SHOWN

    @property
    def said(self) -> str:
        """Of what it is, in one line."""
        filters = "; ".join(f"{name}: {value}" for name, value in self.filters.items()) or "none: the whole record"
        of = f"Project {self.project}, {self.basis.said}, {self.basis.now:%Y-%m-%d %H:%M} UTC. Filters: {filters}"
        return " ".join([f"{of}." if self.notes else of, *self.notes[:1]])

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Its figures, by their names."""
        return [
            ("Requirements", str(self.summary["total_requirements"])),
            ("Verified", percent(self.summary["verified"])),
            *((label(name), str(count)) for name, count in self.summary["requirements"].items()),
            ("Unlinked tests", str(self.summary["unlinked_tests"])),
        ]


def _line(row: Row) -> list[Any]:
    counts = row["counts"]
    item = [row[name] for name in ("id", *_ITEM)]
    beside = [row[name] for name in ROLLED if name in row]
    return [*item, row["verdict"], row["verified"], *(counts[name] for name in _COUNTS), *beside]


class CsvDocument(TextDocument[About]):
    """As the matrix is as CSV: what it is of stands in each line."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8; header=present"

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        self._put(BYTE_ORDER_MARK)
        self._put(csv_text([(*about.columns, "about")]))

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        said = csv_cell(self._about.said)
        self._put(csv_text([(*map(csv_cell, _line(row)), said) for row in rows]))


class XlsxDocument(TextDocument[About]):
    """One sheet, and one of figures behind it."""

    media_type: ClassVar[str] = MEDIA_TYPE

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        cover = Cover(_TITLE, about.basis.now, {"Summary": self._summary}, label)
        self._columns = about.columns
        self._book = Workbook(file, folder, cover, ("Verification", self._columns))

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        for row in rows:
            self._book.add("Verification", self._columns, map(cell, _line(row)))

    def finish(self) -> None:
        """See Document.finish."""
        self._book.finish()

    def close(self) -> None:
        """See Document.close."""
        self._book.close()

    def _summary(self, book: Any, worksheet: Any, head: Any) -> None:
        worksheet.set_column(0, 1, 24)
        worksheet.write_string(0, 0, _TITLE, head)
        worksheet.write_string(0, 1, self._about.said)
        lines = [*self._about.figures, *(("Note", note) for note in self._about.notes[1:])]
        for row, (name, value) in enumerate(lines, start=1):
            worksheet.write_string(row, 0, name)
            worksheet.write_string(row, 1, value)


class HtmlDocument(TextDocument[About]):
    """A table below the figures; it needs nothing else and runs nothing."""

    media_type: ClassVar[str] = "text/html; charset=utf-8"
    headers: ClassVar[dict[str, str]] = HEADERS

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        self._put(beginning(_TITLE, about.said, about.notes, about.figures) + table_of(about.headings))

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        for row in rows:
            cells = "".join(
                f'<td data-label="{name}">{text_of(value)}</td>'
                for name, value in zip(self._about.headings, _shown(row), strict=True)
            )
            self._put(f"<tbody><tr>{cells}</tr></tbody>\n")

    def finish(self) -> None:
        """See Document.finish."""
        self._put(ENDING)


class MarkdownDocument(TextDocument[About]):
    """Figures and a table."""

    media_type: ClassVar[str] = "text/markdown; charset=utf-8"

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        figures = "".join(f"| {name} | {value} |\n" for name, value in about.figures)
        notes = "".join(f"- {_plain(note)}\n" for note in about.notes[1:])
        self._put(f"# {_TITLE}\n\n{_plain(about.said)}\n\n{notes}\n| Figure | Value |\n|---|---|\n{figures}\n")
        self._put(f"| {' | '.join(about.headings)} |\n|{'---|' * len(about.headings)}\n")

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        self._put("".join(f"| {' | '.join(map(_plain, _shown(row)))} |\n" for row in rows))


def _shown(row: Row) -> list[str]:
    verdict = row["verdict"].replace("_", " ")
    figures = [str(row["counts"][name]) for name in ("tests_linked", *COUNTED)]
    beside = [row[name].replace("_", " ") for name in ROLLED if name in row]
    return [row["external_id"] or str(row["id"]), row["title"], row["priority"], verdict, *figures, *beside]


def _plain(text: str) -> str:
    """Return a text in one line of Markdown in which nothing of it is a sign."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
