"""What fields of a project take: their values on each write, what is filled in, and what a change of them means."""

import re
from collections.abc import Mapping
from datetime import date
from math import isfinite
from typing import Any

from catalog_service.fields.definitions import FIELDS, PREFIX, FieldKind, Fields, ProjectField
from chassis.core.problems import FieldError, Invalid, pointer
from chassis.core.wording import listed, nearest, shown

LONGEST_TEXT = 10_000
LONGEST_LINE = 500
"""Of a person or an address."""
_LARGEST = 10**15
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SCHEME = re.compile(r"(https?://|mailto:)\S+", re.IGNORECASE)


def refusal(field: ProjectField, value: Any) -> str | None:
    """Return what is wrong with a value, which is not None, as a sentence; None where nothing is."""
    return _REFUSALS[field.kind](field, value)


def _of_text(field: ProjectField, value: Any) -> str | None:
    most = LONGEST_TEXT if field.kind is FieldKind.TEXT else LONGEST_LINE
    if not isinstance(value, str):
        return f"{_name(field)} is a text; {_said(value)} is none."
    if len(value) > most:
        return f"{_name(field)} has at most {most:,} characters; this has {len(value):,}. Shorten it."
    return None


def _of_number(field: ProjectField, value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{_name(field)} is a number, such as 4.5; {_said(value)} is none."
    if not isfinite(value) or abs(value) >= _LARGEST:
        return f"{_name(field)} is a number below {_LARGEST:,}; {_said(value)} is too large."
    return None


def _of_date(field: ProjectField, value: Any) -> str | None:
    if isinstance(value, str) and _DATE.fullmatch(value):
        try:
            date.fromisoformat(value)
        except ValueError:
            return f"{_name(field)} is a day; there is no {shown(value)}."
        return None
    return f"{_name(field)} is a day, written as 2026-01-31; {_said(value)} is none."


def _of_choice(field: ProjectField, value: Any) -> str | None:
    if isinstance(value, str) and value in field.choices:
        return None
    return f"{_name(field)} is {listed(field.choices)}; {_said(value)} is none of them{_meant(field, value)}"


def _of_choices(field: ProjectField, value: Any) -> str | None:
    if not isinstance(value, list):
        return f"{_name(field)} is a list of {listed(field.choices)}; {_said(value)} is no list."
    for number, one in enumerate(value):
        wrong = _of_choice(field, one)
        if wrong is not None:
            return wrong
        if one in value[:number]:
            return f"{_name(field)} has {shown(one)} twice; name it once."
    return None


def _of_address(field: ProjectField, value: Any) -> str | None:
    wrong = _of_text(field, value)
    if wrong is not None or _SCHEME.fullmatch(value):
        return wrong
    return f"{_name(field)} is an address that begins with https://, http:// or mailto:; {_said(value)} does not."


def _of_yes_no(field: ProjectField, value: Any) -> str | None:
    return None if isinstance(value, bool) else f"{_name(field)} is true or false; {_said(value)} is neither."


_REFUSALS = {
    FieldKind.TEXT: _of_text,
    FieldKind.NUMBER: _of_number,
    FieldKind.DATE: _of_date,
    FieldKind.CHOICE: _of_choice,
    FieldKind.CHOICES: _of_choices,
    FieldKind.PERSON: _of_text,
    FieldKind.ADDRESS: _of_address,
    FieldKind.YES_NO: _of_yes_no,
}


def _name(field: ProjectField) -> str:
    return f"{field.name} (field {field.key})"


def _said(value: Any) -> str:
    return shown(value) if isinstance(value, str) else shown(str(value))


def _meant(field: ProjectField, value: Any) -> str:
    meant = nearest(value, field.choices) if isinstance(value, str) else None
    return "." if meant is None else f"; did you mean {shown(meant)}?"


def is_blank(value: Any) -> bool:
    """Check whether a value says nothing: None, a text of white space alone, a list of nothing."""
    return value is None or value == [] or (isinstance(value, str) and (not value or value.isspace()))


def values_of(metadata: Any) -> Mapping[str, Any]:
    """Return the values of fields that the custom_metadata of an item has, by key."""
    values = metadata.get(FIELDS) if isinstance(metadata, dict) else None
    return values if isinstance(values, dict) else {}


def checked(
    fields: Fields, kind: str, metadata: dict[str, Any] | None, before: Any = None, *, is_whole: bool
) -> dict[str, Any] | None:
    """Return the custom_metadata of an item as it is stored: blank values are left out, defaults are filled in.

    `before` is the custom_metadata of the item as it is: what it has already may stay, whatever has become of the
    fields since. `is_whole`: the write says all of the item, so what it lacks of required fields is missing.
    Raises Invalid for a value that its field does not take, for a key that no field has, and for a required field
    without a default that the write lacks or removes.
    """
    if not fields:
        return metadata
    given = metadata.get(FIELDS) if metadata else None
    was = values_of(before)
    errors: list[FieldError] = []
    if given is not None and not isinstance(given, dict):
        if isinstance(before, dict) and before.get(FIELDS) == given:
            return metadata
        detail = "`fields` of custom_metadata has the values of the project's fields, by key: it is an object."
        raise Invalid.field(pointer("custom_metadata", FIELDS), detail, "not_an_object")
    own = fields.of(kind)
    values: dict[str, Any] = {}
    for key, value in (given or {}).items():
        field = own.get(key)
        if key in was and was[key] == value and type(was[key]) is type(value):
            values[key] = value
        elif field is None:
            if key not in fields.former:
                errors.append(_unknown(fields, kind, key))
            values[key] = value
        elif not is_blank(value):
            wrong = refusal(field, value)
            if wrong is not None:
                errors.append(_error(key, wrong, "field_value"))
            values[key] = value
    for key, field in own.items():
        if field.required and key not in values and (is_whole or key in was):
            if field.default is None:
                detail = f"{_name(field)} is required; give each {_label(kind)} a value."
                errors.append(_error(key, detail, "missing"))
            else:
                values[key] = field.default
    if errors:
        raise Invalid.fields(errors)
    if values == given or (not values and given is None):
        return metadata
    others = {name: value for name, value in (metadata or {}).items() if name != FIELDS}
    return {**others, FIELDS: values} if values else others or None


def _unknown(fields: Fields, kind: str, key: str) -> FieldError:
    own = fields.of(kind)
    if key in fields.by_key:
        detail = f"The field {shown(key)} is none of a {_label(kind)}; an admin of the project can make it one."
    else:
        meant = nearest(key, own)
        hint = f"did you mean {meant}?" if meant else f"there is: {', '.join(own) or 'none'}."
        detail = f"The project has no field {shown(key)} of a {_label(kind)}; {hint}"
    return _error(key, detail, "unknown_field")


def _label(kind: str) -> str:
    return kind.replace("_", " ")


def _error(key: str, detail: str, code: str) -> FieldError:
    return FieldError(pointer("custom_metadata", FIELDS, key), detail, code)


def changed_meaning(fields: Fields, kind: str, before: Any, after: Any) -> list[str]:
    """Return the fields of meaning in which two custom_metadata differ, each as `field.KEY`."""
    old, new = values_of(before), values_of(after)
    return [f"{PREFIX}{key}" for key in fields.meaning[kind] if old.get(key) != new.get(key)]
