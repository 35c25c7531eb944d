"""What objects of somebody else say that no field takes is kept, told and counted."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange.incomplete import INCOMPLETE
from catalog_service.exchange.words import words

from .test_relations_kept import kept, notices

REQUIREMENT = {"title": "Doors", "description": "Doors close.", "type": "functional", "priority": "high"}
NAMES = sorted({*words()["relations"]["parents"], *words()["relations"]["others"]})


def document(*requirements: dict[str, Any], **others: Any) -> bytes:
    items = [
        {"kind": "requirement", "external_id": f"R-{number}", **REQUIREMENT, **members}
        for number, members in enumerate(requirements, start=1)
    ]
    return orjson.dumps({"requirements": items, **others})


def in_lines(content: bytes) -> bytes:
    return b"\n".join(map(orjson.dumps, orjson.loads(content)["requirements"]))


@given(st.sampled_from(NAMES), st.sampled_from(["R-2", "R-2; R-3", "SYS-7"]), st.booleans())
def test_relations_are_counted_by_every_name_that_they_have(name: str, cell: str, as_list: bool) -> None:
    value: Any = cell.split("; ") if as_list else cell
    content, count = document({name: value}, {}, {}), cell.count("-")
    assert (kept(content, "a.json"), kept(in_lines(content), "a.ndjson")) == (count, count)
    table = f'ID,Title,"{name}"\nR-1,Doors,{cell}\nR-2,Close,\nR-3,Lock,\n'
    said = notices(table, "a.csv", kind="requirements")
    is_clean = not any(notice["unclean"] or code in INCOMPLETE for code, notice in said.items())
    assert not (is_clean and "to_custom_metadata" in said)  # a field may take it: an epic is a module


@pytest.mark.parametrize(
    ("members", "count"),
    [
        ({"parent_id": 7, "derivedFrom": "R-2"}, 2),
        ({"children": [{"external_id": "R-7", "title": "Lock"}, {"external_id": "R-8"}]}, 2),
        ({"relations": [{"type": "refines", "to": "R-2"}]}, 1),
        ({"parent": None, "children": [], "links": {}, "rationale": "As R-2 says."}, 0),
        ({"_links": {"self": "/requirements/1"}, "references": ["see the manual"]}, 0),
    ],
)
def test_members_of_any_shape_are_counted(members: dict[str, Any], count: int) -> None:
    assert kept(document(members, {}), "a.json") == count


def test_members_that_no_field_takes_are_told_once_each() -> None:
    said = notices(document({"asil": "D", "parent": None}, {"asil": "B", "owner": "kim"}), "a.json")
    assert {code: notice["unclean"] for code, notice in said.items()} == {"to_custom_metadata": False}
    assert said["to_custom_metadata"]["message"] == (
        "No field takes 'asil' and 'owner': kept with each item as further data."
    )


def test_tests_that_a_requirement_names_are_no_links_and_not_clean() -> None:
    said = notices(document({"verified_by": ["TC-1", "TC-2"]}, {"tests": "none yet"}), "a.json")
    assert (said["links_not_made"]["count"], said["links_not_made"]["unclean"]) == (2, True)


def test_what_a_link_has_no_place_for_is_told() -> None:
    link = {"requirement": "R-1", "test_case": "T-1", "rationale": "why", "link_type": "covers", "version": 2}
    said = notices(orjson.dumps({"links": [link]}), "a.json")["columns_dropped"]
    assert said["message"] == "No field takes 'rationale', and a link has no place for more: not read."


@pytest.mark.parametrize(
    ("others", "count", "unclean"),
    [
        ({"relations": [{"from": "R-1", "to": "R-2"}], "risks": [{"id": 1, "of": {"a": 1}}]}, 2, True),
        ({"relations": {"R-1": ["R-2"], "R-2": []}}, 2, True),
        ({"labels": ["a", "b"]}, 2, False),
    ],
)
def test_lists_in_which_no_records_are_looked_for_are_told(others: Any, count: int, unclean: bool) -> None:
    said = notices(document({}, **others), "a.json")["list_not_read"]
    assert (said["count"], said["unclean"]) == (count, unclean)


def test_what_a_document_says_of_itself_is_no_list() -> None:
    about = {"total": 1, "project": {"key": "A", "tags": ["a"]}, "errors": [], "_links": {"self": "/"}}
    assert notices(document({}, **about), "a.json") == {}
