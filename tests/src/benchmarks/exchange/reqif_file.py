"""A ReqIF file as a large tool writes it: an object has ten texts and formatted text, 4.5 kB in all."""

import random
from collections.abc import Iterator
from pathlib import Path

_AT = 'LAST-CHANGE="2026-01-02T03:04:05Z"'
_NAMES = ("ReqIF.ForeignID", "ReqIF.Name", *(f"Attribute {number}" for number in range(8)))


def write(path: Path, objects: int) -> None:
    """Write a file of so many requirements."""
    chance = random.Random(17)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(3000)]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_head())
        for number in range(objects):
            file.writelines(_object(number, chance, words))
        file.write("</SPEC-OBJECTS><SPECIFICATIONS>\n")
        file.write(f'<SPECIFICATION IDENTIFIER="_s" {_AT} LONG-NAME="Doors"><CHILDREN>\n')
        for number in range(objects):
            file.write(
                f'<SPEC-HIERARCHY IDENTIFIER="_n{number}" {_AT}><OBJECT>\n'
                f"<SPEC-OBJECT-REF>{_identifier(number)}</SPEC-OBJECT-REF></OBJECT></SPEC-HIERARCHY>\n"
            )
        file.write("</CHILDREN></SPECIFICATION></SPECIFICATIONS></REQ-IF-CONTENT></CORE-CONTENT></REQ-IF>\n")


def _identifier(number: int) -> str:
    return f"_{number:08d}-7b1a-8e51-c5c4-5b6c2f0a1d9e"


def _head() -> Iterator[str]:
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<REQ-IF xmlns="http://www.omg.org/spec/ReqIF/20110401/reqif.xsd" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
        '<THE-HEADER><REQ-IF-HEADER IDENTIFIER="_h"><CREATION-TIME>2026-01-02T03:04:05Z</CREATION-TIME>'
        "<REQ-IF-TOOL-ID>tool</REQ-IF-TOOL-ID><REQ-IF-VERSION>1.0</REQ-IF-VERSION>"
        "<SOURCE-TOOL-ID>tool</SOURCE-TOOL-ID><TITLE>Doors</TITLE></REQ-IF-HEADER></THE-HEADER>\n"
        f'<CORE-CONTENT><REQ-IF-CONTENT><DATATYPES><DATATYPE-DEFINITION-STRING IDENTIFIER="_text" {_AT} LONG-NAME="T" '
        f'MAX-LENGTH="1000"/><DATATYPE-DEFINITION-XHTML IDENTIFIER="_rich" {_AT} LONG-NAME="R"/></DATATYPES>\n'
        f'<SPEC-TYPES><SPEC-OBJECT-TYPE IDENTIFIER="_type" {_AT} LONG-NAME="Requirement"><SPEC-ATTRIBUTES>\n'
    )
    for number, name in enumerate(_NAMES):
        yield _definition("STRING", f"_a{number}", name, "_text")
    yield _definition("XHTML", "_a", "ReqIF.Text", "_rich")
    yield "</SPEC-ATTRIBUTES></SPEC-OBJECT-TYPE></SPEC-TYPES>\n<SPEC-OBJECTS>\n"


def _definition(kind: str, identifier: str, name: str, datatype: str) -> str:
    return (
        f'<ATTRIBUTE-DEFINITION-{kind} IDENTIFIER="{identifier}" {_AT} LONG-NAME="{name}"><TYPE>'
        f"<DATATYPE-DEFINITION-{kind}-REF>{datatype}</DATATYPE-DEFINITION-{kind}-REF></TYPE>"
        f"</ATTRIBUTE-DEFINITION-{kind}>\n"
    )


def _object(number: int, chance: random.Random, words: list[str]) -> Iterator[str]:
    def text(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    yield (
        f'        <SPEC-OBJECT IDENTIFIER="{_identifier(number)}" {_AT}>\n'
        "          <TYPE>\n            <SPEC-OBJECT-TYPE-REF>_type</SPEC-OBJECT-TYPE-REF>\n          </TYPE>\n"
        "          <VALUES>\n"
    )
    for at in range(len(_NAMES)):
        yield (
            f'            <ATTRIBUTE-VALUE-STRING THE-VALUE="{text(8) if at else f"R-{number}"}">\n'
            "              <DEFINITION>\n"
            f"                <ATTRIBUTE-DEFINITION-STRING-REF>_a{at}</ATTRIBUTE-DEFINITION-STRING-REF>\n"
            "              </DEFINITION>\n            </ATTRIBUTE-VALUE-STRING>\n"
        )
    items = "".join(f"<xhtml:li>{text(30)}</xhtml:li>" for _ in range(2))
    yield (
        "            <ATTRIBUTE-VALUE-XHTML>\n              <DEFINITION>\n"
        "                <ATTRIBUTE-DEFINITION-XHTML-REF>_a</ATTRIBUTE-DEFINITION-XHTML-REF>\n"
        "              </DEFINITION>\n              <THE-VALUE>\n"
        f"                <xhtml:div><xhtml:p>{text(60)}</xhtml:p><xhtml:ul>{items}</xhtml:ul></xhtml:div>\n"
        "              </THE-VALUE>\n            </ATTRIBUTE-VALUE-XHTML>\n"
        "          </VALUES>\n        </SPEC-OBJECT>\n"
    )
