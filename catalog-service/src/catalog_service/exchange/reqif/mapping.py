"""What a SPEC-OBJECT says of an item's fields: which attribute is the title, and what its status means here.

The writer asks the same, so that it knows what people have changed since.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from catalog_service.exchange.plain_text import plain_text
from catalog_service.exchange.records import Remark
from catalog_service.exchange.reqif.collector import Raw
from catalog_service.exchange.reqif.schema import Definition, Schema, kind_of
from catalog_service.exchange.vocabulary import (
    PRIORITIES,
    REQUIREMENT_STATUSES,
    TEST_CASE_STATUSES,
    meaning,
    type_of_requirement,
    type_of_test_case,
)
from catalog_service.exchange.words import fold, words
from chassis.core.wording import shown

ROLES: Mapping[str, tuple[str, ...]] = {
    "external_id": (
        "ReqIF.ForeignID",
        "IE PUID",
        "Object Identifier",
        "Object ID",
        "ID",
        "requirementID",
        "UID",
        "Identifier",
        "Requirement ID",
        "Req ID",
        "Document Key",
        "Kennung",
    ),
    "title": ("ReqIF.Name", "ReqIF.ChapterName", "Object Heading", "Title", "Name", "Summary"),
    "description": (
        "ReqIF.Text",
        "ReqIF.Description",
        "Description",
        "RichText",
        "Object Text",
        "Primary Text",
        "Text",
        "Statement",
    ),
    "status": ("Status", "ReqIF.Status", "State"),
    "priority": ("Priority", "ReqIF.Priority"),
    "category": ("ReqIF.Category", "Category"),
}
_SOMETIMES_IDS = frozenset(("code",))
"""Attributes that are ids in some files, and classes of objects in others."""
_IN_OTHER_LANGUAGES = ("title", "status", "priority")
_HEADINGS = ("reqifchaptername", "objectheading")
_TITLE_LENGTH = 500
_TITLE_OF_TEXT = 120
_ID_LENGTH = 100
_TEXTS = ("string", "xhtml")
_SPEAKS_OF_TEXT = re.compile(r"te?xt|desc")


@dataclass(slots=True)
class Reading:
    """The fields of an item as its object has them; `taken`: the attribute that each is of, by its identifier."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    defaulted: list[str] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)


