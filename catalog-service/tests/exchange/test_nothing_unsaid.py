"""What a text format holds comes out as an item, a link or further data, or is named and counted."""

from io import BytesIO

import pytest

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.readers import needs as needs_reader
from catalog_service.exchange.readers import openfasttrace
from catalog_service.exchange.records import Item

from .test_relations_kept import made, needs, notices, packed

TREE = {
    "reqs/.doorstop.yml": "settings: {prefix: R}",
    "tests/.doorstop.yml": "settings: {prefix: TST}",
    "reqs/R1.yml": "text: Doors",
    "tests/TST1.yml": "text: Try",
}


def counts(content: bytes | str, name: str) -> dict[str, int]:
    """Return how often each notice of a file says something, and how many relations it has."""
    relations = {"relations": number} if (number := made(content, name)) else {}
    return {code: notice["count"] for code, notice in notices(content, name).items()} | relations


@pytest.mark.parametrize("links", ["R1", "[R1]", "{R1: abc}", "[{R1: abc}]", "[[R1]]"])
def test_a_doorstop_item_names_its_links_in_whatever_shape(links: str) -> None:
    assert counts(packed({**TREE, "reqs/R2.yml": f"{{text: Close, links: {links}}}"}), "tree.zip") == {"relations": 1}


def test_files_of_a_doorstop_tree_that_are_no_items_are_named() -> None:
    tree = {**TREE, "README.md": "# Doors", "reqs/notes.txt": "a", "reqs/a.png": b"a", "reqs/x.yml": "{}"}
    said = notices(packed({**tree, "__MACOSX/._a": "a"}), "tree.zip")["file_not_read"]
    assert (said["count"], said["message"]) == (
        4,
        "4 files of the archive are no items of Doorstop, and not read: 'README.md', 'reqs/a.png', 'reqs/notes.txt' and"
        " 1 more.",
    )


BLANK_ENDS = {
    "tree.zip": packed({**TREE, "reqs/R2.yml": "{text: Close, links: [R1, '', null]}"}),
    "a.sdoc": "[DOCUMENT]\nTITLE: Doors\n\n[REQUIREMENT]\nUID: R-1\nRELATIONS:\n- TYPE: Parent\n  VALUE: R-2\n"
    "- TYPE: Parent\n  VALUE: \n- TYPE: Child\n  VALUE:  \n",
    "needs.json": needs(R1={}, R2={"links": ["R1", "", " "]}),
    "a.oreqm": '<specdocument><specobjects doctype="req"><specobject><id>a</id><version>1</version><providescoverage>'
    "<provcov><linksto>feat:b</linksto></provcov><provcov><linksto/></provcov><provcov/></providescoverage>"
    "</specobject></specobjects></specdocument>",
}


@pytest.mark.parametrize("name", BLANK_ENDS)
def test_ends_of_relations_that_are_blank_are_counted_and_are_no_relations(name: str) -> None:
    assert counts(BLANK_ENDS[name], name) == {"relations": 1, "link_end_blank": 2}


def test_relations_of_needs_are_read_from_a_text_and_those_of_parts_are_counted() -> None:
    parts = {"1": {"id": "1", "content": "a part", "links": ["R1"], "links_back": ["R1"]}}
    assert counts(needs(R1={}, R2={"links": "R1; R9"}, R3={"parts": parts}), "needs.json") == {
        "relations_kept": 1,
        "relations": 2,
    }


def test_a_link_to_a_part_of_a_need_says_that_it_is_to_the_whole() -> None:
    content = needs(R1={}, T1={"type": "test", "links": ["R1.1"], "tests": "R1"})
    found = needs_reader.read(BytesIO(content), ReadOptions())
    (warning,) = [warning for one in found if isinstance(one, Item) for warning in one.warnings]
    assert warning.message == "links names 'R1.1', a part: the link is made to the whole need, 'R1'."


def test_free_text_of_older_documents_of_strictdoc_ends_where_it_does() -> None:
    content = (
        "[DOCUMENT]\nTITLE: Doors\n\n[FREETEXT]\nAll about it.\n[REQUIREMENT]\n[/FREETEXT]\n\n[SECTION]\nTITLE: Close\n"
        "\n[FREETEXT]\nA text.\n[/FREETEXT]\n\n[REQUIREMENT]\nUID: R-1\n\n[/SECTION]\n"
    )
    assert counts(content, "a.sdoc") == {"node_not_taken": 2}


SPECIFICATION = """Words before all.

Chapter
-------

A text of
two lines.

## Close
`feat~close~1`

Doors close.

## Between

More text.

A title without marks
`req~lock~2`

Covers:

- feat~close~1
- another document

Depends:

- req~other~1

## Handed on

arch --> dsn : req~lock~2
"""


def test_texts_between_the_items_of_openfasttrace_are_counted() -> None:
    said = notices(SPECIFICATION, "a.md")
    assert {code: notice["count"] for code, notice in said.items()} == {
        "relations_kept": 1,
        "text_not_taken": 4,
        "forward_not_taken": 1,
    }
    assert said["text_not_taken"]["message"] == "4 lines of text are in no item, and left out; the first is line 1."
    of_two = notices(packed({"a.md": "# A\n`req~a~1`\nText.\n", "b.md": "# B\n\nText.\n", "c.txt": "c"}), "a.zip")
    assert of_two["text_not_taken"]["message"].endswith("the first is line 3 of b.md.")
    assert of_two["file_not_read"]["count"] == 1


def test_further_elements_of_an_object_of_openfasttrace_are_kept() -> None:
    content = (
        b'<specdocument><specobjects doctype="req"><specobject><id>a</id><version>1</version><source>kim</source>'
        b"<safetyclass/><releases><release>1</release></releases></specobject></specobjects></specdocument>"
    )
    (item,) = openfasttrace.read(BytesIO(content), ReadOptions())
    assert isinstance(item, Item)
    kept = item.fields["custom_metadata"]["openfasttrace"]
    assert (kept["source"], kept["releases"], "safetyclass" in kept) == ("kim", {"release": "1"}, False)
