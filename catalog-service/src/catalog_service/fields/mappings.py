"""Fields of a project in the mappings of files: those that there are, and those that a mapping makes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from catalog_service.fields.definitions import MOST_FIELDS, PREFIX, Fields, ItemName, ProjectField
from chassis.core.wording import listed

_KINDS = {"requirements": ItemName.REQUIREMENT, "test_cases": ItemName.TEST_CASE}


@dataclass(slots=True)
class Fitted:
    """A mapping that names fields of the project alone: those that there are, and those that are to be `made`.

    `left`: what it named beside them, whose columns are further data; `why` of each.
    """

    mapping: dict[str, Any] | None
    fields: Fields
    made: list[ProjectField] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)

    def notices(self) -> list[dict[str, Any]]:
        """Return what the plan says of it."""
        told = []
        if self.made:
            names = listed([f"{one.name} ({one.kind})" for one in self.made], "and")
            told.append(("fields_made", f"Applying it makes fields of the project: {names}.", len(self.made), False))
        for key, why in self.left.items():
            told.append(("field_not_made", f"{PREFIX}{key}: {why} Its column is kept as further data.", 1, True))
        return [
            {"code": code, "row": None, "message": message, "count": count, "unclean": unclean}
            for code, message, count, unclean in told
        ]


def fit(mapping: Mapping[str, Any] | None, present: Fields, *, may_make: bool) -> Fitted:
    """Return a mapping, which is valid, without fields that the project has not and that may not be made."""
    fitted = Fitted(None if mapping is None else dict(mapping), present)
    if mapping is None:
        return fitted
    made: dict[str, ProjectField] = {}
    for kind, key, rule in _named(mapping):
        if key in present.of(kind):
            continue
        make = rule.get("make")
        if key in present.by_key:
            fitted.left[key] = (
                f"the field is none of a {kind.replace('_', ' ')}; an admin of the project can change it."
            )
        elif make is None:
            fitted.left[key] = "the project has no such field."
        elif not may_make:
            fitted.left[key] = "only admins of the project make fields."
        elif len(present.defined) + len(made) >= MOST_FIELDS and key not in made:
            fitted.left[key] = f"a project has at most {MOST_FIELDS} fields."
        else:
            _make(made, fitted.left, kind, key, make)
    fitted.made = list(made.values())
    fitted.fields = Fields(present.revision, (*present.defined, *fitted.made), present.former)
    fitted.mapping = _without(mapping, fitted.fields)
    return fitted


def makes_fields(mapping: Mapping[str, Any]) -> bool:
    """Check whether a mapping makes fields of a project."""
    return any(rule.get("make") is not None for _, _, rule in _named(mapping) if isinstance(rule, Mapping))


def _make(made: dict[str, ProjectField], left: dict[str, str], kind: str, key: str, make: Mapping[str, Any]) -> None:
    of = [*(made[key].of if key in made else ()), *(make.get("of") or [kind])]
    try:
        made[key] = ProjectField.model_validate({"name": key, **make, "key": key, "of": of[:2]})
    except ValidationError as error:
        made.pop(key, None)
        left[key] = f"it cannot be made: {error.errors()[0]['msg']}"


def _named(mapping: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the kind of item, the key and the rule of each field of a project that a mapping names."""
    for part in (mapping, *mapping.get("sheets", ())):
        kind = _KINDS.get(part.get("kind") or part.get("role") or "")
        for name, rule in (part.get("fields") or {}).items():
            if name.startswith(PREFIX) and kind is not None:
                yield kind, name.removeprefix(PREFIX), rule


def _without(part: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """Return a part of a mapping without fields that are not there, and without what makes them."""
    kept = dict(part)
    kind = _KINDS.get(part.get("kind") or part.get("role") or "")
    if part.get("fields"):
        kept["fields"] = {
            name: {key: value for key, value in rule.items() if key != "make"}
            if name.startswith(PREFIX) and isinstance(rule, dict)
            else rule
            for name, rule in part["fields"].items()
            if not name.startswith(PREFIX) or (kind is not None and name.removeprefix(PREFIX) in fields.of(kind))
        }
    if part.get("sheets"):
        kept["sheets"] = [_without(one, fields) for one in part["sheets"]]
    return kept
