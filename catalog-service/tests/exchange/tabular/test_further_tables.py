"""Two tables in one sheet: one of them is read, and what the other one has is said with its rows."""

import pytest
from tables import read

from .test_nothing_lost import book_of

UPPER = [["ID", "Title"], ["R-1", "Doors"], ["R-2", "Close"]]
LOWER = [["Test ID", "Test title"], ["TC-1", "Try"], ["TC-2", "Try again"]]


def as_csv(rows: list[list[str]]) -> str:
    return "".join(",".join(row) + "\n" for row in rows)


@pytest.mark.parametrize("blank", [[], [[]], [[], [], []]])
@pytest.mark.parametrize("kind", ["all", "requirements"])
def test_the_rows_of_a_table_below_another_one_are_left_out_and_said(kind: str, blank: list[list[str]]) -> None:
    rows = [*UPPER, *blank, *LOWER]
    found = read(as_csv(rows), kind=kind)
    assert [item.fields["external_id"] for item in found.items] == ["R-1", "R-2"]
    said = found.notices["rows_of_other_table"]
    first = len(UPPER) + len(blank) + 1
    assert (said.count, said.unclean) == (3, True)
    assert said.message == (
        f"Rows {first} to {first + 2} were left out, as another table begins there; put it into a sheet or a file of"
        " its own: 'Test ID', 'TC-1' and 'TC-2'."
    )


def test_a_table_above_the_one_that_is_read_is_not_clean() -> None:
    lower = [["Test ID", "Test title", "Requirement"], ["TC-1", "Try", "R-1"]]
    found = read(book_of([*UPPER[:2], [], *lower]), "a.xlsx")
    assert [item.fields["external_id"] for item in found.items] == ["TC-1"]
    said = found.notices["rows_above_table"]
    assert (said.count, said.unclean) == (2, True)


def test_a_header_that_is_repeated_is_no_item_and_the_rows_below_it_are_read() -> None:
    found = read(as_csv([*UPPER, UPPER[0], ["R-3", "Lock"]]))
    assert [item.fields["external_id"] for item in found.items] == ["R-1", "R-2", "R-3"]
    assert (found.notices["header_repeated"].count, found.notices["header_repeated"].unclean) == (1, False)


@pytest.mark.parametrize("row", [["R-3", "Title"], ["Total", "Open"], ["ID", ""], ["Status", "Priority"]])
def test_rows_that_are_no_header_are_those_of_the_table(row: list[str]) -> None:
    assert "rows_of_other_table" not in read(as_csv([*UPPER, row, ["R-4", "Lock"]])).notices


def test_a_row_of_a_matrix_is_no_header_whatever_its_marks_are_called() -> None:
    matrix = [["Requirement", "T-1", "T-2"], ["R-1", "x", "x"], ["", "no", "verifies"]]
    assert "rows_of_other_table" not in read(book_of(matrix), "a.xlsx").notices
