"""What the reader makes of ReqIF files."""

import io
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reqif_documents import (
    EXTENSION,
    OBJECTS,
    RELATIONS,
    SAMPLE,
    SPECIFICATIONS,
    TYPES,
    Read,
    datatype,
    document,
    node,
    relation,
    spec_object,
    spec_type,
    specification,
    value,
    zipped,
)

from catalog_service.exchange.records import Relation, Unreadable
from catalog_service.exchange.registry import recognise
from catalog_service.exchange.reqif import collector

TEXT = "a-Functional_Requirement-ReqIF.Text"
NAME = "a-Functional_Requirement-ReqIF.Name"
ID = "a-Functional_Requirement-ReqIF.ForeignID"
NODE = '<SPEC-HIERARCHY IDENTIFIER="n"/>'
STRAY = "<ATTRIBUTE-VALUE-STRING><THE-VALUE>x</THE-VALUE></ATTRIBUTE-VALUE-STRING>"
STATUS = "a-Functional_Requirement-Status"


def one_requirement(*values: str, more: str = "") -> Read:
    return Read(
        document(
            f"{TYPES}<SPEC-OBJECTS>{spec_object('r', 'Functional Requirement', *values, more=more)}</SPEC-OBJECTS>"
        )
    )


def unreadable(data: bytes, **options: str) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        Read(data, **options)
    return caught.value


def test_objects_become_requirements_and_test_cases() -> None:
    read = Read(SAMPLE)
    assert [(item.kind, item.row, item.fields["external_id"]) for item in read.items] == [
        ("requirement", 2, "REQ-1"),
        ("requirement", 3, "REQ-2"),
        ("test_case", 4, "t1"),
    ]
    fields = read.item("REQ-1").fields
    kept = fields.pop("custom_metadata")["reqif"]
    assert fields == {
        "external_id": "REQ-1",
        "title": "Doors close",
        "description": "All doors:\n- close",
        "status": "approved",
        "priority": "high",
        "type": "functional",
        "module": "Doors",
        "source_system": "reqif",
    }
    assert read.item("REQ-1").defaulted == []
    assert kept["identifier"] == "r1"
    assert (kept["type"], kept["type_name"]) == ("t-Functional_Requirement", "Functional Requirement")
    assert (kept["specification"], kept["path"], kept["position"]) == ("Doors", ["Departure"], "1.1")
    assert kept["last_change"] == "2026-01-02T03:04:05Z"


def test_every_attribute_is_kept_by_its_name() -> None:
    attributes = Read(SAMPLE).kept("REQ-1")["attributes"]
    assert attributes["Effort"] == {"kind": "integer", "value": "007"}
    assert attributes["Status"] == {
        "kind": "enumeration",
        "value": [{"name": "Accepted", "key": "0", "other_content": "other", "identifier": "v-Accepted"}],
    }
    assert attributes["ReqIF.Text"]["value"] == (
        "<xhtml:div>All <xhtml:b>doors</xhtml:b>:<xhtml:ul><xhtml:li>close</xhtml:li></xhtml:ul></xhtml:div>"
    )


def test_what_a_file_lacks_is_counted_as_defaulted() -> None:
    read = Read(SAMPLE)
    item = read.item("REQ-2")
    assert item.fields["title"] == item.fields["description"] == "Doors lock safely"
    assert item.defaulted == ["description", "priority"]
    assert read.kept("REQ-2")["attributes"]["ReqIF.Name"]["value"] == "Doors lock\nsafely"


def test_a_value_whose_meaning_is_not_known_is_said() -> None:
    (warning,) = Read(SAMPLE).item("REQ-2").warnings
    assert (warning.code, warning.column) == ("unknown_value", "status")
    assert "Odd" in warning.message


