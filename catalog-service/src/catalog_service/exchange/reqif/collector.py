"""What stands in a ReqIF file, element by element: objects to a spool, the rest, which is small, in memory."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, BinaryIO, TypeVar

import orjson

from catalog_service.exchange.reqif.fragments import Fragment
from catalog_service.exchange.reqif.namespaces import REQIF, XHTML, Q
from chassis.files.refused import FileRefused
from chassis.files.xml_events import XmlHandler

KINDS = ("BOOLEAN", "DATE", "ENUMERATION", "INTEGER", "REAL", "STRING", "XHTML")
_NAMES = {"IDENTIFIER": "identifier", "LAST-CHANGE": "last_change", "LONG-NAME": "long_name", "DESC": "desc"}
_SCHEMA_LIMIT = 32 << 20
_MOST_NODES = 250_000
_MOST_RELATIONS = 250_000
_LARGEST_OBJECT = 8 << 20
_NOT_IDENTIFIED = "This {} has no IDENTIFIER."

_Row = TypeVar("_Row")
Raw = dict[str, Any]
"""An object, relation, specification, node of a hierarchy or relation group as it stands in the file: `identifier`,
`last_change`, `long_name`, `desc`, `alternative_id`, `other` (further XML attributes), `type`, and `values`: lists of
kind, definition, value, and what else an XHTML value has. Of an enumeration the value is a list of identifiers."""


class Document:
    """What one .reqif holds, but for its objects. Of a tree of specifications each node has `object`, `children`."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.header = ""
        self.datatypes: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.relations: list[bytes] = []
        self.specifications: list[Raw] = []
        self.groups: list[Raw] = []
        self.extensions: list[str] = []


_OWNERS = ("SPEC-OBJECT", "SPEC-RELATION", "SPECIFICATION", "RELATION-GROUP")
"""Elements that have values."""


