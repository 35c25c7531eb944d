"""Workbooks as people keep them: all sheets in one import, each as what it is."""

import io
import zipfile
from typing import Any

import pytest
from tables import inspect, read, workbook

from catalog_service.exchange.records import Unreadable

REQUIREMENTS = [["Req ID", "Title", "Priority"], ["R-1", "Doors close", "High"], ["R-2", "Doors open", "Low"]]
TESTS = [["Test ID", "Test case", "Steps"], ["T-1", "Close them", "1. Press"], ["T-2", "Open them", "1. Pull"]]
TRACE = [["Requirement ID", "Test Case ID"], ["R-1", "T-1"], ["R-2", "T-2"], ["R-2", "T-1"]]
BOOK = {"Cover": [["Doors"], ["Version", "1.3"]], "Reqs": REQUIREMENTS, "Tests": TESTS, "Trace": TRACE}


def ids_of(found: Any, kind: str) -> list[str]:
    return [item.fields["external_id"] for item in found.items if item.kind == kind]


def pairs_of(found: Any) -> list[tuple[str, str]]:
    return [(link.requirement["external_id"], link.test_case["external_id"]) for link in found.links]


def test_all_sheets_of_a_workbook_are_read_at_once() -> None:
    found = read(workbook(BOOK), "book.xlsx")
    assert ids_of(found, "requirement") == ["R-1", "R-2"]
    assert ids_of(found, "test_case") == ["T-1", "T-2"]
    assert pairs_of(found) == [("R-1", "T-1"), ("R-2", "T-2"), ("R-2", "T-1")]
    assert {record.sheet for record in (*found.items, *found.links)} == {"Reqs", "Tests", "Trace"}
    assert "1 in all: 'Cover' (" in found.notices["sheet_not_read"].message
    assert not found.notices["sheet_not_read"].unclean


def test_what_is_proposed_for_a_workbook_reads_it_as_it_is_read_without() -> None:
    book = workbook(BOOK)
    seen = inspect(book, "book.xlsx")
    assert seen.record_mapping is not None
    assert [(sheet["sheet"], sheet["role"]) for sheet in seen.record_mapping["sheets"]] == [
        ("Reqs", "requirements"),
        ("Tests", "test_cases"),
        ("Trace", "links"),
        ("Cover", "ignore"),
    ]
    assert [(part["sheet"], part["role"], len(part["columns"])) for part in seen.parts] == [
        ("Reqs", "requirements", 3),
        ("Tests", "test_cases", 3),
        ("Trace", "links", 2),
    ]
    assert {sheet["name"]: sheet["role"] for sheet in seen.sheets}["Cover"] == "ignore"
    found, again = read(book, "book.xlsx"), read(book, "book.xlsx", mapping=seen.record_mapping)
    assert again.fields == found.fields
    assert pairs_of(again) == pairs_of(found)


def test_a_mapping_of_version_1_reads_one_sheet() -> None:
    book = workbook(BOOK)
    mapping = inspect(book, "book.xlsx", sheet="Tests").mapping
    found = read(book, "book.xlsx", mapping=mapping)
    assert [record.sheet for record in (*found.items, *found.links)] == ["Tests", "Tests"]


@pytest.mark.parametrize("kind", ["requirements", "test_cases", "links"])
def test_the_kind_that_is_asked_for_narrows_what_is_read(kind: str) -> None:
    found = read(workbook(BOOK), "book.xlsx", kind=kind)
    of_kind = {"requirements": found.items, "test_cases": found.items, "links": found.links}[kind]
    assert len(of_kind) == (3 if kind == "links" else 2)
    assert len(of_kind) == len(found.items) + len(found.links)


