"""Types of ours, for items that never came from ReqIF: every field of the API has an attribute."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from catalog_service.exchange.plain_text import plain_text
from catalog_service.exchange.reqif.collector import Raw
from catalog_service.exchange.reqif.fragments import escape_attribute, escape_text, parsed
from catalog_service.exchange.reqif.namespaces import TRACELINE
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite
from catalog_service.values import (
    AutomationStatus,
    LinkType,
    PriorityLevel,
    RelationType,
    RequirementStatus,
    RequirementType,
    TestCaseStatus,
    TestCaseType,
)
from chassis.web.strict_json import find_duplicate

PREFIX = "_traceline-"
SPECIFICATION_TYPE = f"{PREFIX}specification"
SINCE = "2026-11-28T00:00:00Z"
"""When the types below were last changed, for their LAST-CHANGE."""

_LONGEST_AS_IT_IS = 100
_NOT_IN_XML = "\ufffe\uffff"
"""What XML 1.0 cannot hold, beside the control characters, which JSON escapes."""
FIELDS = {"requirement": RequirementWrite.model_fields, "test_case": TestCaseWrite.model_fields}
_NAMES = {"external_id": "ReqIF.ForeignID", "title": "ReqIF.Name", "description": "ReqIF.Text"}
_LABELS = {"requirement": "Requirement", "test_case": "Test Case"}
_KEPT_BESIDE = frozenset(
    (
        "notes",
        "role",
        "source",
        "link_source",
        "confidence_score",
        *(name for fields in FIELDS.values() for name in fields),
    )
)
_PARAGRAPHS = frozenset(("description", "preconditions", "postconditions"))
JSON_FIELDS = frozenset(
    ("tags", "custom_metadata", "steps", "test_data", "execution_time_minutes", "section", "derived")
)
_ENUMS: Mapping[str, Mapping[str, Iterable[str]]] = {
    "requirement": {"priority": PriorityLevel, "status": RequirementStatus, "type": RequirementType},
    "test_case": {
        "priority": PriorityLevel,
        "status": TestCaseStatus,
        "type": TestCaseType,
        "automation_status": AutomationStatus,
    },
}


def type_of(kind: str) -> str:
    """Return our type of a kind of items."""
    return PREFIX + kind


def attribute_of(kind: str, name: str) -> str:
    """Return our attribute of a field."""
    return f"{type_of(kind)}-{name}"


def form_of(kind: str, name: str) -> str:
    """Return the kind of attribute that a field is, as ReqIF calls it."""
    if name in _ENUMS[kind]:
        return "ENUMERATION"
    return "XHTML" if name in _PARAGRAPHS else "STRING"


def link_type(name: str) -> str:
    """Return our type of relations for a type of links."""
    return f"{PREFIX}link-{name}"


def notes_of(link: str) -> str:
    """Return the attribute of our relations that holds the notes of a link."""
    return f"{link_type(link)}-notes"


def relation_type(name: str) -> str:
    """Return our type of relations for a type of relations between requirements."""
    return f"{PREFIX}relation-{name}"


def attribute_of_relation(name: str, field: str) -> str:
    """Return the attribute that holds a field, role or notes, of a relation of this type."""
    return f"{relation_type(name)}-{field}"


def own_relation_type(raw: Raw) -> str | None:
    """Return the type of a relation between requirements that Traceline has written, None of any other."""
    name = str(raw.get("type", "")).removeprefix(relation_type(""))
    return name if is_own(raw) and name in set(RelationType) else None


def is_own(raw: Raw) -> bool:
    """Check whether an object or relation has a type of ours."""
    return str(raw.get("type", "")).startswith(PREFIX)


def own_fields(raw: Raw) -> dict[str, Any] | None:
    """Return the fields of an object that has a type of ours, None of any other."""
    kind = str(raw.get("type", "")).removeprefix(PREFIX)
    if kind not in FIELDS or not is_own(raw):
        return None
    fields = {}
    for value in raw.get("values", ()):
        name = value[1].removeprefix(f"{PREFIX}{kind}-")
        if name in FIELDS[kind] and value[2]:
            fields[name] = _read(name, kind, value)
    return fields


def _read(name: str, kind: str, value: list[Any]) -> Any:
    if value[0] == "enumeration":
        return value[2][0].removeprefix(f"{PREFIX}{kind}-{name}-")
    if value[0] == "xhtml":
        return plain_text(value[2])
    if name in JSON_FIELDS:
        try:
            read = orjson.loads(value[2])
        except orjson.JSONDecodeError:
            return value[2]
        # As a text it is refused where an object belongs: of two members of one name, none is dropped unsaid.
        return value[2] if find_duplicate(value[2]) is not None else read
    return value[2]


def json_of_xml(text: str) -> str:
    """Return JSON as JSON of what XML can hold."""
    for character in _NOT_IN_XML:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def datatypes() -> dict[str, str]:
    """Return our datatypes as XML, by their identifiers."""
    found = {
        f"{PREFIX}string": f'<DATATYPE-DEFINITION-STRING {_identity("string", "Text")} MAX-LENGTH="2147483647"/>',
        f"{PREFIX}xhtml": f"<DATATYPE-DEFINITION-XHTML {_identity('xhtml', 'Formatted text')}/>",
    }
    for kind, enums in _ENUMS.items():
        for name, values in enums.items():
            entries = "".join(
                f"<ENUM-VALUE {_identity(f'{kind}-{name}-{value}', value)}><PROPERTIES>"
                f'<EMBEDDED-VALUE KEY="{number}" OTHER-CONTENT=""/></PROPERTIES></ENUM-VALUE>'
                for number, value in enumerate(values)
            )
            found[f"{PREFIX}{kind}-{name}-values"] = (
                f"<DATATYPE-DEFINITION-ENUMERATION {_identity(f'{kind}-{name}-values', f'{_LABELS[kind]} {name}')}>"
                f"<SPECIFIED-VALUES>{entries}</SPECIFIED-VALUES></DATATYPE-DEFINITION-ENUMERATION>"
            )
    return found


def types(*, with_relations: bool) -> dict[str, str]:
    """Return our types of objects, relations and specifications as XML, by their identifiers.

    Those of relations between requirements are there where the document has such.
    """
    found = {}
    for kind, names in FIELDS.items():
        attributes = "".join(_definition(kind, name) for name in names)
        found[type_of(kind)] = (
            f"<SPEC-OBJECT-TYPE {_identity(kind, _LABELS[kind])}><SPEC-ATTRIBUTES>{attributes}</SPEC-ATTRIBUTES>"
            "</SPEC-OBJECT-TYPE>"
        )
    for name in LinkType:
        found[link_type(name)] = (
            f"<SPEC-RELATION-TYPE {_identity(f'link-{name}', name)}><SPEC-ATTRIBUTES>"
            f"<ATTRIBUTE-DEFINITION-STRING {_identity(f'link-{name}-notes', 'Notes')}><TYPE>"
            f"<DATATYPE-DEFINITION-STRING-REF>{PREFIX}string</DATATYPE-DEFINITION-STRING-REF></TYPE>"
            "</ATTRIBUTE-DEFINITION-STRING></SPEC-ATTRIBUTES></SPEC-RELATION-TYPE>"
        )
    for one in RelationType if with_relations else ():
        attributes = "".join(
            f"<ATTRIBUTE-DEFINITION-STRING {_identity(f'relation-{one}-{field}', field.capitalize())}><TYPE>"
            f"<DATATYPE-DEFINITION-STRING-REF>{PREFIX}string</DATATYPE-DEFINITION-STRING-REF></TYPE>"
            "</ATTRIBUTE-DEFINITION-STRING>"
            for field in ("role", "notes")
        )
        found[relation_type(one)] = (
            f"<SPEC-RELATION-TYPE {_identity(f'relation-{one}', one)}><SPEC-ATTRIBUTES>{attributes}</SPEC-ATTRIBUTES>"
            "</SPEC-RELATION-TYPE>"
        )
    found[SPECIFICATION_TYPE] = f"<SPECIFICATION-TYPE {_identity('specification', 'Traceline')}/>"
    return found


def _definition(kind: str, name: str) -> str:
    form = form_of(kind, name)
    datatype = f"{kind}-{name}-values" if form == "ENUMERATION" else form.lower()
    label = _NAMES.get(name) or name.replace("_", " ").capitalize()
    several = ' MULTI-VALUED="false"' if form == "ENUMERATION" else ""
    return (
        f"<ATTRIBUTE-DEFINITION-{form} {_identity(f'{kind}-{name}', label)}{several}><TYPE>"
        f"<DATATYPE-DEFINITION-{form}-REF>{PREFIX}{datatype}</DATATYPE-DEFINITION-{form}-REF></TYPE>"
        f"</ATTRIBUTE-DEFINITION-{form}>"
    )


def _identity(name: str, label: str) -> str:
    return f'IDENTIFIER="{PREFIX}{name}" LAST-CHANGE="{SINCE}" LONG-NAME="{escape_attribute(label)}"'


class Extensions:
    """Our tool extension: values that XML 1.0 cannot hold, or that XHTML does not give back as they were.

    Each says what was written instead (`as`): it counts only while that still stands there, so that it never undoes
    what another tool has changed.
    """

    def __init__(self, extensions: Iterable[Iterable[str]]) -> None:
        self._values: dict[str, dict[str, tuple[Any, Any]]] = {}
        for markup in (one for some in extensions for one in some if self.is_own(one)):
            for element in parsed(markup, recover=True).iter(f"{{{TRACELINE}}}value"):
                try:
                    stored = orjson.loads(element.text or "")
                    place = self._values.setdefault(element.get("object", ""), {})
                    place[element.get("field", "")] = (stored["value"], stored["as"])
                except (orjson.JSONDecodeError, KeyError, TypeError):
                    continue

    @staticmethod
    def is_own(markup: str) -> bool:
        """Check whether a tool extension is ours."""
        return TRACELINE in markup

    def restore(self, identifier: str, fields: dict[str, Any]) -> None:
        """Put the values of an object back, where nobody has changed what stands for them."""
        for name, (value, written) in self._values.get(identifier, {}).items():
            if name in _KEPT_BESIDE and written in (fields.get(name), _mark(fields.get(name))):
                fields[name] = value


def extension_value(identifier: str, name: str, value: Any, written: Any) -> str:
    """Return the element of our tool extension for one value."""
    content = escape_text(json_of_xml(orjson.dumps({"value": value, "as": _mark(written)}).decode()))
    return f'<traceline:value object="{escape_attribute(identifier)}" field="{name}">{content}</traceline:value>'


def _mark(written: Any) -> Any:
    """Return what tells a value from another: of a long text its hash, since an element holds no two such texts."""
    if isinstance(written, str) and len(written) > _LONGEST_AS_IT_IS:
        return f"sha256:{hashlib.sha256(written.encode()).hexdigest()}"
    return written
