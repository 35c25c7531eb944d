"""Requirements and test cases as ends of what joins two of them, each named by its id or by its external_id."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.config import JsonDict

from catalog_service.items.kinds import ItemKind
from chassis.core.problems import FieldError, Invalid


def named_by_either(end: str) -> JsonDict:
    """Return the JSON schema of a body that names an end by its id or by its external_id."""
    names = (f"{end}_id", f"{end}_external_id")
    return {"anyOf": [{"required": [name], "properties": {name: {"type": "string"}}} for name in names]}


def check_named(fields: Mapping[str, Any], ends: Iterable[str]) -> None:
    """Raise Invalid unless each of the ends is named."""
    missing = [
        FieldError(f"/{end}_id", f"Send {end}_id or {end}_external_id.", "missing")
        for end in ends
        if fields[f"{end}_id"] is None and fields[f"{end}_external_id"] is None
    ]
    if missing:
        raise Invalid.fields(missing)


def check_found(kind: ItemKind, end: str, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Raise NotFound for an end that is not there, and Invalid where its id and its external_id mean two items."""
    if found[f"{end}_id"] is None:
        raise kind.not_found(wanted[f"{end}_external_id"] if wanted[f"{end}_id"] is None else None)
    name = f"{end}_external_id"
    if wanted[name] not in {None, found[name]}:
        its = "no external_id" if found[name] is None else f"the external_id {found[name]!r}"
        raise Invalid.field(
            f"/{name}",
            f"The {kind.label} with this {end}_id has {its}, not {wanted[name]!r}; send one of the two.",
            "contradiction",
        )
