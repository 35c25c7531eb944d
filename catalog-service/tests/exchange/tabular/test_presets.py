"""The tables that known tools export, with their headers as the tools write them."""

import csv
import io
from collections.abc import Sequence

import pytest
from tables import inspect, read

from catalog_service.exchange.records import Unreadable

ZEPHYR = "Test Script (Step-by-Step) - "


def table(*rows: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


JIRA = table(
    ("Summary", "Issue key", "Issue id", "Issue Type", "Status", "Priority", "Component/s", "Labels", "Labels",
     "Description", "Attachment", "Custom field (Story Points)", "Inward issue link (Tests)",
     "Inward issue link (Tests)"),
    ("Doors close", "TR-1", "10001", "Story", "In Progress", "Highest", "doors", "safety", "asil-b",
     "All doors.\r\nAlways.", "01/Mar/26;a.png;https://x/a.png", "3.0", "TR-7", "TR-8"),
    ("Doors open", "TR-2", "10002", "Story", "Done", "Trivial", "", "", "", "", "", "", "", ""),
)  # fmt: skip
TESTRAIL = table(
    ("ID", "Title", "Created By", "Estimate", "Preconditions", "Priority", "References", "Section", "Section Hierarchy",
     "Steps (Expected Result)", "Steps (Step)", "Suite", "Suite ID", "Template", "Type"),
    ("C1", "Log in", "kim", "5m", "An account", "Critical", "TR-1, TR-2", "Login", "Web > Login",
     "1. It is shown\n2. One is in", "1. Open the page\n2. Press enter", "Master", "S1",
     "Test Case (Steps)", "Security"),
)  # fmt: skip
XRAY = table(
    (
        "Issue ID",
        "Issue Key",
        "Test Type",
        "Test Summary",
        "Test Priority",
        "Action",
        "Data",
        "Result",
        "Issue Type",
        "Labels",
    ),
    ("1", "", "Manual", "Log in", "1", "Open", "a page", "It opens", "", "web"),
    ("1", "", "Manual", "", "", "Enter", "", "One is in", "", ""),
    ("2", "", "", "An account", "", "", "", "", "precondition", ""),
    ("3", "", "Generic", "Nightly", "3", "", "", "", "", ""),
)
ZEPHYR_SCALE = table(
    ("Key", "Name", "Status", "Precondition", "Objective", "Folder", "Priority", "Component", "Labels", "Owner",
     "Estimated Time", "Coverage (Issues)", f"{ZEPHYR}Step", f"{ZEPHYR}Test Data", f"{ZEPHYR}Expected Result"),
    ("TR-T1", "Log in", "Approved", "An account", "That one gets in", "/Web", "High", "auth", "a,b", "kim", "01:30:00",
     "TR-1,TR-2", "Open", "a page", "It opens"),
    ("", "", "", "", "", "", "", "", "", "", "", "", "Enter", "", "One is in"),
    ("TR-T2", "Log out", "Deprecated", "", "", "/Web", "Low", "", "", "kim", "", "", "Leave", "", ""),
)  # fmt: skip
ZEPHYR_SQUAD = table(
    ("Issue Key", "Test Summary", "Priority", "Labels", "Test Step", "Test Data", "Expected Result"),
    ("TR-9", "Log in", "Major", "web", "Open", "a page", "It opens"),
    ("TR-9", "Log in", "Major", "web", "Enter", "", "One is in"),
)
QASE = table(
    ("v2.id", "title", "description", "preconditions", "postconditions", "tags", "priority", "severity", "type",
     "automation", "status", "steps_actions", "steps_result", "steps_data", "suite_id", "suite", "suite_without_cases"),
    ("", "", "", "", "", "", "", "", "", "", "", "", "", "", "1", "Web", "1"),
    ("7", "Log in", "How to", "An account", "", "a,b", "high", "major", "smoke", "is-not-automated", "actual",
     '1. "Open"\n2. "Enter"', '1. "It opens"\n2. "One is in"', '1. "a page"\n2. ""', "1", "Web", ""),
)  # fmt: skip
PRACTITEST = table(
    ("id", "Name", "Description", "Status", "Run_status", "Test_type", "Tags", "Preconditions", "Step name",
     "Step description", "Step expected_results", "Step position"),
    ("1", "Log in", "How to", "Ready", "PASSED", "ScriptedTest", "a,b", "", "Open", "the page", "It opens", "1"),
    ("", "", "", "", "", "", "", "", "Enter", "", "One is in", "2"),
)  # fmt: skip
QTEST = table(
    ("Module", "Id", "Name", "Description", "Precondition", "Type", "Status", "Priority", "Test Step #",
     "Test Step Description", "Test Step Expected Result"),
    ("MD-1 Web", "TC-1", "Log in", "How to", "An account", "Manual", "New", "Urgent", "1", "Open", "It opens"),
    ("MD-1 Web", "TC-1", "Log in", "How to", "An account", "Manual", "New", "Urgent", "2", "Enter", "One is in"),
)  # fmt: skip
SPIRA = table(
    ("Test Case ID", "Test Case Name", "Test Case Description", "Type", "Priority", "Status", "Step #",
     "Test Step Description", "Expected Result", "Sample Data"),
    ("TC:2", "Log in", "<p>How to</p>", "Regression", "1 - Critical", "Ready for Test", "1", "Open", "It opens", ""),
    ("", "", "", "", "", "", "2", "Enter", "One is in", ""),
)  # fmt: skip
ALM = table(
    ("Subject", "Test Name", "Description", "Type", "Status", "Step Name", "Step Description", "Expected Result"),
    ("Web\\Login", "Log in", "How to", "MANUAL", "Ready", "Step 1", "Open", "It opens"),
    ("", "", "", "", "", "Step 2", "Enter", "One is in"),
)
ALM_SQL = table(
    ("TS_TEST_ID", "TS_NAME", "DS_STEP_NAME", "DS_DESCRIPTION", "DS_EXPECTED"),
    ("7", "Log in", "Step 1", "Open", "It opens"),
    ("7", "Log in", "Step 2", "Enter", "One is in"),
)
AZURE = table(
    ("ID", "Work Item Type", "Title", "Test Step", "Step Action", "Step Expected", "Area Path", "Assigned To", "State"),
    ("12", "Test Case", "Log in", "", "", "", "Web", "kim", "Ready"),
    ("", "", "", "1", "Open", "It opens", "", "", ""),
    ("", "", "", "2", "Enter", "One is in", "", "", ""),
)
OCTANE = table(
    ("unique_id", "type", "name", "step_type", "step_description", "test_type", "covered_content", "priority"),
    ("12", "test_manual", "Log in", "", "", "Sanity", "1001", "Urgent"),
    ("", "step", "", "Simple", "Open", "", "", ""),
    ("", "step", "", "Validation", "It opens", "", "", ""),
    ("13", "test_manual", "Log out", "", "", "Acceptance", "", "Low"),
)
ZENTAO = table(
    ("用例编号", "所属模块", "用例标题", "前置条件", "步骤", "预期", "优先级", "用例类型", "用例状态"),
    ("5", "/登录(#1)", "登录", "有帐号", "1. 打开\r2. 进入", "1. 已打开\r2. 已进入", "1", "安全相关", "正常"),
)
ZENTAO_IN_ENGLISH = table(
    ("Case ID", "Module", "Case Title", "Precondition", "Steps", "Expect", "Keywords", "Priority", "Type", "Status",
     "Story"),
    ("5", "/Web(#1)", "Log in", "An account", "1. Open\n2. Enter", "1. It opens\n2. One is in", "web auth", "2",
     "feature", "normal", "Log in(#3)"),
)  # fmt: skip

STEPS = {"1": "Open\nExpected: It opens", "2": "Enter\nExpected: One is in"}


@pytest.mark.parametrize(
    ("content", "preset", "expected"),
    [
        (TESTRAIL, "testrail", {
            "external_id": "C1", "title": "Log in", "priority": "critical", "type": "security", "module": "Login",
            "preconditions": "An account", "execution_time_minutes": 5,
            "steps": {"1": "Open the page\nExpected: It is shown", "2": "Press enter\nExpected: One is in"}}),
        (XRAY, "xray", {
            "external_id": "1", "title": "Log in", "priority": "critical", "automation_status": "manual",
            "tags": ["web"],
            "steps": STEPS}),
        (ZEPHYR_SCALE, "zephyr", {
            "external_id": "TR-T1", "title": "Log in", "description": "That one gets in", "status": "ready",
            "priority": "high", "module": "/Web", "tags": ["a", "b"], "execution_time_minutes": 90, "steps": STEPS}),
        (ZEPHYR_SQUAD, "zephyr", {
            "external_id": "TR-9", "title": "Log in", "priority": "high", "tags": ["web"], "steps": STEPS}),
        (QASE, "qase", {
            "external_id": "7", "title": "Log in", "description": "How to", "priority": "high", "type": "regression",
            "status": "ready", "automation_status": "manual", "module": "Web", "steps": STEPS}),
        (PRACTITEST, "practitest", {
            "external_id": "1", "title": "Log in", "status": "ready", "automation_status": "manual", "tags": ["a", "b"],
            "steps": {"1": "Open\nthe page\nExpected: It opens", "2": "Enter\nExpected: One is in"}}),
        (QTEST, "qtest", {
            "external_id": "TC-1", "title": "Log in", "priority": "critical", "status": "draft", "module": "MD-1 Web",
            "preconditions": "An account", "steps": STEPS}),
        (SPIRA, "spira", {
            "external_id": "TC:2", "title": "Log in", "description": "How to", "type": "regression",
            "priority": "critical", "status": "ready", "steps": STEPS}),
        (ALM, "alm", {
            "title": "Log in", "description": "How to", "module": "Web\\Login", "status": "ready",
            "automation_status": "manual", "steps": STEPS}),
        (ALM_SQL, "alm", {"external_id": "7", "title": "Log in", "steps": STEPS}),
        (AZURE, "azure-devops", {
            "external_id": "12", "title": "Log in", "module": "Web", "status": "ready", "steps": STEPS}),
        (OCTANE, "octane", {
            "external_id": "12", "title": "Log in", "type": "regression", "priority": "critical",
            "steps": {"1": "Open", "2": "It opens"}}),
        (ZENTAO, "zentao", {
            "external_id": "5", "title": "登录", "module": "/登录(#1)", "priority": "critical", "type": "security",
            "status": "ready", "steps": {"1": "打开\nExpected: 已打开", "2": "进入\nExpected: 已进入"}}),
        (ZENTAO.replace("步骤", "测试步骤").replace("预期", "预期结果"), "zentao", {
            "external_id": "5", "steps": {"1": "打开\nExpected: 已打开", "2": "进入\nExpected: 已进入"}}),
        (ZENTAO_IN_ENGLISH, "zentao", {
            "external_id": "5", "title": "Log in", "module": "/Web(#1)", "priority": "high", "type": "functional",
            "status": "ready", "preconditions": "An account", "tags": ["web", "auth"], "automation_status": "manual",
            "steps": STEPS}),
    ],
    ids=lambda value: value if isinstance(value, str) and "," not in value else "",
)  # fmt: skip
def test_test_cases_of_a_tool_are_read_by_its_preset(content: str, preset: str, expected: dict[str, object]) -> None:
    assert inspect(content).preset == preset
    found = read(content)
    first = found.fields[0]
    assert {name: first.get(name) for name in expected} == expected
    assert found.items[0].kind == "test_case"
    assert first["source_system"] == preset
    assert all(first[name] for name in ("title", "description", "type", "priority"))


def test_the_parts_of_steps_are_kept_to_be_written_out_again() -> None:
    assert read(ZEPHYR_SCALE).fields[0]["custom_metadata"]["steps"] == [
        {"action": "Open", "data": "a page", "expected": "It opens"},
        {"action": "Enter", "expected": "One is in"},
    ]
    assert read(QASE).fields[0]["custom_metadata"]["steps"] == [
        {"action": "Open", "data": "a page", "expected": "It opens"},
        {"action": "Enter", "expected": "One is in"},
    ]


def test_requirements_of_jira_keep_what_no_field_takes_and_their_links() -> None:
    found = read(JIRA)
    first, second = found.fields
    assert first == {
        "external_id": "TR-1",
        "title": "Doors close",
        "description": "All doors.\r\nAlways.",
        "type": "functional",
        "priority": "critical",
        "status": "approved",
        "module": "doors",
        "tags": ["safety", "asil-b"],
        "source_system": "jira",
        "custom_metadata": {
            "jira": {
                "Issue id": "10001",
                "Issue Type": "Story",
                "Attachment": "01/Mar/26;a.png;https://x/a.png",
                "Custom field (Story Points)": "3.0",
            }
        },
    }
    assert (second["description"], second["priority"], second["status"]) == ("Doors open", "low", "implemented")
    assert found.items[0].defaulted == ["type"]
    assert [(link.requirement, link.test_case, link.fields) for link in found.links] == [
        ({"external_id": "TR-1"}, {"external_id": "TR-7"}, {"link_type": "verifies"}),
        ({"external_id": "TR-1"}, {"external_id": "TR-8"}, {"link_type": "verifies"}),
    ]
    assert found.notices["attachment_dropped"].count == 1
    assert "'Custom field (Story Points)'" in found.notices["to_custom_metadata"].message


def test_rows_that_are_none_of_a_presets_items_are_left_out_and_said() -> None:
    found = read(XRAY)
    assert [item["external_id"] for item in found.fields] == ["1", "3"]
    said = found.notices["rows_left_out"]
    assert "as the mapping says, by Issue Type: 'precondition'" in said.message
    assert not said.unclean
    assert found.fields[1]["automation_status"] == "automated"


def test_references_of_test_cases_become_links() -> None:
    links = read(TESTRAIL).links
    assert [(link.requirement["external_id"], link.test_case["external_id"]) for link in links] == [
        ("TR-1", "C1"),
        ("TR-2", "C1"),
    ]


@pytest.mark.parametrize(
    ("header", "preset"),
    [
        ("Object Identifier,Object Number,Object Heading,Object Text,Object Level", "doors-csv"),
        ("ID,Title,Type,Status,Severity,Outline Number,Linked Work Items", "polarion"),
        ("id,Primary Text,Artifact Type,parentBinding,isHeading", "doors-next"),
        ("TPos,Type,Name,GUID,Author,Status,Notes", "enterprise-architect"),
        ("UID,TITLE,STATEMENT,STATUS,TAGS", "strictdoc-xlsx"),
        ("ID,Work Item Type,Title,Assigned To,State,Tags", "azure-devops-requirements"),
    ],
)
def test_requirements_of_other_tools_are_known_by_their_headers(header: str, preset: str) -> None:
    found = inspect(f"{header}\n" + ",".join("abcdefg"[: header.count(",") + 1]) + "\n")
    assert (found.preset, found.mapping["kind"] if found.mapping else None) == (preset, "requirements")


def test_titles_of_a_tree_of_azure_devops_stand_in_a_column_a_level() -> None:
    found = read("ID,Work Item Type,Title 1,Title 2,State\n1,Epic,Doors,,New\n2,User Story,,They close,Active\n")
    assert [(item["title"], item["status"]) for item in found.fields] == [
        ("Doors", "draft"),
        ("They close", "approved"),
    ]


def test_the_severity_of_polarion_is_the_priority_where_it_says_how_much_something_is_needed() -> None:
    found = read("ID,Title,Severity,Type\nR-1,Doors,Must Have,Functional\nR-2,Horn,Nice to Have,Functional\n")
    assert [item["priority"] for item in found.fields] == ["critical", "low"]


def test_headings_of_doors_are_no_items_unless_they_have_a_text() -> None:
    found = read("Object Identifier,Object Heading,Object Text\nD-1,Doors,\nD-2,,The door shall close.\n")
    assert [(item["title"], item["description"]) for item in found.fields] == [
        ("The door shall close.", "The door shall close."),
    ]
    both = read("Object Identifier,Object Heading,Object Short Text,Object Text\nD-1,Doors,,T\nD-2,,Close,It closes.\n")
    assert [item["title"] for item in both.fields] == ["Doors", "Close"]


@pytest.mark.parametrize(
    "content",
    [
        "Object Identifier,Object Text,Object Type\nD-1,Doors,Heading\nD-2,It closes.,Requirement\n",
        "id,Primary Text,Artifact Type\n1,Doors,Heading\n2,It closes.,Requirement\n",
        "GUID,Type,Name,Notes\n{1},Package,Doors,\n{2},Requirement,Close,It closes.\n",
    ],
    ids=["doors-csv", "doors-next", "enterprise-architect"],
)
def test_rows_that_only_give_a_document_its_order_are_no_requirements(content: str) -> None:
    found = read(content)
    assert [item["description"] for item in found.fields] == ["It closes."]
    assert found.notices["rows_left_out"].count == 1
    assert not found.items[0].warnings


def test_rows_of_practitest_that_say_the_id_of_the_one_above_again_are_its_steps() -> None:
    content = table(
        ("ID", "Name", "Step name", "Step description", "Step expected results"),
        ("7", "Log in", "Open", "", "It opens"),
        ("7", "", "Enter", "", "One is in"),
    )
    (fields,) = read(content).fields
    assert (fields["title"], fields["steps"]) == ("Log in", STEPS)


def test_each_test_case_has_the_shape_of_steps_that_its_tool_lets_it_have() -> None:
    content = table(
        ("ID", "Title", "Section Hierarchy", "Steps", "Expected Result", "Steps (Step)", "Steps (Expected Result)"),
        ("C1", "Log in", "Web", "An old text", "", "Open", "It opens"),
        ("", "", "", "", "", "Enter", "One is in"),
        ("C2", "Log out", "Web", "1. Open\n2. Enter", "1. It opens\n2. One is in", "", ""),
    )
    first, second = read(content).fields
    assert first["steps"] == second["steps"] == STEPS
    assert first["custom_metadata"]["testrail"]["Steps"] == "An old text"
    assert not {"Steps", "Expected Result"} & second["custom_metadata"]["testrail"].keys()
    assert read(content, mapping=inspect(content).mapping).fields == [first, second]
    one_each = table(
        ("Key", "Name", f"{ZEPHYR}Step", f"{ZEPHYR}Expected Result", "Test Script (Plain Text)"),
        ("T-1", "Log in", "Open", "It opens", ""),
    )
    assert read(one_each).fields[0]["steps"] == {"1": "Open\nExpected: It opens"}


def test_links_of_a_tool_are_found_whatever_stands_between_them() -> None:
    header = ("Test ID", "Test Type", "Summary", "Action", "Requirement", "Requirement")
    rows = (
        ("1", "Manual", "Log in", "Open", "TR-1;TR-2", "TR-3"),
        ("2", "Manual", "Log out", "Leave", "TR-4, TR-5", ""),
    )
    links = read(table(header, *rows)).links
    assert [(link.test_case["external_id"], link.requirement["external_id"]) for link in links] == [
        ("1", "TR-1"),
        ("1", "TR-2"),
        ("1", "TR-3"),
        ("2", "TR-4"),
        ("2", "TR-5"),
    ]


def test_a_preset_can_be_named() -> None:
    found = read("Summary,Status\nDoors close,Open\n", mapping={"preset": "jira"})
    assert (found.fields[0]["title"], found.fields[0]["source_system"]) == ("Doors close", "jira")
    own = read("title,priority\nDoors close,high\n", mapping={"preset": "traceline"})
    assert own.fields == [{"title": "Doors close", "priority": "high"}]
    with pytest.raises(Unreadable, match="no preset 'jirra'"):
        read("Summary,Status\nDoors close,Open\n", mapping={"preset": "jirra"})


@pytest.mark.parametrize(
    "content", [JIRA, TESTRAIL, XRAY, ZEPHYR_SCALE, ZEPHYR_SQUAD, QASE, PRACTITEST, QTEST, ALM, AZURE, ZENTAO]
)
def test_what_inspect_proposes_is_a_mapping_that_reads_the_same(content: str) -> None:
    mapping = inspect(content).mapping
    assert mapping is not None
    assert read(content, mapping=mapping).fields == read(content).fields


def test_a_duration_that_is_no_whole_number_of_minutes_is_rounded_and_kept() -> None:
    estimates = ["30s", "1min 30s", "1.5h", "1w 2d", "0:10:20", "2 sprints"]
    rows = "".join(f"C{number},Log in,{estimate},Open\n" for number, estimate in enumerate(estimates))
    found = read(f"ID,Title,Estimate,Steps (Step)\n{rows}")
    minutes = [fields["execution_time_minutes"] for fields in found.fields]
    assert minutes == [1, 2, 90, 7 * 480, 10, "2 sprints"], "who wrote what is none is told so by the plan"
    kept = [fields["custom_metadata"].get("testrail") for fields in found.fields]
    assert kept == [{"Estimate": "30s"}, {"Estimate": "1min 30s"}, None, None, {"Estimate": "0:10:20"}, None]
    assert [[warning.code for warning in item.warnings] for item in found.items[:3]] == [
        ["duration_rounded"],
        ["duration_rounded"],
        [],
    ]


def test_test_cases_that_zephyr_has_not_given_keys_yet_are_known() -> None:
    step = "Test Script (Step-by-Step) - "
    found = read(
        f"Name,Objective,Folder,{step}Step,{step}Test Data,{step}Expected Result\n"
        "Log in,See it,/Web,Open,,Shown\n,,,Type,kim,Taken\nLog out,,/Web,Press,,Gone\n"
    )
    assert [(fields["title"], fields["steps"]) for fields in found.fields] == [
        ("Log in", {"1": "Open\nExpected: Shown", "2": "Type\nExpected: Taken"}),
        ("Log out", {"1": "Press\nExpected: Gone"}),
    ]
    assert not found.items[0].warnings
