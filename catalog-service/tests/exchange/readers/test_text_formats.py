"""StrictDoc, Gherkin, Doorstop and OpenFastTrace: what is read, and what is said of files that cannot be."""

import tarfile
import zipfile
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange import registry
from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.readers import doorstop, gherkin, openfasttrace, strictdoc
from catalog_service.exchange.records import Item, Link, Notice, Record, Unreadable, encode

STRICTDOC = """[DOCUMENT]
TITLE: Doors

[[SECTION]]
TITLE: Closing

[REQUIREMENT]
UID: REQ-1
STATUS: Approved
TITLE: Close
STATEMENT: >>>
Doors close.

Before departure.
<<<
RATIONALE: Safety

[[/SECTION]]

[TEST_CASE]
UID: TC-1
TITLE: Try it
STATEMENT: Close them.
RELATIONS:
- TYPE: Parent
  VALUE: REQ-1
  ROLE: Verifies

[TEXT]
STATEMENT: Between
"""
GHERKIN = """@doors
Feature: Doors
  Background:
    Given a train

  @TC-7 @REQ-1
  Scenario Outline: Close <door>
    When the <door> closes
      | a | b |
    Then it is locked

    Examples: All
      | door |
      | left |

  Rule: Late
    Example: Too late
      * wait
"""
OPENFASTTRACE = """# Doors

## Closing

### Doors close
`req~doors-close~2`

All doors close.

Rationale: Safety

Needs: dsn, utest
Tags: train

### It is tried
`utest~doors-close~1`

Covers:
* `req~doors-close~2`
"""
DOORSTOP = {
    "reqs/.doorstop.yml": "settings:\n  prefix: REQ\n",
    "reqs/REQ001.yml": "active: true\nheader: Close\ntext: |\n  Doors close.\nlevel: 1.10\nnormative: true\n",
    "reqs/REQ002.yml": "active: false\ntext: Gone\n",
    "tests/.doorstop.yml": "settings:\n  prefix: TST\n  parent: REQ\n",
    "tests/TST001.md": "---\nactive: true\nlinks:\n- REQ001: abc=\n---\n\n# Try it\n\nClose them.\n",
}


def archive(files: dict[str, str]) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as zipped:
        for name, text in files.items():
            zipped.writestr(name, text)
    return content.getvalue()


SOURCES: dict[str, tuple[Format, str, bytes]] = {
    "strictdoc": (strictdoc.FORMAT, "doors.sdoc", STRICTDOC.encode()),
    "gherkin": (gherkin.FORMAT, "doors.feature", GHERKIN.encode()),
    "openfasttrace": (openfasttrace.FORMAT, "doors.md", OPENFASTTRACE.encode()),
    "doorstop": (doorstop.FORMAT, "doors.zip", archive(DOORSTOP)),
}


def read(known: Format, content: bytes, name: str = "file") -> list[Record]:
    return list(known.read(BytesIO(content), ReadOptions(file_name=name)))


def items(records: list[Record]) -> dict[str, Item]:
    return {record.fields["external_id"]: record for record in records if isinstance(record, Item)}


def links(records: list[Record]) -> list[tuple[str, str]]:
    return [
        (link.requirement["external_id"], link.test_case["external_id"]) for link in records if isinstance(link, Link)
    ]


def test_what_stands_within_a_requirement_says_so() -> None:
    content = b"[DOCUMENT]\nTITLE: x\n\n[[REQUIREMENT]]\nUID: R-1\nSTATEMENT: Doors\n\n[REQUIREMENT]\nUID: R-2\n"
    content += b"STATEMENT: They close\n\n[[/REQUIREMENT]]\n"
    _, inner = (record for record in strictdoc.FORMAT.read(BytesIO(content), ReadOptions()) if isinstance(record, Item))
    assert inner.fields["custom_metadata"]["strictdoc"]["sections"] == ["R-1"]


def test_a_tree_in_a_tar_is_recognised_without_a_name() -> None:
    content = BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        for name, text in {"reqs/padding.bin": "x" * 100_000, **DOORSTOP}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            packed.addfile(member, BytesIO(text.encode()))
    known = registry.recognise(content, None, None)
    assert known is doorstop.FORMAT
    assert set(items(read(known, content.getvalue()))) == {"REQ001", "TST001"}


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_is_recognised_by_what_it_holds(name: str) -> None:
    known, file_name, content = SOURCES[name]
    assert registry.recognise(BytesIO(content), file_name, None) is known


