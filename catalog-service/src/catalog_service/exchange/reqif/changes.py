"""An item as a SPEC-OBJECT again: the one that it was read from, with what people have changed since."""

from collections.abc import Iterator, Mapping
from typing import Any

from catalog_service.exchange.reqif.attributes import raw_of
from catalog_service.exchange.reqif.collector import Raw
from catalog_service.exchange.reqif.fragments import clean
from catalog_service.exchange.reqif.mapping import ObjectMapping, Reading
from catalog_service.exchange.reqif.own import FIELDS
from catalog_service.exchange.reqif.xhtml import paragraphs
from catalog_service.exchange.vocabulary import (
    PRIORITIES,
    REQUIREMENT_STATUSES,
    TEST_CASE_STATUSES,
    meaning,
    normal,
)

_WRITTEN = ("external_id", "description", "title", "status", "priority")
_DEFAULTS: Mapping[str, Any] = {"status": "draft", "automation_status": "manual", "derived": False}
_BESIDE = tuple(
    name
    for name in dict.fromkeys((*FIELDS["requirement"], *FIELDS["test_case"]))
    if name not in ("custom_metadata", "source_system", "created_by")
)
"""Fields that our tool extension keeps where the object itself does not say them."""


class Objects:
    """Makes objects of items, by the schema that the mapping has."""

    def __init__(self, mapping: ObjectMapping) -> None:
        self._mapping = mapping

    def again(self, kind: str, item: Mapping[str, Any], metadata: dict[str, Any]) -> tuple[Raw, dict[str, Any]]:
        """Return an item that came from ReqIF as its object, and what a reader will make of it."""
        raw = raw_of(metadata, self._mapping.schema)
        changed = False
        reading = self._mapping.read(raw, kind)
        for name in _WRITTEN:
            if not _is_same(name, item.get(name), reading.fields.get(name), raw):
                changed |= self._write(name, kind, item.get(name), raw, reading)
                reading = self._mapping.read(raw, kind)
        if changed:
            raw["last_change"] = item["updated_at"]
        fields = reading.fields
        if _is_same("external_id", item.get("external_id"), fields["external_id"], raw):
            fields["external_id"] = item.get("external_id")
        if module := _module(metadata):
            fields["module"] = module
        return raw, fields

    def _write(self, name: str, kind: str, text: Any, raw: Raw, reading: Reading) -> bool:
        """Put a changed field where the object has it, and return whether there is such a place."""
        identifier = reading.taken.get(name) or next(iter(self._mapping.places(name, raw)), None)
        if identifier is None:
            if name == "title" and isinstance(text, str):
                raw["long_name"] = clean(text)
                return True
            return False
        value = next((one for one in raw["values"] if one[1] == identifier), None)
        definition = self._mapping.schema.definitions.get(identifier)
        form = value[0] if value else definition.kind if definition else "string"
        content: Any = clean(text) if isinstance(text, str) else ""
        if form == "enumeration":
            content = self._enum(name, kind, identifier, content)
            if content is None:
                return False
        elif form == "xhtml":
            content = paragraphs(content)
        elif form != "string":
            return False
        if value is None:
            raw["values"].append([form, identifier, content])
        else:
            value[2:] = [content]
        return True

    def _enum(self, name: str, kind: str, identifier: str, wanted: str) -> list[str] | None:
        """Return the value of an enumeration that means this here: one of the same name before others."""
        statuses = TEST_CASE_STATUSES if kind == "test_case" else REQUIREMENT_STATUSES
        meanings = statuses if name == "status" else PRIORITIES
        values = self._mapping.schema.enum_values(identifier).values()
        fit = [one for one in values if normal(one.name) == normal(wanted)]
        fit += [one for one in values if meaning(meanings, one.name, name) == wanted]
        return [fit[0].identifier] if fit else None


def beside(item: Mapping[str, Any], fields: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each field that a reader would not find as it is: its name, its value, and what would be found."""
    for name in _BESIDE:
        value, found = item.get(name), fields.get(name)
        if value != found and _said(name, value) != _said(name, found):
            yield name, value, found


def _said(name: str, value: Any) -> Any:
    return None if value in ("", [], _DEFAULTS.get(name)) else value


def _is_same(name: str, value: Any, read: Any, raw: Raw) -> bool:
    if name == "external_id" and isinstance(value, str):
        # One that another object had, too, is known by its IDENTIFIER; an import may have put a prefix before it.
        return value.endswith((str(read), str(raw["identifier"])))
    return bool(_said(name, value) == _said(name, read))


def _module(metadata: dict[str, Any]) -> str:
    path = metadata.get("path")
    first = path[0] if isinstance(path, list) and path else ""
    module = metadata.get("specification") or first
    return module[:100].strip() if isinstance(module, str) else ""
