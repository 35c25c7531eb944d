"""Each cell of a table is in an item, in a link, in its further data, or is named in what is said of the file."""

import re
from io import BytesIO
from typing import Any

import openpyxl
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import Read, read

from catalog_service.exchange.records import Item, Link

RTM = [
    ["Requirement ID", "Requirement", "Test case ID", "Result"],
    ["BR-1", "A visitor can register", "TC-1", "PASS"],
    ["", "", "TC-2", "FAIL"],
    ["", "", "TC-3", "PASS"],
    ["BR-2", "A visitor can log in", "TC-4", "PASS"],
    ["", "", "TC-5", "PASS"],
]
"""A table of requirements, whose cells stand for several rows."""
OF_TESTS = [
    ["Test ID", "Test case", "Requirement ID"],
    ["TC-1", "Register with all fields", "BR-1"],
    ["TC-2", "Register without e-mail", ""],
    ["TC-3", "Log in", "BR-2"],
    ["TC-4", "Log in twice", ""],
]
TABLE_OF_LINKS = [["Requirement", "Test case"], ["BR-1", "TC-1"], ["", "TC-2"], ["BR-2", "TC-3"]]


def book_of(rows: list[list[Any]], *merges: str, more: dict[str, list[list[Any]]] | None = None) -> bytes:
    """Return a workbook of these rows, in which these ranges are merged; `more` are its other sheets."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Table"
    for row in rows:
        sheet.append([None if cell == "" else cell for cell in row])
    for merged in merges:
        sheet.merge_cells(merged)
    for name, others in (more or {}).items():
        other = book.create_sheet(name)
        for row in others:
            other.append(row)
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def pairs(found: Read) -> list[tuple[str | None, str | None]]:
    """Return the ends of the links, None where one has none."""
    return [(link.requirement.get("external_id"), link.test_case.get("external_id")) for link in found.links]


def test_merged_cells_are_read_for_each_row_that_they_cover_and_said() -> None:
    found = read(book_of(RTM, "A2:A4", "B2:B4", "A5:A6", "B5:B6"), "rtm.xlsx", kind="requirements")
    assert [item.fields["external_id"] for item in found.items] == ["BR-1", "BR-2"]
    assert pairs(found) == [("BR-1", "TC-1"), ("BR-1", "TC-2"), ("BR-1", "TC-3"), ("BR-2", "TC-4"), ("BR-2", "TC-5")]
    assert found.fields[0]["custom_metadata"] == {"import": {"Result": "PASS\nFAIL\nPASS"}}


def test_a_row_that_names_a_test_case_and_blank_cells_for_its_requirement_is_refused_by_itself() -> None:
    found = read(book_of(RTM), "rtm.xlsx", kind="requirements")
    without = [link for link in found.links if not link.requirement]
    assert [(link.row, link.test_case["external_id"]) for link in without] == [(3, "TC-2"), (4, "TC-3"), (6, "TC-5")]
    assert {problem.code for link in without for problem in link.problems} == {"link_end_blank"}
    assert without[0].source == ["", "", "TC-2", "FAIL"]


def test_test_cases_beside_a_merged_requirement_are_linked_with_it() -> None:
    found = read(book_of(OF_TESTS, "C2:C3", "C4:C5"), "tests.xlsx")
    assert pairs(found) == [("BR-1", "TC-1"), ("BR-1", "TC-2"), ("BR-2", "TC-3"), ("BR-2", "TC-4")]
    said = found.notices["merged_cells_read"]
    assert (said.message, said.count, said.unclean) == (
        "Merged cells of 'Requirement ID' were read for each row that they cover.",
        2,
        False,
    )


def test_test_cases_whose_requirement_may_be_the_one_above_say_so_row_by_row() -> None:
    found = read(book_of(OF_TESTS), "tests.xlsx")
    assert pairs(found) == [("BR-1", "TC-1"), ("BR-2", "TC-3")]
    blank = [item for item in found.items if item.warnings]
    assert [(item.row, item.warnings[0].code) for item in blank] == [(3, "link_end_blank"), (5, "link_end_blank")]
    assert "'BR-2' above may stand for this row" in blank[1].warnings[0].message


def test_test_cases_of_which_some_have_no_requirement_are_not_asked_about() -> None:
    rows = [*OF_TESTS, ["TC-5", "Log out", "BR-1"]]  # not once for all rows below
    assert not any(item.warnings for item in read(book_of(rows), "tests.xlsx").items)


def test_the_rows_of_a_table_of_links_without_an_end_are_refused_unless_it_is_merged() -> None:
    found = read(book_of(TABLE_OF_LINKS), "links.xlsx")
    assert pairs(found) == [("BR-1", "TC-1"), (None, "TC-2"), ("BR-2", "TC-3")]
    assert [problem.code for problem in found.links[1].problems] == ["requirement_not_found"]
    merged = read(book_of(TABLE_OF_LINKS, "A2:A3"), "links.xlsx")
    assert pairs(merged) == [("BR-1", "TC-1"), ("BR-1", "TC-2"), ("BR-2", "TC-3")]


def test_steps_in_rows_below_a_merged_test_case_stay_its_steps() -> None:
    rows = [
        ["TC ID", "Title", "Module", "Step", "Expected Result"],
        ["TC-1", "Register", "Accounts", "Open", "It opens"],
        ["", "", "", "Send", "It is sent"],
        ["TC-2", "Log in", "", "Open", "It opens"],
    ]
    found = read(book_of(rows, "A2:A3", "B2:B3", "C2:C4"), "steps.xlsx")
    assert [(item["external_id"], len(item["steps"]), item["module"]) for item in found.fields] == [
        ("TC-1", 2, "Accounts"),
        ("TC-2", 1, "Accounts"),
    ]


def test_what_stands_above_a_table_is_told_and_rows_of_another_one_hold_it_up() -> None:
    titles = [["Requirements of the lift"], ["Version 1.3"], []]
    rows = [["ID", "Title", "Priority"], ["R-1", "Doors", "High"]]
    said = read(book_of([*titles, *rows]), "srs.xlsx").notices["rows_above_table"]
    assert said.message == (
        "Rows 1 and 2 were left out, above row 4, which is the header: 'Requirements of the lift' and 'Version 1.3'."
    )
    assert not said.unclean
    others = [["a", "b", "c"], ["d", "e", "f"], []]
    assert read(book_of([*others, *rows]), "srs.xlsx").notices["rows_above_table"].unclean


@pytest.mark.parametrize(
    ("sheet", "unclean"),
    [
        ([["Requirements of the lift"], ["Version", "1.3"]], False),
        ([["Word", "Meaning"], ["SRS", "specification"]], False),
        ([["TC ID", "Title"], ["TC-1", "Register"]], True),
        ([["a", "b", "c"], ["1", "2", "3"]], True),
        ([["TC ID", "Title"]], False),
    ],
)
def test_another_sheet_is_told_and_holds_the_plan_up_where_it_may_hold_items(
    sheet: list[list[str]], unclean: bool
) -> None:
    rows = [["ID", "Title", "Priority", "Description"], ["R-1", "Doors", "High", "They close."]]
    content = book_of(rows, more={"Other": sheet})
    said = read(content, "book.xlsx", kind="requirements").notices["sheet_not_read"]
    assert said.unclean == unclean
    assert "'Other' (" in said.message
    mapping = {"version": 1, "kind": "requirements", "sheet": "Table", "fields": {"title": {"column": "Title"}}}
    chosen = read(content, "book.xlsx", mapping=mapping).notices["sheet_not_read"]
    assert (chosen.unclean, "'Other' (" in chosen.message) == (False, True)


def test_a_legend_of_several_columns_below_the_table_holds_the_plan_up() -> None:
    rows = [["ID", "Title"], *([f"R-{at}", f"Title {at}"] for at in range(5)), [], ["", "Low", "1"], ["", "High", "2"]]
    said = read(book_of(rows), "a.xlsx").notices["rows_below_table"]
    assert (said.count, said.unclean) == (2, True)


_HEADERS = st.lists(
    st.sampled_from(["Description", "Priority", "Module", "Owner", "Parent", "Test cases", "", "Status note"]),
    min_size=1,
    max_size=4,
    unique=True,
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[str]], list[str]]:
    """Return the rows of a sheet, each of whose cells is a word of its own, and ranges to merge."""
    words = iter(f"w{number}x" for number in range(10_000))
    header = ["ID", "Title", *draw(_HEADERS)]
    rows: list[list[str]] = [[next(words)] for _ in range(draw(st.integers(0, 3)))]
    if rows and draw(st.booleans()):
        rows.append([])
    at = len(rows) + 1
    rows.append(header)
    merges = []
    for number in range(draw(st.integers(1, 12))):
        shape = draw(st.sampled_from(["item", "item", "item", "no id", "gap", "note", "beside", "no item", "merged"]))
        cells = [f"R-{next(words)}", next(words), *(next(words) if draw(st.booleans()) else "" for _ in header[2:])]
        if shape in {"no id", "no item", "merged"}:
            cells[0] = ""
        if shape in {"no item", "merged"}:
            cells[1] = ""
        if shape == "merged" and number and len(rows[-1]) >= len(header) and rows[-1][0]:
            line = len(rows)
            merges += [f"A{line}:A{line + 1}", f"B{line}:B{line + 1}"]
        if shape == "note":
            cells = ["", *[""] * draw(st.integers(0, len(header))), next(words)]
        if shape == "beside":
            cells += ["", next(words)]
        rows.append([] if shape == "gap" else cells)
    assert rows[at - 1] == header
    return rows, merges


def named_rows(found: Read) -> set[int]:
    """Return the rows that are named as left out, or that are refused and given back."""
    rows = {record.row for record in (*found.items, *found.links) if record.problems}
    for notice in found.notices.values():
        if (said := re.match(r"Rows? ([\d, toand]+) w(?:as|ere) left out", notice.message)) is not None:
            for part in re.findall(r"\d+(?: to \d+)?", said[1]):
                first, _, last = part.partition(" to ")
                rows.update(range(int(first), int(last or first) + 1))
    return rows


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(["requirements", "all"]))
def test_each_cell_is_kept_or_named(table: tuple[list[list[str]], list[str]], kind: str) -> None:
    rows, merges = table
    found = read(book_of(rows, *merges), "table.xlsx", kind=kind)
    kept = orjson.dumps([[record.fields, ends_of(record)] for record in (*found.items, *found.links)]).decode()
    said = " ".join(notice.message for notice in found.notices.values())
    said += " ".join(remark.message for item in found.items for remark in (*item.warnings, *item.problems))
    header = next(at for at, row in enumerate(rows) if row[:2] == ["ID", "Title"])
    for number, row in enumerate(rows, 1):
        for cell in row if number - 1 != header else ():
            is_kept = cell in kept or cell in said
            assert not cell or is_kept or number in named_rows(found), (number, cell, found.notices)


def ends_of(record: Item | Link) -> list[dict[str, str]]:
    return [record.requirement, record.test_case] if isinstance(record, Link) else []


def test_two_rows_of_a_header_make_one_name() -> None:
    rows = [
        ["Requirements of the lift"],
        ["Item", "", "Plan", "", "Result", "", "Owner"],
        ["ID", "Title", "Date", "By", "Date", "By", "Who"],
        ["R-1", "Doors", "May", "kim", "June", "ann", "eve"],
    ]
    content = book_of(rows, "A2:B2", "C2:D2", "E2:F2")
    found = read(content, "a.xlsx")
    assert [(item["external_id"], item["title"]) for item in found.fields] == [("R-1", "Doors")]
    assert found.fields[0]["custom_metadata"] == {
        "import": {
            "Plan / Date": "May",
            "Plan / By": "kim",
            "Result / Date": "June",
            "Result / By": "ann",
            "Who": "eve",
        }
    }
    assert "'Requirements of the lift'" in found.notices["rows_above_table"].message
    assert "'Owner'" in found.notices["rows_above_table"].message
    fields = {"external_id": {"column": "ID"}, "title": {"column": "Result / By"}}
    mapping = {"version": 1, "kind": "requirements", "header_row": 3, "fields": fields}
    assert read(content, "a.xlsx", mapping=mapping).fields[0]["title"] == "ann"


def test_a_first_step_that_stands_on_the_row_of_its_test_and_again_below_is_read_once() -> None:
    content = (
        "ID,Work Item Type,Title,Test Step,Step Action,Step Expected\n"
        "1,Test Case,Badge,1,Hold it,Green\n,,,1,Hold it,Green\n,,,2,Push,Open\n"
        "2,Test Case,Twice,1,Hold it,Green\n,,,2,Hold it,Green\n"
    )
    found = read(content)
    assert [list(item["steps"].values()) for item in found.fields] == [
        ["Hold it\nExpected: Green", "Push\nExpected: Open"],
        ["Hold it\nExpected: Green", "Hold it\nExpected: Green"],
    ]
    assert found.notices["step_repeated"].count == 1


def test_cells_that_are_filled_down_are_counted_with_the_switch() -> None:
    content = "ID,Module,Title\nR-1,Doors,Close\nR-2,,Open\nR-3,Cabin,Light\n"
    found = read(content)
    assert [item["module"] for item in found.fields] == ["Doors", "Doors", "Cabin"]
    told = found.notices["cells_filled_down"]
    assert (told.count, told.unclean) == (1, False)
    assert "'Module'" in told.message
    assert "fill_down" in told.message
    merged = read(book_of([row.split(",") for row in content.splitlines()], "B2:B3"), "a.xlsx")
    assert [item["module"] for item in merged.fields] == ["Doors", "Doors", "Cabin"]
    assert ("merged_cells_read" in merged.notices, "cells_filled_down" in merged.notices) == (True, False)
