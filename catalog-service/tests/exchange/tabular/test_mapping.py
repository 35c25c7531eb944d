"""Mappings as people write them: what they say, and how they are refused."""

import copy
from typing import Any

import pytest
from tables import inspect, read

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.mapping import parse_mapping
from chassis.core.problems import Invalid

MAPPING: dict[str, Any] = {
    "version": 1,
    "format": "csv",
    "kind": "test_cases",
    "encoding": "utf-8",
    "delimiter": ";",
    "header_row": 2,
    "key": ["external_id"],
    "external_id_prefix": "jira:",
    "source_system": "jira",
    "fields": {
        "external_id": {"column": "Issue key"},
        "title": {"column": "Summary"},
        "description": {"columns": ["Description", "Acceptance"], "join": "\n\n", "default_from": "title"},
        "priority": {"column": "Priority", "values": {"Highest": "critical", "Blocker": "critical", "*": "medium"}},
        "type": {"constant": "functional"},
        "tags": {"columns_named": "Labels", "split": ","},
        "module": {"column": "Component", "fill_down": True},
        "steps": {
            "style": "rows",
            "continues_when_blank": "Issue key",
            "action": "Action",
            "data": "Data",
            "expected": "Result",
        },
    },
    "links": {"requirements": {"column": "Requirement", "split": ", ", "prefix": "doors:"}, "link_type": "covers"},
    "rest": "custom_metadata",
    "ignore": ["Σ Time Spent"],
}
COLUMNS = (
    "Issue key;Summary;Description;Acceptance;Priority;Labels;Labels;Component;Action;Data;Result;Requirement;"
    "Σ Time Spent;Owner"
)
TABLE = f"""Export;;;;;;;;;;;;;;
{COLUMNS}
T-1;Log in;Text;Criteria;Blocker;a,b;c;Web;Open;page;It opens;R-1, R-2;5;kim
;;;;;;;;Enter;;One is in;;;
T-2;Log out;;;Whatever;;;;Leave;;;;;
T-3;Rest;;;;;;App;;;;;;lee
"""


def test_every_rule_of_a_mapping_is_applied() -> None:
    found = read(TABLE, mapping=MAPPING)
    first, second, third = found.fields
    assert first == {
        "external_id": "jira:T-1",
        "title": "Log in",
        "description": "Text\n\nCriteria",
        "priority": "critical",
        "type": "functional",
        "tags": ["a", "b", "c"],
        "module": "Web",
        "steps": {"1": "Open\nExpected: It opens", "2": "Enter\nExpected: One is in"},
        "source_system": "jira",
        "custom_metadata": {
            "jira": {"Owner": "kim"},
            "steps": [
                {"action": "Open", "data": "page", "expected": "It opens"},
                {"action": "Enter", "expected": "One is in"},
            ],
        },
    }
    assert (second["description"], second["priority"], second["module"], second["tags"]) == (
        "Log out",
        "medium",
        "Web",
        [],
    )
    assert second["custom_metadata"]["jira"] == {"Priority": "Whatever"}
    assert third["module"] == "App"
    assert [(item.row, item.line, item.defaulted) for item in found.items] == [
        (3, 3, ["type"]),
        (5, 5, ["type"]),
        (6, 6, ["priority", "type"]),
    ]
    assert [remark.code for remark in found.items[1].warnings] == ["value_not_listed"]
    assert found.items[0].source == [cell for line in TABLE.splitlines()[2:4] for cell in line.split(";")]
    assert [(link.row, link.requirement, link.test_case, link.fields) for link in found.links] == [
        (3, {"external_id": "doors:R-1"}, {"external_id": "jira:T-1"}, {"link_type": "covers"}),
        (3, {"external_id": "doors:R-2"}, {"external_id": "jira:T-1"}, {"link_type": "covers"}),
    ]
    assert found.notices["to_custom_metadata"].count == 1
    assert "'Σ Time Spent'" in found.notices["columns_ignored"].message


def test_the_source_system_of_the_request_comes_before_that_of_the_mapping() -> None:
    first = read(TABLE, mapping=MAPPING, source_system="tracker").fields[0]
    assert (first["source_system"], first["custom_metadata"]["tracker"]) == ("tracker", {"Owner": "kim"})


