"""CSV files as people's programs write them."""

import codecs
import csv
import io
import re

import pytest
from tables import inspect, read

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.registry import recognise

HEADER = ["ID", "Title", "Description", "Priority"]
ROWS = [["R-1", "Türöffnung prüfen", "Größe über 5 €", "High"], ["R-2", "Außenlicht", "prüft „Grüße“, laut", "Low"]]


def table(delimiter: str = ",", line_end: str = "\r\n") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows([HEADER, *ROWS])
    return text.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "windows-1252", "cp1250"]
)
def test_delimiter_and_encoding_are_found(delimiter: str, encoding: str) -> None:
    for line_end in ("\r\n", "\n"):
        found = read(table(delimiter, line_end).encode(encoding))
        assert [item["external_id"] for item in found.fields] == ["R-1", "R-2"]
        assert [item["title"] for item in found.fields] == ["Türöffnung prüfen", "Außenlicht"]
        assert [item["priority"] for item in found.fields] == ["high", "low"]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "编号,标题\n1,验证返回按钮功能正常\n2,进入抽奖广告页面\n"),
        ("cp932", "番号,タイトル\n1,ログイン画面を確認する\n2,要件を定義する\n"),
        ("cp1250", "Żądanie;Nazwa\n1;Drzwi muszą się zamknąć w ciągu 3 s\n2;Żółta łódź\n"),
        ("cp1250", "ID;Název\n1;Dveře se musí zavřít\n2;Okno je otevřené\n"),
        ("cp1250", "Azonosító;Megnevezés\n1;Az ajtó becsukódik\n2;Zöld ablak\n"),
        ("cp1253", "Κωδικός;Τίτλος\n1;Η πόρτα κλείνει\n2;Παράθυρο\n"),
        ("cp1254", "Kimlik;Başlık\n1;Kapı kapanmalı\n2;Işık açık\n"),
        ("cp1256", "المعرف;العنوان\n1;يجب أن يغلق الباب\n2;نافذة\n"),
        ("big5", "編號,標題\n1,車門必須關閉\n2,窗\n"),
        ("mac_roman", "Código;Título\n1;Máximo 2 s\n2;Mañana\n"),
        ("cp1251", "Номер;Заголовок\n1;Максимальный ток питания\n2;Система должна иметь ключ\n"),
    ],
)
def test_encodings_of_other_scripts_are_found_and_shown(encoding: str, text: str) -> None:
    found = read(text.encode(encoding))
    assert [item["title"] for item in found.fields] == [
        line.replace(";", ",").split(",")[1] for line in text.split("\n")[1:-1]
    ]
    shown = found.notices["encoding_guessed"].message
    assert any(word in shown for word in re.split(r"[;,\s]", text) if not word.isascii())


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
def test_quotes_that_backslashes_escape_are_read(delimiter: str, encoding: str) -> None:
    rows = [
        ["ID", "Title", "Description", "Priority"],
        ['"1"', r'"Say \"yes\", always"', r'"In C:\\logs\\, \d+ and \"\""', r"\N"],
        ['"2"', r'"\"Plain\""', '"Two\\\nlines\\\nof it"', '"High"'],
        ['"3"', r'"C:\\"', r'"5\""', '"Low"'],
    ]
    found = read("".join(delimiter.join(row) + "\n" for row in rows).encode(encoding))
    assert [[item.get(name) for name in ("external_id", "title", "description")] for item in found.fields] == [
        ["1", 'Say "yes", always', r'In C:\logs\, \d+ and ""'],
        ["2", '"Plain"', "Two\nlines\nof it"],
        ["3", "C:\\", '5"'],
    ]
    assert [item.get("priority") for item in found.fields] == ["medium", "high", "low"]


def test_a_backslash_before_a_quote_is_a_character_where_quotes_are_doubled() -> None:
    rows = [
        ["ID", "Title", "Description"],
        ["1", "C:\\", 'The \\"share\\" of C:\\'],
        ["2", "D:\\", '\\"'],
        ["3", "x", "\\N is NULL"],
    ]
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    assert [[item["external_id"], item["title"], item["description"]] for item in read(text.getvalue()).fields] == rows[
        1:
    ]


def test_blanks_before_quotes_are_none_of_the_cell() -> None:
    found = read(
        "ID, Title, Description, Priority\n"
        '1, "Doors close, always", "They ""close""\nnow", High\n'
        '2, Lock, "a, b", Low\n'
    )
    assert [
        [item.get(name) for name in ("external_id", "title", "description", "priority")] for item in found.fields
    ] == [
        ["1", "Doors close, always", 'They "close"\nnow', "high"],
        ["2", "Lock", "a, b", "low"],
    ]
    # Elsewhere they are characters.
    assert read('ID,Title,Tags\n1, Open,"[""a"", ""b""]"\n').fields[0]["tags"] == ["a", "b"]
    assert read('ID,Title\n1, "Open" is pressed\n').fields[0]["title"] == '"Open" is pressed'


