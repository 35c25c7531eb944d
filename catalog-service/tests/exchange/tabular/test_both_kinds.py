"""Tables whose rows are of both kinds: by their type, or with a requirement and a test in each."""

import io
from typing import Any

import openpyxl
import pytest
from tables import Read, inspect, read

ISSUES = (
    "Summary,Issue key,Issue Type,Status,Priority,Inward issue link (Tests),Inward issue link (Tests)\n"
    "Doors close,L-1,Story,To Do,High,L-3,L-4\n"
    "Close them,L-3,Test,To Do,High,,\n"
    "Doors open,L-2,Epic,Done,Low,,\n"
    "Close them twice,L-4,Test,Done,Low,,\n"
)
HEADER = ["Requirement ID", "Requirement description", "Test case ID", "Test case", "Result"]


def ids_of(found: Read, kind: str) -> list[str]:
    return [item.fields["external_id"] for item in found.items if item.kind == kind]


def pairs_of(found: Read) -> list[tuple[str | None, str | None]]:
    return [(link.requirement.get("external_id"), link.test_case.get("external_id")) for link in found.links]


def book_of(rows: list[list[Any]], *merges: str) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for merge in merges:
        sheet.merge_cells(merge)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_rows_become_what_their_type_says() -> None:
    found = read(ISSUES)
    assert [(item.row, item.kind) for item in found.items] == [
        (2, "requirement"),
        (3, "test_case"),
        (4, "requirement"),
        (5, "test_case"),
    ]
    assert pairs_of(found) == [("L-1", "L-3"), ("L-1", "L-4")]
    assert {item["source_system"] for item in found.fields} == {"jira"}
    assert [item["custom_metadata"]["jira"]["Issue Type"] for item in found.fields] == ["Story", "Test", "Epic", "Test"]
    assert "unsure_column" not in found.notices
    assert not any(notice.unclean for notice in found.notices.values())


def test_types_of_neither_kind_are_left_out_and_others_that_are_not_known_told() -> None:
    found = read(ISSUES + "It hangs,L-5,Bug,Open,Low,,\nPaint them,L-6,Chore,Open,Low,,\n")
    assert ids_of(found, "requirement") == ["L-1", "L-2", "L-6"]
    left, unknown = found.notices["types_left_out"], found.notices["type_not_listed"]
    assert (left.count, left.unclean, "'It hangs'" in left.message) == (1, True, True)
    assert (unknown.count, unknown.unclean, "'Chore'" in unknown.message) == (1, True, True)


def test_types_are_proposed_and_a_mapping_decides_them() -> None:
    mapping = inspect(ISSUES).record_mapping
    assert mapping is not None
    assert [sheet["role"] for sheet in mapping["sheets"]] == ["requirements", "test_cases"]
    types = {"column": "Issue Type", "roles": {"Story": "requirements", "Test": "test_cases", "Epic": "requirements"}}
    assert [sheet["types"] for sheet in mapping["sheets"]] == [types, types]
    again = read(ISSUES, mapping=mapping)
    assert (again.fields, pairs_of(again)) == (read(ISSUES).fields, pairs_of(read(ISSUES)))
    for sheet in mapping["sheets"]:
        sheet["types"] = {**types, "roles": {**types["roles"], "Epic": "ignore"}}
    found = read(ISSUES, mapping=mapping)
    assert ids_of(found, "requirement") == ["L-1"]
    assert not found.notices["types_left_out"].unclean


def test_types_are_listed_with_what_they_become() -> None:
    found = inspect(ISSUES + "It hangs,L-5,Bug,Open,Low,,\nPaint them,L-6,Chore,Open,Low,,\n")
    assert [(one["type"], one["count"], one["proposed"]) for one in found.types] == [
        ("Test", 2, "test_cases"),
        ("Story", 1, "requirements"),
        ("Epic", 1, "requirements"),
        ("Bug", 1, "ignore"),
        ("Chore", 1, "requirements"),
    ]
    assert found.types[0]["example"] == "Close them, L-3"
    assert found.types[-1]["reason"] == "What rows of this type are is not known."
    assert inspect("ID,Title,Type\nR-1,Doors,Functional\n").types == []


def test_a_kind_that_is_asked_for_leaves_the_other_one_to_be_dropped() -> None:
    found = read(ISSUES, kind="test_cases")
    assert {item.kind for item in found.items} == {"test_case"}


