"""What is written as ReqIF, and what the reader and another library make of it."""

import contextlib
import io
import tracemalloc
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
import reqif
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reqif_documents import SAMPLE, Read, value, zipped
from reqif_records import NOW, Record, assert_same, cells_of, read_by_another_library, told, written

from catalog_service.exchange.native.schemas import schemas_of
from catalog_service.exchange.plain_text import plain_text
from catalog_service.exchange.records import Notice
from catalog_service.exchange.reqif.fragments import escape_text
from catalog_service.exchange.reqif.writer import ReqifWriter
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite

if TYPE_CHECKING:  # takes a second or two
    import xmlschema


def test_what_nobody_changed_is_written_as_it_was(tmp_path: Path) -> None:
    written = Record(Read(SAMPLE)).written()
    assert_same(SAMPLE, written)
    assert b'<plain view:width="1&#10;2">A &amp; B</plain>' in written
    bundle = read_by_another_library(written, tmp_path)
    content = bundle.core_content.req_if_content
    assert {one.identifier for one in content.spec_objects} == {"h", "r1", "r2", "t1"}


def test_another_import_of_what_was_written_finds_the_same() -> None:
    first = Read(SAMPLE)
    again = Record(first).again()
    assert [item.fields for item in again.items] == [
        item.fields for item in sorted(first.items, key=lambda item: item.row)
    ]
    assert [link.fields for link in again.links] == [link.fields for link in first.links]


def test_a_prefix_and_other_kinds_of_the_import_change_nothing() -> None:
    mapping = {"external_id_prefix": "doors:", "kinds": {"Functional Requirement": "test_cases"}}
    assert_same(SAMPLE, Record(Read(SAMPLE, mapping=mapping)).written())


def test_what_was_changed_is_written_where_it_stood() -> None:
    record = Record(Read(SAMPLE))
    item = record.item("REQ-1")
    item |= {"title": "Doors & gates close", "description": "First\n\nsecond", "status": "draft", "priority": "low"}
    read = record.again()
    fields = read.item("REQ-1").fields
    assert {name: fields[name] for name in ("title", "description", "status", "priority")} == {
        "title": "Doors & gates close",
        "description": "First\n\nsecond",
        "status": "draft",
        "priority": "low",
    }
    kept = read.kept("REQ-1")
    assert kept["attributes"]["ReqIF.Text"]["value"] == (
        "<xhtml:div><xhtml:p>First</xhtml:p><xhtml:p/><xhtml:p>second</xhtml:p></xhtml:div>"
    )
    assert kept["attributes"]["ReqIF.Name"]["value"] == "Doors & gates close"
    assert kept["attributes"]["Priority"]["value"][0]["name"] == "Low"
    assert kept["attributes"]["Effort"]["value"] == "007"
    assert kept["last_change"] == "2026-03-03T00:00:00Z"


def test_a_value_that_only_its_definition_says_is_read_and_written_as_it_was() -> None:
    end = b"d-Priority</DATATYPE-DEFINITION-ENUMERATION-REF></TYPE>"
    default = value("ENUMERATION", "a-Functional_Requirement-Priority", "v-Low")
    content = SAMPLE.replace(end, end + f"<DEFAULT-VALUE>{default}</DEFAULT-VALUE>".encode())
    read = Read(content)
    assert [read.item(name).fields["priority"] for name in ("REQ-1", "REQ-2")] == ["high", "low"]
    assert "priority" not in read.item("REQ-2").defaulted
    record = Record(read)
    assert_same(content, record.written())
    record.item("REQ-2")["priority"] = "high"
    assert record.again().item("REQ-2").fields["priority"] == "high"


