"""ReqIF files for tests."""

import io
import zipfile
from typing import Any

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Document, Item, Link, Notice, Record
from catalog_service.exchange.reqif.formats import REQIF, REQIFZ

NAMESPACE = "http://www.omg.org/spec/ReqIF/20110401/reqif.xsd"
AT = 'LAST-CHANGE="2026-01-02T03:04:05Z"'


def document(content: str, *, namespace: str = NAMESPACE, head: str = "", extensions: str = "") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<REQ-IF xmlns="{namespace}" xmlns:xhtml="http://www.w3.org/1999/xhtml" {head}>\n'
        '<THE-HEADER><REQ-IF-HEADER IDENTIFIER="_header"><CREATION-TIME>2026-01-02T03:04:05Z</CREATION-TIME>'
        "<REQ-IF-TOOL-ID>tool</REQ-IF-TOOL-ID><REQ-IF-VERSION>1.0</REQ-IF-VERSION>"
        "<SOURCE-TOOL-ID>tool</SOURCE-TOOL-ID><TITLE>Doors</TITLE></REQ-IF-HEADER></THE-HEADER>\n"
        f"<CORE-CONTENT><REQ-IF-CONTENT>{content}</REQ-IF-CONTENT></CORE-CONTENT>{extensions}</REQ-IF>\n"
    ).encode()


def datatype(kind: str, name: str, more: str = "", values: str = "") -> str:
    return (
        f'<DATATYPE-DEFINITION-{kind} IDENTIFIER="d-{name}" {AT} LONG-NAME="{name}" {more}>{values}'
        f"</DATATYPE-DEFINITION-{kind}>"
    )


def enumeration(name: str, *values: str) -> str:
    entries = "".join(
        f'<ENUM-VALUE IDENTIFIER="v-{value}" {AT} LONG-NAME="{value}"><PROPERTIES>'
        f'<EMBEDDED-VALUE KEY="{key}" OTHER-CONTENT="other"/></PROPERTIES></ENUM-VALUE>'
        for key, value in enumerate(values)
    )
    return datatype("ENUMERATION", name, values=f"<SPECIFIED-VALUES>{entries}</SPECIFIED-VALUES>")


def spec_type(name: str, *attributes: tuple[str, str, str], element: str = "SPEC-OBJECT-TYPE") -> str:
    """Return a type; each attribute is its kind, its LONG-NAME and the name of its datatype."""
    identifier = name.replace(" ", "_")
    several = {"ENUMERATION": 'MULTI-VALUED="true"'}
    definitions = "".join(
        f'<ATTRIBUTE-DEFINITION-{kind} IDENTIFIER="a-{identifier}-{title}" {AT} LONG-NAME="{title}" '
        f"{several.get(kind, '')}><TYPE>"
        f"<DATATYPE-DEFINITION-{kind}-REF>d-{of}</DATATYPE-DEFINITION-{kind}-REF></TYPE></ATTRIBUTE-DEFINITION-{kind}>"
        for kind, title, of in attributes
    )
    return (
        f'<{element} IDENTIFIER="t-{identifier}" {AT} LONG-NAME="{name}">'
        f"<SPEC-ATTRIBUTES>{definitions}</SPEC-ATTRIBUTES></{element}>"
    )


def value(kind: str, definition: str, content: str) -> str:
    reference = (
        f"<DEFINITION><ATTRIBUTE-DEFINITION-{kind}-REF>{definition}</ATTRIBUTE-DEFINITION-{kind}-REF></DEFINITION>"
    )
    if kind == "ENUMERATION":
        references = "".join(f"<ENUM-VALUE-REF>{one}</ENUM-VALUE-REF>" for one in content.split())
        return f"<ATTRIBUTE-VALUE-{kind}><VALUES>{references}</VALUES>{reference}</ATTRIBUTE-VALUE-{kind}>"
    if kind == "XHTML":
        return f"<ATTRIBUTE-VALUE-{kind}>{reference}<THE-VALUE>{content}</THE-VALUE></ATTRIBUTE-VALUE-{kind}>"
    return f'<ATTRIBUTE-VALUE-{kind} THE-VALUE="{content}">{reference}</ATTRIBUTE-VALUE-{kind}>'


def spec_object(identifier: str, spec_type: str, *values: str, more: str = "") -> str:
    return (
        f'<SPEC-OBJECT IDENTIFIER="{identifier}" {AT} {more}><TYPE>'
        f"<SPEC-OBJECT-TYPE-REF>t-{spec_type.replace(' ', '_')}</SPEC-OBJECT-TYPE-REF></TYPE>"
        f"<VALUES>{''.join(values)}</VALUES></SPEC-OBJECT>\n"
    )


def relation(identifier: str, source: str, target: str, spec_type: str) -> str:
    return (
        f'<SPEC-RELATION IDENTIFIER="{identifier}" {AT}><TARGET><SPEC-OBJECT-REF>{target}</SPEC-OBJECT-REF></TARGET>'
        f"<SOURCE><SPEC-OBJECT-REF>{source}</SPEC-OBJECT-REF></SOURCE>"
        f"<TYPE><SPEC-RELATION-TYPE-REF>t-{spec_type}</SPEC-RELATION-TYPE-REF></TYPE></SPEC-RELATION>"
    )