@pytest.mark.parametrize("delimiter", ["^", "~", "\x1f", "¦", "§"])
def test_rare_delimiters_are_found(delimiter: str) -> None:
    rows = [
        ["ID", "Title", "Description"],
        ["1", "Doors close", "They close, now"],
        ["2", "Lock", "It locks; now, too"],
    ]
    found = read("".join(delimiter.join(row) + "\n" for row in rows))
    assert [[item[name] for name in ("external_id", "title", "description")] for item in found.fields] == rows[1:]


def test_null_of_a_database_is_an_empty_cell() -> None:
    found = read("id\ttitle\tdescription\tpriority\n1\tDoors close\tThey close\t\\N\n2\tLock\t\\N\tHigh\n")
    assert [item["description"] for item in found.fields] == ["They close", "Lock"]
    assert not found.items[0].warnings


def test_an_encoding_that_is_named_is_taken() -> None:
    data = "ID,Title\n1,Café\n".encode("cp850")
    assert read(data, encoding="cp850").fields[0]["title"] == "Café"
    with pytest.raises(Unreadable, match="no encoding 'nonsense'") as refused:
        read(data, encoding="nonsense")
    assert refused.value.code == "unknown_encoding"
    with pytest.raises(Unreadable) as refused:
        read(data, encoding="utf-8")
    assert (refused.value.line, refused.value.offset) == (2, 14)


def test_utf_8_with_a_damaged_byte_is_not_taken_for_something_else() -> None:
    data = "ID,Title\n1,Prüfung der Türöffnung äöü\n".encode()
    with pytest.raises(Unreadable) as refused:
        read(data[:-3] + b"\xff\n")
    assert refused.value.line == 2
    with pytest.raises(Unreadable, match="middle of a character"):
        read(data[:-2])


def test_rows_keep_their_line_and_number_whatever_line_ends_and_breaks_there_are() -> None:
    found = read('ID,Title,Description\r\n1,A,"one\r\ntwo"\n\n2,B,"three\rfour"\r\n3,C,five\rsix\n')
    assert [(item.row, item.line) for item in found.items] == [(2, 2), (4, 5), (5, 6)]
    assert [item["description"] for item in found.fields] == ["one\r\ntwo", "three\rfour", "five\nsix"]


def test_a_file_whose_lines_end_in_cr_alone_is_read() -> None:
    assert [item["title"] for item in read("ID,Title\r1,A\r2,B\r").fields] == ["A", "B"]


def test_a_file_whose_lines_end_in_cr_may_have_lf_within_cells() -> None:
    """So does Excel on a Mac."""
    found = read('ID,Title,Description\r1,A,"one\n""two"", three"\r2,"B\n",four\r3,C,"five\rsix"\r')
    assert [item["title"] for item in found.fields] == ["A", "B", "C"]
    assert [item["description"] for item in found.fields] == ['one\n"two", three', "four", "five\rsix"]


def test_rows_that_end_in_cr_among_others_are_rows() -> None:
    found = read('ID;Title;Owner\r1;A;kim\n2;B;"a;b\r;c"\r\n3;C;jo\r4;D;jo\r5;E;jo\n6;F\rG;jo\r\n7;H;jo\r')
    assert [item["title"] for item in found.fields] == ["A", "B", "C", "D", "E", "F\nG", "H"]
    assert found.fields[1]["custom_metadata"]["import"]["Owner"] == "a;b\r;c"


def test_quotes_within_cells_and_the_delimiter_of_excel_are_understood() -> None:
    found = read('sep=;\nID;Title\n1;5" pipe\n2;"a ""b"" c"\n')
    assert [item["title"] for item in found.fields] == ['5" pipe', 'a "b" c']
    assert found.items[0].row == 3


def test_a_text_full_of_another_delimiter_does_not_become_the_header() -> None:
    text = "see | Level | Limit | Unit | Note | Since | Until | By | Of |"
    for rows in (f"1,A,{text}\n", f"1,A,a\n2,B,b\n3,C,{text}\n"):
        found = read(f"ID,Title,Description\n{rows}")
        assert found.fields[-1]["description"] == text
    table = "Limits:\n" + "\n".join(["| Unit | Low | High | Note |"] * 20)
    assert read(f'ID,Title,Description\n1,A,"{table}"\n').fields[0]["description"] == table
    own = read(f"external_id,title,description,type,_traceline:1\nR-1,A,{text * 5},functional\n")
    assert own.fields[0]["description"] == text * 5


