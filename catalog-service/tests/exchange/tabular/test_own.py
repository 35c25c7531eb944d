"""Tables of our own: each text comes back as it was."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import inspect, read

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.formulas import MARK, encode
from catalog_service.exchange.tabular.own import LONG_TEXT_COLUMNS, LONG_TEXTS, is_reference, reference_to

texts = (
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=60)
    | st.text(st.sampled_from("'\"=+-@;,|\t\r\n a\u2028é😀\x01_x"), min_size=1, max_size=12)
).filter(lambda text: not text.isspace())
json_objects = st.dictionaries(texts, texts | st.integers(-10, 10) | st.none() | st.booleans(), max_size=3)
test_cases = st.fixed_dictionaries(
    {
        "external_id": st.none() | texts,
        "title": texts,
        "description": texts,
        "type": st.sampled_from(["functional", "ui"]),
        "priority": st.sampled_from(["high", "low"]),
        "status": st.sampled_from(["draft", "ready"]),
        "steps": st.none() | st.dictionaries(st.sampled_from("123"), texts, max_size=3),
        "preconditions": st.none() | texts,
        "test_data": st.none() | json_objects,
        "module": st.none() | texts,
        "tags": st.lists(texts, max_size=3),
        "automation_status": st.sampled_from(["manual", "automated"]),
        "execution_time_minutes": st.none() | st.integers(0, 2**31 - 1),
        "custom_metadata": st.none() | json_objects,
        "source_url": st.none() | texts,
    }
)


def cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*rows[0], MARK])
    writer.writerows([encode(cell(row[name])) for name in rows[0]] for row in rows)
    return text.getvalue()


def as_workbook(sheet_name: str, rows: Sequence[dict[str, Any]], long: dict[str, int] | None = None) -> bytes:
    """Return a workbook of our own; texts that do not fit stand in the sheet of long texts, in parts."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet, beside = book.add_worksheet(sheet_name), book.add_worksheet(LONG_TEXTS)
    for at, name in enumerate([*rows[0], MARK]):
        sheet.write_string(0, at, name)
    for at, name in enumerate([*LONG_TEXT_COLUMNS, MARK]):
        beside.write_string(0, at, name)
    line = number = 0
    for down, row in enumerate(rows, 1):
        for at, name in enumerate(rows[0]):
            text = cell(row[name])
            if len(text) > 32_767 or is_reference(text):
                number += 1
                for part, start in enumerate(range(0, len(text), 32_767), 1):
                    line += 1
                    parts = (str(number), str(down), name, str(part), text[start : start + 32_767])
                    for place, content in enumerate(parts):
                        beside.write_string(line, place, content)
                text = reference_to(number)
            if text:
                sheet.write_string(down, at, text)
    book.close()
    return file.getvalue()


@settings(max_examples=60)
@given(st.lists(test_cases, min_size=1, max_size=3))
def test_each_test_case_of_a_csv_file_of_our_own_comes_back(rows: list[dict[str, Any]]) -> None:
    found = read(as_csv(rows))
    assert found.fields == rows
    assert all(item.kind == "test_case" and not item.problems and not item.warnings for item in found.items)


@settings(max_examples=50)
@given(st.lists(test_cases, min_size=1, max_size=3))
def test_each_test_case_of_a_workbook_of_our_own_comes_back(rows: list[dict[str, Any]]) -> None:
    assert read(as_workbook("Test cases", rows), "a.xlsx").fields == rows


def test_texts_that_are_longer_than_a_cell_come_back_and_so_do_those_that_look_like_references() -> None:
    rows = [
        {"external_id": "R-1", "title": "a", "description": "x" * 40_000 + "y" * 40_000, "type": "functional"},
        {"external_id": "R-2", "title": reference_to(1), "description": reference_to(7), "type": "functional"},
    ]
    assert read(as_workbook("Requirements", rows), "a.xlsx").fields == rows


def test_a_reference_to_a_long_text_that_is_missing_is_refused() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet("Requirements")
    sheet.write_row(0, 0, ["title", MARK])
    sheet.write_string(1, 0, reference_to(3))
    book.close()
    with pytest.raises(Unreadable, match="Row 2 refers to"):
        read(file.getvalue(), "a.xlsx")


