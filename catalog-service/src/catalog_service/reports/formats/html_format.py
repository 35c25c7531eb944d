"""The matrix as one HTML page that needs nothing else, runs nothing, and prints well."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from typing import IO, Any, ClassVar

from catalog_service.reports.formats import names_of
from catalog_service.reports.people import tell_confirmation, tell_origin
from catalog_service.reports.repository import LinkedTestCase, MatrixRow, UnlinkedItem
from catalog_service.reports.scope import About
from chassis.core.wording import percent

STYLE = """
:root { color-scheme: light; font: 14px/1.4 system-ui, sans-serif; color: #1b2733; }
body { margin: 2rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
.front { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.25rem; margin: .75rem 0 1.5rem; }
.front div { display: contents; }
.front dt { color: #5b6b7b; }
.front dd { margin: 0; overflow-wrap: anywhere; max-width: 70rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
.note { color: #a4262c; font-weight: 600; }
.figures { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 0 1.5rem; }
.figures div { border: 1px solid #d5dde5; border-radius: 6px; padding: .5rem .9rem; }
.figures dt { color: #5b6b7b; font-size: .8rem; }
.figures dd { margin: 0; font-size: 1.3rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #e3e9ef;
  max-width: 28rem; overflow-wrap: break-word; }
thead th { background: #eef2f6; border-bottom: 2px solid #c3ced9; position: sticky; top: 0; }
tbody { break-inside: avoid; }
.module th { background: #f7f9fb; padding-top: .8rem; }
.id { font-weight: 600; white-space: nowrap; }
.none { color: #a4262c; }
.suspect { color: #8a5a00; font-weight: 600; }
.why { color: #8a5a00; font-size: .85rem; }
.who { display: block; color: #5b6b7b; font-size: .85rem; }
.failing td { color: #a4262c; padding-left: 2rem; max-width: none; }
.running { display: none; }
@media screen and (max-width: 48rem) {
  body { margin: 1rem; }
  table, thead, tbody, tr, th, td { display: block; max-width: none; }
  thead { position: absolute; left: -9999px; }
  tbody { border: 1px solid #d5dde5; border-radius: 6px; margin: 0 0 .75rem; padding: .25rem 0; }
  tbody.module { border: 0; margin: 0; }
  td { border: 0; padding: .15rem .75rem; }
  td::before { content: attr(data-label) ": "; color: #5b6b7b; }
  .failing td::before { content: none; }
}
@page {
  size: landscape; margin: 12mm 12mm 15mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 9px system-ui, sans-serif; color: #5b6b7b; }
}
@media print {
  :root { font-size: 10px; }
  body { margin: 0; }
  h1 { font-size: 2rem; margin-top: 3rem; }
  .front { font-size: 1.2rem; margin: 1.5rem 0 2rem; }
  .figures { break-after: page; }
  thead th { position: static; }
  .running { display: table-row; }
  .running th { background: none; border: 0; color: #5b6b7b; font-weight: 400; }
}
"""


def policy_of(style: str) -> str:
    """Return the Content-Security-Policy of a page that has this style and nothing else."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"


POLICY = policy_of(STYLE)

HEADERS = {"Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'; sandbox"}
"""With which a page of a report is sent: it runs nothing, whatever its texts say."""

TITLE = "Traceability matrix"
_GAPS, _BEGINNING = object(), object()
"""The part of a table that has what is without a test case, and where no part has begun."""
_HEADINGS = ("Requirement", "Title", "Priority", "Status", "Test case", "Title", "Status", "Link", "Confidence")
_ITEM = ("title", "priority", "status")
_ROLLED = ("Parents", "Rolled verdict")
_ORPHAN_HEADINGS = ("Test case", "Title", "Priority", "Status")


class HtmlMatrix:
    """A table with a group of lines a requirement behind the front page: those without a test case, then module by
    module; then the test cases without a requirement. Every text of the record is escaped.
    """

    media_type: ClassVar[str] = "text/html; charset=utf-8"
    headers: ClassVar[dict[str, str]] = HEADERS
    gaps_first: ClassVar[bool] = True

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None:
        self._file = file
        self._part: str | object | None = _BEGINNING
        self._has_people = about.has_people
        self._in_orphans = False
        results = ("Verdict", "Last result") if about.has_results else ()
        self._headings = (*_HEADINGS, *results, *(_ROLLED if about.is_rolled else ()))
        self._running = f"{TITLE}: {about.front.running}"
        figures = [(label(name), _figure(name, value)) for name, value in about.summary.items()]
        self._put(beginning(TITLE, about.front.facts, about.notes, figures) + table_of(self._headings, self._running))

    def write(self, rows: Sequence[MatrixRow]) -> None:
        """See MatrixDocument.write."""
        has_people = self._has_people
        self._put(
            "".join(
                self._in_part(row["module"] if row["test_cases"] else _GAPS, self._headings) + _group(row, has_people)
                for row in rows
            )
        )

    def write_orphans(self, rows: Sequence[UnlinkedItem]) -> None:
        """See MatrixDocument.write_orphans."""
        if not self._in_orphans:
            self._in_orphans, self._part = True, _BEGINNING
            head = table_of(_ORPHAN_HEADINGS, self._running)
            self._put(f"</table>\n<h2>Test cases without a requirement</h2>\n{head}")
        self._put("".join(self._in_part(row["module"], _ORPHAN_HEADINGS) + _orphan(row) for row in rows))

    def finish(self) -> None:
        """See MatrixDocument.finish."""
        self._put(ENDING)

    def close(self) -> None:
        """See MatrixDocument.close."""

    def _in_part(self, part: str | object | None, headings: Sequence[str]) -> str:
        """Return the line that begins a module, or the gaps; nothing within it."""
        if part == self._part:
            return ""
        self._part = part
        return part_of_table("Without a test case" if part is _GAPS else name_of_module(part), len(headings))

    def _put(self, text: str) -> None:
        self._file.write(text.encode())


def name_of_module(module: object) -> str:
    """Return what a module is called in a report; None: what is in none."""
    return "No module" if module is None else str(module)


def part_of_table(name: str, columns: int) -> str:
    """Return the line that begins a part of a table."""
    heading = f'<th scope="rowgroup" colspan="{columns}">{escape(name)}</th>'
    return f'<tbody class="module"><tr>{heading}</tr></tbody>\n'


def beginning(
    title: str, facts: Sequence[tuple[str, str]], notes: Sequence[str], figures: Sequence[tuple[str, str]]
) -> str:
    """Return the beginning of a page, which is printed by itself: what it says of itself, and its figures."""
    said, boxes = (
        "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
        for pairs in (facts, figures)
    )
    paragraphs = "".join(f'<p class="note">{escape(note)}</p>\n' for note in notes)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{title}</h1>\n<dl class="front">{said}</dl>\n{paragraphs}'
        f'<dl class="figures">{boxes}</dl>\n'
    )


ENDING = "</table>\n</body>\n</html>\n"


def table_of(headings: Sequence[str], running: str) -> str:
    """Return the beginning of a table; `running` is printed above its headings, on each page."""
    cells = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    head = f'<tr class="running"><th colspan="{len(headings)}">{escape(running)}</th></tr>'
    return f"<table>\n<thead>{head}<tr>{cells}</tr></thead>\n"


def label(name: str) -> str:
    """Return the name of a figure as people read it."""
    return name.replace("_", " ").capitalize()


def _figure(name: str, value: Any) -> str:
    return percent(value) if name == "coverage" else f"{value:,}"


def _group(row: MatrixRow, has_people: bool) -> str:
    linked = row["test_cases"]
    span = f' rowspan="{len(linked)}"' if len(linked) > 1 else ""
    cells = [
        f'<td class="id" data-label="Requirement"{span}>{text_of(row["external_id"])}</td>',
        *(
            f'<td data-label="{label(name)}"{span}>{text_of(row[name])}</td>'
            for name in ("title", "priority", "status")
        ),
    ]
    if not linked:
        none = '<td class="none" data-label="Test case" colspan="5">no test case</td>'
        if "verdict" in row:
            none += f'<td data-label="Verdict">{text_of(row["verdict"])}</td><td></td>'
        none += _rolled_cells(row, span)
        return f"<tbody><tr>{''.join(cells)}{none}</tr></tbody>\n"
    first, *others = (_test_case_cells(test_case, has_people) for test_case in linked)
    if "verdict" in row:
        first += f'<td data-label="Verdict"{span}>{text_of(row["verdict"])}</td>'
        results = [f'<td data-label="Last result">{text_of(test_case["last_result"])}</td>' for test_case in linked]
        first += results[0]
        others = [other + result for other, result in zip(others, results[1:], strict=True)]
    first += _rolled_cells(row, span)
    more = "".join(f"<tr>{other}</tr>" for other in others)
    return f"<tbody><tr>{''.join(cells)}{first}</tr>{more}</tbody>\n"


def _rolled_cells(row: MatrixRow, span: str) -> str:
    if "parents" not in row:
        return ""
    values = names_of(row["parents"]), row["rolled_verdict"]
    pairs = zip(_ROLLED, values, strict=True)
    return "".join(f'<td data-label="{name}"{span}>{text_of(value)}</td>' for name, value in pairs)


def _test_case_cells(test_case: LinkedTestCase, has_people: bool) -> str:
    why = test_case["suspect_reason"]
    suspect = f' <span class="suspect">suspect</span> <span class="why">{text_of(why["summary"])}</span>' if why else ""
    confidence = test_case["confidence_score"]
    said = (tell_origin(test_case, has_people=has_people), tell_confirmation(test_case, has_people=has_people))
    who = f' <span class="who">{text_of("; ".join(filter(None, said)))}</span>'
    if test_case["link_notes"]:
        who += f' <q class="who">{text_of(test_case["link_notes"])}</q>'
    return (
        f'<td class="id" data-label="Test case">{text_of(test_case["external_id"])}</td>'
        f'<td data-label="Title">{text_of(test_case["title"])}</td>'
        f'<td data-label="Status">{text_of(test_case["status"])}</td>'
        f'<td data-label="Link">{text_of(test_case["link_type"])}, {text_of(test_case["link_source"])}{suspect}'
        f"{who}</td>"
        f'<td data-label="Confidence">{"" if confidence is None else f"{confidence:.2f}"}</td>'
    )


def _orphan(row: UnlinkedItem) -> str:
    return (
        f'<tbody><tr><td class="id" data-label="Test case">{text_of(row["external_id"])}</td>'
        + "".join(
            f'<td data-label="{label(name)}">{text_of(row[name])}</td>' for name in ("title", "priority", "status")
        )
        + "</tr></tbody>\n"
    )


def text_of(value: str | None) -> str:
    """Return a text of the record as it can stand in HTML."""
    return "" if value is None else escape(value)
