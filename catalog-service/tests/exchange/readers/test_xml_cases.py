"""Test cases of TestLink, TestRail and Zephyr."""

import io
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
import tables
from exchange_samples import samples
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.plain_text import text_of_html
from catalog_service.exchange.readers import testlink, testrail, zephyr
from catalog_service.exchange.records import Item, Link, Unreadable
from catalog_service.exchange.registry import recognise
from catalog_service.test_cases.schemas import TestCaseWrite

TESTLINK = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite id="1" name="Shop"><details><![CDATA[<p>All</p>]]></details>
<testsuite id="2" name="Login">
<testcase internalid="4" name="Log in">
  <externalid><![CDATA[7]]></externalid><fullexternalid><![CDATA[SHOP-7]]></fullexternalid>
  <summary><![CDATA[<p>A &amp; B&nbsp;log in.</p><ul><li>quickly</li></ul>]]></summary>
  <preconditions><![CDATA[<p>Site is up</p>]]></preconditions>
  <execution_type>2</execution_type><importance>3</importance><status>7</status>
  <estimated_exec_duration>2.50</estimated_exec_duration>
  <steps>
    <step><step_number>1</step_number><actions><![CDATA[<p>Open</p>]]></actions>
      <expectedresults><![CDATA[<p>Open page</p>]]></expectedresults></step>
    <step><step_number>2</step_number><actions>Enter x &lt; 5</actions><expectedresults></expectedresults></step>
    <step><step_number>3</step_number><actions></actions><expectedresults></expectedresults></step>
  </steps>
  <keywords><keyword name="smoke"><notes>n</notes></keyword></keywords>
  <requirements>
    <requirement><req_spec_title>S</req_spec_title><doc_id>REQ-1</doc_id><title>T</title></requirement>
    <requirement><req_spec_title>S</req_spec_title><doc_id>REQ-2</doc_id><title>T</title></requirement>
    <requirement><req_spec_title>S</req_spec_title><doc_id>REQ-1</doc_id><title>T</title></requirement>
  </requirements>
  <custom_fields><custom_field><name>Rig</name><value>A</value></custom_field></custom_fields>
</testcase>
</testsuite></testsuite>
"""
TESTRAIL = """<?xml version="1.0" encoding="UTF-8"?>
<suite><id>S1</id><name>Master</name><sections><section><name>Doors</name><description>d</description><cases>
<case><id>C9</id><title>Hold a door</title><type>Regression</type><priority>4 - Must Test</priority>
<estimate>1h 30m</estimate><references>REQ-1, REQ-2</references>
<custom><preconds>At a platform</preconds><steps_separated>
<step><index>1</index><content>Hold</content><expected>It stops</expected>
<additional_info>Door 3</additional_info><refs>REQ-3, REQ-1</refs></step>
<step><index>2</index><content>Go</content></step></steps_separated><rig><id>1</id><value>A</value></rig></custom></case>
</cases><sections><section><name>Rear</name><cases>
<case><id>C10</id><title>Lock</title><type>Functional</type><priority>High</priority>
<custom><steps>1. Lock
2. Pull</steps><expected>1. Locked
2. Stays</expected></custom></case>
</cases></section></sections></section></sections></suite>
"""
SCALE = """<?xml version="1.0" encoding="UTF-8"?>
<project><projectId>1</projectId><folders><folder fullPath="Shop/Login" index="0"/></folders><testCases>
<testCase id="5" key="SHOP-T1" paramType="TEST_DATA">
<name><![CDATA[Log in]]></name><folder><![CDATA[Shop/Login]]></folder>
<objective><![CDATA[A user<br />logs in]]></objective><precondition><![CDATA[Site is up]]></precondition>
<priority><![CDATA[High]]></priority><status><![CDATA[Approved]]></status><owner>kim</owner>
<labels><label><![CDATA[smoke]]></label></labels>
<issues><issue><key>REQ-1</key><summary><![CDATA[Login]]></summary></issue></issues>
<customFields><customField name="Rig" type="SINGLE_LINE_TEXT"><value>A</value></customField></customFields>
<testScript type="steps"><steps>
<step index="1"><description><![CDATA[Enter]]></description><testData><![CDATA[kim]]></testData></step>
<step index="0"><description><![CDATA[<b>Open</b>]]></description><expectedResult>Page</expectedResult></step>
</steps></testScript></testCase>
<testCase key="SHOP-T2"><name>Plain</name>
<testScript type="plain"><details><![CDATA[1. a<br/>2. b]]></details></testScript>
</testCase>
</testCases></project>
"""
SQUAD = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="0.92"><channel><title>Jira</title><item>
<title>[SHOP-3] Log in</title><link>x</link><key id="1">SHOP-3</key><summary>Log in</summary>
<description>&lt;p&gt;A user logs in&lt;/p&gt;</description><type id="5">Test</type><priority id="2">High</priority>
<status id="1">To Do</status><labels><label>smoke</label></labels><component>Login</component>
<issuelinks><issuelinktype id="1"><name>Relates</name><outwardlinks description="tests">
<issuelink><issuekey id="9">REQ-1</issuekey></issuelink></outwardlinks></issuelinktype></issuelinks>
<customfields>
<customfield id="c1" key="com.thed.zephyr.je:zephyr-je-customfield-teststep"><customfieldname>Steps</customfieldname>
<customfieldvalues><steps><step><orderId>1</orderId><step>Open</step><data>url</data><result>Page</result></step></steps>
</customfieldvalues></customfield>
<customfield id="c2" key="x:float"><customfieldname>Rank</customfieldname><customfieldvalues>
<customfieldvalue>3.0</customfieldvalue></customfieldvalues></customfield></customfields>
</item></channel></rss>
"""
ALL: list[tuple[Format, str]] = [
    (testlink.FORMAT, TESTLINK),
    (testrail.FORMAT, TESTRAIL),
    (zephyr.FORMAT, SCALE),
    (zephyr.FORMAT, SQUAD),
]