def test_a_node_of_strictdoc_is_an_item_with_its_fields_and_its_place() -> None:
    records = read(*SOURCES["strictdoc"][::2])
    found = items(records)["REQ-1"]
    assert found.line == 7
    assert found.fields["description"] == "Doors close.\n\nBefore departure."
    assert (found.fields["status"], found.fields["module"]) == ("approved", "Doors")
    kept = found.fields["custom_metadata"]["strictdoc"]
    assert (kept["fields"], kept["sections"]) == ({"RATIONALE": "Safety"}, ["Closing"])
    assert items(records)["TC-1"].kind == "test_case"
    assert links(records) == [("REQ-1", "TC-1")]
    assert [notice.count for notice in records if isinstance(notice, Notice)] == [1]


def test_a_scenario_is_a_test_case_with_its_steps_examples_and_background() -> None:
    records = read(*SOURCES["gherkin"][::2])
    outline, late = items(records).values()
    assert (outline.fields["external_id"], outline.fields["title"], outline.line) == ("TC-7", "Close <door>", 7)
    assert outline.fields["steps"] == {"1": "When the <door> closes\n| a | b |", "2": "Then it is locked"}
    assert outline.fields["preconditions"] == "Given a train"
    assert outline.fields["description"].endswith("Examples: All\n| door |\n| left |")
    assert outline.fields["tags"] == ["doors", "TC-7", "REQ-1"]
    assert links(records) == [("REQ-1", "TC-7")]
    assert late.fields["external_id"] == "Doors: Too late"
    assert late.fields["custom_metadata"]["gherkin"]["rule"] == "Late"


def test_tags_of_xray_name_issues_of_jira() -> None:
    feature = "@REQ_DOOR-7\nFeature: F\n  @TEST_DOOR-1 @TESTSET_DOOR-3\n  Scenario: Close\n    * a\n"
    records = read(gherkin.FORMAT, feature.encode())
    assert items(records)["DOOR-1"].fields["tags"] == ["REQ_DOOR-7", "TEST_DOOR-1", "TESTSET_DOOR-3"]
    assert links(records) == [("DOOR-7", "DOOR-1")]


def test_scenarios_of_one_name_have_ids_of_their_own_and_the_same_next_time() -> None:
    feature = "Feature: F\n" + "  Scenario: Same\n    * a\n" * 3
    assert list(items(read(gherkin.FORMAT, feature.encode()))) == ["F: Same", "F: Same (2)", "F: Same (3)"]


def test_a_doorstop_tree_is_read_document_by_document() -> None:
    records = read(*SOURCES["doorstop"][::2])
    found = items(records)
    assert found["REQ001"].fields["title"] == "Close"
    assert found["REQ001"].fields["module"] == "REQ"
    assert found["REQ001"].fields["custom_metadata"]["doorstop"]["file"] == "reqs/REQ001.yml"
    assert (found["TST001"].kind, found["TST001"].fields["title"]) == ("test_case", "Try it")
    assert found["TST001"].fields["description"] == "Close them."
    assert links(records) == [("REQ001", "TST001")]
    assert "REQ002" not in found
    assert [notice.code for notice in records if isinstance(notice, Notice)] == ["inactive_item"]


def test_a_specification_item_has_the_title_above_its_id() -> None:
    records = read(*SOURCES["openfasttrace"][::2])
    found = items(records)["req~doors-close~2"]
    assert (found.fields["title"], found.fields["description"]) == ("Doors close", "All doors close.")
    assert (found.fields["module"], found.fields["tags"]) == ("Closing", ["train"])
    kept = found.fields["custom_metadata"]["openfasttrace"]
    assert (kept["needs"], kept["rationale"]) == (["dsn", "utest"], "Safety")
    assert links(records) == [("req~doors-close~2", "utest~doors-close~1")]