def test_relations_become_links_or_relations_and_are_kept() -> None:
    read = Read(SAMPLE)
    (link,) = read.links
    assert (link.requirement, link.test_case) == ({"external_id": "REQ-1"}, {"external_id": "t1"})
    assert link.fields == {"link_type": "verifies"}
    assert read.kept("REQ-2")["relations"] == [
        {
            "identifier": "l2",
            "last_change": "2026-01-02T03:04:05Z",
            "type": "t-refines",
            "type_name": "refines",
            "target": "r1",
        }
    ]
    (relation,) = (one for one in read.records if isinstance(one, Relation))
    assert (relation.child, relation.parent) == ({"external_id": "REQ-2"}, {"external_id": "REQ-1"})
    assert relation.fields == {"relation_type": "refines", "role": "refines"}
    assert "relations_kept" not in read.notices


def test_types_extensions_and_structure_are_kept_beside_the_record() -> None:
    read = Read(SAMPLE)
    (file,) = read.document.content["files"]
    assert set(file["types"]) >= {"t-Heading", "t-verifies"}
    assert "d-Status" in file["datatypes"]
    assert file["extensions"] == [
        '<REQ-IF-TOOL-EXTENSION><view:columns xmlns:view="urn:view"><plain view:width="1&#10;2">A &amp; B</plain>'
        "</view:columns></REQ-IF-TOOL-EXTENSION>"
    ]
    assert [one["identifier"] for one in read.document.content["structure"]] == ["h"]
    assert read.notices["structure"].count == 1


def test_a_namespace_that_is_no_uri_is_taken_as_it_is() -> None:
    types = TYPES.replace("<SPEC-ATTRIBUTES>", '<a:b xmlns:a="C:\\a b"/><SPEC-ATTRIBUTES>')
    read = Read(document(types + OBJECTS + RELATIONS + SPECIFICATIONS))
    assert [item.fields for item in read.items] == [item.fields for item in Read(SAMPLE).items]


def test_sections_may_stand_in_any_order() -> None:
    def told(read: Read) -> list[object]:
        items = [(item.kind, item.row, item.fields, item.warnings) for item in read.items]
        return [items, [(link.requirement, link.test_case, link.fields) for link in read.links]]

    turned = document(SPECIFICATIONS + RELATIONS + OBJECTS + TYPES, extensions=EXTENSION)
    assert told(Read(turned)) == told(Read(SAMPLE))


def test_only_what_is_asked_for_is_read() -> None:
    assert {item.kind for item in Read(SAMPLE, kind="requirements").items} == {"requirement"}
    assert {item.kind for item in Read(SAMPLE, kind="test_cases").items} == {"test_case"}
    links = Read(SAMPLE, kind="links")
    assert (len(links.items), len(links.links)) == (0, 1)