def read(known: Format, data: bytes, **options: Any) -> tuple[list[Item], list[Link]]:
    records = list(known.read(io.BytesIO(data), ReadOptions(**options)))
    items = [record for record in records if isinstance(record, Item)]
    for item in items:
        TestCaseWrite.model_validate(item.fields)
    return items, [record for record in records if isinstance(record, Link)]


def ends(links: list[Link]) -> list[tuple[str, str]]:
    return [(link.requirement["external_id"], link.test_case["external_id"]) for link in links]


def test_testlink() -> None:
    (item,), links = read(testlink.FORMAT, TESTLINK.encode())
    assert item.fields == {
        "external_id": "SHOP-7",
        "title": "Log in",
        "description": "A & B log in.\n- quickly",
        "type": "functional",
        "priority": "high",
        "status": "ready",
        "module": "Login",
        "tags": ["smoke"],
        "preconditions": "Site is up",
        "automation_status": "automated",
        "execution_time_minutes": 2,
        "steps": {"1": "Open\nExpected: Open page", "2": "Enter x < 5"},
        "source_system": "testlink",
        "custom_metadata": {
            "testlink": {
                "suites": ["Shop", "Login"],
                "internal_id": "4",
                "status": "final",
                "custom_fields": {"Rig": "A"},
            },
            "steps": [{"action": "Open", "expected": "Open page"}, {"action": "Enter x < 5"}],
        },
    }
    assert (item.row, item.line, item.defaulted) == (1, 4, ["type"])
    assert ends(links) == [("REQ-1", "SHOP-7"), ("REQ-2", "SHOP-7")]
    assert links[0].fields == {"link_type": "verifies"}


TESTRAIL_AS_CSV = """ID,Title,Section,Type,Priority,Estimate,References
C9,Hold a door,Doors,{0},4 - Must Test,1h 30m,"REQ-1, REQ-2"
"""
ZEPHYR_AS_CSV = """Key,Name,Precondition,Objective,Folder,Coverage (Issues),Test Script (Step-by-Step) - Step
SHOP-T1,Log in,Site is up,A user logs in,Shop/Login,REQ-1,Open
"""


@pytest.mark.parametrize("kind", ["Smoke & Sanity", "Smoke", "Regression", "Performance", "Functional", "Other"])
def test_what_testrail_writes_as_xml_and_as_csv_is_one_thing(kind: str) -> None:
    as_xml = TESTRAIL.replace("<type>Regression</type>", f"<type>{escape(kind)}</type>")
    (first, _), links = read(testrail.FORMAT, as_xml.replace("<refs>REQ-3, REQ-1</refs>", "").encode())
    table = tables.read(TESTRAIL_AS_CSV.format(kind))
    assert table.fields[0]["source_system"] == "testrail"
    said = ("external_id", "title", "type", "priority", "module")
    assert [first.fields.get(name) for name in said] == [table.fields[0].get(name) for name in said]
    assert [(link.requirement, link.test_case, link.fields) for link in links] == [
        (link.requirement, link.test_case, link.fields) for link in table.links
    ]


def test_what_zephyr_writes_as_xml_and_as_csv_is_linked_alike() -> None:
    _, links = read(zephyr.FORMAT, SCALE.encode())
    table = tables.read(ZEPHYR_AS_CSV)
    assert table.fields[0]["source_system"] == "zephyr"
    assert [(link.requirement, link.test_case, link.fields) for link in links] == [
        (link.requirement, link.test_case, link.fields) for link in table.links
    ]