def test_rest_can_be_ignored_and_is_then_counted_as_such() -> None:
    found = read(TABLE, mapping={**MAPPING, "rest": "ignore"})
    assert "jira" not in found.fields[0]["custom_metadata"]
    assert "'Owner'" in found.notices["columns_ignored"].message


def test_the_column_of_problems_of_rows_that_are_sent_again_is_left_out() -> None:
    found = read("ID,Title,Owner,problem\n1,a,kim,Title must not be blank.\n")
    assert found.fields[0]["custom_metadata"] == {"import": {"Owner": "kim"}}
    assert "'problem'" in found.notices["columns_ignored"].message
    seen = inspect("ID,Title,Owner,problem\n1,a,kim,Title must not be blank.\n")
    assert seen.mapping is not None
    assert seen.mapping["ignore"] == ["problem"]
    assert [column["reason"] for column in seen.columns[2:]] == [
        "'Owner' has no field here. Keep it with each item, or leave it out.",
        "It is left out, as the mapping says.",
    ]


def test_what_a_row_that_goes_on_says_besides_is_taken_or_warned_of() -> None:
    mapping = {
        "version": 1,
        "kind": "test_cases",
        "fields": {
            "external_id": {"column": "ID"},
            "title": {"column": "Title"},
            "preconditions": {"column": "Before"},
            "steps": {"style": "rows", "continues_when_same": "ID", "action": "Step"},
        },
    }
    found = read("ID,Title,Before,Step\n1,A,,one\n1,B,login,two\n2,C,,three\n", mapping=mapping)
    assert [item["title"] for item in found.fields] == ["A", "C"]
    assert found.fields[0]["preconditions"] == "login"
    assert "Title" in found.items[0].warnings[0].message


@pytest.mark.parametrize(
    ("cell", "steps"),
    [
        ("1. Open\n2. Enter", ["Open", "Enter"]),
        ("1) Open\r\n   the page\r\n2) Enter", ["Open\n   the page", "Enter"]),
        ("1、打开\r2、进入", ["打开", "进入"]),
        ("- Open\n- Enter", ["Open", "Enter"]),
        ("Open the page", ["Open the page"]),
        ("Open\nthe page", ["Open\nthe page"]),
        ("2. Open", ["2. Open"]),
        ("Before: 1. Open", ["Before: 1. Open"]),
    ],
)
def test_steps_of_one_cell_are_its_numbered_lines(cell: str, steps: list[str]) -> None:
    mapping = {
        "version": 1,
        "kind": "test_cases",
        "fields": {"title": {"column": "Title"}, "steps": {"style": "cell", "action": "Steps"}},
    }
    found = read(f'Title,Steps\nA,"{cell}"\n', mapping=mapping)
    assert list(found.fields[0]["steps"].values()) == steps


def test_steps_can_have_a_column_each() -> None:
    mapping = {
        "version": 1,
        "kind": "test_cases",
        "fields": {
            "title": {"column": "Name"},
            "steps": {"style": "columns", "action": "Step {n}", "expected": "Expected {n}"},
        },
    }
    found = read("Name,Step 1,Expected 1,Step 2,Expected 2\nA,Open,It opens,Enter,\nB,,,,\n", mapping=mapping)
    assert found.fields[0]["steps"] == {"1": "Open\nExpected: It opens", "2": "Enter"}
    assert "steps" not in found.fields[1]


def test_rows_can_be_links() -> None:
    mapping = {
        "version": 1,
        "kind": "links",
        "fields": {
            "requirement": {"column": "Req"},
            "test_case": {"column": "Test"},
            "link_type": {"column": "Type", "values": {"tests": "verifies"}},
            "notes": {"column": "Note"},
            "confidence_score": {"column": "Score"},
        },
    }
    found = read("Req,Test,Type,Note,Score\nR-1,T-1,tests,n,0.5\nR-2,,Covers,,\n", mapping=mapping)
    assert [(link.requirement, link.test_case, link.fields) for link in found.links] == [
        (
            {"external_id": "R-1"},
            {"external_id": "T-1"},
            {"link_type": "verifies", "notes": "n", "confidence_score": 0.5},
        ),
        ({"external_id": "R-2"}, {}, {"link_type": "covers"}),
    ]
    assert [problem.code for problem in found.links[1].problems] == ["test_case_not_found"]