def test_a_mapping_says_what_types_are_and_how_ids_begin() -> None:
    kinds = {"Heading": "requirements", "Functional Requirement": "test_cases", "Test Case": "structure"}
    mapping = {"external_id_prefix": "doors:", "source_system": "doors", "kinds": kinds}
    read = Read(SAMPLE, mapping=mapping)
    assert [(item.kind, item.fields["external_id"]) for item in read.items] == [
        ("requirement", "doors:h"),
        ("test_case", "doors:REQ-1"),
        ("test_case", "doors:REQ-2"),
    ]
    assert {item.fields["source_system"] for item in read.items} == {"doors"}
    assert read.item("doors:REQ-1").fields["status"] == "ready"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Heading", "structure"),
        ("SpecIF:Folder", "structure"),
        ("Headline Type", "structure"),
        ("SECTION", "structure"),
        ("Document", "structure"),
        ("Flex QMS document", "requirement"),
        ("Requirement Type", "requirement"),
        ("System Test Case", "test_case"),
        ("TestCase", "test_case"),
        ("Verification", "test_case"),
    ],
)
def test_the_name_of_a_type_says_what_its_objects_are(name: str, kind: str) -> None:
    types = f"<SPEC-TYPES>{spec_type(name)}</SPEC-TYPES>"
    read = Read(document(f"{types}<SPEC-OBJECTS>{spec_object('o', name)}</SPEC-OBJECTS>"))
    assert [item.kind for item in read.items] == ([] if kind == "structure" else [kind])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("UID", "TITLE", "STATEMENT"), ("R-1", "Doors close", "When the train moves", "functional")),
        (("Object ID", "Summary", "Primary Text"), ("R-1", "Doors close", "When the train moves", "functional")),
        (("Kennung", "Titel", "Text"), ("R-1", "Doors close", "When the train moves", "functional")),
        (("Document Key", "Name", "Description"), ("R-1", "Doors close", "When the train moves", "functional")),
        (("Code", "Name", "Description"), ("R-1", "Doors close", "When the train moves", "functional")),
        (
            ("ReqIF.ForeignID", "ReqIF.Name", "ReqIF.Text", "Category"),
            ("R-1", "Doors close", "When the train moves", "non_functional"),
        ),
    ],
    ids=["StrictDoc", "DOORS", "German", "Jama", "Code", "PTC"],
)
def test_attributes_are_known_by_what_tools_call_them(names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    types = (
        f"<DATATYPES>{datatype('STRING', 'text')}</DATATYPES>"
        f"<SPEC-TYPES>{spec_type('Thing', *(('STRING', name, 'text') for name in names))}</SPEC-TYPES>"
    )
    values = [value("STRING", f"a-Thing-{name}", text) for name, text in zip(names, _TEXTS, strict=False)]
    read = Read(document(f"{types}<SPEC-OBJECTS>{spec_object('o', 'Thing', *values)}</SPEC-OBJECTS>"))
    fields = read.items[0].fields
    assert tuple(fields[name] for name in ("external_id", "title", "description", "type")) == expected


_TEXTS = ("R-1", "Doors close", "When the train moves", "Security")


def test_attributes_and_their_values_are_known_in_other_languages() -> None:
    names = {"Kurzbezeichnung": "Tür zu", "Priorität": "sehr hoch", "Status": "In Prüfung"}
    types = (
        f"<DATATYPES>{datatype('STRING', 'text')}</DATATYPES>"
        f"<SPEC-TYPES>{spec_type('Anforderung', *(('STRING', name, 'text') for name in names))}</SPEC-TYPES>"
    )
    values = [value("STRING", f"a-Anforderung-{name}", text) for name, text in names.items()]
    read = Read(document(f"{types}<SPEC-OBJECTS>{spec_object('o', 'Anforderung', *values)}</SPEC-OBJECTS>"))
    fields = read.items[0].fields
    assert tuple(fields[name] for name in ("title", "priority", "status")) == ("Tür zu", "critical", "draft")


@pytest.mark.parametrize(
    ("names", "codes", "ids"),
    [
        (("Code",), ("R-1", "R-2"), ["R-1", "R-2"]),
        (("Code",), ("A", "A"), ["o0", "o1"]),
        (("Code",), ("R-1", "", ""), ["R-1", "o1", "o2"]),
        (("Code", "ID"), ("R-1", "R-2"), ["o0", "o1"]),
        (("Bar code",), ("R-1", "R-2"), ["o0", "o1"]),
    ],
    ids=["of each its own", "a class", "of one", "beside an id", "another"],
)
def test_a_code_is_an_id_where_no_two_objects_have_the_same(
    names: tuple[str, ...], codes: tuple[str, ...], ids: list[str]
) -> None:
    types = (
        f"<DATATYPES>{datatype('STRING', 'text')}</DATATYPES>"
        f"<SPEC-TYPES>{spec_type('Thing', *(('STRING', name, 'text') for name in names))}</SPEC-TYPES>"
    )
    objects = "".join(
        spec_object(f"o{n}", "Thing", value("STRING", f"a-Thing-{names[0]}", code)) for n, code in enumerate(codes)
    )
    read = Read(document(f"{types}<SPEC-OBJECTS>{objects}</SPEC-OBJECTS>"))
    assert [item.fields["external_id"] for item in read.items] == ids


def test_an_id_that_stands_twice_is_that_of_the_first() -> None:
    objects = "".join(spec_object(f"r{n}", "Functional Requirement", value("STRING", ID, "7")) for n in (1, 2))
    read = Read(document(f"{TYPES}<SPEC-OBJECTS>{objects}</SPEC-OBJECTS>"))
    assert [item.fields["external_id"] for item in read.items] == ["7", "r2"]
    assert [remark.code for remark in read.item("r2").warnings] == ["repeated_id"]


def test_the_text_gives_a_title_where_there_is_none() -> None:
    text = "word " * 50
    read = one_requirement(value("XHTML", TEXT, f"<xhtml:p>{text}</xhtml:p>"))
    assert read.items[0].fields["title"] == ("word " * 24).strip()
    assert one_requirement(more='LONG-NAME="Long name"').items[0].fields["title"] == "Long name"
    assert one_requirement().items[0].fields["title"] == "r"


def test_a_title_that_is_too_long_is_cut_and_said() -> None:
    item = one_requirement(value("STRING", NAME, "x" * 600)).items[0]
    assert len(item.fields["title"]) == 500
    assert "title_cut" in [remark.code for remark in item.warnings]


def test_a_text_longer_than_its_type_allows_is_taken_and_said() -> None:
    item = one_requirement(value("STRING", NAME, "x" * 21)).items[0]
    assert item.fields["title"] == "x" * 21
    (warning,) = [remark for remark in item.warnings if remark.code == "longer_than_allowed"]
    assert warning.column == "ReqIF.Name"


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ("files/a.png", "files/a.png"),
        ("files/a%5B1%5D.png", "files/a[1].png"),
        ("data:image/png;base64,AAAA", "image/png within the text"),
    ],
)
def test_embedded_objects_are_dropped_and_named(data: str, named: str) -> None:
    picture = f'<xhtml:div>See <xhtml:object data="{data}" type="image/png">picture</xhtml:object></xhtml:div>'
    read = one_requirement(value("XHTML", TEXT, picture))
    assert read.items[0].fields["description"] == "See picture"
    assert read.items[0].warnings[0].message.startswith(f"{named} is embedded")
    assert read.notices["attachment_dropped"].count == 1


