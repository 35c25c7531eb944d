"""What is read of tables that real tools and teams have exported, as a person reads them."""

import codecs
import csv
import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from exchange_samples import FOLDER, samples
from tables import Read, inspect, read

from catalog_service.exchange.records import Item
from catalog_service.exchange.tabular.csv_reader import find_delimiter, read_csv
from catalog_service.exchange.tabular.xlsx import open_workbook
from catalog_service.exchange.text import find_encoding
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "windows-1252", "gb18030")


def of(name: str) -> bytes:
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"NOT RUN: there is no sample {path}")
    return path.read_bytes()


def read_sample(name: str) -> Read:
    return read(of(name), Path(name).name)


def texts(data: bytes) -> list[list[str]]:
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return list(csv.reader(io.StringIO(data.decode(encoding), newline="")))
        except UnicodeDecodeError:
            continue
    raise AssertionError("a sample in another encoding")


@pytest.mark.parametrize("path", samples("csv/*.csv", "xlsx/*.xlsx"))
def test_each_item_of_a_real_table_is_one_that_the_api_takes(path: Path) -> None:
    data = path.read_bytes()
    assert inspect(data, path.name).mapping
    found = read(data, path.name)
    assert found.items
    refused = [item for item in found.items if not is_taken(item)]
    assert len(refused) <= 1  # one row of driving-assistance.xlsx has an id and nothing else
    mapping: Any = inspect(data, path.name).mapping
    assert read(data, path.name, mapping=mapping).fields == found.fields


def is_taken(item: Item) -> bool:
    model = RequirementWrite if item.kind == "requirement" else TestCaseWrite
    try:
        model.model_validate(item.fields)
    except ValueError:
        return False
    return not item.problems


@pytest.mark.parametrize("path", samples("csv/*.csv"))
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_real_tables_are_the_same_in_each_dialect_and_encoding(path: Path, delimiter: str) -> None:
    rows = texts(path.read_bytes())
    for line_end in ("\n", "\r\n"):
        for encoding in ENCODINGS:
            text = io.StringIO(newline="")
            csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(rows)
            try:
                file = io.BytesIO(text.getvalue().encode(encoding))
            except UnicodeEncodeError:
                continue
            if encoding == "gb18030" and not any("\u4e00" <= letter < "\ua000" for letter in text.getvalue()):
                continue  # nobody writes English in it
            found = find_encoding(file)
            assert (
                codecs.lookup(found.codec).name.startswith(codecs.lookup(encoding).name[:6])
                or file.getvalue().isascii()
            )
            assert find_delimiter(file, found) == delimiter
            assert [row.cells for row in read_csv(file, found, delimiter)] == rows


@pytest.mark.parametrize("path", samples("xlsx/*.xlsx"))
def test_real_workbooks_hold_what_openpyxl_finds_in_them(path: Path) -> None:
    book = openpyxl.load_workbook(path, data_only=True)
    with path.open("rb") as file, open_workbook(file) as tables:
        for table in tables:
            ours = {row.number: row.cells for row in table.rows if any(row.cells)}
            theirs = {}
            for number, row in enumerate(book[table.name].iter_rows(values_only=True), 1):
                cells = ["" if cell is None else str(cell) for cell in row]
                while cells and not cells[-1]:
                    cells.pop()
                if cells:
                    theirs[number] = cells
            assert ours == theirs


def test_requirements_of_nasa_are_read_from_jira() -> None:
    found = read_sample("csv/jira-nasa-hk.csv")
    assert len(found.items) == 16
    second = found.items[1]
    assert (second.row, second.line) == (3, 3)
    assert second.fields["external_id"] == second.fields["title"] == "HK1001"
    assert second.fields["description"].endswith("c) Number of Output Messages Sent\r\nd) Missing Data Counter")
    rationale = second.fields["custom_metadata"]["jira"]["Custom field (Requirement Rationale)"]
    assert rationale.endswith("in order to start with a “clean slate”")
    assert len(read_sample("csv/jira-nasa-cFE.csv").items) == 397


def test_test_cases_of_alm_are_read_with_their_steps() -> None:
    found = read_sample("csv/hpalmqc_tests.csv")
    assert [(item["external_id"], item["title"], len(item["steps"])) for item in found.fields] == [
        ("1", "login", 3),
        ("2", "logout", 3),
        ("3", "Checkout", 2),
    ]
    assert found.fields[2]["description"].startswith("Checkout description")
    assert found.fields[0]["steps"]["1"] == "First step description\nExpected: First step expected result"


def test_test_cases_of_practitest_are_read_with_their_steps() -> None:
    found = read_sample("csv/practitest_export.csv")
    assert [(item["external_id"], len(item.get("steps", {}))) for item in found.fields] == [
        ("1", 4), ("2", 1), ("3", 3), ("4", 0), ("5", 0), ("6", 5), ("7", 2), ("8", 0), ("9", 0),
    ]  # fmt: skip
    assert found.notices["ragged_rows"].count == 12


def test_test_cases_that_came_from_testrail_are_read_without_their_preconditions_as_items() -> None:
    found = read_sample("csv/testrail-to-xray.csv")
    assert [(item["external_id"], len(item.get("steps", {}))) for item in found.fields] == [
        ("2", 1), ("3", 0), ("5", 5), ("6", 0), ("7", 0),
    ]  # fmt: skip
    assert found.notices["rows_left_out"].count == 2


def test_test_cases_of_zentao_are_read_in_chinese() -> None:
    found = read_sample("csv/zentao-gbk.csv")
    assert len(found.items) == 14
    assert found.fields[0]["steps"] == {
        "1": "进入抽奖广告页面",
        "2": "点击返回按钮\nExpected: 返回至之前的广告位展示页面",
    }
    assert (found.fields[0]["priority"], found.fields[-1]["priority"]) == ("high", "medium")
    assert (found.fields[0]["automation_status"], found.fields[-1]["automation_status"]) == ("manual", "automated")


def test_a_table_of_requirements_in_bulgarian_is_read() -> None:
    found = read_sample("xlsx/driving-assistance.xlsx")
    assert [item["external_id"] for item in found.fields] == [str(number) for number in range(1, 39)]
    assert [item["module"] for item in found.fields[:4]] == [
        *["Захранване"] * 3,
        "Разпознаване на пътни знаци (TSR; Софтуер)",
    ]
    assert {item["type"] for item in found.fields} == {"functional", "technical"}
    assert found.fields[28]["description"].startswith("Бутони\nВходно-изходната система")
    assert set(found.notices) >= {"numeric_ids", "rows_below_table", "sheet_not_read"}


def test_questionnaires_of_four_sheets_are_read_together() -> None:
    found = read_sample("xlsx/strictdoc-questionnaires.xlsx")
    assert len(found.items) == 50 + 58 + 62 + 60
    assert found.fields[0]["title"] == "This Mobile App component must satisfy requirement AC-030:"
    assert found.fields[-1]["custom_metadata"]["strictdoc"]["sheet"].startswith("(Cloud Component)")


def test_requirements_without_titles_get_them_from_their_texts() -> None:
    found = read_sample("xlsx/teamcity-runas.xlsx")
    assert [item["external_id"] for item in found.fields][:3] == ["1", "2", "3"]
    assert len(found.items) == 30
    assert found.fields[8]["title"] == found.fields[8]["description"]
    assert read_sample("xlsx/strictdoc-import-basic.xlsx").fields[0]["priority"] == "high"