def node(identifier: str, of: str, *children: str) -> str:
    below = f"<CHILDREN>{''.join(children)}</CHILDREN>" if children else ""
    return (
        f'<SPEC-HIERARCHY IDENTIFIER="{identifier}" {AT}><OBJECT><SPEC-OBJECT-REF>{of}</SPEC-OBJECT-REF></OBJECT>'
        f"{below}</SPEC-HIERARCHY>"
    )


def specification(name: str, *children: str) -> str:
    return (
        f'<SPECIFICATION IDENTIFIER="s-{name}" {AT} LONG-NAME="{name}"><CHILDREN>{"".join(children)}</CHILDREN>'
        "<TYPE><SPECIFICATION-TYPE-REF>t-Module</SPECIFICATION-TYPE-REF></TYPE></SPECIFICATION>"
    )


TYPES = (
    "<DATATYPES>"
    + datatype("STRING", "text", 'MAX-LENGTH="20"')
    + datatype("XHTML", "rich")
    + datatype("INTEGER", "number", 'MIN="0" MAX="100"')
    + enumeration("Status", "Accepted", "Odd")
    + enumeration("Priority", "High", "Low")
    + "</DATATYPES><SPEC-TYPES>"
    + spec_type(
        "Functional Requirement",
        ("STRING", "ReqIF.ForeignID", "text"),
        ("STRING", "ReqIF.Name", "text"),
        ("XHTML", "ReqIF.Text", "rich"),
        ("ENUMERATION", "Status", "Status"),
        ("ENUMERATION", "Priority", "Priority"),
        ("INTEGER", "Effort", "number"),
    )
    + spec_type("Heading", ("STRING", "ReqIF.ChapterName", "text"))
    + spec_type("Test Case", ("STRING", "ReqIF.Name", "text"))
    + spec_type("verifies", element="SPEC-RELATION-TYPE")
    + spec_type("refines", element="SPEC-RELATION-TYPE")
    + spec_type("Module", element="SPECIFICATION-TYPE")
    + "</SPEC-TYPES>"
)
OBJECTS = (
    "<SPEC-OBJECTS>"
    + spec_object("h", "Heading", value("STRING", "a-Heading-ReqIF.ChapterName", "Departure"))
    + spec_object(
        "r1",
        "Functional Requirement",
        value("STRING", "a-Functional_Requirement-ReqIF.ForeignID", "REQ-1"),
        value("STRING", "a-Functional_Requirement-ReqIF.Name", "Doors close"),
        value(
            "XHTML",
            "a-Functional_Requirement-ReqIF.Text",
            "<xhtml:div>All <xhtml:b>doors</xhtml:b>:<xhtml:ul><xhtml:li>close</xhtml:li></xhtml:ul></xhtml:div>",
        ),
        value("ENUMERATION", "a-Functional_Requirement-Status", "v-Accepted"),
        value("ENUMERATION", "a-Functional_Requirement-Priority", "v-High"),
        value("INTEGER", "a-Functional_Requirement-Effort", "007"),
    )
    + spec_object(
        "r2",
        "Functional Requirement",
        value("STRING", "a-Functional_Requirement-ReqIF.ForeignID", "REQ-2"),
        value("STRING", "a-Functional_Requirement-ReqIF.Name", "Doors lock&#10;safely"),
        value("ENUMERATION", "a-Functional_Requirement-Status", "v-Odd"),
    )
    + spec_object("t1", "Test Case", value("STRING", "a-Test_Case-ReqIF.Name", "Hold a door"))
    + "</SPEC-OBJECTS>"
)
RELATIONS = (
    f"<SPEC-RELATIONS>{relation('l1', 't1', 'r1', 'verifies')}{relation('l2', 'r2', 'r1', 'refines')}</SPEC-RELATIONS>"
)
SPECIFICATIONS = (
    f"<SPECIFICATIONS>{specification('Doors', node('n1', 'h', node('n2', 'r1'), node('n3', 'r2')))}</SPECIFICATIONS>"
)
EXTENSION = (
    "<TOOL-EXTENSIONS><REQ-IF-TOOL-EXTENSION><view:columns xmlns:view='urn:view'><plain view:width='1&#10;2'>A &amp; B"
    "</plain></view:columns></REQ-IF-TOOL-EXTENSION></TOOL-EXTENSIONS>"
)
SAMPLE = document(TYPES + OBJECTS + RELATIONS + SPECIFICATIONS, extensions=EXTENSION)


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


class Read:
    """What the reader makes of a file."""

    def __init__(self, data: bytes, **options: Any) -> None:
        known = REQIFZ if data.startswith(b"PK") else REQIF
        self.records: list[Record] = list(known.read(io.BytesIO(data), ReadOptions(**options)))
        self.items = [one for one in self.records if isinstance(one, Item)]
        self.links = [one for one in self.records if isinstance(one, Link)]
        self.notices = {one.code: one for one in self.records if isinstance(one, Notice)}
        (self.document,) = [one for one in self.records if isinstance(one, Document)]

    def item(self, external_id: str) -> Item:
        (found,) = [one for one in self.items if one.fields["external_id"] == external_id]
        return found

    def kept(self, external_id: str) -> dict[str, Any]:
        return dict(self.item(external_id).fields["custom_metadata"]["reqif"])