def test_definitions_that_are_elsewhere_are_known_by_their_identifiers() -> None:
    read = Read(document(f"<SPEC-OBJECTS>{spec_object('o', 'X', value('STRING', '_a', 'text'))}</SPEC-OBJECTS>"))
    assert read.kept("o")["attributes"] == {"_a": {"kind": "string", "value": "text"}}
    assert read.notices["definition_missing"].count == 1


def test_attributes_of_one_name_are_told_apart() -> None:
    types = spec_type("R", ("STRING", "Note", "text")).replace(
        "</SPEC-ATTRIBUTES>",
        '<ATTRIBUTE-DEFINITION-STRING IDENTIFIER="other" LONG-NAME="Note"/></SPEC-ATTRIBUTES>',
    )
    both = spec_object("o", "R", value("STRING", "a-R-Note", "1"), value("STRING", "other", "2"))
    read = Read(document(f"<SPEC-TYPES>{types}</SPEC-TYPES><SPEC-OBJECTS>{both}</SPEC-OBJECTS>"))
    assert {key: one["value"] for key, one in read.kept("o")["attributes"].items()} == {
        "Note (a-R-Note)": "1",
        "Note (other)": "2",
    }


def test_what_is_embedded_is_that_of_the_archive() -> None:
    picture = '<xhtml:object data="../pics/a.png" type="image/png"/><xhtml:object data="b.png" type="image/png"/>'
    objects = spec_object("r", "Functional Requirement", value("XHTML", TEXT, f"<xhtml:div>{picture}</xhtml:div>"))
    content = document(f"{TYPES}<SPEC-OBJECTS>{objects}</SPEC-OBJECTS>")
    read = Read(zipped({"x/doc/one.reqif": content, "x/pics/a.png": b"", "x/doc/b.png": b"", "c.txt": b""}))
    assert read.notices["attachment_dropped"].message.endswith(": c.txt, x/doc/b.png, x/pics/a.png.")


def test_an_archive_is_one_document() -> None:
    types, objects = document(TYPES + OBJECTS + SPECIFICATIONS), document(f"{RELATIONS}")
    read = Read(zipped({"a/one.reqif": types, "two.reqif": objects, "a/p.png": b"", "__MACOSX/x.reqif": b"junk"}))
    assert len(read.items) == 3
    assert len(read.links) == 1
    assert [file["name"] for file in read.document.content["files"]] == ["a/one.reqif", "two.reqif"]
    assert "a/p.png" in read.notices["attachment_dropped"].message