class ObjectMapping:
    """Reads objects by the types of a schema."""

    def __init__(self, schema: Schema, kinds: Mapping[str, str] | None = None) -> None:
        """`kinds`: what objects of a type of this LONG-NAME are, where its name does not say it."""
        self.schema = schema
        self._kinds = {name: kind.removesuffix("s") for name, kind in (kinds or {}).items()}
        self._roles: dict[str, dict[str, list[str]]] = {}
        self._no_ids: set[str] = set()

    def learn(self, objects: Iterable[Raw]) -> None:
        """Learn of all objects which attributes cannot be their ids, as some of them say the same there."""
        likely = {one.identifier for one in self.schema.definitions.values() if _key(one.name) in _SOMETIMES_IDS}
        if not likely:
            return
        seen: set[tuple[str, str]] = set()
        for raw in objects:
            for value in raw.get("values", ()):
                if value[1] in likely and (text := next(self._texts(value), "").strip()):
                    if (value[1], text) in seen:
                        likely.remove(value[1])
                        self._no_ids.add(value[1])
                    seen.add((value[1], text))

    def kind(self, type_identifier: str | None) -> str:
        """Return what objects of this type are: `structure`, `test_case` or `requirement`."""
        spec_type = self.schema.types.get(type_identifier or "")
        if spec_type is None:
            return "requirement"
        return self._kinds.get(spec_type.long_name) or kind_of(spec_type.long_name)

    def is_heading(self, raw: Raw) -> bool:
        """Check whether an object has a heading and no text, where its type has no name that says what it is."""
        spec_type = self.schema.types.get(raw.get("type", ""))
        if spec_type is None or spec_type.long_name:
            return False
        values = {value[1]: value for value in raw.get("values", ())}
        roles = self._roles_of(raw)
        identifier, _ = self._first_text(roles["title"], values)
        definition = spec_type.definitions.get(identifier)
        has_heading = definition is not None and _key(definition.name) in _HEADINGS
        return has_heading and not self._first_text(roles["description"], values)[1]

    def title(self, raw: Raw) -> str:
        """Return what an object is called, of whatever kind it is."""
        return str(self.read(raw).fields["title"])

    def external_id(self, raw: Raw) -> str:
        """Return the external id of an object."""
        values = {value[1]: value for value in raw.get("values", ())}
        text = self._first_text(self._roles_of(raw)["external_id"], values)[1]
        return text if text and len(text) <= _ID_LENGTH else str(raw["identifier"])

    def places(self, role: str, raw: Raw) -> list[str]:
        """Return the attributes of an object that can say this, the first choice first."""
        return self._roles_of(raw).get(role, [])

    def name(self, raw: Raw) -> str:
        """Return what a specification is called by its attributes; empty when none has a name."""
        values = {value[1]: value for value in raw.get("values", ())}
        return self._first_text(self._roles_of(raw)["title"], values)[1]

    def read(self, raw: Raw, kind: str | None = None) -> Reading:
        """Return what an object says of an item's fields; `kind`: what it is, where that is known."""
        kind = kind or self.kind(raw.get("type"))
        reading = Reading(kind)
        values = {value[1]: value for value in raw.get("values", ())}
        roles = self._roles_of(raw)
        fields = reading.fields
        for name in ("external_id", "title", "description"):
            identifier, text = self._first_text(roles[name], values)
            if text:
                fields[name] = text
                reading.taken[name] = identifier
        self._name(raw, reading)
        statuses = TEST_CASE_STATUSES if kind == "test_case" else REQUIREMENT_STATUSES
        for name, meanings in (("status", statuses), ("priority", PRIORITIES)):
            self._classify(name, meanings, roles[name], values, reading)
        if "priority" not in fields:
            fields["priority"] = "medium"
            reading.defaulted.append("priority")
        self._classify_type(raw, roles["category"], values, reading)
        return reading

    def enum_texts(self, value: list[Any]) -> Iterator[str]:
        """Yield what the values of an enumeration are called."""
        known = self.schema.enum_values(value[1])
        for identifier in value[2]:
            yield known[identifier].name if identifier in known else identifier

    def _name(self, raw: Raw, reading: Reading) -> None:
        fields = reading.fields
        if len(fields.get("external_id", "")) > _ID_LENGTH:
            del fields["external_id"], reading.taken["external_id"]
        fields.setdefault("external_id", raw["identifier"])
        text = fields.get("description", "")
        title = " ".join((fields.get("title") or raw.get("long_name") or "").split())
        title = title or " ".join(text.split())[:_TITLE_OF_TEXT].strip() or fields["external_id"]
        if len(title) > _TITLE_LENGTH:
            reading.warnings.append(
                Remark("title_cut", f"The title has {len(title):,} characters and is cut at {_TITLE_LENGTH}.", "title")
            )
            title = title[: _TITLE_LENGTH - 1].rstrip() + "…"
        fields["title"] = title
        if not text:
            fields["description"] = title
            reading.defaulted.append("description")

    def _classify(
        self, name: str, meanings: Mapping[str, str], role: list[str], values: dict[str, Any], reading: Reading
    ) -> None:
        unknown = ""
        for identifier in role:
            for text in self._texts(values.get(identifier) or self._default(identifier)):
                found = meaning(meanings, text, name)
                if found:
                    reading.fields[name] = found
                    reading.taken[name] = identifier
                    return
                unknown = unknown or text
        if unknown:
            reading.warnings.append(
                Remark(
                    "unknown_value",
                    f"What the {name} {shown(unknown)} means here is not known; it stays in custom_metadata.",
                    name,
                )
            )

    def _default(self, identifier: str) -> list[Any] | None:
        """Return the value that its definition gives an attribute which an object does not say."""
        definition = self.schema.definitions.get(identifier)
        return [definition.kind, identifier, definition.default] if definition and definition.default else None

    def _classify_type(self, raw: Raw, role: list[str], values: dict[str, Any], reading: Reading) -> None:
        spec_type = self.schema.types.get(raw.get("type", ""))
        type_of = type_of_test_case if reading.kind == "test_case" else type_of_requirement
        names = [spec_type.long_name] if spec_type else []
        names += [text for identifier in role for text in self._texts(values.get(identifier))]
        found = next(filter(None, map(type_of, names)), None)
        reading.fields["type"] = found or "functional"
        if found is None:
            reading.defaulted.append("type")

    def _first_text(self, role: list[str], values: dict[str, Any]) -> tuple[str, str]:
        for identifier in role:
            for text in self._texts(values.get(identifier)):
                if text.strip():
                    return identifier, text if len(text) == len(text.strip()) else text.strip()
        return "", ""

    def _texts(self, value: list[Any] | None) -> Iterator[str]:
        if value is None or not value[2]:
            return
        if value[0] == "enumeration":
            yield from self.enum_texts(value)
        else:
            yield plain_text(value[2]) if value[0] == "xhtml" else value[2]

    def _roles_of(self, raw: Raw) -> dict[str, list[str]]:
        spec_type = self.schema.types.get(raw.get("type", ""))
        if spec_type is None:
            definitions = [
                self.schema.definitions.get(value[1]) or Definition(value[1], value[1], value[0], None)
                for value in raw.get("values", ())
            ]
            return self._find_roles(definitions)
        roles = self._roles.get(spec_type.identifier)
        if roles is None:
            roles = self._roles[spec_type.identifier] = self._find_roles(list(spec_type.definitions.values()))
        return roles

    def _find_roles(self, definitions: list[Definition]) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for definition in definitions:
            by_name.setdefault(_key(definition.name), []).append(definition.identifier)
        for definition in definitions:
            by_name.setdefault(_key(definition.identifier), []).append(definition.identifier)
        for definition in definitions:
            by_name.setdefault(_key(definition.name.rpartition(":")[2]), []).append(definition.identifier)
        for definition in definitions:
            datatype = self.schema.datatypes.get(definition.datatype or "")
            if definition.kind == "enumeration" and datatype:
                by_name.setdefault(_key(datatype.name), []).append(definition.identifier)
        roles = {
            role: [identifier for name in names for identifier in by_name.get(_key(name), ())]
            for role, names in ROLES.items()
        }
        if not roles["external_id"]:
            roles["external_id"] = [
                one.identifier
                for one in definitions
                if _key(one.name) in _SOMETIMES_IDS and one.kind in _TEXTS and one.identifier not in self._no_ids
            ]
        for role in _IN_OTHER_LANGUAGES:
            if not roles[role]:
                known = _usual_names(role)
                roles[role] = [definition.identifier for definition in definitions if fold(definition.name) in known]
        if not roles["description"]:
            roles["description"] = _likely_texts(definitions, {one for role in roles.values() for one in role})
        return roles


@cache
def _usual_names(role: str) -> frozenset[str]:
    return frozenset(map(fold, words()["headers"][role]))


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _likely_texts(definitions: list[Definition], taken: set[str]) -> list[str]:
    """Return the one attribute that can be the text where none has a name of it; none where there are several."""
    free = [one for one in definitions if one.kind in _TEXTS and one.identifier not in taken]
    for likely in (
        [one for one in free if _SPEAKS_OF_TEXT.search(_key(one.name))],
        [one for one in free if one.kind == "xhtml"],
        free,
    ):
        if len(likely) == 1:
            return [likely[0].identifier]
    return []
