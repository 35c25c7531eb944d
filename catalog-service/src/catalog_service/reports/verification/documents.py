"""The verification report as a document: each format writes the rows as they come."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import IO, Any, ClassVar

from catalog_service.reports.formats.csv_format import csv_beginning
from catalog_service.reports.formats.document import TextDocument
from catalog_service.reports.formats.html_format import (
    ENDING,
    HEADERS,
    beginning,
    label,
    name_of_module,
    part_of_table,
    table_of,
    text_of,
)
from catalog_service.reports.formats.xlsx_format import ids_last, is_id, write_front
from catalog_service.reports.front import Front
from catalog_service.reports.verification.failing import first_line, name_of, tell_failing
from catalog_service.verdicts import COUNTED, Verdict
from catalog_service.workbook import MEDIA_TYPE, Cover, Workbook, cell
from chassis.core.wording import percent
from chassis.files.csv_writing import cell as csv_cell
from chassis.files.csv_writing import csv_text
from chassis.web.listing import Row

_TITLE = "Verification report"
_ITEM = ("external_id", "title", "module", "type", "priority", "status", "version")
_COUNTS = ("tests_linked", "tests_run", *COUNTED)
COLUMNS = (
    *(f"requirement_{name}" if name != "module" else name for name in ("id", *_ITEM)),
    *("verdict", "verified", *_COUNTS, "failing_tests"),
)
"""Of the flat form: a line a requirement."""
ROLLED = ("rolled_verdict", "rolled_coverage")
"""What a line tells beside, where it is asked for."""
_OF_TEST = (
    *("requirement_external_id", "requirement_title", "test_case", "test", "message"),
    *("run", "commit", "environment", "recorded_by", "at"),
)
"""Of the sheet of failing tests."""
_FIRST = {Verdict.FAILED.value: "Failed", Verdict.UNCOVERED.value: "Without a test case"}
"""What comes before all modules."""
_SHOWN = ("Requirement", "Title", "Priority", "Verdict", "Tests", *map(label, COUNTED))
"""Of what people read: the verdict, and all that it can be worked out from again."""


@dataclass(frozen=True)
class About:
    """What a document says of itself."""

    summary: Row
    front: Front
    notes: Sequence[str]
    """What a reader has to know before all else, such as results of other commits that count."""
    rolled: bool = False
    """Whether lines tell what requirements come to with those below them."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the flat form."""
        return (*COLUMNS, *ROLLED) if self.rolled else COLUMNS

    @property
    def headings(self) -> tuple[str, ...]:
        """What stands above the columns that people read."""
        return (*_SHOWN, *map(label, ROLLED)) if self.rolled else _SHOWN

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What it says of itself, and what a reader has to know."""
        return [*self.front.facts, *(("Note", note) for note in self.notes)]

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
    failing = "\n".join(tell_failing(row)) or None
    return [*item, row["verdict"], row["verified"], *(counts[name] for name in _COUNTS), failing, *beside]


class CsvDocument(TextDocument[About]):
    """A line a requirement."""

    media_type: ClassVar[str] = "text/csv; charset=utf-8; header=present"

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        self._put(csv_beginning(about.front, about.notes) + csv_text([about.columns]))

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        self._put(csv_text([[*map(csv_cell, _line(row))] for row in rows]))


class XlsxDocument(TextDocument[About]):
    """A sheet of figures, one of requirements, and one of failing tests; ids come last and are hidden."""

    media_type: ClassVar[str] = MEDIA_TYPE

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        cover = Cover(_TITLE, about.front.made_at, {"Summary": self._summary}, label, leads=True, hidden=is_id)
        names = [name for name in about.columns if name != "failing_tests"]
        self._columns = ids_last(names)
        self._in_order = itemgetter(*map(about.columns.index, self._columns))
        self._book = Workbook(file, folder, cover, ("Verification", self._columns))

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        for row in rows:
            self._book.add("Verification", self._columns, map(cell, self._in_order(_line(row))))
            for test in row["failing"]:
                said = (row["external_id"], row["title"], test["test_case"], name_of(test), first_line(test))
                of = (test[name] for name in ("run", "commit", "environment", "recorded_by"))
                self._book.add("Failing tests", _OF_TEST, map(cell, (*said, *of, f"{test['at']:%Y-%m-%d %H:%M}")))

    def finish(self) -> None:
        """See Document.finish."""
        self._book.finish()

    def close(self) -> None:
        """See Document.close."""
        self._book.close()

    def _summary(self, book: Any, worksheet: Any, head: Any) -> None:
        first = write_front(book, worksheet, head, _TITLE, self._about.facts)
        for row, (name, value) in enumerate(self._about.figures, start=first):
            worksheet.write_string(row, 0, name)
            worksheet.write_string(row, 1, value)


class HtmlDocument(TextDocument[About]):
    """A table behind the front page: what fails and what is uncovered first, then module by module.

    It needs nothing else and runs nothing.
    """

    worst_first: ClassVar[bool] = True
    media_type: ClassVar[str] = "text/html; charset=utf-8"
    headers: ClassVar[dict[str, str]] = HEADERS

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        self._part: tuple[str, str | None] | None = None
        running = f"{_TITLE}: {about.front.running}"
        self._put(beginning(_TITLE, about.front.facts, about.notes, about.figures) + table_of(about.headings, running))

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        columns = len(self._about.headings)
        for row in rows:
            cells = "".join(
                f'<td data-label="{name}">{text_of(value)}</td>'
                for name, value in zip(self._about.headings, _shown(row), strict=True)
            )
            failing = "".join(
                f'<tr class="failing"><td colspan="{columns}">{text_of(said)}</td></tr>' for said in tell_failing(row)
            )
            self._put(f"{self._in_part(row, columns)}<tbody><tr>{cells}</tr>{failing}</tbody>\n")

    def _in_part(self, row: Row, columns: int) -> str:
        """Return the line that begins what fails, what is uncovered, or a module; nothing within it."""
        first = _FIRST.get(row["verdict"])
        part = (first or "", None if first else row["module"])
        if part == self._part:
            return ""
        self._part = part
        return part_of_table(first or name_of_module(row["module"]), columns)

    def finish(self) -> None:
        """See Document.finish."""
        self._put(ENDING)


class MarkdownDocument(TextDocument[About]):
    """Figures and a table, what fails and what is uncovered first; then the failing tests."""

    worst_first: ClassVar[bool] = True
    media_type: ClassVar[str] = "text/markdown; charset=utf-8"

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        super().__init__(file, folder, about)
        self._failing: list[str] = []
        figures = "".join(f"| {name} | {value} |\n" for name, value in about.figures)
        facts = "".join(f"- {name}: {_plain(value)}\n" for name, value in about.facts)
        self._put(f"# {_TITLE}\n\n{facts}\n| Figure | Value |\n|---|---|\n{figures}\n")
        self._put(f"| {' | '.join(about.headings)} |\n|{'---|' * len(about.headings)}\n")

    def write(self, rows: Sequence[Row]) -> None:
        """See Document.write."""
        self._put("".join(f"| {' | '.join(map(_plain, _shown(row)))} |\n" for row in rows))
        for row in rows:
            name = row["external_id"] or row["title"]
            self._failing += [f"- {_plain(f'{name}: {said}')}\n" for said in tell_failing(row)]

    def finish(self) -> None:
        """See Document.finish."""
        if self._failing:
            self._put(f"\n## Failing tests\n\n{''.join(self._failing)}")


def _shown(row: Row) -> list[str]:
    verdict = row["verdict"].replace("_", " ")
    figures = [str(row["counts"][name]) for name in ("tests_linked", *COUNTED)]
    beside = [row[name].replace("_", " ") for name in ROLLED if name in row]
    return [row["external_id"] or str(row["id"]), row["title"], row["priority"], verdict, *figures, *beside]


def _plain(text: str) -> str:
    """Return a text in one line of Markdown in which nothing of it is a sign."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
