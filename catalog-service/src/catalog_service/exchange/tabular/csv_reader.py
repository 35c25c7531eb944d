"""CSV and TSV as people's programs write them: delimiters, quotes and line ends of any kind."""

import csv
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.own import has_mark
from catalog_service.exchange.tabular.quoting import find_quoting, has_escaped_quote, unescaped, without_nulls
from catalog_service.exchange.tabular.table import (
    LONGEST_CELL,
    MOST_COLUMNS,
    MOST_LINES,
    Row,
    cell_too_long,
    too_many_columns,
    too_many_rows,
)
from catalog_service.exchange.text import LONGEST_LINE, Encoding, read_lines

DELIMITERS = (",", ";", "\t", "|")
_RARE_DELIMITERS = ("^", "~", "\x1f", "¦", "§")
_SAMPLED_ROWS = 25
_SAMPLED_CHARACTERS = 1 << 18
_HEADER_ALONE = 0.01
"""What a header counts for of which no row has as many cells."""
_RULE = re.compile(":?-[-:]*")
"""What stands below the header of a table in Markdown."""
_RULE_OF_CELL = re.compile(r"\s*:?---+:?\s*")
_WEB_PAGE = re.compile(r"\s*<(!doctype html|html)\b", re.I)
_CR_WITHIN_QUOTES, _CR_OUTSIDE = "\0r", "\0n"  # while a row is taken apart; a text has no NUL
_ESCAPED_BAR, _BAR = "\\|", "\0b"


def read_csv(file: BinaryIO, encoding: Encoding, delimiter: str) -> Iterator[Row]:
    """Yield the rows of a CSV file, blank ones and the header too.

    Raise Unreadable, with the line in which it begins, at a row that breaks a limit and at a file that ends in quotes.
    """
    quoting = find_quoting(file, encoding, delimiter)
    text = read_lines(file, encoding)
    lines = _Lines(unescaped(text) if quoting.escapes else text)
    reader = _cells(lines, delimiter, indents=quoting.indents, quote=quoting.quote)
    is_own = is_drawn = False
    number = 0
    while True:
        lines.begin_record()
        line = lines.number + 1
        number += 1
        if number > MOST_LINES:
            raise too_many_rows(line)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field larger" not in str(error):
                raise Unreadable(f"Row {number} cannot be read: {error}.", line=line) from None
            raise cell_too_long(number, line) from None
        if lines.ended:
            raise Unreadable(
                f"The file ends within quotes, in the row that begins in line {line}: it is cut off, or a closing quote"
                " is missing.",
                code="file_cut_off",
                line=line,
            )
        if len(cells) > MOST_COLUMNS and any(cells[MOST_COLUMNS:]):
            raise too_many_columns(number, line, len(cells) - 1)
        if lines.has_lone_cr:
            cells = [cell.replace(_CR_WITHIN_QUOTES, "\r").replace(_CR_OUTSIDE, "\n") for cell in cells]
        is_own = is_own or (number == 1 and has_mark(cells))
        if not is_own:
            cells = without_nulls(cells)
        if number == 1 and cells and _WEB_PAGE.match(cells[0]):
            raise Unreadable(
                "This is a web page, and no table: perhaps the page on which to log in came in place of the file. Open"
                " it in a browser, and export the table again.",
                line=line,
            )
        if number == 1 and len(cells) <= 2 and cells and cells[0].startswith("sep="):
            continue  # Excel's own way of saying the delimiter
        if delimiter == "|":
            if _is_rule(cells):
                is_drawn = True
                continue
            cells = [cell.strip() for cell in cells] if is_drawn else cells
        yield Row(number, cells, line)


def _cells(lines: Iterable[str], delimiter: str, *, indents: bool = False, quote: str = '"') -> Iterator[list[str]]:
    csv.field_size_limit(LONGEST_CELL)  # of the whole process, in which others may set it, too
    if delimiter != "|":
        return csv.reader(lines, delimiter=delimiter, skipinitialspace=indents, quotechar=quote)
    bars = (line.replace(_ESCAPED_BAR, _BAR) if line.startswith("|") else line for line in lines)
    return _within_text(csv.reader(bars, delimiter=delimiter, skipinitialspace=indents, quotechar=quote))