def test_the_same_object_in_two_files_is_one() -> None:
    read = Read(zipped({"one.reqif": SAMPLE, "two.reqif": SAMPLE}))
    assert len(read.items) == 3
    assert read.notices["repeated_object"].count == 4


def test_relations_to_objects_that_are_not_there_are_kept_and_counted() -> None:
    content = f"{TYPES}{OBJECTS}<SPEC-RELATIONS>{relation('l', 'r1', 'gone', 'refines')}</SPEC-RELATIONS>"
    tree = f"<SPECIFICATIONS>{specification('Doors', node('n', 'away'))}</SPECIFICATIONS>"
    read = Read(document(content + tree))
    assert read.kept("REQ-1")["relations"][0]["target"] == "gone"
    assert read.notices["dangling_relation"].count == 1
    assert read.document.content["unknown_objects"] == ["away", "gone"]


def test_the_beginning_of_a_file_is_read_as_far_as_it_goes() -> None:
    beginning = SAMPLE[: SAMPLE.index(b'IDENTIFIER="r2"')]
    assert [item.fields["title"] for item in Read(beginning, is_beginning=True).items] == ["Doors close"]
    with pytest.raises(Unreadable):
        Read(beginning)
    with pytest.raises(Unreadable):
        Read(SAMPLE[:1000], is_beginning=True)


def test_where_types_have_no_names_a_heading_with_something_below_it_is_a_chapter() -> None:
    texts = (("STRING", "ReqIF.ChapterName", "Text"), ("STRING", "ReqIF.Text", "Text"))
    types = spec_type("Object", *texts).replace(' LONG-NAME="Object"', "")
    heading, text = (f"a-Object-{name}" for _, name, _ in texts)
    objects = "".join(
        (
            spec_object("chapter", "Object", value("STRING", heading, "Doors")),
            spec_object("below", "Object", value("STRING", text, "Doors close")),
            spec_object("both", "Object", value("STRING", heading, "Lock"), value("STRING", text, "Doors lock")),
            spec_object("empty", "Object", value("STRING", heading, "Nothing below")),
        )
    )
    tree = specification("Doors", node("n1", "chapter", node("n2", "below")), node("n3", "both", node("n4", "empty")))
    read = Read(
        document(
            f"<DATATYPES>{datatype('STRING', 'Text')}</DATATYPES><SPEC-TYPES>{types}</SPEC-TYPES>"
            f"<SPEC-OBJECTS>{objects}</SPEC-OBJECTS><SPECIFICATIONS>{tree}</SPECIFICATIONS>"
        )
    )
    assert {item.fields["external_id"] for item in read.items} == {"below", "both", "empty"}
    assert read.kept("below")["path"] == ["Doors"]


def test_prefixes_are_of_no_meaning() -> None:
    text = SAMPLE.decode()
    text = text.replace("xmlns=", "xmlns:r=").replace("</", "\0").replace("<", "<r:").replace("\0", "</r:")
    text = text.replace("<r:?", "<?").replace("r:xhtml:", "xhtml:").replace("r:view:", "view:")
    assert len(Read(text.encode()).items) == 3


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_the_file_says_its_encoding(encoding: str) -> None:
    content = document(f"{TYPES}<SPEC-OBJECTS>{spec_object('r', 'X', more='LONG-NAME=' + repr('Tür'))}</SPEC-OBJECTS>")
    data = content.decode().replace("UTF-8", encoding).encode(encoding)
    assert Read(data).items[0].fields["title"] == "Tür"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (document("", namespace="http://www.omg.org/spec/ReqIF/20101201"), "ReqIF 1.0 to 1.2"),
        (b'<RIF xmlns="http://automotive-his.de/200706/rif"/>', "came before ReqIF"),
        (b"<html/>", "no ReqIF"),
        (document("<SPEC-OBJECTS><SPEC-OBJECT/></SPEC-OBJECTS>"), "This SPEC-OBJECT has no IDENTIFIER"),
        (b"<REQ-IF/>", "names no namespace"),
        (document('<ATTRIBUTE-VALUE-STRING THE-VALUE="1"/>'), "stands where"),
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><REQ-IF/>", "document type declaration"),
        (zipped({"a.txt": b""}), "no .reqif"),
        (zipped({"a.reqif": b"<REQ-IF"}), "a.reqif: "),
        (zipped({"../a.reqif": SAMPLE}), "leads out of it"),
    ],
)
def test_what_is_no_reqif_is_refused(data: bytes, words: str) -> None:
    assert words in unreadable(data).message