def test_items_below_one_title_keep_their_texts_and_are_named_by_them() -> None:
    text = (
        "# Doors\n\n`req~a~1`\n\nThey close.\n\nNeeds: dsn\n\n"
        '`req~b~1` <a id="req~b~1"></a>\n\nThey open.\n\nCovers:\n\n* `feat~x~1`\n\n'
        "`req~c~1` <!-- since 2 -->\n\nThey lock.\n\n**Windows**\n`req~d~1`\n\nThey open, too.\n"
    )
    found = items(read(openfasttrace.FORMAT, text.encode()))
    assert {key: (item.fields["title"], item.fields["description"]) for key, item in found.items()} == {
        "req~a~1": ("Doors", "They close."),
        "req~b~1": ("They open.", "They open."),
        "req~c~1": ("They lock.", "They lock."),
        "req~d~1": ("Windows", "They open, too."),
    }
    assert [item.fields.get("module") for item in found.values()] == [None, "Doors", "Doors", "Doors"]


def test_an_item_of_asciidoc_is_the_block_below_its_attributes() -> None:
    text = (
        '= Doors\n\n[.specitem,oft-sid="req~a~1",oft-needs="impl,utest",oft-tags="X"]\n--\nIt closes.\n\nSoon.\n--\n\n'
        'Not of it.\n\n[.specitem,oft-sid="utest~a~1",oft-covers="req~a~1"]\nA paragraph.\n\nNor this.\n'
    )
    records = read(openfasttrace.FORMAT, text.encode())
    found = items(records)
    assert found["req~a~1"].fields["description"] == "It closes.\n\nSoon."
    assert found["req~a~1"].fields["tags"] == ["X"]
    assert found["utest~a~1"].fields["description"] == "A paragraph."
    assert links(records) == [("req~a~1", "utest~a~1")]


def test_an_item_without_a_title_is_named_by_its_text_without_marks() -> None:
    text = '[.specitem,oft-sid="req~a~1"]\n--\n* *MUST* close the `door`.\n--\n'
    found = items(read(openfasttrace.FORMAT, text.encode()))
    assert found["req~a~1"].fields["title"] == "MUST close the door."


def test_a_hash_that_begins_with_a_digit_is_a_text() -> None:
    hash_of_it = "4f" * 64
    packed = archive({"a/.doorstop.yml": "settings: {prefix: A}", "a/A1.yml": f"text: x\nsha: {hash_of_it}\n"})
    found = items(read(doorstop.FORMAT, packed))
    assert found["A1"].fields["custom_metadata"]["doorstop"]["sha"] == hash_of_it


def test_markdown_that_speaks_of_xml_is_markdown() -> None:
    text = b"# Doors\n`req~doors~1`\n\nThe XML form begins with `<specdocument>`.\n"
    assert set(items(read(openfasttrace.FORMAT, text))) == {"req~doors~1"}


def test_an_object_of_xml_is_of_the_type_around_it() -> None:
    text = """<?xml version="1.0"?><specdocument><specobjects doctype="req"><specobject>
        <id>door</id><version>2</version><shortdesc>Doors close</shortdesc><description>All of them.</description>
        <needscoverage><needsobj>utest</needsobj></needscoverage></specobject></specobjects>
        <specobjects doctype="utest"><specobject><id>door</id><version>1</version><providescoverage><provcov>
        <linksto>req:door</linksto><dstversion>2</dstversion></provcov></providescoverage></specobject></specobjects>
        </specdocument>"""
    records = read(registry.recognise(BytesIO(text.encode()), "doors.oreqm", None), text.encode())
    assert items(records)["req~door~2"].fields["title"] == "Doors close"
    assert items(records)["req~door~2"].fields["description"] == "All of them."
    assert links(records) == [("req~door~2", "utest~door~1")]


def test_a_request_narrows_prefixes_and_names_the_system() -> None:
    known, name, content = SOURCES["openfasttrace"]
    mapping = {"external_id_prefix": "oft:", "source_system": "ours"}
    asked = ReadOptions(file_name=name, kind="requirements", mapping=mapping)
    (found,) = [record for record in known.read(BytesIO(content), asked) if isinstance(record, Item | Link)]
    assert isinstance(found, Item)
    assert (found.fields["external_id"], found.fields["source_system"]) == ("oft:req~doors-close~2", "ours")


