"""Sheets of which a mapping says only what they are: the rest is proposed, beside the sheets of which all is said."""

from typing import Any

import pytest
from tables import inspect, read, workbook

from catalog_service.exchange.records import Unreadable

REQUIREMENTS = [["Req ID", "Title", "Prio"], ["R-1", "Doors close", "High"], ["R-2", "Doors open", "Low"]]
TESTS = [["Test ID", "Test case"], ["T-1", "Close them"], ["T-2", "Open them"]]
MARKS = [["Of", "T-1", "T-2"], ["R-1", "x", ""], ["R-2", "", "x"]]
BOOK = {"Cover": [["Doors"], ["Version", "1.3"]], "Reqs": REQUIREMENTS, "Tests": TESTS, "RTM": MARKS}


def mapped(*sheets: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "sheets": list(sheets)}


def roles_of(mapping: dict[str, Any] | None) -> dict[str, str]:
    assert mapping is not None
    return {sheet["sheet"]: sheet["role"] for sheet in mapping["sheets"]}


def test_a_role_is_enough_and_what_it_is_proposed_with_is_read_alike() -> None:
    book = workbook({**BOOK, "More": [["ID", "Title"], ["M-1", "Try all"]]})
    said = mapped({"sheet": "More", "role": "test_cases"}, {"sheet": "RTM", "role": "auto"})
    seen = inspect(book, "book.xlsx", mapping=said)
    (more,) = [part for part in seen.parts if part["sheet"] == "More"]
    assert [column["field"] for column in more["columns"]] == ["external_id", "title"]
    assert roles_of(seen.record_mapping)["More"] == "test_cases"
    again = read(book, "book.xlsx", mapping=seen.record_mapping)
    assert again.fields == read(book, "book.xlsx", mapping=said).fields
    assert {item.kind for item in again.items if item.sheet == "More"} == {"test_case"}


def test_a_sheet_is_proposed_by_the_keys_of_sheets_that_are_said() -> None:
    book = workbook(BOOK)
    whole = inspect(book, "book.xlsx").record_mapping
    assert whole is not None
    others = [sheet for sheet in whole["sheets"] if sheet["sheet"] != "RTM"]
    asked = mapped(*others, {"sheet": "RTM", "role": "auto"})
    found = inspect(book, "book.xlsx", mapping=asked).record_mapping
    assert roles_of(found) == {"Reqs": "requirements", "Tests": "test_cases", "RTM": "matrix", "Cover": "ignore"}
    assert len(read(book, "book.xlsx", mapping=found).links) == 2


def test_a_cover_that_is_to_be_proposed_beside_other_sheets_is_left_out() -> None:
    asked = mapped({"sheet": "Reqs", "role": "auto"}, {"sheet": "Cover", "role": "auto"})
    assert roles_of(inspect(workbook(BOOK), "book.xlsx", mapping=asked).record_mapping)["Cover"] == "ignore"


def test_what_items_are_known_by_stays_as_long_as_a_sheet_has_it() -> None:
    book = workbook({"Reqs": [["Title", "Prio"], ["Doors close", "High"], ["Doors open", "Low"]]})
    whole = inspect(book, "book.xlsx").record_mapping
    assert whole is not None
    assert whole["key"] == ["title"]
    again = inspect(book, "book.xlsx", mapping=whole).record_mapping
    assert again is not None
    assert again["key"] == ["title"]


def test_a_table_without_marks_is_refused_as_a_matrix_with_the_way_out() -> None:
    with pytest.raises(Unreadable, match=r"'Reqs' is no matrix.*Choose another role"):
        inspect(workbook(BOOK), "book.xlsx", mapping=mapped({"sheet": "Reqs", "role": "matrix"}))


def test_every_table_is_shown_as_it_stands_in_the_file() -> None:
    tables = {table["sheet"]: table for table in inspect(workbook(BOOK), "book.xlsx").tables}
    assert list(tables) == ["Cover", "Reqs", "Tests", "RTM"]
    assert tables["Reqs"] == {
        "sheet": "Reqs",
        "header_row": 1,
        "count": 2,
        "names": ["Req ID", "Title", "Prio"],
        "rows": [{"row": 2, "cells": REQUIREMENTS[1]}, {"row": 3, "cells": REQUIREMENTS[2]}],
    }


def test_a_column_of_a_few_values_has_them_with_their_counts() -> None:
    rows = [["ID", "Title", "Prio"], *([f"R-{n}", f"Doors {n}", "High" if n % 3 else "Low"] for n in range(9))]
    columns = {column["name"]: column for column in inspect(workbook({"Reqs": rows}), "book.xlsx").columns}
    assert columns["Prio"]["values"] == [{"value": "High", "count": 6}, {"value": "Low", "count": 3}]