class Collector(XmlHandler):
    """Reads one .reqif: its objects go to the spool, a line of JSON each, in their order."""

    lines_of = _OWNERS

    def __init__(self, document: Document, spool: BinaryIO) -> None:
        self.document = document
        self._spool = spool
        self._prefixes: dict[str, str] = {}
        self._fragment: Fragment | None = None
        self._captured: Callable[[str], None] = _drop
        self._outer = False
        self._owners: list[Raw] = []
        self._value: list[Any] = []
        self._side = ""
        self._text = ""
        self._size = 0
        self._nodes = 0
        self._begin = _table(self._beginnings())
        self._finish = _table(self._endings())

    def namespace(self, prefix: str, name: str) -> None:
        if prefix or name not in self._prefixes:
            self._prefixes[name] = prefix or f"ns{len(self._prefixes)}"

    def root(self, tag: str) -> None:
        space, _, local = tag[1:].partition("}") if tag[0] == "{" else ("", "", tag)
        if local == "REQ-IF" and space == REQIF:
            return
        if local == "REQ-IF" and space != XHTML:
            raise FileRefused(
                f"This file {f'is of the namespace {space!r}' if space else 'names no namespace'}, a draft of ReqIF or"
                f" something else; what is read is ReqIF 1.0 to 1.2, {REQIF}. Have the tool export that.",
            )
        if local == "RIF":
            raise FileRefused(
                "This file is RIF, which came before ReqIF and is not read. Have the tool export ReqIF 1.0 or later.",
            )
        raise FileRefused(f"This is no ReqIF: its root element is <{local}>, not <REQ-IF>.")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._fragment is not None:
            self._fragment.start(tag, attributes)
            return
        begin = self._begin.get(tag)
        if begin is not None:
            begin(attributes)
        elif tag.endswith("-REF"):
            self._text = ""
            self.keeps_text = True

    def text(self, text: str) -> None:
        if self._fragment is None:
            self._text = text
        elif self._fragment.depth or not text.isspace():
            self._fragment.text(text)

    def end(self, tag: str) -> None:
        fragment = self._fragment
        if fragment is not None:
            if fragment.depth:
                fragment.end()
            if fragment.depth or (not self._outer and tag not in (_VALUE, _ORIGINAL)):
                return
            self._fragment = None
            self.keeps_text = False
            self._captured(fragment.markup())
            return
        finish = self._finish.get(tag)
        if finish is not None:
            finish()
        self.keeps_text = False

    def _capture(self, then: Callable[[str], None], outer: tuple[str, Mapping[str, str]] | None = None) -> None:
        """Collect what follows as XML: an element with all that is in it, or what lies within the one just begun."""
        self._captured = then
        self._outer = outer is not None
        if outer is None:
            self._fragment = Fragment(self._prefixes, limit=_LARGEST_OBJECT)
        else:
            self._fragment = Fragment(self._prefixes, declares=outer[0] == _EXTENSION, limit=_SCHEMA_LIMIT)
            self._fragment.start(*outer)
        self.keeps_text = True

    def _beginnings(self) -> dict[str, Callable[[Mapping[str, str]], None]]:
        table: dict[str, Callable[[Mapping[str, str]], None]] = {
            **{name: partial(self._begin_owner, name) for name in _OWNERS},
            "SPEC-HIERARCHY": self._begin_node,
            "ALTERNATIVE-ID": self._alternative,
            "SOURCE": lambda _: self._turn("source"),
            "TARGET": lambda _: self._turn("target"),
            "THE-VALUE": lambda _: self._capture(self._take_markup),
            "THE-ORIGINAL-VALUE": lambda _: self._capture(self._take_original),
            "REQ-IF-HEADER": lambda given: self._capture(self._take_header, (f"{Q}REQ-IF-HEADER", given)),
            "REQ-IF-TOOL-EXTENSION": lambda given: self._capture(self._take_extension, (_EXTENSION, given)),
        }
        for kind in KINDS:
            table[f"ATTRIBUTE-VALUE-{kind}"] = self._value_of(kind.lower())
            table[f"DATATYPE-DEFINITION-{kind}"] = self._schema_of(f"DATATYPE-DEFINITION-{kind}", "datatypes")
        for name in ("SPEC-OBJECT-TYPE", "SPECIFICATION-TYPE", "SPEC-RELATION-TYPE", "RELATION-GROUP-TYPE"):
            table[name] = self._schema_of(name, "types")
        return table

    def _endings(self) -> dict[str, Callable[[], None]]:
        table = {
            "SPEC-OBJECT": self._end_object,
            "SPEC-RELATION": self._end_relation,
            "SPECIFICATION": lambda: self.document.specifications.append(self._owners.pop()),
            "SPEC-HIERARCHY": self._end_node,
            "RELATION-GROUP": lambda: self.document.groups.append(self._owners.pop()),
            "SPEC-OBJECT-REF": self._refer_to_object,
            "SPEC-RELATION-REF": lambda: self._owner().setdefault("relations", []).append(self._text.strip()),
            "SPECIFICATION-REF": self._refer_to_specification,
            "ENUM-VALUE-REF": self._refer_to_enum_value,
            "SOURCE-SPECIFICATION": lambda: self._move("specification", "source"),
            "TARGET-SPECIFICATION": lambda: self._move("specification", "target"),
        }
        for kind in KINDS:
            table[f"ATTRIBUTE-DEFINITION-{kind}-REF"] = self._refer_to_definition
            table[f"ATTRIBUTE-VALUE-{kind}"] = self._end_value
        for name in ("SPEC-OBJECT-TYPE", "SPECIFICATION-TYPE", "SPEC-RELATION-TYPE", "RELATION-GROUP-TYPE"):
            table[f"{name}-REF"] = self._refer_to_type
        return table

    def _owner(self) -> Raw:
        if not self._owners:
            raise FileRefused("This element stands where ReqIF has none of its kind.")
        return self._owners[-1]

    def _begin_owner(self, name: str, attributes: Mapping[str, str]) -> None:
        raw: Raw = {}
        for attribute, value in attributes.items():
            if attribute in _NAMES:
                raw[_NAMES[attribute]] = value
            else:
                raw.setdefault("other", {})[attribute] = value
        if not raw.get("identifier"):
            raise FileRefused(_NOT_IDENTIFIED.format(name))
        raw["line"] = self.line
        self._side = ""
        self._owners.append(raw)

    def _begin_node(self, attributes: Mapping[str, str]) -> None:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise FileRefused(f"The specifications have more than {_MOST_NODES:,} nodes.")
        self._begin_owner("SPEC-HIERARCHY", attributes)
        del self._owners[-1]["line"]

    def _end_node(self) -> None:
        node = self._owners.pop()
        self._owner().setdefault("children", []).append(node)

    def _end_object(self) -> None:
        line = orjson.dumps(self._owners.pop(), option=orjson.OPT_APPEND_NEWLINE)
        if len(line) > _LARGEST_OBJECT:
            raise FileRefused(f"A SPEC-OBJECT has more than {_LARGEST_OBJECT >> 20} MiB, which is not read.")
        self._spool.write(line)

    def _end_relation(self) -> None:
        if len(self.document.relations) == _MOST_RELATIONS:
            raise FileRefused(f"The file has more than {_MOST_RELATIONS:,} relations.")
        # A copy, since the bytes that orjson gives keep the room that it wrote them into.
        self.document.relations.append(bytes(memoryview(orjson.dumps(self._owners.pop()))))

    def _alternative(self, attributes: Mapping[str, str]) -> None:
        if self._owners and "IDENTIFIER" in attributes:
            self._owners[-1]["alternative_id"] = attributes["IDENTIFIER"]

    def _turn(self, side: str) -> None:
        self._side = side

    def _move(self, name: str, to: str) -> None:
        owner = self._owner()
        if name in owner:
            owner[to] = owner.pop(name)

    def _refer_to_object(self) -> None:
        owner = self._owner()
        owner[self._side or "object"] = self._text.strip()
        self._side = ""

    def _refer_to_specification(self) -> None:
        self._owner()["specification"] = self._text.strip()

    def _refer_to_type(self) -> None:
        self._owner()["type"] = self._text.strip()

    def _refer_to_definition(self) -> None:
        if self._value:
            self._value[1] = self._text.strip()

    def _refer_to_enum_value(self) -> None:
        if self._value and self._value[0] == "enumeration":
            self._value[2].append(self._text.strip())

    def _value_of(self, kind: str) -> Callable[[Mapping[str, str]], None]:
        def begin(attributes: Mapping[str, str]) -> None:
            self._owner()
            if kind == "enumeration":
                self._value = [kind, "", []]
            elif kind == "xhtml":
                self._value = [kind, "", ""]
                if "IS-SIMPLIFIED" in attributes:
                    self._value.append({"simplified": attributes["IS-SIMPLIFIED"]})
            else:
                self._value = [kind, "", attributes.get("THE-VALUE")]

        return begin

    def _end_value(self) -> None:
        if self._value:
            self._owner().setdefault("values", []).append(self._value)
        self._value = []

    def _take_markup(self, markup: str) -> None:
        if self._value and self._value[0] == "xhtml":
            self._value[2] = markup

    def _take_original(self, markup: str) -> None:
        if self._value and self._value[0] == "xhtml":
            if len(self._value) < 4:
                self._value.append({})
            self._value[3]["original"] = markup

    def _schema_of(self, name: str, where: str) -> Callable[[Mapping[str, str]], None]:
        def begin(attributes: Mapping[str, str]) -> None:
            identifier = attributes.get("IDENTIFIER")
            if not identifier:
                raise FileRefused(_NOT_IDENTIFIED.format(name))

            def take(markup: str) -> None:
                self._grow(len(markup))
                getattr(self.document, where)[identifier] = markup

            self._capture(take, (f"{Q}{name}", attributes))

        return begin

    def _take_header(self, markup: str) -> None:
        self.document.header = markup

    def _take_extension(self, markup: str) -> None:
        self._grow(len(markup))
        self.document.extensions.append(markup)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > _SCHEMA_LIMIT:
            raise FileRefused(f"Types and tool extensions take more than {_SCHEMA_LIMIT >> 20} MiB, which is not read.")


_VALUE = f"{Q}THE-VALUE"
_ORIGINAL = f"{Q}THE-ORIGINAL-VALUE"
_EXTENSION = f"{Q}REQ-IF-TOOL-EXTENSION"


def _table(rows: dict[str, _Row]) -> dict[str, _Row]:
    return {f"{Q}{name}": row for name, row in rows.items()}


def _drop(markup: str) -> None:
    """Take what nobody wants."""