def test_a_mapping_says_what_each_sheet_is() -> None:
    mapping = {
        "version": 2,
        "source_system": "office",
        "sheets": [
            {"sheet": "Reqs", "role": "requirements", "fields": {"external_id": {"column": 1}, "title": {"column": 2}}},
            {"sheet": "Tests", "role": "ignore"},
            {
                "sheet": "Trace",
                "role": "links",
                "header_row": 1,
                "fields": {"requirement": {"column": 1}, "test_case": {"column": "Test Case ID"}},
            },
        ],
    }
    found = read(workbook(BOOK), "book.xlsx", mapping=mapping)
    assert [item["source_system"] for item in found.fields] == ["office", "office"]
    assert found.fields[0]["custom_metadata"] == {"office": {"Priority": "High"}}
    assert len(found.links) == 3
    assert "1 in all: 'Cover'" in found.notices["sheet_not_read"].message
    with pytest.raises(Unreadable, match="no sheet 'Runs'; there are 'Cover', 'Reqs', 'Tests' and 'Trace'"):
        read(workbook(BOOK), "book.xlsx", mapping={**mapping, "sheets": [{"sheet": "Runs", "role": "ignore"}]})
    with pytest.raises(Unreadable, match="nothing read"):
        read(workbook(BOOK), "book.xlsx", mapping={**mapping, "sheets": [{"sheet": "Reqs", "role": "ignore"}]})


def test_a_mapping_of_a_whole_file_reads_a_table_without_sheets() -> None:
    content = "Nr;Text\n1;Doors close\n"
    fields = {"external_id": {"column": "Nr"}, "title": {"column": "Text"}}
    mapping = {"version": 2, "delimiter": ";", "sheets": [{"role": "test_cases", "fields": fields}]}
    found = read(content, mapping=mapping)
    assert [(item.kind, item.fields["title"]) for item in found.items] == [("test_case", "Doors close")]
    proposed = inspect(content).record_mapping
    assert proposed is not None
    assert read(content, mapping=proposed).fields == read(content).fields


@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        ("Bugs", [["ID", "Title"], ["B-1", "It hangs"]]),
        ("Glossary", [["ID", "Title"], ["lift", "A cabin"]]),
        ("Team", [["Name", "Role"], ["Kim", "Author"]]),
    ],
)
def test_a_sheet_of_something_else_is_named_and_not_read(name: str, sheet: list[list[str]]) -> None:
    found = read(workbook({"Reqs": REQUIREMENTS, "Tests": TESTS, name: sheet}), "book.xlsx")
    assert len(found.items) == 4
    assert f"1 in all: '{name}'" in found.notices["sheet_not_read"].message


def test_what_is_said_of_one_of_several_sheets_names_it() -> None:
    tests = [["Test ID", "Test case", "Owner"], ["T-1", "Close them", "kim"]]
    found = read(workbook({"Reqs": REQUIREMENTS, "Tests": tests}), "book.xlsx")
    assert found.notices["to_custom_metadata"].message.startswith("Sheet 'Tests': No field takes 'Owner'")
    assert "Sheet" not in read(workbook({"Tests": tests}), "book.xlsx").notices["to_custom_metadata"].message


def test_a_sheet_that_cannot_be_read_is_named() -> None:
    wide = [["Requirement", *(f"T-{at}" for at in range(600))]]
    with pytest.raises(Unreadable) as refused:
        read(workbook({"Reqs": REQUIREMENTS, "RTM": wide}), "book.xlsx")
    assert (refused.value.code, refused.value.message) == (
        "too_many_columns",
        "Sheet 'RTM': Row 1 has a cell in column SG; at most 500 columns are read.",
    )


def test_two_sheets_of_one_name_are_read_but_not_by_it() -> None:
    book = workbook({"Reqs": REQUIREMENTS, "Tests": TESTS})
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as given, zipfile.ZipFile(content, "w") as made:
        for name in given.namelist():
            made.writestr(name, given.read(name).replace(b'name="Tests"', b'name="Reqs"'))
    assert len(read(content.getvalue(), "book.xlsx").items) == 4
    with pytest.raises(Unreadable, match="There are 2 sheets called 'Reqs'"):
        read(content.getvalue(), "book.xlsx", sheet="Reqs")


def test_a_workbook_of_many_sheets_is_read_whole() -> None:
    sheets = {f"S{at}": [["ID", "Title", f"X{at}"], [f"R-{at}", "Doors", "y"]] for at in range(200)}
    assert len(read(workbook(sheets), "book.xlsx").items) == 200
