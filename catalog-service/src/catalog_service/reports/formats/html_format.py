"""The matrix as one HTML page that needs nothing else, runs nothing, and prints well."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from html import escape
from typing import IO, Any, ClassVar

from catalog_service.listing import Row

_STYLE = """
:root { color-scheme: light; font: 14px/1.4 system-ui, sans-serif; color: #1b2733; }
body { margin: 2rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
.made { color: #5b6b7b; margin: 0 0 1.5rem; }
.figures { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 0 1.5rem; }
.figures div { border: 1px solid #d5dde5; border-radius: 6px; padding: .5rem .9rem; }
.figures dt { color: #5b6b7b; font-size: .8rem; }
.figures dd { margin: 0; font-size: 1.3rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #e3e9ef;
  max-width: 28rem; overflow-wrap: break-word; }
thead th { background: #eef2f6; border-bottom: 2px solid #c3ced9; position: sticky; top: 0; }
tbody { break-inside: avoid; }
.id { font-weight: 600; white-space: nowrap; }
.none { color: #a4262c; }
.suspect { color: #8a5a00; font-weight: 600; }
@page { size: landscape; margin: 12mm; }
@media print { :root { font-size: 10px; } body { margin: 0; } thead th { position: static; } }
"""

_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
)

_HEADINGS = (
    "Requirement",
    "Title",
    "Module",
    "Priority",
    "Status",
    "Test case",
    "Title",
    "Status",
    "Link",
    "Confidence",
)


class HtmlMatrix:
    """A table with a group of lines a requirement, below the summary. Every text of the record is escaped."""

    media_type: ClassVar[str] = "text/html; charset=utf-8"
    headers: ClassVar[dict[str, str]] = {"Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'; sandbox"}

    def __init__(self, file: IO[bytes], folder: str, summary: Row, made_at: datetime) -> None:
        self._file = file
        figures = "".join(
            f"<div><dt>{_label(name)}</dt><dd>{_figure(name, value)}</dd></div>" for name, value in summary.items()
        )
        headings = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
        self._put(
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>Traceability matrix</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            f'<h1>Traceability matrix</h1>\n<p class="made">{made_at:%Y-%m-%d %H:%M} UTC</p>\n'
            f'<dl class="figures">{figures}</dl>\n<table>\n<thead><tr>{headings}</tr></thead>\n'
        )

    def write(self, rows: Sequence[Row]) -> None:
        """See MatrixDocument.write."""
        self._put("".join(_group(row) for row in rows))

    def finish(self) -> None:
        """See MatrixDocument.finish."""
        self._put("</table>\n</body>\n</html>\n")

    def close(self) -> None:
        """See MatrixDocument.close."""

    def _put(self, text: str) -> None:
        self._file.write(text.encode())


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _figure(name: str, value: Any) -> str:
    return f"{value:.1%}" if name == "coverage" else f"{value:,}"


def _group(row: Row) -> str:
    linked = row["test_cases"]
    span = f' rowspan="{len(linked)}"' if len(linked) > 1 else ""
    cells = [
        f'<td class="id"{span}>{_text(row["external_id"])}</td>',
        *(f"<td{span}>{_text(row[name])}</td>" for name in ("title", "module", "priority", "status")),
    ]
    if not linked:
        return f'<tbody><tr>{"".join(cells)}<td class="none" colspan="5">no test case</td></tr></tbody>\n'
    first, *others = (_test_case_cells(test_case) for test_case in linked)
    more = "".join(f"<tr>{other}</tr>" for other in others)
    return f"<tbody><tr>{''.join(cells)}{first}</tr>{more}</tbody>\n"


def _test_case_cells(test_case: Row) -> str:
    suspect = ' <span class="suspect">suspect</span>' if test_case["suspect"] else ""
    confidence = test_case["confidence_score"]
    return (
        f'<td class="id">{_text(test_case["external_id"])}</td>'
        f"<td>{_text(test_case['title'])}</td><td>{_text(test_case['status'])}</td>"
        f"<td>{_text(test_case['link_type'])}, {_text(test_case['link_source'])}{suspect}</td>"
        f"<td>{'' if confidence is None else f'{confidence:.2f}'}</td>"
    )


def _text(value: str | None) -> str:
    return "" if value is None else escape(value)
