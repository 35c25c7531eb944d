# ruff: noqa: DTZ001 (a sheet has no time zones)
"""Workbooks, made by the libraries that others use, and by hand where these would not."""

import io
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook
from tables import inspect, read, workbook

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.xlsx import open_workbook

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def rows_of(data: bytes, sheet: int = 0) -> list[list[str]]:
    with open_workbook(io.BytesIO(data)) as tables:
        return [row.cells for row in tables[sheet].rows]


def by_hand(rows: str, shared: str | None = None, prolog: str = "", **members: str) -> bytes:
    """Return a workbook of one sheet with this XML as its rows."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="S" r:id="a"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="a" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="b" Type="{OFFICE}/sharedStrings" Target="/xl/sharedStrings.xml"/></Relationships>',
        )
        sheet = f'{prolog}<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        if shared is not None:
            texts = f'<sst xmlns="{MAIN}">{shared}</sst>'
            archive.writestr("xl/sharedStrings.xml", texts.encode("utf-8", "surrogateescape"))
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


HEADER = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>ID</t></is></c><c r="B1" t="inlineStr"><is><t>Title</t></is></c></row>'
)


def test_each_cell_is_what_its_type_says() -> None:
    file = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append([1.0, 1, 0.1, 1e21, -3.5, True, False, "text", None, "=1+1", datetime(2024, 2, 29, 13, 5)])
    book.active.append([date(2024, 2, 29), time(13, 5, 30), timedelta(hours=30), date(1900, 1, 1), date(1900, 3, 1)])
    book.save(file)
    assert rows_of(file.getvalue()) == [
        ["1", "1", "0.1", "1e+21", "-3.5", "true", "false", "text", "", "", "2024-02-29T13:05:00"],
        ["2024-02-29", "13:05:30", "30:00:00", "1900-01-01", "1900-03-01"],
    ]


@pytest.mark.parametrize(
    ("number_format", "shown"),
    [
        ("dd.mm.yyyy", "2024-02-29"),
        ('yyyy"-"mm', "2024-02-29"),
        ("[$-407]d. mmmm yyyy;@", "2024-02-29"),
        ("yyyy-mm-dd hh:mm", "2024-02-29T12:00:00"),
        ("mmm yy", "2024-02-29"),
        ("0.00", "45351.5"),
        ('0 "days"', "45351.5"),
        ("#,##0.0", "45351.5"),
        ("General", "45351.5"),
        ("[Red]0", "45351.5"),
        ("[h]:mm", "1088436:00:00"),
    ],
)
def test_numbers_are_dates_where_their_format_says_so(number_format: str, shown: str) -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    value = 45351 if shown == "2024-02-29" else 45351.5
    sheet.write_number(0, 0, value, book.add_format({"num_format": number_format}))
    book.close()
    assert rows_of(file.getvalue()) == [[shown]]


def test_dates_count_from_1904_where_the_workbook_says_so() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"date_1904": True})
    book.add_worksheet().write_datetime(0, 0, datetime(2024, 2, 29), book.add_format({"num_format": "yyyy-mm-dd"}))
    book.close()
    assert rows_of(file.getvalue()) == [["2024-02-29"]]


def test_formulas_give_what_is_stored_and_errors_are_warned_of() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["ID", "Title", "Owner"])
    sheet.write_formula(1, 0, '="R-"&1', value="R-1")
    sheet.write_formula(1, 1, "=1/0", value="#DIV/0!")
    sheet.write_string(1, 2, "kim")
    book.close()
    found = read(file.getvalue(), "a.xlsx")
    assert found.fields[0]["external_id"] == "R-1"
    assert [(remark.code, remark.column) for remark in found.items[0].warnings] == [("cell_error", "Title")]
    without_value = by_hand(HEADER + '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><f>A1</f></c></row>')
    assert read(without_value, "a.xlsx").items[0].warnings[0].code == "formula_without_value"


def test_text_that_is_struck_through_is_read_and_said() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    struck, bold = book.add_format({"font_strikeout": True}), book.add_format({"bold": True})
    sheet.write_row(0, 0, ["ID", "Title", "Description"])
    sheet.write_row(1, 0, ["R-1", "Doors close", "They close."], struck)
    sheet.write_row(2, 0, ["R-2", "Doors open"], bold)
    sheet.write_rich_string(2, 2, "In ", struck, "5", " 7 seconds")
    sheet.write_row(3, 0, ["R-3", "Doors stop"])
    sheet.write_rich_string(3, 2, "In ", bold, "7", " seconds")
    book.close()
    found = read(file.getvalue(), "a.xlsx")
    assert [fields["description"] for fields in found.fields] == ["They close.", "In 5 7 seconds", "In 7 seconds"]
    remarks = [[(remark.code, remark.column) for remark in item.warnings] for item in found.items]
    assert remarks == [
        [("struck_through", name) for name in ("ID", "Title", "Description")],
        [("struck_through", "Description")],
        [],
    ]
    inline = '<c t="inlineStr"><is><r><rPr><strike{}/></rPr><t>a</t></r></is></c>'
    for mark, count in (("", 1), (' val="1"', 1), (' val="0"', 0)):
        row = '<row r="2"><c r="A2" t="inlineStr"><is><t>1</t></is></c>' + inline.format(mark) + "</row>"
        assert len(read(by_hand(HEADER + row), "a.xlsx").items[0].warnings) == count


def test_shared_and_inline_texts_of_several_runs_are_one_text_without_their_pronunciation() -> None:
    shared = "<si><r><t>Do</t></r><r><rPr/><t xml:space='preserve'>ors </t></r><rPh><t>x</t></rPh></si><si><t/></si>"
    inline = '<c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c>'
    rows = f'<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c>{inline}</row>'
    assert rows_of(by_hand(rows, shared)) == [["Doors ", "", "ab"]]


PLAIN = (
    '<row r="2" spans="1:9" ht="72"><c r="A2" s="1"/><c r="B2" t="s"><v>0</v></c><c r="D2"><v>7</v></c></row>',
    '<row r="4" ht="15"/><row r="5"><c r="A5" t="str"><f>"a"&amp;B2</f><v>R&amp;D &lt;x&gt;</v></c></row>',
    '<row r="7"><c r="AB7" t="inlineStr"><is><t xml:space="preserve"> a&#10;b </t></is></c><c><v>1</v></c></row>',
    '<row><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>',
)
"""Rows as programs write them."""
NOT_PLAIN = (
    "<!-- a comment, </row> -->",
    '<row r="3"><c r="A3" t="inlineStr"><is><t><![CDATA[</row><row r="9">]]></t></is></c></row>',
    '<row r="3"><c r="A3" t="inlineStr"><is><t>a</t><rPh><t>b</t></rPh></is></c></row>',
    f'<x:row xmlns:x="{MAIN}" r="3"><x:c r="A3"><x:v>3</x:v></x:c></x:row>',
    '<row r="3"><c r="A3" t="inlineStr"><is><t>&#x1F600;&#13;\r\n</t></is></c></row>',
    "<row r='3'>\n<c r='A3'><v>3</v></c></row>",
    '<row r="3"><c r="A3" cm="1"><v>3</v></c><extLst><ext><row r="9"/><row r="9"></row></ext></extLst></row>',
)
MORE_ROWS = '<row><c t="s"><v>0</v></c></row>' * 1000
MORE_TEXTS = "<si><t>more</t></si>" * 2000 + "<si><r><t>more</t></r></si>" * 8000
"""More than is taken for plain at a time, or is not."""


@pytest.mark.parametrize("place", range(len(PLAIN) + 1))
@pytest.mark.parametrize("more", [False, True])
def test_rows_are_the_same_by_pattern_and_by_parser(place: int, more: bool) -> None:
    texts = "<si><t>Doors &amp; more</t></si><si><t>_x0041_</t></si><si><r><t>run</t></r></si>"
    texts += f'{MORE_TEXTS * more}<si><r><rPr><strike/></rPr><t xml:space="preserve">last </t></r></si>'
    last = f'<row><c t="s"><v>{10_003 if more else 3}</v></c></row>'
    for other in NOT_PLAIN:
        rows = "".join([*PLAIN[:place], MORE_ROWS * more, other, MORE_ROWS * more, *PLAIN[place:], last])
        ways = []
        for comment in ("", "<!-- a parser reads all of it -->"):
            data = by_hand(rows, comment + texts, prolog=comment)
            with open_workbook(io.BytesIO(data)) as tables:
                ways.append([(row.number, row.cells, row.numbers, row.remarks) for row in tables[0].rows if row.cells])
        assert ways[0] == ways[1]
        assert len(ways[0]) == len(PLAIN) + (other is not NOT_PLAIN[0]) + 2000 * more + 1
        assert ways[0][-1][1] == ["last "]
        assert [code for _, code, _ in ways[0][-1][3]] == ["struck_through"]


def test_a_part_that_is_not_utf_8_is_damaged_wherever_that_is() -> None:
    for texts in ("<si><t>\udcff</t></si>", f"<si><t>{'a' * 20_000}</t></si><si><t>\udcff</t></si>"):
        data = by_hand('<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>', texts)
        with pytest.raises(Unreadable, match="not well-formed"):
            rows_of(data)


@settings(max_examples=50)
@given(
    st.lists(st.text(max_size=40).filter(lambda text: not text.startswith(("{=", "=")) and text.strip()), min_size=1)
)
def test_every_text_that_a_workbook_can_hold_comes_back(texts: list[str]) -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet = book.add_worksheet()
    for at, text in enumerate(texts):
        sheet.write_string(at, 0, text)
    book.close()
    assert rows_of(file.getvalue()) == [[text] for text in texts]


def test_what_two_other_readers_find_is_found() -> None:
    rows: list[list[Any]] = [
        [f"R-{at}", at, at / 7, at % 2 == 0, None if at % 3 else "x" * at, datetime(2024, 1, 1 + at % 28, 13, 5)]
        for at in range(200)
    ]
    file = io.BytesIO()
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(file)
    data = file.getvalue()

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, datetime | date):
            return value.isoformat()
        if isinstance(value, float):
            return str(int(value)) if value.is_integer() else repr(value)
        return "" if value is None else str(value)

    ours = rows_of(data)
    theirs = openpyxl.load_workbook(io.BytesIO(data), read_only=True).active.iter_rows(values_only=True)
    fastest = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    assert ours == [[text(value) for value in row] for row in theirs]
    assert ours == [[text(value) for value in row] for row in fastest]


def test_ids_that_are_numbers_are_read_as_people_write_them_with_a_warning() -> None:
    found = read(workbook({"S": [["ID", "Title"], [1.0, "A"], [2, "B"]]}), "a.xlsx")
    assert [item["external_id"] for item in found.fields] == ["1", "2"]
    assert found.notices["numeric_ids"].count == 2


def test_a_module_that_stands_in_the_first_row_of_its_block_is_that_of_all_its_rows() -> None:
    rows = [
        [],
        ["", "Module", "ID", "Requirement"],
        ["", "Doors", "1", "a"],
        ["", "", "2", "b"],
        ["", "Brakes", "3", "c"],
    ]
    found = read(workbook({"S": rows}), "a.xlsx")
    assert [(item.row, item.fields["module"], item.fields["description"]) for item in found.items] == [
        (3, "Doors", "a"),
        (4, "Doors", "b"),
        (5, "Brakes", "c"),
    ]


def test_texts_below_a_header_that_spans_columns_belong_together() -> None:
    long = "The door shall be closed before departure."
    rows = [["ID", "Requirement", "", "Priority"], ["1", "Doors", long, "High"], ["2", "", long, "Low"]]
    assert [item["description"] for item in read(workbook({"S": rows}), "a.xlsx").fields] == [f"Doors\n{long}", long]


def test_names_that_reach_down_into_the_second_row_of_a_header_are_names() -> None:
    rows = [
        ["ID", "Requirement", "", "Priority"],
        ["", "Title", "Description", ""],
        ["R-1", "Doors", "They close.", "High"],
        ["R-2", "Windows", "They open.", "Low"],
    ]
    found = read(workbook({"S": rows}), "a.xlsx")
    assert [(item["external_id"], item["title"], item["priority"]) for item in found.fields] == [
        ("R-1", "Doors", "high"),
        ("R-2", "Windows", "low"),
    ]
    assert {code: notice.unclean for code, notice in found.notices.items()} == {"rows_above_table": False}
    seen = inspect(workbook({"S": rows}), "a.xlsx")
    assert [column["name"] for column in seen.columns] == ["ID", "Title", "Description", "Priority"]
    assert read(workbook({"S": rows}), "a.xlsx", mapping=seen.mapping).fields == found.fields


def test_a_legend_below_the_table_is_left_out_and_said() -> None:
    rows = [
        ["ID", "Title"],
        *([f"R-{at}", f"Title {at}"] for at in range(5)),
        [],
        ["", "Legend"],
        ["", "R: requirement"],
    ]
    found = read(workbook({"S": rows}), "a.xlsx")
    assert len(found.items) == 5
    assert "Rows 8 and 9 were left out, below the table" in found.notices["rows_below_table"].message


def test_sheets_with_the_same_columns_are_read_together_and_others_are_named() -> None:
    header = ["ID", "Title", "Priority"]
    data = workbook(
        {"A": [header, ["1", "a", "High"]], "B": [header, ["2", "b", "Low"]], "Terms": [["Word", "Means"], ["x", "y"]]}
    )
    found = read(data, "a.xlsx")
    assert [item["external_id"] for item in found.fields] == ["1", "2"]
    assert found.fields[1]["custom_metadata"] == {"import": {"sheet": "B"}}
    assert "'Terms'" in found.notices["sheet_not_read"].message
    assert [(sheet["name"], sheet["read"]) for sheet in inspect(data, "a.xlsx").sheets] == [
        ("A", True),
        ("B", True),
        ("Terms", False),
    ]


def test_a_mapping_names_its_sheet_and_its_header() -> None:
    data = workbook({"A": [["x"]], "B": [["ID", "Title"], ["no", "header"], ["Nr", "Text"], ["7", "seven"]]})
    mapping = {
        "version": 1,
        "kind": "requirements",
        "sheet": "B",
        "header_row": 3,
        "fields": {"external_id": {"column": "Nr"}, "title": {"column": 2}},
    }
    assert read(data, "a.xlsx", mapping=mapping).fields == [{"external_id": "7", "title": "seven"}]
    with pytest.raises(Unreadable, match="no sheet 'C'; there are 'A' and 'B'"):
        read(data, "a.xlsx", mapping={**mapping, "sheet": "C"})
    with pytest.raises(Unreadable, match="Row 9"):
        read(data, "a.xlsx", mapping={**mapping, "header_row": 9})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (by_hand(HEADER + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'), "column XFD; at most 500"),
        (by_hand(HEADER, prolog='<!DOCTYPE a [<!ENTITY b "b">]>'), "document type declaration"),
        (by_hand("<row>" + "<c>" * 300), "beyond what is read"),
        (by_hand("<row>" + "<c><v>1</v></c>" * 400_000 + "</row>"), "larger than 4 MiB|more than 200 times"),
        (by_hand('<row><c t="s"><v>9</v></c></row>', "<si><t>a</t></si>"), "a text that is not there"),
        (by_hand('<row><c t="s"><v>0</v></c></row>'), "its texts are missing"),
        (by_hand('<row><c r="1A"><v>0</v></c></row>'), "no place in its row"),
        (by_hand('<row><c r="1"><v>0</v></c></row>'), "no place in its row"),
        (by_hand(HEADER, **{"../evil": "x"}), "leads out of it"),
        (by_hand(HEADER)[:-400], "damaged or cut off"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "xlsx without a password"),
        (b"no archive at all", "neither a zip"),
    ],
    ids=[
        "far cell",
        "document type",
        "depth",
        "row",
        "text",
        "texts",
        "place",
        "no letters",
        "name",
        "cut",
        "xls",
        "text file",
    ],
)
def test_what_is_no_sound_workbook_is_refused_with_the_reason(data: bytes, message: str) -> None:
    with pytest.raises(Unreadable, match=message):
        read(data, "a.xlsx")


def test_sparse_rows_keep_their_numbers() -> None:
    found = read(
        by_hand(HEADER + '<row r="90000"><c r="A90000"><v>1</v></c><c r="B90000"><v>2</v></c></row>'), "a.xlsx"
    )
    assert [(item.row, item.fields["title"]) for item in found.items] == [(90000, "2")]


def test_the_sheet_of_the_kind_that_is_asked_for_is_read() -> None:
    book = workbook(
        {
            "Cover": [["Specification of doors"], ["Author", "Kim"]],
            "Reqs": [["Req ID", "Title", "Description"], ["R-1", "Close", "They close."]],
            "Tests": [["TC ID", "Title", "Steps", "Expected Result", "Req ID"], ["T-1", "Try", "go", "it", "R-1"]],
            "Trace": [["Req ID", "TC ID"], ["R-1", "T-1"]],
        }
    )
    (requirement,) = read(book, "book.xlsx", kind="requirements").items
    assert (requirement.fields["external_id"], requirement.sheet) == ("R-1", "Reqs")
    assert [item.fields["external_id"] for item in read(book, "book.xlsx", kind="test_cases").items] == ["T-1"]
    found = read(book, "book.xlsx", kind="links")
    assert [(link.requirement, link.test_case, link.sheet) for link in found.links] == [
        ({"external_id": "R-1"}, {"external_id": "T-1"}, "Trace")
    ]
    notice = found.notices["sheet_not_read"]
    assert "3 in all: 'Cover' (" in notice.message
    assert "'Reqs' (1 row below 'Req ID', " in notice.message
    assert (notice.count, notice.unclean) == (3, True)
