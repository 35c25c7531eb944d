"""Files that are made to break their reader: each gets one problem, and no process, memory or time is lost to it."""

import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import orjson
import pytest

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.read import END, ERROR, LENGTH, Order, found
from catalog_service.exchange.records import Item
from catalog_service.exchange.registry import find

DEEP = 200_000
MEMORY_MIB = 512
CPU_SECONDS = 20
ITEM = '{"external_id":"a","title":"t","description":"d","type":"functional","priority":"low"'
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
REQIF = "http://www.omg.org/spec/ReqIF/20110401/reqif.xsd"
XML_ROOTS = {
    "reqif": f'REQ-IF xmlns="{REQIF}"',
    "testlink": "testsuite",
    "testrail": "suite",
    "zephyr": "project",
    "openfasttrace": "specdocument",
}
ENTITIES = "".join(
    '<!ENTITY {} "{}">'.format(name, f"&{before};" * 10) for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
BOMB = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{ENTITIES}]>'


def order(**options: Any) -> Order:
    return Order(**{"format": "auto", "kind": "requirements", "author": "kim", **options})


def problem_of(last: bytes) -> dict[str, Any]:
    """Return the problem that a reader ends with."""
    assert last[:1] == ERROR, last[:300]
    problem: dict[str, Any] = orjson.loads(last[1:])
    assert problem["status"] in {415, 422}
    assert 10 < len(problem["detail"]) < 2000
    return problem


def refused(content: bytes, **options: Any) -> dict[str, Any]:
    """Read a file in this thread, and return why it was refused."""
    *_, last = found(BytesIO(content), order(**options))
    return problem_of(last)


def read_apart(content: bytes, **options: Any) -> bytes:
    """Read a file as a worker reads a large one, within bounds; return the last of what it writes."""
    given = order(memory_bytes=MEMORY_MIB << 20, cpu_seconds=CPU_SECONDS, **options)
    line = orjson.dumps(given, option=orjson.OPT_APPEND_NEWLINE)
    reader = subprocess.run(
        (sys.executable, "-m", "catalog_service.exchange.read"), input=line + content, capture_output=True, check=False
    )
    assert reader.returncode == 0, (reader.returncode, reader.stderr[-2000:])
    assert reader.stderr == b""
    last, rest = b"", reader.stdout
    while rest:
        (length,) = LENGTH.unpack_from(rest)
        last, rest = rest[LENGTH.size : LENGTH.size + length], rest[LENGTH.size + length :]
        assert len(last) == length
    return last


def zipped(members: dict[str, str | bytes]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def xml(name: str, content: str, before: str = "") -> bytes:
    root = XML_ROOTS[name]
    return f"{before}<{root}>{content}</{root.split()[0]}>".encode()


def workbook(rows: str, shared: str = "", styles: str = "", before: str = "") -> bytes:
    parts = [("worksheet", "s.xml"), ("sharedStrings", "t.xml"), ("styles", "f.xml")]
    related = "".join(f'<Relationship Id="{to}" Type="{OFFICE}/{kind}" Target="{to}"/>' for kind, to in parts)
    sheets = '<sheets><sheet name="S" sheetId="1" r:id="s.xml"/></sheets>'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}">{sheets}</workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>',
            "xl/s.xml": f'{before}<worksheet xmlns="{SHEET}"><sheetData>{HEADER}{rows}</sheetData></worksheet>',
            "xl/t.xml": f'<sst xmlns="{SHEET}">{shared}</sst>',
            "xl/f.xml": f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>',
        }
    )


HEADER = "<row>{}</row>".format(
    "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("ID", "Title", "Description"))
)


def doorstop(item: str) -> bytes:
    return zipped({"a/.doorstop.yml": "settings: {prefix: A}", "a/A1.yml": item})