def test_items_that_never_came_from_reqif_have_a_type_of_ours(tmp_path: Path) -> None:
    record = Record(Read(SAMPLE))
    new = {
        "external_id": "TC-9",
        "title": "Ask for departure",
        "description": "One door\n\n  is held  open",
        "type": "security",
        "priority": "critical",
        "status": "ready",
        "steps": {"1": "Hold", "2": "Ask\nagain"},
        "test_data": {"door": 3},
        "preconditions": "At a platform",
        "module": "doors",
        "tags": ["safety", "a,b"],
        "automation_status": "automated",
        "execution_time_minutes": 0,
        "custom_metadata": {"rig": {"A": [1, None]}},
        "source_url": "https://example.test/?a=1&b=2",
        "created_by": "kim@example.test",
    }
    test_case = record.add("test_case", new)
    notes = "two\nlines"
    requirement = record.item("REQ-2")["id"]
    record.links.append(
        {
            "id": "l",
            "requirement_id": requirement,
            "test_case_id": test_case["id"],
            "link_type": "covers",
            "notes": notes,
        }
    )
    read = record.again()
    assert read.item("TC-9").fields == new
    (link,) = [one for one in read.links if one.test_case == {"external_id": "TC-9"}]
    assert link.requirement == {"external_id": "REQ-2"}
    assert link.fields == {"link_type": "covers", "notes": notes}
    bundle = read_by_another_library(record.written(), tmp_path)
    specifications = bundle.core_content.req_if_content.specifications
    assert [one.long_name for one in specifications] == ["Doors", "Traceline"]


def test_a_link_that_was_removed_takes_its_relation_with_it() -> None:
    record = Record(Read(SAMPLE))
    record.links.clear()
    assert set(told(record.written(), "SPEC-RELATION")) == {"l2"}


def test_a_link_whose_type_was_changed_is_a_relation_of_ours() -> None:
    record = Record(Read(SAMPLE))
    record.links[0]["link_type"] = "validates"
    (link,) = record.again().links
    assert link.fields == {"link_type": "validates"}


def test_what_is_gone_leaves_no_gap_in_the_hierarchy() -> None:
    record = Record(Read(SAMPLE))
    record.items = [(kind, item) for kind, item in record.items if item["external_id"] != "REQ-1"]
    record.links.clear()
    read = record.again()
    assert read.kept("REQ-2")["position"] == "1.1"
    assert not set(told(record.written(), "SPEC-RELATION"))


def test_two_items_of_one_identifier_are_two_objects() -> None:
    record = Record(Read(SAMPLE))
    record.add("requirement", {**record.item("REQ-1"), "external_id": "REQ-9", "title": "A copy"})
    assert {item.fields["external_id"] for item in record.again().items} == {"REQ-1", "REQ-2", "REQ-9", "t1"}


def test_what_people_put_into_the_metadata_breaks_nothing() -> None:
    record = Record(Read(SAMPLE))
    kept = record.item("REQ-1")["custom_metadata"]["reqif"]
    kept["attributes"]["ReqIF.Text"]["value"] = "<xhtml:div>not closed & \x01"
    kept["attributes"]["Odd\x02"] = {"kind": "string", "value": 5}
    kept["attributes"]["Wrong"] = {"kind": "<x>", "value": 5}
    kept["attributes"]["None"] = None
    kept["relations"] = [None, {"target": 1}, {"target": "r2"}]
    kept["other"] = {"a b": "1", "X": 2}
    assert len(record.again().items) == 3


def test_an_archive_holds_the_same() -> None:
    record = Record(Read(SAMPLE))
    assert [item.fields for item in Read(record.written(archive=True)).items] == [
        item.fields for item in record.again().items
    ]


