"""How files are recognised."""

import gzip
from io import BytesIO

import pytest

from catalog_service.exchange.registry import FORMATS, find, recognise
from chassis.core.problems import UnsupportedMediaType

HEADS = ("\n", "\r", " ", "\t", "a", '"', "(", "[", "<", "{", '{"', "- ", "# ", "@a ", "~ ", "`", "a\n", "<!-- >")


@pytest.mark.parametrize("piece", HEADS)
def test_a_beginning_that_repeats_itself_is_looked_at_by_each_format_and_known_by_none(piece: str) -> None:
    head = (piece * 65_536)[:65_536].encode()
    assert max(known.recognise(BytesIO(head), "file") for known in FORMATS) < 0.5


def test_a_file_that_nobody_knows_is_told_what_is_understood() -> None:
    with pytest.raises(UnsupportedMediaType) as refused:
        recognise(BytesIO(b"just a sentence"), "notes.txt", "text/plain")
    assert refused.value.code == "unknown_format"
    assert refused.value.members["formats"] == [known.name for known in FORMATS]
    with pytest.raises(UnsupportedMediaType, match="no format 'cvs'"):
        find("cvs")


@pytest.mark.parametrize(
    ("name", "advice"), [("a.DOCX", "save that as .xlsx"), ("a.pdf", "Have the tool"), ("a.csv.gz", "Unpack it")]
)
def test_who_sends_what_cannot_be_read_is_told_what_to_do(name: str, advice: str) -> None:
    with pytest.raises(UnsupportedMediaType, match=advice):
        recognise(BytesIO(b"\x00\x01"), name, None)


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n", "Have the tool"),
        (rb"{\rtf1\ansi ID, Title}", "save that as .xlsx"),
        (b'<testsuites><testsuite name="a"/></testsuites>', "traceline results"),
    ],
)
def test_what_is_no_table_is_told_by_its_beginning_whatever_it_is_called(content: bytes, advice: str) -> None:
    with pytest.raises(UnsupportedMediaType, match=advice):
        recognise(BytesIO(content), "a.csv" if b"<test" not in content else "a.txt", None)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv", None])
@pytest.mark.parametrize("media_type", ["application/gzip", "application/x-gzip", "text/csv", None])
def test_a_file_that_is_packed_is_said_to_be_so(name: str | None, media_type: str | None) -> None:
    with pytest.raises(UnsupportedMediaType, match="is packed by gzip"):
        recognise(BytesIO(gzip.compress(b"ID,Title\n1,Doors\n")), name, media_type)
    tree = recognise(BytesIO(gzip.compress(b"no tree")), "reqs.tar.gz", media_type)
    assert tree.name == "doorstop"  # which says what is wrong with it


def test_a_name_or_a_media_type_is_enough_where_the_content_says_nothing() -> None:
    assert recognise(BytesIO(b"title"), "a.csv", None).name == "csv"
    assert recognise(BytesIO(b"title"), None, "text/csv; charset=utf-8").name == "csv"
    assert recognise(BytesIO(b"no workbook"), "a.XLSX", None).name == "xlsx"
