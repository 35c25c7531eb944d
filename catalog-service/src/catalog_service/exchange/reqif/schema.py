"""The types of ReqIF files: what an object is, and what its attributes are called."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lxml import etree

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.reqif.fragments import parsed
from catalog_service.exchange.reqif.namespaces import Q
from catalog_service.exchange.vocabulary import normal
from chassis.core.wording import shown

_STRUCTURE = frozenset(("heading", "headline", "document", "folder", "proxy", "section"))
_TEST_CASES = ("test case", "testcase", "verification", "test procedure", "test specification", "test")
_MOST_ATTRIBUTES = 1000


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A value of an enumeration."""

    identifier: str
    name: str
    key: str | None
    other_content: str | None


@dataclass(slots=True)
class Datatype:
    """A datatype; `values` of an enumeration by their identifiers."""

    identifier: str
    name: str
    max_length: int | None = None
    values: dict[str, EnumValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Definition:
    """An attribute of a type; its name is the LONG-NAME, else the identifier.

    `default`: the values of an enumeration that objects have which say none.
    """

    identifier: str
    name: str
    kind: str
    datatype: str | None
    default: tuple[str, ...] = ()


@dataclass
class SpecType:
    """A type of objects, relations, specifications or groups, with its attributes by their identifiers."""

    identifier: str
    long_name: str
    element: str
    definitions: dict[str, Definition] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What an object of this type is: `structure`, `test_case` or `requirement`."""
        return kind_of(self.long_name)

    @cached_property
    def keys(self) -> dict[str, str]:
        """The name of each attribute by its identifier: each name once."""
        return unique_names({identifier: one.name for identifier, one in self.definitions.items()})


def kind_of(type_name: str) -> str:
    """Return what objects are whose type has this LONG-NAME."""
    name = normal(type_name.rpartition(":")[2]).removesuffix(" type").removeprefix("type ")
    if name in _STRUCTURE:
        return "structure"
    is_test_case = any(name == words or name.endswith(f" {words}") for words in _TEST_CASES)
    return "test_case" if is_test_case else "requirement"


def unique_names(names: dict[str, str]) -> dict[str, str]:
    """Return names by identifier, with the identifier behind those that several have."""
    seen: dict[str, int] = {}
    for name in names.values():
        seen[name] = seen.get(name, 0) + 1
    return {identifier: name if seen[name] == 1 else f"{name} ({identifier})" for identifier, name in names.items()}


@dataclass(slots=True)
class Schema:
    """The datatypes and types of some files together."""

    datatypes: dict[str, Datatype] = field(default_factory=dict)
    types: dict[str, SpecType] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)

    def add(self, datatypes: Iterable[str], types: Iterable[str]) -> None:
        """Take the datatypes and types of a document, each as XML."""
        for element in (parsed(markup, recover=True)[0] for markup in datatypes):
            known = Datatype(element.get("IDENTIFIER", ""), element.get("LONG-NAME") or element.get("IDENTIFIER", ""))
            length = element.get("MAX-LENGTH", "")
            known.max_length = int(length) if length.isdigit() and len(length) < 12 else None
            for value in element.iter(f"{Q}ENUM-VALUE"):
                embedded: Any = next(value.iter(f"{Q}EMBEDDED-VALUE"), {})
                identifier = value.get("IDENTIFIER", "")
                name = value.get("LONG-NAME") or identifier
                known.values[identifier] = EnumValue(
                    identifier, name, embedded.get("KEY"), embedded.get("OTHER-CONTENT") or None
                )
            self.datatypes[known.identifier] = known
        for element in (parsed(markup, recover=True)[0] for markup in types):
            spec_type = SpecType(
                element.get("IDENTIFIER", ""), element.get("LONG-NAME") or "", etree.QName(element).localname
            )
            for definition in _definitions(element):
                spec_type.definitions[definition.identifier] = definition
            if len(spec_type.definitions) > _MOST_ATTRIBUTES:
                name = spec_type.long_name or spec_type.identifier
                raise Unreadable(f"The type {shown(name)} has more than {_MOST_ATTRIBUTES:,} attributes.")
            self.types[spec_type.identifier] = spec_type
            self.definitions.update(spec_type.definitions)

    def enum_values(self, definition: str) -> dict[str, EnumValue]:
        """Return the values that an attribute may have, by their identifiers."""
        known = self.definitions.get(definition)
        datatype = self.datatypes.get(known.datatype or "") if known else None
        return datatype.values if datatype else {}

    def max_length(self, definition: str) -> int | None:
        """Return how many characters an attribute may have, None when that is not said."""
        known = self.definitions.get(definition)
        datatype = self.datatypes.get(known.datatype or "") if known else None
        return datatype.max_length if datatype else None


def _definitions(element: etree._Element) -> Iterator[Definition]:
    attributes = element.find(f"{Q}SPEC-ATTRIBUTES")
    for child in attributes if attributes is not None else ():
        name = etree.QName(child).localname
        if not name.startswith("ATTRIBUTE-DEFINITION-"):
            continue
        identifier = child.get("IDENTIFIER", "")
        datatype = next((one.text for one in child.findall(f"{Q}TYPE/*")), None)
        yield Definition(
            identifier,
            child.get("LONG-NAME") or identifier,
            name.removeprefix("ATTRIBUTE-DEFINITION-").lower(),
            (datatype or "").strip() or None,
            tuple((one.text or "").strip() for one in child.iterfind(f"{Q}DEFAULT-VALUE//{Q}ENUM-VALUE-REF")),
        )
