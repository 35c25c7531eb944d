"""needs.json of sphinx-needs: what is read of it, and what is said of files that are none."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.readers import needs
from catalog_service.exchange.records import Item, Link, Notice, Record, Relation, Unreadable, encode

Need = dict[str, Any]


def read(content: Any, mapping: dict[str, Any] | None = None) -> list[Record]:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return list(needs.read(BytesIO(data), ReadOptions(mapping=mapping)))


def document(*needs_of_it: Need, **members: Any) -> dict[str, Any]:
    by_id = {need["id"]: need for need in needs_of_it}
    return {"current_version": "1.0", "versions": {"1.0": {"needs": by_id}}, **members}


def need(name: str, kind: str = "req", **fields: Any) -> Need:
    return {"id": name, "type": kind, "title": f"Title of {name}", "content": f"Text of {name}", **fields}


def items(records: list[Record]) -> dict[str, Item]:
    return {record.fields["external_id"]: record for record in records if isinstance(record, Item)}


def links(records: list[Record]) -> list[tuple[str, str, str]]:
    return [
        (record.requirement["external_id"], record.test_case["external_id"], record.fields["link_type"])
        for record in records
        if isinstance(record, Link)
    ]


def test_a_need_is_a_requirement_or_a_test_case_by_its_type() -> None:
    records = items(read(document(need("R"), need("S", "spec"), need("I", "impl"), need("T", "test"))))
    assert {name: item.kind for name, item in records.items()} == {
        "R": "requirement",
        "S": "requirement",
        "I": "requirement",
        "T": "test_case",
    }
    assert records["S"].fields["type"] == "technical"
    assert records["R"].fields == {
        "external_id": "R",
        "title": "Title of R",
        "description": "Text of R",
        "type": "functional",
        "priority": "medium",
        "source_system": "needs",
        "custom_metadata": {"needs": {"type": "req"}},
    }
    assert records["R"].defaulted == ["type", "priority"]


def test_the_mapping_says_which_types_are_tests() -> None:
    records = items(
        read(document(need("C", "check"), need("T", "test")), {"kinds": {"check": "test_case", "test": "requirement"}})
    )
    assert (records["C"].kind, records["T"].kind) == ("test_case", "requirement")


def test_what_people_have_said_becomes_fields_and_the_rest_stays_in_the_metadata() -> None:
    said = need("R", status="Open", tags=["safety", " ", "safety"], sections=["Doors", "Train"], priority="must")
    said |= {"asil": "B", "avatar": "", "is_need": True, "full_title": "Title of R", "lineno": 3, "hours": 1.5}
    fields = items(read(document(said)))["R"].fields
    assert (fields["status"], fields["tags"], fields["module"]) == ("draft", ["safety"], "Train")
    assert fields["priority"] == "critical"
    assert fields["custom_metadata"]["needs"] == {
        "type": "req",
        "status": "Open",
        "priority": "must",
        "sections": ["Doors", "Train"],
        "asil": "B",
        "lineno": 3,
        "hours": 1.5,
    }


def test_relations_of_requirement_and_test_case_are_links_whichever_end_says_them() -> None:
    records = read(
        document(
            need("R", links=["T1", "S"]),
            need("S", "spec", tested_by=["T2"]),
            need("T1", "test", links=["R"], links_back=["R"]),
            need("T2", "test", verifies=["S.1"], parent_needs=["T1"]),
            need("T3", "test", links=["ELSEWHERE"]),
        )
    )
    assert links(records) == [("R", "T1", "covers"), ("S", "T2", "verifies"), ("ELSEWHERE", "T3", "covers")]
    (relation,) = (record for record in records if isinstance(record, Relation))
    assert (relation.child, relation.parent) == ({"external_id": "R"}, {"external_id": "S"})
    assert items(records)["T2"].fields["custom_metadata"]["needs"]["parent_needs"] == ["T1"]


def test_the_current_version_is_read_and_the_others_are_counted() -> None:
    content = {
        "versions": {
            "1.0": {"needs": {"OLD": need("OLD"), "B": need("B")}},
            "2.0": {"needs": {"NEW": need("NEW")}},
        },
        "current_version": "2.0",
    }
    records = read(content)
    assert list(items(records)) == ["NEW"]
    assert [(record.code, record.count) for record in records if isinstance(record, Notice)] == [
        ("version_not_taken", 2)
    ]


def test_a_need_with_wrong_types_has_problems_and_the_others_are_read() -> None:
    odd = {"id": "ODD", "type": 7, "title": ["x"], "tags": {"a": 1}, "status": 1.5, "links": "R", "sections": [1]}
    records = items(read(document(odd, need("R"))))
    assert [problem.column for problem in records["ODD"].problems] == ["title", "type", "status"]
    assert records["ODD"].fields["custom_metadata"]["needs"]["tags"] == {"a": 1}
    assert records["R"].problems == []


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'{"versions": {"1": {"needs": {\n "A": {"id": "A",}}}}}', (2, 18)),
        (b'{"versions": {"1": {"needs": {\n', (2, 1)),
        (b"", (1, 1)),
        (b'{"versions": {"1": {"needs": {}}}} x', (1, 36)),
        (b'{"versions": {"1": {"needs": {"A": {"n": ' + b"9" * 500 + b"}}}}}", (1, 542)),
    ],
)
def test_a_file_that_is_no_json_is_refused_with_the_place(content: bytes, place: tuple[int, int]) -> None:
    with pytest.raises(Unreadable) as refused:
        read(content)
    assert (refused.value.line, refused.value.column) == place


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"versions": {}}, 'no "versions" with "needs"'),
        ([], "is an object"),
        ({"versions": [1]}, "'versions' is an object"),
        ({"versions": {"1": {"needs": []}}}, "'needs' is an object"),
        ({"versions": {"1": {"needs": {"A": 1}}}}, "'A' is a number"),
        ({"versions": {"1": {"needs": {"A": {"sections": {"a": 1}, "section_name": "b"}, "B": 1}}}}, "'B' is a number"),
        ({"versions": {"1": {"needs": {"A": {"content": "x" * 1_100_000}}}}}, "1100000 characters"),
        (b"[" * 20, "object"),
        (b"[" * 200_000, "nested deeper"),
        (b'{"versions": {"1": {"needs": {"A": {"n": ' + b"9" * 5000 + b"}}}}}", "thousand digits"),
        (b'{"a":' * 200_000, "nested deeper"),
        (b'{"versions":{"1":{"needs":{"A":{"x":' + b"[" * 35 + b"]" * 35 + b"}}}}}", "nested deeper"),
    ],
)
def test_a_file_that_is_no_needs_json_is_refused_with_the_reason(content: Any, message: str) -> None:
    with pytest.raises(Unreadable, match=message):
        read(content)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(["id", "type", "title", "content", "status", "tags", "links", "sections", "tests", "priority"])


@given(st.dictionaries(st.text(max_size=6), st.dictionaries(FIELDS, JSON), max_size=4))
def test_needs_of_any_content_are_read(content: dict[str, Any]) -> None:
    records = read({"versions": {"1": {"needs": content}}})
    assert sum(isinstance(record, Item) for record in records) == len(content)
    assert all(encode(record) for record in records)