def test_links_name_their_ends_by_external_id_or_id() -> None:
    end = "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11"
    header = f"requirement,test_case,requirement_id,test_case_id,link_type,link_source,confidence_score,notes,{MARK}\n"
    found = read(f"{header}R-1,T-1,,,verifies,imported,0.75,''quoted\n,T-2,{end},,covers,manual,1.0,\n")
    assert [(link.requirement, link.test_case) for link in found.links] == [
        ({"external_id": "R-1"}, {"external_id": "T-1"}),
        ({"id": end}, {"external_id": "T-2"}),
    ]
    assert found.links[0].fields == {
        "link_type": "verifies",
        "link_source": "imported",
        "confidence_score": 0.75,
        "notes": "'quoted",
    }


def test_rows_of_our_own_can_be_given_back_and_sent_again() -> None:
    content = f"external_id,title,{MARK}\nR-1,'=1+1,\n"
    for sent in (content, as_workbook("Requirements", [{"external_id": "R-1", "title": "=1+1"}])):
        name = "a.csv" if isinstance(sent, str) else "a.xlsx"
        header = [column["name"] for column in inspect(sent, name).columns]
        source = read(sent, name).items[0].source or []
        assert (header, source) == (["external_id", "title", MARK], ["R-1", "'=1+1", ""])
        again = read(",".join([*header, "problem"]) + "\n" + ",".join([*source, "Mend it."]) + "\n")
        assert again.fields == read(sent, name).fields == [{"external_id": "R-1", "title": "=1+1"}]


def test_a_version_is_that_of_the_item_when_it_was_exported() -> None:
    found = read(f"id,external_id,title,version,{MARK}\n1,R-1,a,3\n")
    assert (found.items[0].version, found.fields[0]) == (3, {"id": "1", "external_id": "R-1", "title": "a"})


def test_a_file_without_the_mark_keeps_its_apostrophes_and_says_so() -> None:
    found = read("ID,Title\n1,'=1+1\n2,'tis\n")
    assert [item["title"] for item in found.fields] == ["'=1+1", "'tis"]
    assert found.notices["apostrophes_kept"].count == 1


def test_a_cell_that_is_to_be_an_object_and_is_none_is_a_problem_of_its_row() -> None:
    found = read(f"title,custom_metadata,{MARK}\na,[1]\n")
    assert [(problem.code, problem.column) for problem in found.items[0].problems] == [
        ("not_an_object", "custom_metadata")
    ]


def test_a_cell_whose_object_has_a_name_twice_is_a_problem_of_its_row() -> None:
    found = read(f'title,custom_metadata,{MARK}\na,"{{""k"": 1, ""k"": 2}}"\n')
    (problem,) = found.items[0].problems
    assert (problem.code, problem.column) == ("duplicate_key", "custom_metadata")
    assert "'k' twice" in problem.message


def test_a_table_of_our_own_is_recognised() -> None:
    found = inspect(f"external_id,title,steps,{MARK}\n")
    assert (found.preset, found.mapping["kind"] if found.mapping else None) == ("traceline", "test_cases")


def test_a_table_of_our_own_that_has_lost_its_mark_names_the_same_items() -> None:
    id_ = "3f2b6c1e-0d7a-4b3e-9a51-2c8d7e6f5a40"
    (item,) = read(f"id,external_id,title,priority\n{id_},R-1,Doors close,high\n").items
    assert item.fields == {"id": id_, "external_id": "R-1", "title": "Doors close", "priority": "high"}
    assert item.source == [id_, "R-1", "Doors close", "high"]
    (item,) = read("id,external_id,title,priority\n7,R-1,Doors close,high\n").items
    assert item.fields["external_id"] == "R-1"


def test_sheets_that_have_no_mark_beside_others_are_read_where_they_are_ours_and_else_named() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    for name, rows in {
        "Requirements": [["id", "external_id", "title"], ["3f2b6c1e-0d7a-4b3e-9a51-2c8d7e6f5a40", "R-1", "Doors"]],
        "Test cases": [["external_id", "title", "steps", MARK], ["T-1", "Close", ""]],
        "Notes": [["What", "Who"], ["Ask", "Kim"]],
    }.items():
        sheet = book.add_worksheet(name)
        for down, row in enumerate(rows):
            sheet.write_row(down, 0, row)
    book.close()
    found = read(file.getvalue(), "a.xlsx")
    assert [(item.kind, item.fields["external_id"]) for item in found.items] == [
        ("requirement", "R-1"),
        ("test_case", "T-1"),
    ]
    assert "'Notes'" in found.notices["sheet_not_read"].message