def test_ragged_rows_are_padded_with_a_warning_and_surplus_cells_are_kept() -> None:
    found = read("ID,Title,Description,Owner\n1,A\n2,B,b,kim,more,\n")
    assert "Row 2 (line 2) has 2 cells where the header has 4" in found.notices["ragged_rows"].message
    assert found.fields[0]["description"] == "A"
    assert found.fields[1]["custom_metadata"] == {"import": {"Owner": "kim", "column E": "more"}}


@pytest.mark.parametrize(("rows", "is_told"), [("", True), ("\n\n", True), ("1,A\n", False)])
def test_a_header_without_rows_is_told(rows: str, is_told: bool) -> None:
    content = f"ID,Title\n{rows}"
    assert ("no_rows" in read(content).notices) == is_told
    assert ("no_rows" in {warning["code"] for warning in inspect(content).warnings}) == is_told


def test_a_header_below_other_rows_is_found() -> None:
    found = read("Export of 3 March\n\nProject;Train\nID;Title;Priority\n1;Doors;High\n")
    assert [(item.row, item.fields["title"]) for item in found.items] == [(5, "Doors")]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        ('ID,Title\n1,A\n2,"cut\noff', "file_cut_off", 3),
        ("ID,Title\n1," + "x" * 1_100_000, "cell_too_long", 2),
        ("ID,Title\n" + "x" * 9_000_000, "unreadable_file", 2),
        ("ID,Title\n" + "1," * 600 + "x\n", "too_many_columns", 2),
        ("ID,Title\n" + "1,A\n" * 100_001, "too_many_rows", 100_002),
        ("ID,Title\n1,A\0\n", "unreadable_file", 2),
        ('ID,Title\n1,"' + "a\n" * 600_000, "cell_too_long", 2),
        ("ID,Title\n" + "\n" * 1_100_000, "too_many_rows", 1_048_577),
        ("\n\n", "empty_file", None),
        ("", "empty_file", None),
    ],
    ids=["cut off", "long cell", "long line", "wide row", "rows", "NUL", "open quote", "blank rows", "blank", "empty"],
)
def test_what_breaks_a_limit_is_refused_with_its_line(content: str, code: str, line: int | None) -> None:
    with pytest.raises(Unreadable) as refused:
        read(content)
    assert (refused.value.code, refused.value.line) == (code, line)


@pytest.mark.parametrize("character", [b"a", b'"', b",", b"\r", b" "])
def test_a_file_of_one_line_of_64_mib_is_refused(character: bytes) -> None:
    file = io.BytesIO(character * (64 << 20))
    known = recognise(file, "one.csv", "text/csv")
    with pytest.raises(Unreadable, match="longer than 8 MiB"):
        list(known.read(file, ReadOptions()))


def test_a_file_that_ends_anywhere_is_read_or_refused() -> None:
    data = codecs.BOM_UTF8 + (table() + 'R-3,"a\nb",c,Low\r\n').encode()
    ends = set()
    for end in range(len(data)):
        try:
            ends.add(len(read(data[:end]).items))
        except Unreadable as refused:
            ends.add(refused.code)
    assert ends == {0, 1, 2, 3, "empty_file", "file_cut_off", "unreadable_file"}


def test_what_a_file_looks_like_is_told_before_it_is_read() -> None:
    found = inspect(table(";").encode("cp1252"))
    assert (found.format, found.encoding, found.dialect) == ("csv", "windows-1252", {"delimiter": ";", "quote": '"'})
    assert [(column["name"], column["position"], column["field"]) for column in found.columns] == [
        ("ID", 1, "external_id"),
        ("Title", 2, "title"),
        ("Description", 3, "description"),
        ("Priority", 4, "priority"),
    ]
    assert found.columns[3]["samples"] == ["High", "Low"]
    assert all(column["confidence"] > 0.9 and column["reason"] for column in found.columns)
    assert found.warnings[0]["code"] == "encoding_guessed"
    assert "Türöffnung" in found.warnings[0]["message"]
    assert found.mapping is not None
    assert found.mapping["fields"]["type"] == {"constant": "functional"}


def test_rows_between_crs_may_have_quotes() -> None:
    table = 'ID,Title,Description\r\n1,a,b\r\n2,"c, d",e\r3,f,"g\rh, i"\r4,"j",k\r\n5,l,m\r\n'
    assert [(fields["external_id"], fields["title"], fields["description"]) for fields in read(table).fields] == [
        ("1", "a", "b"),
        ("2", "c, d", "e"),
        ("3", "f", "g\rh, i"),
        ("4", "j", "k"),
        ("5", "l", "m"),
    ]
