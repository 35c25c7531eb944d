"""Characters that XML cannot hold, in reports of runners that write what a test printed as it is."""

import io
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from catalog_service.executions.read import Order, Read, read
from catalog_service.executions.readers.xml_characters import ReadableXml

_PARTS = st.sampled_from(
    [
        *(b"a", b"\n", b"&amp;", b"&#233;", "é\U0001f600\uffe0".encode(), b"&#x10FFFF;", b"&#9;"),
        *(b"\0", b"\x07", b"\x1f", b"\x1b[31m", b"&#27;[0m", b"&#x0;", b"&#xFFFE;", b"&#55296;", b"&#99999999;"),
        *(b"\xef\xbf\xbe", b"\xed\xa0\x80"),
    ]
)


def whole(text: bytes, size: int, *, by_line: bool = False) -> tuple[bytes, int]:
    """Return what is read of a file in pieces, and how many characters were replaced."""
    file = ReadableXml(io.BytesIO(text))
    file.seek(0)
    pieces = iter(lambda: (file.readline if by_line else file.read)(size), b"")
    return b"".join(pieces), file.replaced


@given(st.lists(_PARTS, max_size=30), st.integers(20, 60))
def test_all_that_xml_can_hold_stays_and_all_is_read(parts: list[bytes], size: int) -> None:
    text = b"<a>" + b"".join(parts) + b"</a>"
    read_at_once, replaced = whole(text, -1)
    held = etree.fromstring(read_at_once).text or ""
    assert [held.count(one) for one in "aé"] == [
        parts.count(b"a"),
        sum(b"\xc3\xa9" in one for one in parts) + parts.count(b"&#233;"),
    ]
    assert held.count("\ufffd") <= replaced
    assert whole(text, size, by_line=True)[0].count(b"\xc3\xa9") == read_at_once.count(b"\xc3\xa9")
    etree.fromstring(whole(text, size)[0])


@given(st.lists(_PARTS, max_size=30).map(b"".join), st.integers(1, 5))
def test_a_file_of_utf16_stays_as_it_is(inside: bytes, size: int) -> None:
    text = inside.decode("utf-8", "ignore").encode("utf-16")
    assert whole(text, size) == (text, 0)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize(
    ("known", "report"),
    [
        (
            "junit",
            '<testsuite><testcase name="a"/><testcase name="b"><failure message="no">{}</failure></testcase>'
            "</testsuite>",
        ),
        (
            "trx",
            '<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>'
            '<UnitTestResult testName="a" outcome="Passed"/><UnitTestResult testName="b" outcome="Failed"><Output>'
            "<ErrorInfo><Message>{}</Message></ErrorInfo></Output></UnitTestResult></Results></TestRun>",
        ),
        (
            "nunit",
            '<test-run><test-case name="a" result="Passed"/><test-case name="b" result="Failed"><failure><message>{}'
            "</message></failure></test-case></test-run>",
        ),
    ],
)
@pytest.mark.parametrize("said", ["Error: \x1b[31mred\x1b[0m\x07", "Error: &#27;[31mred&#x1B;[0m&#7;"])
def test_a_report_with_colours_is_read_and_it_is_told(known: str, report: str, said: str, version: str) -> None:
    content = f'<?xml version="{version}"?>{report.format(said)}'.encode()
    out = io.BytesIO()
    done = read(io.BytesIO(content), cast(BinaryIO, out), Order(format=known))
    assert isinstance(done, Read), done
    assert (done.counts["passed"], done.counts["failed"]) == (1, 1)
    assert [(one["code"], one["count"]) for one in done.warnings] == [("text_replaced", 3)]
    assert "Error: red\ufffd" in out.getvalue().decode()
    assert done.health == []