def test_steps_below_a_row_go_on_with_what_it_is() -> None:
    content = (
        "ID,Work Item Type,Title,Test Step,Step Action,Step Expected\n"
        "1,Requirement,Doors close,,,\n2,Test Case,Close them,,,\n,,,1,Press,They close\n,,,2,Wait,\n"
        "3,Requirement,Doors open,,,\n4,Test Case,Open them,,,\n,,,1,Pull,They open\n"
    )
    found = read(content)
    assert ids_of(found, "requirement") == ["1", "3"]
    tests = [item for item in found.items if item.kind == "test_case"]
    assert [list(item.fields["steps"].values()) for item in tests] == [
        ["Press\nExpected: They close", "Wait"],
        ["Pull\nExpected: They open"],
    ]


@pytest.mark.parametrize("second", [["B-1", "Register"], ["B-1", ""]])
def test_a_row_may_have_a_requirement_a_test_and_their_link(second: list[str]) -> None:
    rows = [
        HEADER,
        ["B-1", "Register", "T-1", "With all fields", "PASS"],
        [*second, "T-2", "Without address", "FAIL"],
        ["B-2", "Log in", "T-3", "Log in", "PASS"],
    ]
    content = "\n".join(map(",".join, rows))
    found = read(content)
    assert ids_of(found, "requirement") == ["B-1", "B-2"]
    assert ids_of(found, "test_case") == ["T-1", "T-2", "T-3"]
    assert pairs_of(found) == [("B-1", "T-1"), ("B-1", "T-2"), ("B-2", "T-3")]
    tests = [item.fields for item in found.items if item.kind == "test_case"]
    assert tests[1]["custom_metadata"] == {"import": {"Result": "FAIL"}}
    assert found.notices["items_repeated"].count == 1
    assert not any(item.problems for item in found.items)
    again = read(content, mapping=inspect(content).record_mapping)
    assert (again.fields, pairs_of(again)) == (found.fields, pairs_of(found))


BLOCKS = [
    HEADER,
    ["B-1", "Register", "T-1", "With all fields", "PASS"],
    ["", "", "T-2", "Without address", "PASS"],
    ["B-2", "Log in", "T-3", "Log in", "PASS"],
    ["", "", "T-4", "Log in twice", "PASS"],
    ["B-3", "Log out", "", "", ""],
    ["B-4", "Leave", "T-5", "Leave", ""],
]
LINKS = [("B-1", "T-1"), ("B-1", "T-2"), ("B-2", "T-3"), ("B-2", "T-4"), ("B-4", "T-5")]


def test_a_requirement_that_begins_a_block_stands_for_the_tests_below_it() -> None:
    content = "\n".join(map(",".join, BLOCKS))
    found = read(content)
    assert ids_of(found, "requirement") == ["B-1", "B-2", "B-3", "B-4"]
    assert pairs_of(found) == LINKS
    told = found.notices["cells_filled_down"]
    assert (told.count, "'Requirement ID'" in told.message) == (2, True)
    mapping = inspect(content).record_mapping
    assert mapping is not None
    del mapping["sheets"][1]["links"]["requirements"]["fill_down"]
    assert pairs_of(read(content, mapping=mapping)) == [pair for pair in LINKS if pair[1] not in ("T-2", "T-4")]


def test_merged_cells_stand_for_all_rows_that_they_cover() -> None:
    found = read(book_of(BLOCKS, "A2:A3", "B2:B3", "A4:A5", "B4:B5"), "book.xlsx")
    assert ids_of(found, "requirement") == ["B-1", "B-2", "B-3", "B-4"]
    assert pairs_of(found) == LINKS
    assert found.notices["merged_cells_read"].count == 4
    assert "cells_filled_down" not in found.notices


def test_a_requirement_that_is_told_in_two_ways_is_refused_by_its_second_row() -> None:
    rows = [*BLOCKS, ["B-1", "Register twice", "T-6", "Again", ""]]
    found = read("\n".join(map(",".join, rows)))
    assert ids_of(found, "requirement") == ["B-1", "B-2", "B-3", "B-4", "B-1"]
    assert pairs_of(found)[-1] == ("B-1", "T-6")


def test_what_a_row_says_of_a_test_that_it_does_not_name_is_told() -> None:
    rows = [*BLOCKS, ["B-5", "Stay", "", "", "not run"]]
    found = read("\n".join(map(",".join, rows)))
    assert "Row 8 was left out" in found.notices["rows_without_item"].message