def test_a_refusal_has_its_place() -> None:
    broken = SAMPLE.replace(b'<SPEC-OBJECT IDENTIFIER="r2"', b"<SPEC-OBJECT")
    line = SAMPLE[: SAMPLE.index(b'<SPEC-OBJECT IDENTIFIER="r2"')].count(b"\n") + 1
    problem = unreadable(broken)
    assert (problem.line, problem.column) == (line, 1)


def test_a_value_larger_than_an_object_may_be_is_refused() -> None:
    huge = "<xhtml:div>" + f"<xhtml:p class='{'c' * 2000}'>x</xhtml:p>" * 4200 + "</xhtml:div>"
    objects = spec_object("r", "Functional Requirement", value("XHTML", TEXT, huge))
    assert "8 MiB" in unreadable(document(f"{TYPES}<SPEC-OBJECTS>{objects}</SPEC-OBJECTS>")).message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            f"<SPECIFICATIONS>{specification('S', NODE * 6)}</SPECIFICATIONS>",
            "nodes",
        ),
        ("<SPEC-RELATIONS>" + '<SPEC-RELATION IDENTIFIER="r"/>' * 6 + "</SPEC-RELATIONS>", "relations"),
        (f"<SPEC-OBJECTS>{spec_object('o', 'X', value('STRING', 'a', 'x' * 1000) * 9000)}</SPEC-OBJECTS>", "8 MiB"),
        (
            f"<SPEC-TYPES>{spec_type('X', *(('STRING', str(n), 'text') for n in range(1001)))}</SPEC-TYPES>",
            "1,000 attr",
        ),
        ("<SPECIFICATIONS>" + "<CHILDREN>" * 200_000, "64 deep"),
    ],
    ids=["nodes", "relations", "object", "type", "depth"],
)
def test_what_breaks_a_limit_is_refused(content: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "_MOST_NODES", 5)
    monkeypatch.setattr(collector, "_MOST_RELATIONS", 5)
    assert words in unreadable(document(content)).message


@settings(max_examples=300)
@given(st.integers(0, len(SAMPLE) - 2))
def test_a_file_cut_off_anywhere_is_refused(place: int) -> None:
    assert unreadable(SAMPLE[:place]).message


@pytest.mark.parametrize(
    "content",
    [
        "<ENUM-VALUE-REF>x</ENUM-VALUE-REF>",
        "<THE-VALUE>x</THE-VALUE>",
        f"<SPEC-OBJECTS>{spec_object('o', 'X', '<ENUM-VALUE-REF>x</ENUM-VALUE-REF>')}</SPEC-OBJECTS>",
        f"<SPEC-OBJECTS>{spec_object('o', 'X', STRAY)}</SPEC-OBJECTS>",
    ],
)
def test_what_stands_in_a_wrong_place_says_nothing(content: str) -> None:
    assert all(item.fields["title"] == "o" for item in Read(document(content)).items)


@settings(max_examples=300)
@given(st.integers(0, len(SAMPLE) - 1), st.integers(0, len(SAMPLE) - 1), st.sampled_from([b"", b"<", b"<SPEC-OBJECT>"]))
def test_a_file_that_lacks_a_part_is_read_or_refused(start: int, end: int, instead: bytes) -> None:
    with suppress(Unreadable):
        Read(SAMPLE[: min(start, end)] + instead + SAMPLE[max(start, end) :])


@pytest.mark.parametrize(("data", "name"), [(SAMPLE, "reqif"), (zipped({"a.reqif": SAMPLE}), "reqifz")])
def test_files_are_recognised_by_what_they_hold(data: bytes, name: str) -> None:
    assert recognise(io.BytesIO(data), None, None).name == name