def test_requirements_of_testlink() -> None:
    data = b"""<requirement-specification><req_spec title="Shop" doc_id="RS-1"><scope>All</scope>
        <req_spec title="Login" doc_id="RS-2"><requirement><docid><![CDATA[REQ-1]]></docid><title>Log in</title>
        <version>2</version><description><![CDATA[<p>A user logs in.</p>]]></description><status>V</status>
        <type>5</type><custom_fields><custom_field><name>Rig</name><value>A</value></custom_field></custom_fields></requirement>
        </req_spec></req_spec></requirement-specification>"""
    assert recognise(io.BytesIO(data), "all-req.xml", None) is testlink.FORMAT
    (record,) = testlink.FORMAT.read(io.BytesIO(data), ReadOptions())
    assert isinstance(record, Item)
    assert record.fields == {
        "external_id": "REQ-1",
        "title": "Log in",
        "description": "A user logs in.",
        "type": "non_functional",
        "priority": "medium",
        "status": "approved",
        "module": "Login",
        "source_system": "testlink",
        "custom_metadata": {
            "testlink": {
                "status": "valid",
                "type": "non-functional",
                "suites": ["Shop", "Login"],
                "version": "2",
                "custom_fields": {"Rig": "A"},
            }
        },
    }


def test_testlink_before_steps_were_apart() -> None:
    old = "<testcases><testcase name='Old'><externalid>1</externalid><summary/><steps>&lt;p&gt;Do&lt;/p&gt;</steps>"
    (item,), _ = read(testlink.FORMAT, f"{old}<expectedresults>Done</expectedresults></testcase></testcases>".encode())
    assert item.fields["steps"] == {"1": "Do\nExpected: Done"}


def test_testrail() -> None:
    (first, second), links = read(testrail.FORMAT, TESTRAIL.encode())
    assert first.fields["external_id"] == "C9"
    assert first.fields["module"] == "Doors"
    assert first.fields["type"] == "regression"
    assert first.fields["priority"] == "critical"
    assert first.fields["execution_time_minutes"] == 90
    assert first.fields["preconditions"] == "At a platform"
    assert first.fields["steps"] == {"1": "Hold\nExpected: It stops", "2": "Go"}
    assert first.fields["custom_metadata"]["steps"][0] == {
        "action": "Hold",
        "data": "Door 3",
        "expected": "It stops",
        "refs": "REQ-3, REQ-1",
    }
    assert first.fields["custom_metadata"]["testrail"]["rig"] == {"id": "1", "value": "A"}
    assert second.fields["module"] == "Rear"
    assert second.fields["steps"] == {"1": "Lock\nExpected: Locked", "2": "Pull\nExpected: Stays"}
    assert second.fields["custom_metadata"]["testrail"]["sections"] == ["Master", "Doors", "Rear"]
    assert ends(links) == [("REQ-1", "C9"), ("REQ-2", "C9"), ("REQ-3", "C9")]


def test_zephyr_scale() -> None:
    (first, second), links = read(zephyr.FORMAT, SCALE.encode())
    fields = first.fields
    assert (fields["external_id"], fields["title"], fields["module"]) == ("SHOP-T1", "Log in", "Login")
    assert (fields["description"], fields["preconditions"]) == ("A user\nlogs in", "Site is up")
    assert (fields["priority"], fields["status"], fields["tags"]) == ("high", "ready", ["smoke"])
    assert fields["steps"] == {"1": "Open\nExpected: Page", "2": "Enter"}
    assert fields["custom_metadata"]["steps"][1] == {"action": "Enter", "data": "kim"}
    assert fields["custom_metadata"]["zephyr"]["custom_fields"] == {"Rig": "A"}
    assert fields["custom_metadata"]["zephyr"]["owner"] == "kim"
    assert second.fields["steps"] == {"1": "a", "2": "b"}
    assert ends(links) == [("REQ-1", "SHOP-T1")]


def test_what_else_a_step_of_zephyr_says_is_kept() -> None:
    fields = '<customFields><customField name="Rig"><value>B</value></customField></customFields>'
    steps = f'<step index="0">{fields}<description>Open</description></step><step index="1"><call>SHOP-T2</call></step>'
    steps += f'<step index="2">{fields}</step>'
    case = f'<testCase key="T-1"><name>a</name><testScript type="steps"><steps>{steps}</steps></testScript></testCase>'
    (item,), _ = read(zephyr.FORMAT, f"<project><testCases>{case}</testCases></project>".encode())
    assert item.fields["steps"] == {"1": "Open", "2": "call: SHOP-T2"}
    assert item.fields["custom_metadata"]["steps"] == [
        {"action": "Open", "custom_fields": {"Rig": "B"}},
        {"call": "SHOP-T2"},
    ]


