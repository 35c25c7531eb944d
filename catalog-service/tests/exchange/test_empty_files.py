"""A file without an item and a link says so, whatever its format; or it is refused, since it is none of its format."""

from io import BytesIO

import pytest
from openpyxl import Workbook

from catalog_service.exchange import read
from catalog_service.exchange.native.writing import NativeJson, NativeLines
from catalog_service.exchange.registry import FORMATS

from .test_relations_kept import needs, notices, packed

REQIF = (
    '<REQ-IF xmlns="http://www.omg.org/spec/ReqIF/20110401/reqif.xsd"><THE-HEADER><REQ-IF-HEADER IDENTIFIER="h">'
    "<CREATION-TIME>2026-01-01T00:00:00Z</CREATION-TIME><REQ-IF-TOOL-ID>a</REQ-IF-TOOL-ID>"
    "<REQ-IF-VERSION>1.0</REQ-IF-VERSION><SOURCE-TOOL-ID>a</SOURCE-TOOL-ID><TITLE>a</TITLE></REQ-IF-HEADER>"
    "</THE-HEADER><CORE-CONTENT><REQ-IF-CONTENT/></CORE-CONTENT></REQ-IF>"
)


def workbook() -> bytes:
    file = BytesIO()
    book = Workbook()
    book.active.append(["ID", "Title"])
    book.save(file)
    return file.getvalue()


EMPTY: dict[str, tuple[str, bytes | str]] = {
    "json": ("a.json", '{"requirements": []}'),
    "needs": ("needs.json", needs()),
    "xlsx": ("a.xlsx", workbook()),
    "csv": ("a.csv", "ID,Title\n"),
    "gherkin": ("a.feature", "Feature: Doors\n  Doors close.\n"),
    "strictdoc": ("a.sdoc", "[DOCUMENT]\nTITLE: Doors\n"),
    "reqif": ("a.reqif", REQIF),
    "reqifz": ("a.reqifz", packed({"a.reqif": REQIF})),
    "testlink": ("a.xml", "<testsuite name='Doors'><node_order>1</node_order></testsuite>"),
    "testrail": ("a.xml", "<suite><id>S1</id><name>Doors</name><sections/></suite>"),
    "zephyr": ("a.xml", "<project><testCases/></project>"),
    "doorstop": ("tree.zip", packed({"reqs/.doorstop.yml": "settings: {prefix: R}"})),
}


REFUSED: dict[str, tuple[str, bytes | str]] = {
    "ndjson": ("a.ndjson", ""),
    "openfasttrace": ("a.md", "# Doors\n\nDoors close.\n"),
    "csvz": ("a.zip", packed({})),
}


def test_all_formats_are_known() -> None:
    assert {*EMPTY, *REFUSED} == {known.name for known in FORMATS}


@pytest.mark.parametrize("name", EMPTY)
def test_a_file_without_items_says_so_and_is_not_clean(name: str) -> None:
    file_name, content = EMPTY[name]
    said = notices(content, file_name, format=name)["no_rows"]
    assert said["unclean"]
    assert "nothing to import" in said["message"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_has_to_have_items_is_refused_without(name: str) -> None:
    file_name, content = REFUSED[name]
    data = content.encode() if isinstance(content, str) else content
    *_, end = read.found(BytesIO(data), read.Order(format=name, kind="all", author="kim", file_name=file_name))
    assert end[:1] == read.ERROR


@pytest.mark.parametrize("writer", [NativeLines, NativeJson])
def test_an_export_of_our_own_without_items_says_so_and_is_clean(writer: type[NativeLines]) -> None:
    file = BytesIO()
    writer(file, {"profile": "native"}).finish()
    assert not notices(file.getvalue(), "")["no_rows"]["unclean"]


def test_a_file_without_what_was_asked_for_says_so() -> None:
    said = notices("# Close\n`req~close~1`\n", "a.md", kind="links")["no_rows"]
    assert (said["unclean"], "(links)" in said["message"]) == (False, True)