def test_a_prefix_is_put_before_what_the_file_has_and_not_before_what_it_names() -> None:
    requirement = "# Close\n`req~close~1`\n\nNeeds: utest\n\n"
    text = f"{requirement}# Test\n`utest~close~1`\n\nCovers:\n- req~close~1\n- req~elsewhere~1\n"
    asked = ReadOptions(mapping={"external_id_prefix": "oft:"})
    ends = links(list(openfasttrace.FORMAT.read(BytesIO(text.encode()), asked)))
    assert ends == [("oft:req~close~1", "oft:utest~close~1"), ("req~elsewhere~1", "oft:utest~close~1")]


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\n"


@pytest.mark.parametrize(
    ("known", "content", "line", "said"),
    [
        (strictdoc.FORMAT, b"[DOCUMENT]\nTITLE: x\n\n[REQUIREMENT]\nSTATEMENT: >>>\nnever ends", 5, "<<<"),
        (strictdoc.FORMAT, b"[DOCUMENT]\nTITLE: x\n\n[[SECTION]]\nTITLE: y\n", 4, "does not end"),
        (strictdoc.FORMAT, b"no document", 1, "[DOCUMENT]"),
        (gherkin.FORMAT, b"Feature: F\n  Scenario: S\n    Given a\n    '''\n    b\n", 4, "behave"),
        (
            gherkin.FORMAT,
            b"Feature: F\n  Scenario: S\n    Given a\n    it's odd\n",
            4,
            "cannot begin so here: 'it's odd'",
        ),
        (gherkin.FORMAT, b"Feature: F\n  Scenario: S\n    Given a\n      |a|b|\n      |c|\n", 5, "more or fewer cells"),
        (gherkin.FORMAT, b"Feature: F\n  @tag\n", 3, "it ends too early"),
        (gherkin.FORMAT, b"#language:nowhere\nFeature: F\n", 1, "nowhere"),
        (openfasttrace.FORMAT, b"# Only a title\n", None, "specification item"),
        (doorstop.FORMAT, b"text: x", None, "zip"),
        (doorstop.FORMAT, archive({"reqs/REQ1.yml": "text: x"}), None, ".doorstop.yml"),
        (doorstop.FORMAT, archive({**DOORSTOP, "reqs/REQ003.yml": BOMB}), 1, "aliases"),
        (doorstop.FORMAT, archive({**DOORSTOP, "reqs/REQ003.yml": "a: [1\nb: 2"}), 2, "REQ003.yml"),
        (doorstop.FORMAT, archive({**DOORSTOP, "reqs/REQ003.yml": "[" * 100_000}), None, "REQ003.yml"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(known: Format, content: bytes, line: int | None, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read(known, content)
    assert said in refused.value.message
    if line is not None:
        assert refused.value.line == line


@pytest.mark.parametrize("name", SOURCES)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_read_and_never_ends_the_reader(name: str, data: st.DataObject) -> None:
    known, file_name, content = SOURCES[name]
    at = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(at, len(content)))
    damaged = content[:at] + data.draw(st.binary(max_size=20)) + content[end:]
    with suppress(Unreadable):
        for record in read(known, damaged, file_name):
            encode(record)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (strictdoc.FORMAT, STRICTDOC.replace("Doors close.", "Türen schließen.")),
        (gherkin.FORMAT, GHERKIN.replace("Given a train", "Given a Zug mit Türen")),
        (openfasttrace.FORMAT, "# Türen\n`req~doors~1`\n\nTüren schließen.\n"),
    ],
)
def test_a_guessed_encoding_is_said(known: Format, text: str) -> None:
    def notices(content: bytes, **options: str) -> list[str]:
        records = list(known.read(BytesIO(content), ReadOptions(file_name="a", **options)))
        assert "Türen" in b"".join(map(encode, records)).decode()
        return [record.message for record in records if isinstance(record, Notice) and "encoding" in record.code]

    (message,) = notices(text.encode("cp1252"))
    assert "read as windows-1252, which gives 'Türen" in message
    assert not notices(text.encode("cp1252"), encoding="windows-1252")
    assert not notices(text.encode())