def test_several_imports_are_written_together() -> None:
    other = SAMPLE.decode()
    for name in ("r1", "r2", "t1", "l1", "l2", "n1", "n2", "n3", "h", "s-Doors"):
        other = other.replace(f'"{name}"', f'"x{name}"').replace(f">{name}<", f">x{name}<")
    other = other.replace('"REQ-', '"OTHER-')
    first, second = Record(Read(SAMPLE)), Record(Read(other.encode()))
    first.items += second.items
    first.links += second.links
    first.schemas += second.schemas
    assert set(told(first.written(), "SPEC-OBJECT")) == {
        f"{x}{name}" for x in ("", "x") for name in ("h", "r1", "r2", "t1")
    }
    assert len(first.again().links) == 2


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from(
    "ab  \n\n\t\r&<>\xa0\x01\x85\ufffe"
)
TEXTS = st.text(CHARACTERS, min_size=1, max_size=60).filter(str.strip)


def test_links_find_items_whose_ids_xml_cannot_hold() -> None:
    record = Record(Read(SAMPLE))
    item = record.add(
        "test_case", {"external_id": "\x01", "title": "t", "description": "d", "type": "ui", "priority": "low"}
    )
    record.links.append({**record.links[0], "id": "l", "test_case_id": item["id"]})
    record.item("t1")["external_id"] = "T\x02"
    ends = {link.test_case["external_id"] for link in record.again().links}
    assert ends == {"\x01", "T\x02"}


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, TEXTS, TEXTS)
def test_any_text_of_an_item_of_ours_comes_back(title: str, description: str, other: str) -> None:
    record = Record(Read(SAMPLE))
    new = {
        "external_id": "NEW",
        "title": title,
        "description": description,
        "type": "ui",
        "priority": "low",
        "steps": {"1": other},
        "preconditions": other,
        "tags": [other],
        "module": other,
        "custom_metadata": {other: other},
    }
    item = record.add("test_case", new)
    link = record.links[0]
    record.links.append({**link, "id": "l", "test_case_id": item["id"], "notes": other})
    read = record.again()
    found = TestCaseWrite.model_validate(read.item("NEW").fields).model_dump(mode="json")
    assert found == {name: item[name] for name in found}
    assert [one.fields["notes"] for one in read.links if one.test_case == {"external_id": "NEW"}] == [other]


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["draft", "approved", "implemented", "tested", "closed"]))
def test_any_change_of_an_item_of_others_comes_back(title: str, description: str, tag: str, status: str) -> None:
    record = Record(Read(SAMPLE))
    item = record.item("REQ-1")
    item |= {"title": title.strip(), "description": description, "tags": [tag], "module": tag, "status": status}
    found = RequirementWrite.model_validate(record.again().item("REQ-1").fields).model_dump(mode="json")
    for name in ("title", "description", "tags", "module", "status"):
        assert found[name] == item[name], name


def test_nothing_is_held_back_until_the_end() -> None:
    file = io.BytesIO()
    writer = ReqifWriter(file, [], exported_at=NOW)
    item = {"title": "x" * 300, "description": "y", "type": "functional", "priority": "low", "status": "draft"}
    begun = file.tell()
    writer.write("requirement", [cells_of("requirement", {**item, "id": str(uuid.uuid4())}) for _ in range(50)])
    assert file.tell() - begun > 50 * 300
    writer.close()


def test_values_that_xml_cannot_hold_are_not_kept_in_memory(tmp_path: Path) -> None:
    item = {
        "title": "T",
        "description": "\x01" + "y" * 50_000,
        "type": "functional",
        "priority": "low",
        "status": "draft",
    }
    with (tmp_path / "record.reqif").open("wb") as file:
        writer = ReqifWriter(file, [], exported_at=NOW)
        tracemalloc.start()
        for _ in range(200):
            writer.write("requirement", [cells_of("requirement", {**item, "id": str(uuid.uuid4())})])
        writer.finish()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 2_000_000


@pytest.mark.parametrize("name", ["one.reqif"])
def test_an_archive_that_was_read_is_written_as_one_file(name: str) -> None:
    assert_same(SAMPLE, Record(Read(zipped({name: SAMPLE}))).written())


def test_our_types_are_written_once() -> None:
    record = Record(Read(Record(Read(SAMPLE)).written()))
    assert record.written().count(b'IDENTIFIER="_traceline-requirement"') == 1
    assert io.BytesIO(record.written()).read(5) == b"<?xml"