def _within_text(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield rows, those of a table in Markdown or a wiki as they are meant; a wiki has two bars around headers."""
    is_first = True
    for cells in rows:
        if _has_bars_around(cells):
            if is_first and len(cells) > 4 and len(cells) % 2 and not any(cells[1::2]):
                cells = cells[::2]
            is_first = False
            yield [cell.strip().replace(_BAR, "|") for cell in cells]
        else:
            yield [cell.replace(_BAR, _ESCAPED_BAR) for cell in cells]


def _has_bars_around(cells: list[str]) -> bool:
    return len(cells) > 2 and not cells[0].strip() and not cells[-1].strip()


def _is_rule(cells: list[str]) -> bool:
    """Check whether a row is the line below the header of a table in Markdown."""
    if _has_bars_around(cells):
        return _RULE.fullmatch("".join(cells)) is not None
    return len(cells) > 1 and all(map(_RULE_OF_CELL.fullmatch, cells))


def find_delimiter(file: BinaryIO, encoding: Encoding) -> str:
    """Return the delimiter that makes a table of the rows, the wider the better; in one of ours, that of the mark."""
    sample = _sample(file, encoding)
    if sample and sample[0].startswith("sep=") and len(sample[0].strip()) == 5:
        return sample[0][4]
    ways = [sample, list(unescaped(sample))] if has_escaped_quote(sample) else [sample]
    return max((*DELIMITERS, *_RARE_DELIMITERS), key=lambda delimiter: max(_fit(way, delimiter) for way in ways))


def _fit(sample: list[str], delimiter: str) -> float:
    rows = []
    try:
        for row in _cells(sample, delimiter):
            if any(row):
                rows.append(row)
            if len(rows) == _SAMPLED_ROWS:
                break
    except csv.Error:  # what it would have made of the rest counts for nothing
        pass
    if not rows:
        return 0
    if any(has_mark(row) for row in rows):
        return math.inf
    header = max(range(len(rows)), key=lambda at: (len(rows[at]), -at))
    width, below = len(rows[header]), rows[header + 1 :]
    # A text with many of them, a table in Markdown for example, stands below the header of the file.
    alike = sum(len(row) == width for row in below) / len(below) if below else 0
    return (width - 1) * (_HEADER_ALONE + alike) / (1 + header) ** 2


def _sample(file: BinaryIO, encoding: Encoding) -> list[str]:
    """Return the first lines, as the reader is given them."""
    sample: list[str] = []
    size = 0
    try:
        for line in _Lines(read_lines(file, encoding)):
            sample.append(line[:_SAMPLED_CHARACTERS])
            size += len(line)
            if size > _SAMPLED_CHARACTERS:
                break
    except Unreadable:
        if not sample:
            raise
    return sample


class _Lines:
    """The lines of a file for `csv.reader`, which ends a row at each CR that is not within quotes.

    Here a row ends at LF or CR LF, and at CR in a file that has no LF or where whole rows stand before and after it. A
    CR elsewhere is a line break within a cell: outside quotes it becomes LF, within quotes it stays.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        start = list(islice(lines, 2))
        self._lines = _split_old_mac(start, lines)
        firsts = [line.split("\r")[0] for line in reversed(start)]
        self._row = next((first for first in firsts if '"' not in first), "")
        self._quotes = 0
        self._size = 0
        self.number = 0
        self.ended = False
        self.has_lone_cr = False

    def __iter__(self) -> "_Lines":
        return self

    def begin_record(self) -> None:
        """Forget the quotes of the row before."""
        self._quotes = self._size = 0

    def __next__(self) -> str:
        try:
            line = next(self._lines)
        except StopIteration:
            self.ended = True
            raise
        self.number += 1
        self._size += len(line)
        if self._size > LONGEST_LINE:
            raise Unreadable(
                f"The row that reaches to line {self.number} is longer than {LONGEST_LINE >> 20} MiB; is a closing"
                " quote missing?",
                line=self.number,
            )
        end = len(line) - (2 if line.endswith("\r\n") else 1)
        if line.find("\r", 0, end) >= 0:
            first, *others = self._split_outside_quotes(line[:end])
            if others and self._are_rows(first, *others):
                self._lines = chain((f"{other}\n" for other in others), self._lines)
                line = f"{first}\n"
            else:
                line = self._keep_cr(line[:end]) + line[end:]
        self._quotes += line.count('"')
        return line

    def _are_rows(self, *parts: str) -> bool:
        """Check whether each part of a line is as wide as a row by itself: a cell that is broken leaves less of it."""
        if self._quotes % 2:
            return False
        counts = [self._row.count(delimiter) for delimiter in DELIMITERS]
        most = max(counts)
        delimiter = DELIMITERS[counts.index(most)]
        return most > 0 and all(
            part.count('"') % 2 == 0 and sum(text.count(delimiter) for text in part.split('"')[::2]) == most
            for part in parts
        )

    def _split_outside_quotes(self, line: str) -> list[str]:
        """Return the parts of a line between which a CR stands that is not within quotes."""
        if self._quotes % 2:
            return [line]
        texts = line.split('"')
        texts[::2] = [text.replace("\r", _CR_OUTSIDE) for text in texts[::2]]
        return '"'.join(texts).split(_CR_OUTSIDE)

    def _keep_cr(self, line: str) -> str:
        """Return a line without a CR that `csv.reader` would take for the end of the row."""
        self.has_lone_cr = True
        within = self._quotes % 2
        parts = line.split('"')
        return '"'.join(
            part.replace("\r", _CR_WITHIN_QUOTES if (at + within) % 2 else _CR_OUTSIDE) for at, part in enumerate(parts)
        )


def _split_old_mac(start: list[str], lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a file; where it has no LF, or none but within cells, each that ends at CR."""
    first = start[0] if start else ""
    if "\r" in first and "\n" not in first:
        return iter([f"{line}\n" for line in first.removesuffix("\r").split("\r")])
    parts = first.split('"')
    if len(parts) % 2 == 0 and any("\r" in part for part in parts[::2]):
        return _split_at_cr(chain(start, lines))
    return chain(start, lines)


def _split_at_cr(lines: Iterable[str]) -> Iterator[str]:
    """Yield what ends at a CR outside quotes, or at an LF."""
    outside = 0
    for line in lines:
        parts = line.split('"')
        for at in range(outside, len(parts), 2):
            parts[at] = parts[at].replace("\r\n", "\n").replace("\r", "\n")
        outside = (outside + len(parts) - 1) % 2
        *whole, rest = '"'.join(parts).split("\n")
        yield from (f"{one}\n" for one in whole)
        if rest:
            yield rest
