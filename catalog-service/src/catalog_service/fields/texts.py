"""Values of fields as people write them into the cells of a file, and fields that a column could become."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import orjson

from catalog_service.fields.definitions import MOST_CHOICES, FieldKind, ProjectField

_YES = frozenset({"yes", "y", "x", "true", "1", "ja", "oui", "si", "sí", "да", "はい", "✓", "✔", "wahr", "vrai"})
_NO = frozenset({"no", "n", "false", "0", "nein", "non", "нет", "いいえ", "-", "falsch", "faux"})
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:[.,]\d+)?")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]00:00(?::00(?:\.0+)?)?)?")
_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_MONTHS = 12
_FEW = 12
"""Different values of a column that may be a closed list."""
_LONGEST_CHOICE = 40
_NAMES = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,3}|[^@\s]+@[^@\s]+\.[^@\s]+")
_PEOPLE = re.compile(r"owner|author|assignee|reviewer|responsible|person|tester|verantwortlich|zuständig|prüfer", re.I)


def value_of(field: ProjectField, text: str) -> Any:
    """Return the value that a text says, None where it is blank; the text itself where the field cannot have it."""
    text = text.strip()
    if not text:
        return None
    match field.kind:
        case FieldKind.NUMBER:
            return _number(text)
        case FieldKind.DATE:
            return _date(text)
        case FieldKind.YES_NO:
            word = text.casefold()
            return True if word in _YES else False if word in _NO else text
        case FieldKind.CHOICE:
            return _choice(field, text)
        case FieldKind.CHOICES:
            return [_choice(field, one) for one in _parts(field, text)]
    return text


def _number(text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text.replace(",", "."))
    return int(number) if number.is_integer() and not re.search("[.,]", text) else number


def _date(text: str) -> str:
    """Return the day that a text says; where it may be two, the text."""
    if found := _ISO.fullmatch(text):
        year, month, day = map(int, found.groups())
    elif found := _DAY_FIRST.fullmatch(text):
        day, month, year = map(int, found.groups())
    elif found := _SLASHED.fullmatch(text):
        first, second, year = map(int, found.groups())
        if first <= _MONTHS and second <= _MONTHS and first != second:
            return text
        day, month = (first, second) if first > _MONTHS else (second, first)
    else:
        return text
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return text


def _choice(field: ProjectField, text: str) -> str:
    look = text.strip().casefold()
    return next((choice for choice in field.choices if choice.casefold() == look), text.strip())


def parse_list(text: str) -> list[str] | None:
    """Return the texts of a list in JSON that a cell has; None where it has none."""
    if not text.startswith("["):
        return None
    try:
        values = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return values if isinstance(values, list) and all(isinstance(value, str) for value in values) else None


def _parts(field: ProjectField, text: str) -> list[str]:
    if (values := parse_list(text)) is not None:
        return values
    if any(choice.casefold() == text.casefold() for choice in field.choices):
        return [text]
    between = "[;\n]" if any("," in choice for choice in field.choices) else "[;,\n]"
    return list(dict.fromkeys(part.strip() for part in re.split(between, text) if part.strip()))


def text_of(value: Any) -> str:
    """Return a value as a cell has it, so that `value_of` says the same again."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        is_plain = not any(re.search("[;,\n]", one) for one in value)
        return "; ".join(value) if is_plain and value else orjson.dumps(value).decode()
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def propose(header: str, values: Sequence[str]) -> dict[str, Any] | None:
    """Return the field that a column could be made, as a mapping makes it, with its key; None for one of no values."""
    texts = [value.strip() for value in values if value.strip()]
    key = key_of(header)
    if not texts or not key:
        return None
    distinct = list(dict.fromkeys(texts))
    made: dict[str, Any] = {"key": key, "name": header.strip()[:100], "kind": _kind(header, texts, distinct)}
    if made["kind"] == FieldKind.CHOICE:
        made["choices"] = distinct
    return {**made, "values": len(distinct)}


def _kind(header: str, texts: Sequence[str], distinct: Sequence[str]) -> str:
    if all(_NUMBER.fullmatch(text) for text in texts):
        return FieldKind.NUMBER
    if all(_date(text) != text or _ISO.fullmatch(text) for text in texts):
        return FieldKind.DATE
    words = {text.casefold() for text in texts}
    if words <= _YES | _NO and words & _YES and words - {"-"}:
        return FieldKind.YES_NO
    if all(re.match(r"https?://\S+\Z", text) for text in texts):
        return FieldKind.ADDRESS
    if _PEOPLE.search(header) and all(_NAMES.fullmatch(text) for text in texts):
        return FieldKind.PERSON
    is_closed = len(distinct) <= min(_FEW, MOST_CHOICES) and len(distinct) * 2 <= len(texts)
    if is_closed and all(len(text) <= _LONGEST_CHOICE and "\n" not in text for text in distinct):
        return FieldKind.CHOICE
    return FieldKind.TEXT


def key_of(name: str) -> str:
    """Return the key that a field of a name could have; nothing where no letter of it could stand in one."""
    key = re.sub(r"[^a-z0-9]+", "_", name.strip().lower().translate(_PLAIN)).strip("_")[:40].rstrip("_")
    return key if re.match("[a-z]", key) else f"f_{key}"[:40] if key else ""


_PLAIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "é": "e", "è": "e", "ê": "e", "à": "a", "ç": "c"})
