"""Workbooks of any shape: each cell of each sheet is in the record, in further data, or named."""

import io
import re
from typing import Any

import openpyxl
import orjson
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import Read, read

from catalog_service.exchange.records import Item, Link

MARKS = ["x", "✓", "1", "yes", "-", "no", "PASS", "verifies", ""]
Sheet = tuple[list[list[str]], list[str]]


@st.composite
def books(draw: st.DrawFn) -> dict[str, Sheet]:
    """Return the rows and the merged ranges of sheets: requirements, tests, a matrix, and rows that have both kinds."""
    words = iter(f"w{number}q" for number in range(10_000))
    count = draw(st.integers(2, 5))
    sheets: dict[str, Sheet] = {}
    owner = draw(st.booleans())
    rows = [["Req ID", "Title", *(["Owner"] if owner else [])]]
    rows += [[f"R-{at}", next(words), *([next(words)] if owner else [])] for at in range(count)]
    if draw(st.booleans()):
        rows += [[], ["", draw(st.sampled_from(["", next(words)])), "", next(words)]]
    sheets["Reqs"] = (rows, [])
    titles: list[list[str]] = [[next(words)] for _ in range(draw(st.integers(0, 2)))]
    tests = [["Test ID", "Test case", "Steps"]] + [[f"T-{at}", next(words), next(words)] for at in range(count)]
    sheets["Tests"] = ([*titles, *([[]] if titles else []), *tests], [])
    matrix = [["Requirement", *(f"T-{at}" for at in range(count)), *draw(st.sampled_from([[], ["Note"]]))]]
    for at in range(count):
        key = f"R-{at}" if at == 0 or draw(st.integers(0, 5)) else ""
        cells = [draw(st.sampled_from(MARKS)) for _ in range(count)]
        matrix.append([key, *cells, *([next(words)] if matrix[0][-1] == "Note" else [])])
    sheets["RTM"] = (matrix, [])
    pairs = [["Requirement ID", "Requirement", "Test case ID", "Test case", "Result"]]
    merges: list[str] = []
    for block in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 3))
        text, first = next(words), len(pairs) + 1
        shape = draw(st.sampled_from(["repeated", "blank", "merged"]))
        for at in range(length):
            is_said = at == 0 or shape == "repeated"
            own = [f"B-{block}", text] if is_said else ["", ""]
            test = [f"U-{next(words)}", next(words)] if draw(st.integers(0, 4)) else ["", ""]
            pairs.append([*own, *test, draw(st.sampled_from(["PASS", "", next(words)]))])
        if shape == "merged" and length > 1:
            merges += [f"{letter}{first}:{letter}{first + length - 1}" for letter in "AB"]
    if draw(st.booleans()):
        sheets["Pairs"] = (pairs, merges)
    return {name: sheets[name] for name in draw(st.permutations(list(sheets)))}


def as_file(sheets: dict[str, Sheet]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, (rows, merges) in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([cell or None for cell in row])
        for merge in merges:
            sheet.merge_cells(merge)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def named_rows(found: Read, sheet: str) -> set[int]:
    """Return the rows of a sheet that are refused and given back, or named as left out."""
    rows = {record.row for record in (*found.items, *found.links) if record.problems and record.sheet == sheet}
    for message in said_of(found, sheet):
        for said in re.findall(r"Rows? ([\d, toand]+) w(?:as|ere) left out", message):
            for part in re.findall(r"\d+(?: to \d+)?", said):
                first, _, last = part.partition(" to ")
                rows.update(range(int(first), int(last or first) + 1))
    return rows


def said_of(found: Read, sheet: str) -> list[str]:
    return [notice.message for notice in found.all_notices if f"'{sheet}'" in notice.message]


def as_text(record: Item | Link) -> Any:
    return [record.fields, *([record.requirement, record.test_case] if isinstance(record, Link) else [])]


@settings(max_examples=150, deadline=None)
@given(books())
def test_each_cell_of_a_workbook_is_kept_or_named(sheets: dict[str, Sheet]) -> None:
    found = read(as_file(sheets), "book.xlsx")
    records = (*found.items, *found.links)
    for name, (rows, _) in sheets.items():
        kept = orjson.dumps([as_text(record) for record in records if record.sheet == name]).decode()
        said = " ".join(said_of(found, name))
        header = next(at for at, row in enumerate(rows) if len(row) > 1)
        for number, row in enumerate(rows, 1):
            for at, cell in enumerate(row if number - 1 != header else ()):
                column = rows[header][at] if at < len(rows[header]) else ""
                is_mark = cell in MARKS and name == "RTM"
                is_told = cell in kept or cell in said or (column and f"'{column}'" in said)
                assert is_mark or is_told or number in named_rows(found, name), (name, number, cell, said)


@settings(max_examples=50, deadline=None)
@given(books())
def test_each_mark_is_a_link_or_refused(sheets: dict[str, Sheet]) -> None:
    found = read(as_file(sheets), "book.xlsx")
    rows, _ = sheets["RTM"]
    marks = [
        (number, row[0], rows[0][at])
        for number, row in enumerate(rows, 1)
        for at, cell in enumerate(row)
        if number > 1 and at and rows[0][at].startswith("T-") and cell not in ("", "-", "no")
    ]
    links = [
        (link.row, link.requirement.get("external_id", ""), link.test_case["external_id"])
        for link in found.links
        if link.sheet == "RTM"
    ]
    assert links == marks
