"""What the cells of a column become in a field: texts, closed lists, lists, numbers, JSON."""

import re
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import Any

import orjson

from catalog_service.exchange.words import fold
from catalog_service.fields.texts import parse_list
from catalog_service.values import (
    AutomationStatus,
    LinkType,
    PriorityLevel,
    RequirementStatus,
    RequirementType,
    TestCaseStatus,
    TestCaseType,
)
from chassis.core.wording import shown
from chassis.web.strict_json import DUPLICATE_KEY, find_duplicate


def _values(of: type[StrEnum]) -> tuple[str, ...]:
    return tuple(value.value for value in of)


CLOSED: dict[str, dict[str, tuple[str, ...]]] = {
    "requirements": {
        "priority": _values(PriorityLevel),
        "type": _values(RequirementType),
        "status": _values(RequirementStatus),
    },
    "test_cases": {
        "priority": _values(PriorityLevel),
        "type": _values(TestCaseType),
        "status": _values(TestCaseStatus),
        "automation_status": _values(AutomationStatus),
    },
    "links": {"link_type": _values(LinkType)},
}
"""The values of closed fields, by kind and field."""

REQUIRED = frozenset({"title", "description", "type", "priority"})
WITH_DEFAULTS = frozenset({"status", "automation_status"})
LONGEST_VALUE = 100
"""Characters of a value of a closed list; longer texts are none, and are not looked up."""
_DIGITS = 10  # of the largest number that the API takes
_MINUTES = {"w": 2400.0, "d": 480.0, "h": 60.0, "m": 1.0, "s": 1 / 60}
"""Of a unit; days and weeks are those of people who work."""
YES_OR_NO = {
    **dict.fromkeys(("true", "yes", "y", "x", "1"), True),
    **dict.fromkeys(("false", "no", "n", "0"), False),
}
_UNIT = r"(w(?=k|eek|\b|\d)|d(?=a|í|\b|\d)|h|m(?=in|\b|\d)|s(?=e[ck]|\b|\d))[^\W\d_]*\.?"
_PART = re.compile(rf"(\d+(?:[.,]\d+)?)\s*{_UNIT}", re.I)
_DURATION = re.compile(rf"{_PART.pattern}(?:[\s,]*{_PART.pattern})*", re.I)
_CLOCK = re.compile(r"(\d+):([0-5]\d)(?::([0-5]\d))?")


class NotConvertible(ValueError):
    """A cell cannot become what its field holds: a code and a message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def converter(name: str, kind: str, split: str | None, *, is_own: bool = False) -> Callable[[str], Any]:
    """Return what makes the value of a field out of a cell that is not blank; of our own, texts are as they are."""
    if name in CLOSED[kind]:
        by_look = {fold(value.replace("_", " ")).replace("-", " "): value for value in CLOSED[kind][name]}

        @lru_cache(1000)
        def closed(text: str) -> str:
            return by_look.get(fold(text).replace("-", " "), text.strip())

        return lambda text: closed(text) if len(text) <= LONGEST_VALUE else text.strip()
    if name == "tags":

        @lru_cache(1000)
        def known(text: str) -> tuple[str, ...]:
            return tuple(_tags(text, split))

        return lambda text: list(known(text)) if len(text) <= LONGEST_VALUE else _tags(text, split)
    if name == "section":
        return lambda text: _titles(text, split)
    if name == "derived":
        return _yes_or_no
    if name in {"custom_metadata", "test_data", "steps"}:
        return lambda text: _object(text, name)
    if name == "execution_time_minutes":
        return minutes
    if name in {"version", "requirement_version", "test_case_version"}:
        return lambda text: int(text) if text.isdecimal() and len(text) <= _DIGITS else text
    if name == "confidence_score":
        return _score
    if not is_own and name in {"external_id", "title", "module", "source_system", "source_url", "created_by"}:
        return str.strip
    return str


def _tags(text: str, split: str | None) -> list[str]:
    if (values := parse_list(text)) is not None:
        return values
    if text.startswith("[") and text.find("]") == len(text) - 1 and text.rfind("[") == 0:
        text, split = text[1:-1], split or ","
    parts = text.split(split) if split is not None else [text]
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _titles(text: str, split: str | None) -> list[str]:
    if (values := parse_list(text)) is not None:
        return values
    parts = text.split(split) if split is not None else [text]
    return [part.strip() for part in parts if part.strip()]


def _yes_or_no(text: str) -> bool | str:
    """Return what a cell says; the text itself where that is neither yes nor no."""
    return YES_OR_NO.get(fold(text), text)


def _object(text: str, name: str) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if isinstance(value, dict):
        if (doubled := find_duplicate(text)) is not None:
            raise NotConvertible(DUPLICATE_KEY, f"{name} has {shown(doubled)} twice in an object; leave one.")
        return value
    if name == "custom_metadata":
        raise NotConvertible("not_an_object", "custom_metadata must be a JSON object, such as {}.")
    return {"text": text} if name == "test_data" else {"1": text}


def minutes(text: str) -> float | str:
    """Return the minutes that a duration says, as an int where they are whole; the text itself where it says none."""
    text = text.strip()
    if text.isdecimal() and len(text) <= _DIGITS:
        return int(text)
    if len(text) > LONGEST_VALUE:
        return text
    if (match := _CLOCK.fullmatch(text)) is not None:
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        found = hours * 60 + minutes + seconds / 60
    elif _DURATION.fullmatch(text):
        parts = _PART.findall(text)
        found = sum(float(number.replace(",", ".")) * _MINUTES[unit.lower()] for number, unit in parts)
    else:
        return text
    return int(found) if found.is_integer() else found


def _score(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
