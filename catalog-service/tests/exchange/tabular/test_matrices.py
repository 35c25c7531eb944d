"""Matrices of marks and tables of keys: they make links, and never items called as the keys are."""

from typing import Any

import pytest
from tables import Read, inspect, read, workbook

REQUIREMENTS = [["ID", "Requirement", "Priority"], ["R-1", "Doors close", "High"], ["R-2", "Doors open", "Low"]]
TESTS = [["Test ID", "Test case", "Steps"], ["T-1", "Close them", "1. Press"], ["T-2", "Open them", "1. Pull"]]


def read_beside(rows: list[list[Any]], **options: Any) -> Read:
    """Return what is read of a workbook with two requirements, two test cases, and a sheet of links."""
    return read(workbook({"Reqs": REQUIREMENTS, "Tests": TESTS, "RTM": rows}), "book.xlsx", **options)


def links_of(found: Read) -> list[tuple[str, str, str]]:
    return [
        (link.requirement["external_id"], link.test_case["external_id"], link.fields["link_type"])
        for link in found.links
    ]


@pytest.mark.parametrize("mark", ["X", "x", "V", "✓", "✔", "●", "1", 1, "Y", "yes", "да", "はい"])
def test_a_mark_is_a_link(mark: Any) -> None:
    found = read_beside([["Requirement", "T-1", "T-2"], ["R-1", mark, ""], ["R-2", "", mark]])
    assert links_of(found) == [("R-1", "T-1", "covers"), ("R-2", "T-2", "covers")]
    assert len(found.items) == 4
    assert not found.notices


@pytest.mark.parametrize("blank", ["", " ", "-", "–", "no", "N/A", "0", 0])
def test_what_says_that_there_is_none_is_no_link(blank: Any) -> None:
    found = read_beside([["Requirement", "T-1", "T-2"], ["R-1", "x", blank], ["R-2", blank, "x"]])
    assert links_of(found) == [("R-1", "T-1", "covers"), ("R-2", "T-2", "covers")]


def test_a_matrix_may_be_turned_round_and_have_titles_beside_its_keys() -> None:
    rows = [["", "R-1 Doors close", "R-2: Doors open"], ["T-1 Close them", "x", ""], ["Open them (T-2)", "x", "x"]]
    found = read_beside(rows)
    assert links_of(found) == [("R-1", "T-1", "covers"), ("R-1", "T-2", "covers"), ("R-2", "T-2", "covers")]


def test_a_crossing_may_name_the_type_of_the_link() -> None:
    found = read_beside([["Requirement", "T-1", "T-2"], ["R-1", "verifies", "x"], ["R-2", "", "validated by"]])
    assert [link_type for _, _, link_type in links_of(found)] == ["verifies", "covers", "validates"]


def test_results_at_the_crossings_are_links_and_told() -> None:
    found = read_beside([["Requirement", "T-1", "T-2"], ["R-1", "PASS", "Fail"], ["R-2", "", "pass"]])
    assert len(found.links) == 3
    told = found.notices["results_not_read"]
    assert told.count == 3
    assert "('PASS', 'Fail', 'pass')" in told.message


def test_a_text_at_a_crossing_is_the_note_of_the_link() -> None:
    rows = [["Requirement", "T-1", "T-2"], ["R-1", "x", "x"], ["R-2", "x", ""]]
    mapping = inspect(workbook({"Reqs": REQUIREMENTS, "Tests": TESTS, "RTM": rows}), "book.xlsx").record_mapping
    rows[2][2] = "by hand"
    found = read_beside(rows, mapping=mapping)
    assert found.links[-1].fields == {"link_type": "covers", "notes": "by hand"}
    assert "'by hand'" in found.notices["marks_with_text"].message


def test_a_mark_without_a_key_beside_it_is_refused_and_a_row_without_a_mark_is_told() -> None:
    found = read_beside([["Requirement", "T-1", "T-2"], ["R-1", "x", ""], ["", "", "x"], ["R-2", "", ""]])
    assert [[problem.code for problem in link.problems] for link in found.links] == [[], ["link_end_blank"]]
    assert "Row 4 was left out of the links, as they have no mark: 'R-2'." in found.notices["rows_without_mark"].message


def test_columns_of_a_matrix_that_are_no_keys_are_told() -> None:
    rows = [["Requirement", "Title", "T-1", "T-2"], ["R-1", "Doors close", "x", ""], ["R-2", "Doors open", "", "x"]]
    found = read_beside(rows)
    assert len(found.links) == 2
    assert "'Title'" in found.notices["columns_dropped"].message
    assert len(found.items) == 4