def test_a_link_of_an_item_without_a_key_is_warned_of() -> None:
    mapping = {
        "version": 1,
        "kind": "requirements",
        "fields": {"title": {"column": "Title"}},
        "links": {"test_cases": {"column": "Tests"}},
    }
    found = read("Title,Tests\nA,T-1\n", mapping=mapping)
    assert found.links == []
    assert found.items[0].warnings[0].code == "link_without_key"


def test_a_column_that_the_file_does_not_have_is_named_with_what_may_be_meant() -> None:
    mapping = {"version": 1, "kind": "requirements", "fields": {"title": {"column": "Sumary"}}}
    with pytest.raises(Unreadable, match=r"title from the column 'Sumary'.*Did you mean 'Summary'") as refused:
        read("Key,Summary\n1,a\n", mapping=mapping)
    assert refused.value.code == "column_not_found"


@pytest.mark.parametrize(
    ("path", "value", "pointer", "code"),
    [
        (["version"], 2, "/mapping/version", "literal_error"),
        (["kind"], "bugs", "/mapping/kind", "literal_error"),
        (["rows"], 1, "/mapping/rows", "extra_forbidden"),
        (["fields", "titel"], {"column": "x"}, "/mapping/fields/titel", "no_such_field"),
        (["fields", "title"], {"colum": "x"}, "/mapping/fields/title/colum", "extra_forbidden"),
        (["fields", "title"], {"column": "x", "constant": "y"}, "/mapping/fields/title", "value_error"),
        (["fields", "title"], {"column": 0}, "/mapping/fields/title/column", "value_error"),
        (["fields", "title"], {"column": True}, "/mapping/fields/title/column", "value_error"),
        (["fields", "title"], {}, "/mapping/fields/title", "value_error"),
        (["fields", "title"], {"default_from": "nothing"}, "/mapping/fields/title/default_from", "no_such_field"),
        (["fields", "title"], "Summary", "/mapping/fields/title", "model_type"),
        (["fields", "title"], {"style": "cell", "action": "a"}, "/mapping/fields/title", "no_steps"),
        (["fields", "steps", "style"], "lines", "/mapping/fields/steps/style", "literal_error"),
        (["fields", "steps", "continues_when_same"], "ID", "/mapping/fields/steps", "value_error"),
        (["links", "requirements"], {}, "/mapping/links/requirements", "value_error"),
        (["links", "test_cases"], {"column": "Tests"}, "/mapping/links/test_cases", "wrong_end"),
        (["key"], ["summary"], "/mapping/key/0", "no_such_field"),
        (["delimiter"], ";;", "/mapping/delimiter", "string_too_long"),
        (["header_row"], 0, "/mapping/header_row", "greater_than_equal"),
    ],
)
def test_a_mapping_is_refused_with_the_path_of_what_is_wrong(
    path: list[str], value: Any, pointer: str, code: str
) -> None:
    mapping = copy.deepcopy(MAPPING)
    place = mapping
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(Invalid) as refused:
        parse_mapping(mapping, at="/mapping")
    assert [(error.pointer, error.code) for error in refused.value.errors] == [(pointer, code)]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": None}, "This must be requirements, test_cases or links, not null."),
        ({"kind": "bugs"}, "There is no kind 'bugs'; it can be requirements, test_cases or links."),
        ({"ignore": "Owner"}, "This must be a list, not 'Owner'."),
        (
            {"fields": {"title": {"column": 0}}},
            "0 is no column: a column is named by its header, or by its position from 1.",
        ),
        ({"rows": 1}, "A mapping has no 'rows' here."),
    ],
)
def test_a_mapping_is_refused_in_the_words_of_every_other_body(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_mapping(MAPPING | changed)
    assert [error.message for error in refused.value.errors] == [message]


def test_what_a_mapping_lacks_is_told_in_the_words_of_every_other_body() -> None:
    with pytest.raises(Invalid) as refused:
        parse_mapping({})
    assert {error.message for error in refused.value.errors} == {"This is missing; it is required."}


def test_a_mapping_is_the_same_when_it_is_kept_as_json() -> None:
    parsed = parse_mapping(MAPPING)
    assert parse_mapping(parsed.model_dump(mode="json", exclude_unset=True)) == parsed
    assert (
        parse_mapping(parsed.model_dump(mode="json", exclude_none=True, exclude_defaults=True)).fields == parsed.fields
    )