def test_jira_with_zephyr_squad() -> None:
    (item,), links = read(zephyr.FORMAT, SQUAD.encode())
    fields = item.fields
    assert (fields["external_id"], fields["title"], fields["module"]) == ("SHOP-3", "Log in", "Login")
    assert (fields["description"], fields["priority"], fields["status"]) == ("A user logs in", "high", "draft")
    assert fields["steps"] == {"1": "Open\nExpected: Page"}
    assert fields["custom_metadata"]["zephyr"]["custom_fields"] == {"Rank": "3.0"}
    assert ends(links) == [("REQ-1", "SHOP-3")]


@pytest.mark.parametrize(("known", "text"), ALL)
def test_files_are_recognised_by_what_they_hold(known: Format, text: str) -> None:
    assert recognise(io.BytesIO(text.encode()), "export.xml", "text/xml").name == known.name
    assert recognise(io.BytesIO(text.replace("UTF-8", "UTF-16").encode("utf-16")), None, None).name == known.name


@pytest.mark.parametrize(("known", "text"), ALL)
def test_only_what_is_asked_for_is_read(known: Format, text: str) -> None:
    data = text.encode()
    items, links = read(known, data)
    assert read(known, data, kind="test_cases") == (items, [])
    assert read(known, data, kind="links") == ([], links)


@pytest.mark.parametrize(("known", "text"), ALL)
def test_a_mapping_says_how_ids_begin(known: Format, text: str) -> None:
    items, links = read(known, text.encode(), mapping={"external_id_prefix": "x:", "source_system": "other"})
    assert all(item.fields["external_id"].startswith("x:") for item in items)
    assert all(link.test_case["external_id"].startswith("x:") for link in links)
    assert {item.fields["source_system"] for item in items} == {"other"}


def test_results_of_junit_are_no_test_cases() -> None:
    junit = b"<testsuites><testsuite name='a'><testcase name='b' classname='c'/></testsuite></testsuites>"
    assert testlink.recognise(io.BytesIO(junit), "report.xml") == 0


@given(st.sampled_from(ALL), st.integers(0, 1 << 20))
def test_a_file_cut_off_anywhere_is_refused(sample: tuple[Format, str], place: int) -> None:
    known, text = sample
    data = text.rstrip().encode()
    with pytest.raises(Unreadable):
        read(known, data[: place % len(data)])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<html/>", "root element is <html>"),
        (b"<!DOCTYPE a [<!ENTITY x 'y'>]><testsuite/>", "document type"),
        (b"<testsuite><testcase>" + b"<a/>" * 100_001, "100,000 elements"),
        (b"<testsuite><testcase>" + (b"<a>" + b"x" * 1_000_000 + b"</a>") * 5, "4 MiB"),
        (b"<testsuite>" * 200_000, "64 deep"),
    ],
)
def test_what_breaks_a_limit_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read(testlink.FORMAT, data)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain\n  text ", "plain\n  text"),
        ("a < b &amp; c > d", "a < b & c > d"),
        ("<p>One</p>\n<p>two<br>three</p>", "One\ntwo\nthree"),
        ("<p>1 < 2 and <T> stays</p>", "1 < 2 and <T> stays"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<P CLASS='x'>A&nbsp;B</P>", "A B"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a | b"),
        ("<br/>", ""),
    ],
)
def test_html_becomes_what_people_read(markup: str, text: str) -> None:
    assert text_of_html(markup) == text


@pytest.mark.parametrize("path", samples("testlink/*", "testrail-xml/*"))
def test_files_of_real_tools_are_read(path: Path) -> None:
    data = path.read_bytes()
    items, links = read(recognise(io.BytesIO(data), path.name, None), data)
    assert len(items) == data.count(b"</testcase>") + data.count(b"</case>")
    assert links == []
    assert all(item.fields["module"] for item in items)


@pytest.mark.parametrize("path", samples("testlink/Comic-EStore.testproject.xml"))
def test_a_test_case_of_testlink_is_read_as_a_person_sees_it(path: Path) -> None:
    (first, *_), _ = read(testlink.FORMAT, path.read_bytes())
    assert first.fields["title"] == "Login Validation - Admin user"
    assert first.fields["module"] == "Regression Test Suite"
    assert first.fields["steps"]["3"] == (
        'Insert "Admin" in the Username input\nExpected: The word "Admin" appear in the Username input'
    )