@pytest.mark.parametrize("content", [b'{"x":%s,"items":[]}', b'[{"x":%s}]', b'{"items":[],"x":-%s}'])
def test_a_number_of_thousands_of_digits_ends_no_process(content: bytes) -> None:
    problem = problem_of(read_apart(content % (b"9" * 5000), format="json"))
    assert (problem["code"], problem["offset"]) == ("unreadable_file", content.index(b"%s"))
    assert "digits" in problem["detail"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("json", b'{"x":"%s","items":[]}'),
        ("json", b'{"%s":1,"items":[]}'),
        ("needs", b'{"versions":{"1":{"needs":{"A":{"id":"%s"}}}}}'),
        ("needs", b'{"versions":{"1":{"needs":{"%s":{}}}}}'),
    ],
)
def test_a_text_that_is_longer_than_any_is_left_early(name: str, content: bytes) -> None:
    problem = refused(content % (b"x" * 20_000_000), format=name)
    assert "offset" in problem


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ndjson", (ITEM + ',"custom_metadata":' + "[" * DEEP).encode()),
        ("json", b"[" * DEEP),
        ("needs", b'{"versions":' + b"[" * DEEP),
        *((name, xml(name, "<a>" * DEEP)) for name in XML_ROOTS),
        ("strictdoc", b"[DOCUMENT]\nTITLE: a\n\n" + b"[[SECTION]]\nTITLE: a\n\n" * DEEP),
        *(("doorstop", doorstop(opening * DEEP)) for opening in ("[", "- ", "{a: ", "? ")),
    ],
)
def test_what_lies_too_deep_is_refused(name: str, content: bytes) -> None:
    assert refused(content, format=name)


NEED = b'{"versions":{"1":{"needs":{"A":\n{"id":"A","content":"'


@pytest.mark.parametrize(
    ("name", "content"),
    [("json", b'[{"x":"\\udc00"}]'), ("needs", b'{"versions":{"1":{"needs":{"A":{"id":"a\\udc00"}}}}}')],
)
def test_half_a_surrogate_pair_is_no_text(name: str, content: bytes) -> None:
    problem = refused(content, format=name)
    assert "surrogate" in problem["detail"]
    assert content[problem["offset"] :].startswith(b'"')


@pytest.mark.parametrize("behind", [b"", b"x", b"\\u0041", b"\\\\udc00", b"x" * 300_000])
@pytest.mark.parametrize("before", [b"", b"\\\\", b"\\ud83d\\ude00", b"x" * 262_130])
@pytest.mark.parametrize(("name", "start"), [("json", b'[\n{"title":"'), ("needs", NEED)])
def test_the_first_half_of_a_surrogate_pair_is_no_text(name: str, start: bytes, before: bytes, behind: bytes) -> None:
    content = start + before + b"\\ud83d" + behind + (b'"}]' if name == "json" else b'"}}}}}')
    problem = refused(content, format=name)
    assert "surrogate" in problem["detail"]
    assert (problem["offset"], problem["line"]) == (len(start + before), 2)
    assert problem["column"] == problem["offset"] - content.index(b"\n")


def test_a_backslash_before_what_looks_like_half_a_pair_makes_a_text_of_it() -> None:
    content = rb'[{"title": "\\ud800 \\\\\\ud83d", "description": "\ud83d\ude00"}]'
    (item,) = find("json").read(BytesIO(content), ReadOptions(kind="requirements"))
    assert isinstance(item, Item)
    assert item.fields == {"title": "\\ud800 \\\\\\ud83d", "description": "\U0001f600"}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("a: &a [x]\nb: [*a, *a]", "anchors"),
        ("a: !!int ''", "tags"),
        ("a: !!bool x", "tags"),
        ("a: !!timestamp x", "tags"),
        ("a: !!python/object/apply:os.getcwd []", "tags"),
        ("a: 2001-99-99", "a date does not exist"),
        ("a: @b", "put it in quotes"),
        ("a: b: c", "a colon, ? or - stands where none can"),
        ("a: b\nc", "the colon after a name is missing"),
        ("a: [b c: d e f: g]", "a comma or the closing bracket is missing"),
        ('a: "b', "is not closed"),
        ("a:\n\t- b", "a tab, %, @ or `"),
        ("a: 'b' c", "the indentation is wrong"),
        ("a: [" + "1," * 500_000 + "]", "names and values"),
        ("a: " + "9" * 5000, "digits"),
    ],
)
def test_yaml_is_read_as_plain_values_alone(item: str, reason: str) -> None:
    assert reason in refused(doorstop(item), format="doorstop")["detail"]


@pytest.mark.parametrize("name", XML_ROOTS)
def test_entities_are_not_made(name: str) -> None:
    problem = refused(xml(name, "&i;", before=BOMB), format=name)
    assert "<!DOCTYPE" in problem["detail"]
    assert problem["line"] == 1


