"""What a body holds has bounds: what one member writes, all others read."""

import re
from collections.abc import Iterator
from typing import Any

_UNBOUNDED = re.compile(
    r".*(/requirements|/test-cases).*: (/patch)?/description"  # texts without a limit, by the specification
    r"|.*/links.*: (/patch)?/notes"
    r"|.*/suggestions/.*: /feedback"
    r"|.*/bulk: /tags_remove/\[\]"  # tags from before tags had a bound
)
_FORMATS = {"uuid", "date", "date-time", "binary", "email", "uri"}
_ENDLESS = re.compile(r"[^\\][*+]|,\}")
"""Quantifiers of patterns."""


def unbounded(document: dict[str, Any], schema: dict[str, Any], place: str, around: frozenset[str]) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in around:
            yield from unbounded(document, document["components"]["schemas"][name], place, around | {name})
        return
    for kind in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(kind, []):
            yield from unbounded(document, one, place, around)
    pattern = schema.get("pattern", "*+")
    is_short = pattern.startswith("^") and pattern.endswith("$") and not _ENDLESS.search(pattern)
    is_closed = is_short or schema.keys() & {"enum", "const", "maxLength"} or schema.get("format") in _FORMATS
    if schema.get("type") == "string" and not is_closed:
        yield place
    if schema.get("type") == "array":
        if "maxItems" not in schema:
            yield place
        yield from unbounded(document, schema.get("items", {}), f"{place}/[]", around)
    if schema.get("type") == "object":
        for name, member in schema.get("properties", {}).items():
            yield from unbounded(document, member, f"{place}/{name}", around)
        further = schema.get("additionalProperties", "properties" not in schema)
        if further and "maxProperties" not in schema:
            yield place
        if isinstance(further, dict):
            yield from unbounded(document, further, f"{place}/{{}}", around)


def test_every_text_and_list_of_a_body_has_a_bound(document: dict[str, Any]) -> None:
    found = {
        f"{path}: {place}"
        for path, operations in document["paths"].items()
        for operation in operations.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        for place in unbounded(document, content["schema"], "", frozenset())
    }
    assert [place for place in sorted(found) if not _UNBOUNDED.fullmatch(place)] == []
    assert any(map(_UNBOUNDED.fullmatch, found))
