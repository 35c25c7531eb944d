"""Rows with ids of their own beside a column of what they are linked with are of the kind that it does not name."""

import pytest
from tables import read

from .test_nothing_lost import book_of


def ends(content: str | bytes, name: str = "a.csv") -> tuple[set[str], list[tuple[str | None, str | None]]]:
    found = read(content, name)
    links = [(link.requirement.get("external_id"), link.test_case.get("external_id")) for link in found.links]
    return {item.kind for item in found.items}, links


@pytest.mark.parametrize("header", ["Test Cases", "Tests", "Test Case", "Test Case ID", "Verified by", "Testfälle"])
def test_requirements_beside_their_tests_are_linked_with_them(header: str) -> None:
    content = f"ID,Title,{header}\nR-1,The pump shall stop,TC-1\nR-2,The valve shall open,TC-3\n"
    assert ends(content) == ({"requirement"}, [("R-1", "TC-1"), ("R-2", "TC-3")])


@pytest.mark.parametrize("header", ["Requirement", "Requirements", "Requirement ID"])
def test_tests_beside_their_requirements_are_linked_with_them(header: str) -> None:
    content = f"ID,Title,{header}\nTC-1,Stop the pump,R-1\nTC-2,Open the valve,R-2\n"
    assert ends(content) == ({"test_case"}, [("R-1", "TC-1"), ("R-2", "TC-2")])


def test_merged_requirements_beside_their_tests_are_linked_with_each() -> None:
    rows = [["ID", "Title", "Test Cases"], ["R-1", "Doors", "TC-1"], ["", "", "TC-2"], ["R-2", "Close", ""]]
    content = book_of(rows, "A2:A3", "B2:B3")
    assert ends(content, "a.xlsx") == ({"requirement"}, [("R-1", "TC-1"), ("R-1", "TC-2")])


@pytest.mark.parametrize(
    "content",
    [
        "No,Title,Test Case ID\n1,Stop the pump,TC-1\n2,Open the valve,TC-2\n",
        "ID,Title,Test type\nT-1,Stop the pump,Smoke\nT-2,Open the valve,Smoke\n",
        "TC-ID,Title,Tests\nTC-1,Stop the pump,R-1\nTC-2,Open the valve,R-2\n",
    ],
)
def test_rows_without_such_a_column_stay_tests(content: str) -> None:
    assert ends(content)[0] == {"test_case"}


def test_a_column_of_ids_that_no_link_is_made_of_is_not_clean() -> None:
    content = "Test ID,Title,Steps,Tests\nTC-1,Stop the pump,Stop,TC-7\nTC-2,Open the valve,Open,TC-8\n"
    assert [item.relations for item in read(content).items] == [1, 1]