@pytest.mark.parametrize("name", XML_ROOTS)
def test_an_attribute_of_20_mb_is_refused(name: str) -> None:
    problem = refused(xml(name, '<a b="' + "x" * 20_000_000 + '"/>'), format=name)
    assert (problem["line"], problem["offset"]) == (1, len(XML_ROOTS[name]) + 2)


@pytest.mark.parametrize(
    "parts",
    [
        lambda: {"rows": "", "before": BOMB},
        lambda: {"rows": "<row>" + "<c>" * DEEP + "</row>"},
        lambda: {"rows": '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'},
        lambda: {"rows": '<row r="99999999"><c><v>1</v></c></row>'},
        lambda: {"rows": '<row><c t="s"><v>' + "9" * 5000 + "</v></c></row>"},
        lambda: {"rows": '<row><c b="' + "x" * 20_000_000 + '"/></row>'},
        lambda: {"rows": " " * 300_000_000},
    ],
    ids=["entities", "depth", "far cell", "row beyond all", "text of 5,000 digits", "attribute", "bomb"],
)
def test_a_hostile_workbook_is_refused(parts: Callable[[], dict[str, str]]) -> None:
    assert refused(workbook(**parts()), format="xlsx")["code"]


def test_a_number_format_costs_no_time_however_long_it_is() -> None:
    code = "[h" * 400_000
    formats = f'<numFmts><numFmt numFmtId="200" formatCode="{code}"/></numFmts>'
    cells = "<cellXfs>{}</cellXfs>".format('<xf numFmtId="200"/>' * 1000)
    row = '<row><c t="inlineStr"><is><t>R-1</t></is></c><c s="0"><v>1</v></c></row>'
    *_, last = found(BytesIO(workbook(row, styles=formats + cells)), order(format="xlsx"))
    assert last[:1] == END


@pytest.mark.parametrize(
    "content",
    [
        "Feature: a\n Scenario: b\n  Given c\n" + "|a|b|\n" * 150_000,
        "@" + "a" * 900_000 + "\nFeature: a\n" + " Scenario: b\n" * 10_000,
        "Feature: a\n Background:\n  Given " + "b" * 900_000 + "\n" + " Scenario: c\n" * 10_000,
        "Feature: a\n" + "b" * 900_000 + "\n" + " Scenario: c\n" * 10_000,
    ],
    ids=["cells", "tags", "background", "description"],
)
def test_a_feature_that_grows_when_it_is_read_is_refused(content: str) -> None:
    begun = time.thread_time()
    assert refused(content.encode(), format="gherkin", kind="all")["code"] == "too_long"
    assert time.thread_time() - begun < 10


OFT = "# T\n`req~a~1`\n"
LONG_LINES = [
    ("openfasttrace", OFT + "# a" + " " * 500_000 + "b"),
    ("openfasttrace", OFT + "# {#" + "{#" * 300_000),
    ("openfasttrace", OFT + "Needs: a" + " " * 500_000 + "b"),
    ("openfasttrace", OFT + "Covers: " + "a" * 900_000),
    ("openfasttrace", OFT + "<a id=>" + " " * 900_000),
    ("openfasttrace", OFT + "[specitem " + 'sid="a~b~1"' * 80_000),
    ("strictdoc", "[DOCUMENT]\nTITLE: a\n\n[REQUIREMENT]\nUID: a\nSTATEMENT: b\n" + " c\n" * 300_000),
    ("strictdoc", "[DOCUMENT]\nTITLE: a\n\n[REQUIREMENT]\nUID: a\nRELATIONS:\n" + " " * 900_000 + "b\n"),
    ("gherkin", "Feature: a\n\n@TC_" + "1" * 500_000 + "-\n Scenario: b\n  Given c\n"),
    (
        "testlink",
        f"<testsuite><testcase name='a'><summary><![CDATA[{'<ul><li>' * 50_000}]]></summary></testcase></testsuite>",
    ),
]


@pytest.mark.parametrize(("name", "content"), LONG_LINES, ids=range(len(LONG_LINES)))
def test_a_long_line_is_read_in_the_time_that_its_length_asks(name: str, content: str) -> None:
    begun = time.thread_time()
    *_, last = found(BytesIO(content.encode()), order(format=name, kind="all"))
    assert last[:1] in {END, ERROR}
    assert time.thread_time() - begun < 10


