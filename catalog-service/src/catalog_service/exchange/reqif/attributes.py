"""The attributes of an object as they are kept in `custom_metadata.reqif`, and back."""

from collections.abc import Iterator
from typing import Any

from catalog_service.exchange.reqif.collector import KINDS, Raw
from catalog_service.exchange.reqif.schema import Schema

_KINDS = tuple(kind.lower() for kind in KINDS)
_KEPT = ("identifier", "last_change", "long_name", "desc", "alternative_id", "other", "type")


def metadata_of(raw: Raw, schema: Schema) -> dict[str, Any]:
    """Return all that an object says, for `custom_metadata.reqif`."""
    metadata = {name: raw[name] for name in _KEPT if name in raw}
    spec_type = schema.types.get(raw.get("type", ""))
    if spec_type and spec_type.long_name:
        metadata["type_name"] = spec_type.long_name
    metadata["attributes"] = dict(_attributes(raw, schema))
    return metadata


def raw_of(metadata: dict[str, Any], schema: Schema) -> Raw:
    """Return the object that `metadata_of` has described, as far as people have left it in order."""
    raw: Raw = {name: metadata[name] for name in _KEPT if name in metadata}
    keys = _keys(raw, schema)
    identifiers = {key: identifier for identifier, key in keys.items()}
    raw["values"] = values = []
    attributes = metadata.get("attributes")
    for key, attribute in attributes.items() if isinstance(attributes, dict) else ():
        if isinstance(attribute, dict) and attribute.get("kind") in _KINDS:
            values.append(_value(identifiers.get(str(key), str(key)), attribute))
    return raw


def value_keys(raw: Raw, schema: Schema) -> list[str]:
    """Return the names of an object's values, in their order."""
    keys = _keys(raw, schema)
    return [keys.get(value[1], value[1]) for value in raw.get("values", ())]


def _keys(raw: Raw, schema: Schema) -> dict[str, str]:
    spec_type = schema.types.get(raw.get("type", ""))
    return spec_type.keys if spec_type else {}


def _attributes(raw: Raw, schema: Schema) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for key, value in zip(value_keys(raw, schema), raw.get("values", ()), strict=True):
        if key in seen:
            continue
        seen.add(key)
        kind, definition, content = value[:3]
        if kind == "enumeration":
            known = schema.enum_values(definition)
            yield key, {"kind": kind, "value": [_enum(identifier, known) for identifier in content]}
        else:
            yield key, {"kind": kind, "value": content, **(value[3] if len(value) > 3 else {})}


def _enum(identifier: str, known: dict[str, Any]) -> dict[str, str]:
    value = known.get(identifier)
    if value is None:
        return {"identifier": identifier}
    stored = {"name": value.name, "key": value.key, "other_content": value.other_content, "identifier": identifier}
    return {name: text for name, text in stored.items() if text is not None}


def _value(identifier: str, attribute: dict[str, Any]) -> list[Any]:
    kind, content = attribute["kind"], attribute.get("value")
    if kind == "enumeration":
        entries = content if isinstance(content, list) else []
        return [kind, identifier, [entry["identifier"] for entry in entries if _is_enum(entry)]]
    text = content if content is None or isinstance(content, str) else str(content)
    more = {name: attribute[name] for name in ("simplified", "original") if isinstance(attribute.get(name), str)}
    return [kind, identifier, text, more] if more else [kind, identifier, text]


def _is_enum(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("identifier"), str)
