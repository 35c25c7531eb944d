"""Types of formats that have some of their own: what an inspection says of them, and what a mapping makes of them."""

import io
from typing import Any

import orjson
import pytest

from catalog_service.exchange import read, registry
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.inspection.types import Types
from catalog_service.exchange.records import Item

from .test_cases_of_tools import DOORSTOP, OPENFASTTRACE

NEEDS = orjson.dumps(
    {
        "current_version": "1",
        "versions": {
            "1": {
                "needs": {
                    "R_1": {"id": "R_1", "title": "Pump fills", "type": "req"},
                    "R_2": {"id": "R_2", "title": "Pump stops", "type": "req"},
                    "T_1": {"id": "T_1", "title": "Fill it", "type": "test"},
                }
            }
        },
    }
)
STRICTDOC = """[DOCUMENT]
TITLE: Pump

[REQUIREMENT]
UID: P-1
TITLE: Pump fills
STATEMENT: It fills.

[TEST_SPEC]
UID: T-1
TITLE: Fill it
STATEMENT: Fill.
"""


def types_of(content: bytes | str, name: str, mapping: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    types = Types()
    for record in registry.recognise(file, name, None).read(file, ReadOptions(file_name=name, mapping=mapping)):
        if isinstance(record, Item):
            types.add(record)
    return types.described(mapping)


@pytest.mark.parametrize(
    ("content", "name", "wanted"),
    [
        (NEEDS, "needs.json", {("req", 2, "requirements"), ("test", 1, "test_cases")}),
        (OPENFASTTRACE, "pump.md", {("req", 1, "requirements"), ("utest", 1, "test_cases")}),
        (DOORSTOP, "pump.zip", {("PMP", 1, "requirements"), ("TST", 1, "test_cases")}),
        (STRICTDOC, "pump.sdoc", {("REQUIREMENT", 1, "requirements"), ("TEST_SPEC", 1, "test_cases")}),
    ],
)
def test_each_type_is_described_with_what_it_becomes(content: Any, name: str, wanted: set[Any]) -> None:
    found = types_of(content, name)
    assert {(one["type"], one["count"], one["proposed"]) for one in found} == wanted
    assert all(one["example"] and one["reason"] for one in found)


def test_types_of_a_mapping_say_otherwise_and_no_test_where_one_is_called_so_is_told() -> None:
    mapping = {"version": 1, "kind": "requirements", "types": {"test": "requirements", "req": "requirements"}}
    assert {one["proposed"] for one in types_of(NEEDS, "needs.json", mapping)} == {"requirements"}
    order = read.Order(format="needs", kind="all", author="kim", job="0", file_name="needs.json", mapping=mapping)
    *_, end = read.found(io.BytesIO(NEEDS), order)
    (notice,) = (one for one in orjson.loads(end[1:])["notices"] if one["code"] == "no_tests_found")
    assert notice["unclean"]