@pytest.mark.parametrize("text", ["---" + "\n" * 900_000, "# a" + " " * 500_000 + "b", "#" * 500_000])
def test_markdown_of_doorstop_is_read_in_the_time_that_its_length_asks(text: str) -> None:
    begun = time.thread_time()
    *_, last = found(BytesIO(zipped({"a/.doorstop.yml": "settings: {prefix: A}", "a/A1.md": text})), order())
    assert last[:1] == END
    assert time.thread_time() - begun < 10


@pytest.mark.parametrize("encoding", ["nonsense", "utf\0", "hex", "punycode"])
@pytest.mark.parametrize("name", ["reqif", "csv", "gherkin"])
def test_an_encoding_that_there_is_not_is_refused(name: str, encoding: str) -> None:
    content = xml("reqif", "") if name == "reqif" else b"Feature: a, b"
    assert refused(content, format=name, encoding=encoding)["code"] == "unknown_encoding"


@pytest.mark.parametrize("name", ["../a.feature", "/a.feature", "a\\..\\..\\b.feature", "C:a.feature"])
def test_a_name_that_leads_out_of_an_archive_is_refused(name: str) -> None:
    assert "leads out" in refused(zipped({name: "Feature: a"}), format="gherkin")["detail"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("content", "options"),
    [
        (lambda: b"a" * (64 << 20), {"format": "csv"}),
        (lambda: b"," * (64 << 20), {"format": "csv"}),
        (lambda: b'a,"' + b'"' * (64 << 20), {"format": "csv"}),
        (lambda: zipped({"a.reqif": b" " * 400_000_000}), {"format": "reqifz"}),
        (lambda: xml("reqif", "x" * 64_000_000), {"format": "testlink"}),
    ],
    ids=["one line", "one line of commas", "quotes", "zip bomb", "one text"],
)
def test_a_large_file_is_refused_within_the_bounds(content: Callable[[], bytes], options: dict[str, Any]) -> None:
    assert problem_of(read_apart(content(), **options))["code"] != "too_large"


@pytest.mark.parametrize("number", ["1" + ":59" * 300_000, "0x" + "f" * 200_000, "1_" * 200_000 + "1"])
def test_a_number_of_yaml_without_end_is_refused(number: str) -> None:
    problem = refused(doorstop(f"text: a\nlevel: {number}\n"), format="doorstop")
    assert (problem["line"], problem["code"]) == (2, "unreadable_file")
    assert "a number has more than 100 digits" in problem["detail"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("strictdoc", f"[DOCUMENT]\nTITLE: {'t' * 1_000_000}\n\n" + "[REQUIREMENT]\nSTATEMENT: x\n\n" * 20_000),
        (
            "openfasttrace",
            "".join(f"{'#' * depth} {'t' * 900}\n\n" for depth in range(1, 6)) + "`req~a~1`\n\nx\n\n" * 20_000,
        ),
    ],
)
def test_a_title_above_many_items_does_not_become_many_times_its_size(name: str, content: str) -> None:
    problem = refused(content.encode(), format=name)
    assert problem["code"] == "too_long"
    assert problem["line"] > 1


LONG = "m" * 900_000
SHORT_ROWS = "".join(f"T-{number},x\n" for number in range(3000))
OF_ROWS: dict[str, Any] = {name: {"column": 1} for name in ("external_id", "title", "description")}


@pytest.mark.parametrize(
    ("rows", "more"),
    [
        (f'T-1,"{LONG}"\n' + SHORT_ROWS.replace("x", ""), {"fields": {"module": {"column": 2, "fill_down": True}}}),
        (SHORT_ROWS, {"fields": {"preconditions": {"column": 2, "values": {"x": LONG}}}}),
        (f'T-1,"{",".join(map(str, range(100_000)))}"\n', {"links": {"requirements": {"column": 2, "split": ","}}}),
    ],
)
def test_what_each_row_has_of_a_long_text_does_not_fill_a_disk(rows: str, more: dict[str, Any]) -> None:
    mapping = {"version": 1, "kind": "test_cases", **more, "fields": OF_ROWS | more.get("fields", {})}
    problem = refused(f"ID,Covers\n{rows}".encode(), kind="all", format="csv", mapping=mapping)
    assert problem["code"] == "too_long"
    assert "come to more than 1 GiB" in problem["detail"]