def test_a_matrix_alone_links_what_the_record_has() -> None:
    found = read("Requirement ID,TC-1,TC-2\nR-1,X,\nR-2,x,x\n")
    assert found.items == []
    assert links_of(found) == [("R-1", "TC-1", "covers"), ("R-2", "TC-1", "covers"), ("R-2", "TC-2", "covers")]
    assert [part["role"] for part in inspect("Requirement ID,TC-1,TC-2\nR-1,X,\nR-2,x,x\n").parts] == ["matrix"]
    found = read("Test Case,R-1,R-2\nTC-1,X,\nTC-2,,X\n")
    assert links_of(found) == [("R-1", "TC-1", "covers"), ("R-2", "TC-2", "covers")]


def test_marks_beside_items_are_their_links() -> None:
    content = "ID,Title,TC-1,TC-2,Owner\nR-1,Close,x,,kim\nR-2,Open,x,✓,kim\n"
    found = read(content)
    assert [item.fields["custom_metadata"] for item in found.items] == [{"import": {"Owner": "kim"}}] * 2
    assert links_of(found) == [("R-1", "TC-1", "covers"), ("R-2", "TC-1", "covers"), ("R-2", "TC-2", "covers")]
    again = read(content, mapping=inspect(content).record_mapping)
    assert (again.fields, links_of(again)) == (found.fields, links_of(found))


@pytest.mark.parametrize(
    "header",
    [
        ["Req ID", "Description", "Test ID", "Result"],
        ["BR", "What", "TC", "Verdict"],
        ["Requirement", "Requirement title", "Test Cases", "Status"],
    ],
)
def test_a_table_of_keys_that_the_file_has_makes_links_and_no_items(header: list[str]) -> None:
    rows = [header, ["R-1", "Doors close", "T-1", "PASS"], ["R-2", "Doors open", "T-1, T-2", "FAIL"]]
    found = read_beside(rows)
    assert [item.fields["external_id"] for item in found.items] == ["R-1", "R-2", "T-1", "T-2"]
    assert [(one, other) for one, other, *_ in map(_ends, found.links)] == [
        ("R-1", "T-1"),
        ("R-2", "T-1"),
        ("R-2", "T-2"),
    ]
    assert found.notices["columns_dropped"].count == 2


def _ends(link: Any) -> tuple[str, str]:
    return link.requirement["external_id"], link.test_case["external_id"]


def test_a_link_table_whose_tests_are_not_in_the_file_makes_no_requirements_twice() -> None:
    rows = [["Req ID", "Requirement", "Test ID"], ["R-1", "Doors close", "X-7"], ["R-2", "Doors open", "X-8"]]
    found = read(workbook({"Reqs": REQUIREMENTS, "RTM": rows}), "book.xlsx")
    assert [item.fields["external_id"] for item in found.items] == ["R-1", "R-2"]
    assert list(map(_ends, found.links)) == [("R-1", "X-7"), ("R-2", "X-8")]


def test_a_wide_matrix_is_read_with_each_of_its_marks() -> None:
    tests = [["Test ID", "Test case", "Steps"], *([f"T-{at}", f"Test {at}", "1. Do"] for at in range(400))]
    rows = [["Requirement", *(f"T-{at}" for at in range(400))], *([f"R-{row}", *["x"] * 400] for row in (1, 2))]
    found = read(workbook({"Reqs": REQUIREMENTS, "Tests": tests, "RTM": rows}), "book.xlsx")
    assert len(found.links) == 800


def test_a_matrix_that_a_mapping_names_has_to_say_where_its_keys_are() -> None:
    book = workbook({"RTM": [["Requirement", "T-1"], ["R-1", "x"]]})
    sheet = {"sheet": "RTM", "role": "matrix", "fields": {"title": {"column": "Requirement"}}}
    mapping: dict[str, Any] = {"version": 2, "sheets": [sheet]}
    with pytest.raises(Exception, match="says where its keys stand"):
        read(book, "book.xlsx", mapping=mapping)
    rule = {"down": "requirements", "keys": "Requirement", "across": ["T-1"], "link_type": "verifies"}
    found = read(book, "book.xlsx", mapping={"version": 2, "sheets": [{**mapping["sheets"][0], "matrix": rule}]})
    assert links_of(found) == [("R-1", "T-1", "verifies")]
