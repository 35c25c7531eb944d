"""How the command speaks: aligned text for people, JSON for programs."""

from collections.abc import Sequence
from typing import Any

import click
import orjson

Row = dict[str, Any]


def as_json(document: Any) -> None:
    """Print a document as indented JSON."""
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z))


def as_table(rows: Sequence[Sequence[object]], *headings: str) -> None:
    """Print rows below their headings; numbers stand to the right."""
    cells = [[_text(value) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in [headings, *cells]) for column in range(len(headings))]
    to_the_right = [
        bool(rows) and all(isinstance(row[column], int | None) for row in rows) for column in range(len(widths))
    ]
    for row in [headings, *cells]:
        aligned = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_the_right, strict=True)
        ]
        click.echo("  ".join(aligned).rstrip())


def age(seconds: float | None) -> str | None:
    """Return a time that has passed in its largest unit: `3 s`, `12 min`, `5 h`, `9 d`."""
    if seconds is None:
        return None
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def first_line(text: str, longest: int = 80) -> str:
    """Return the first line of a text, cut when it is long."""
    line = text.partition("\n")[0]
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