@pytest.fixture(scope="module")
def schema() -> "Iterator[xmlschema.XMLSchema]":
    """Return the schema of ReqIF, which names its parts from the folder that it is in."""
    import xmlschema

    folder = Path(reqif.__file__).parent
    with contextlib.chdir(folder.parent):
        yield xmlschema.XMLSchema(str(folder / "reqif_schema" / "reqif.xsd"), base_url=str(folder.parent))


def test_what_is_written_is_valid_by_the_schema(schema: "xmlschema.XMLSchema") -> None:
    record = Record(Read(SAMPLE))
    assert [error.reason for error in schema.iter_errors(io.BytesIO(SAMPLE))] == []
    item = {"external_id": "N", "title": "\x01", "description": "a\n\n  b  c", "type": "ui", "priority": "low"}
    new = record.add("test_case", {**item, "steps": {"1": "x"}, "tags": ["a"], "preconditions": "p"})
    link = {"id": str(uuid.uuid4()), "link_type": "covers", "notes": "n\x02"}
    record.links.append({**link, "requirement_id": record.item("REQ-2")["id"], "test_case_id": new["id"]})
    record.item("REQ-1")["description"] = "changed"
    written = record.written()
    assert b"traceline:value" in written
    assert [error.reason for error in schema.iter_errors(io.BytesIO(written))] == []


def test_a_record_that_has_no_types_any_more_is_written_by_ours(schema: "xmlschema.XMLSchema") -> None:
    record = Record(Read(SAMPLE))
    record.schemas.clear()
    written = record.written()
    assert [error.reason for error in schema.iter_errors(io.BytesIO(written))] == []
    read = Read(written)
    assert [item.fields["title"] for item in read.items] == [item["title"] for _, item in record.items]
    assert [link.test_case for link in read.links] == [{"external_id": "t1"}]
    assert [error.reason for error in schema.iter_errors(io.BytesIO(Record(read).written()))] == []


def test_many_values_that_xml_cannot_hold_are_read_again() -> None:
    """Together more than a reader takes of one element."""
    texts = [f"\x01\ufffe{number} " + "é\r\n" * 20_000 for number in range(12)]
    items = [
        ("requirement", {"id": str(uuid.uuid4()), "title": f"T {n}", "description": text, "source_system": "\x01"})
        for n, text in enumerate(texts)
    ]
    content = written(items, [], [])
    found = Read(content).items
    assert [item.fields["description"] for item in found] == texts
    assert {item.fields["source_system"] for item in found} == {"\x01"}


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        ('"version":1', '"version":2'),
        ("</SPEC-OBJECT-TYPE>", "</SPEC-OBJECT-TYPE><a/>"),
        ("</SPEC-OBJECT-TYPE>", ""),
        ('"string","a-Heading-ReqIF.ChapterName"', '"string",null'),
        ('"identifier":"n1"', '"identifier":"\\u0001"'),
        ("}", ""),
    ],
)
def test_what_no_export_could_write_again_is_left_out(whole: str, damaged: str) -> None:
    text = orjson.dumps(Read(SAMPLE).document.content).decode()
    assert whole in text
    (notice,) = schemas_of([text.replace(whole, damaged, 1)])
    assert isinstance(notice, Notice)
    assert notice.code == "schema_left_out"


@given(text=st.text(st.sampled_from("ab &<>;\n\t\r\xa0\x85#3lgtamp")))
def test_texts_that_are_read_without_a_page_are_read_the_same(text: str) -> None:
    lines = "".join(f"<xhtml:p>{escape_text(line)}</xhtml:p>" for line in text.split("\n"))
    markup = f"<xhtml:div>{lines}</xhtml:div>"
    assert plain_text(markup) == plain_text(markup.replace("<xhtml:p>", '<xhtml:p class="a">'))
