"""Patterns of a project that say which test case the name of a test is of: auth-service keeps them, catalog uses them.

A pattern is a text with places, such as `tc{number}`, which makes `TC-7` of the name `test_tc7_opens` by the external
id `TC-{number}`. No regular expressions: those that people write can take for ever on a name that somebody else makes.
A pattern is found at a place of a name in one way or none, since what follows a place is never what the place takes.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

MOST_PATTERNS: Final = 20
_LONGEST: Final = 100
_LONGEST_NAME: Final = 2000
"""Characters of a name that patterns are looked for in."""

_PLACES = {"number": ("0-9", 10), "letters": ("A-Za-z", 30), "id": ("A-Za-z0-9_.-", 100)}
"""What a place takes, all that there is of it, and at most how many characters."""
_PARTS = re.compile(r"\{(?P<place>[^{}]*)\}|(?P<text>[^{}]+)")
_LETTER_OR_DIGIT = r"[^\W_]"
_NAMED = "{number}, {letters} or {id}"


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern: a place, or a text that stands there; `at` counts characters from 1."""

    at: int
    text: str
    is_place: bool

    @property
    def taken(self) -> str:
        """The characters that a place takes, as a class of an expression has them."""
        return _PLACES[self.text][0]

    @property
    def begins_word(self) -> bool:
        """Whether it begins with a letter or digit."""
        return self.is_place or self.text[0].isalnum()

    @property
    def ends_word(self) -> bool:
        """Whether it ends with a letter or digit."""
        return self.is_place or self.text[-1].isalnum()

    def takes_beginning_of(self, other: "_Part") -> bool:
        """Check whether this place takes what another part may begin with."""
        if other.is_place:
            return "id" in (self.text, other.text)
        return re.match(f"[{self.taken}]", other.text) is not None


def _refused(field: str, at: int, detail: str) -> PydanticCustomError:
    return PydanticCustomError(
        "invalid_pattern",
        "{detail} (character {at} of {field})",
        {"detail": detail, "at": at, "field": field},
    )


def _parts(field: str, pattern: str, at: int = 1) -> list[_Part]:
    """Return the parts of a pattern; raise PydanticCustomError with the place of what is none."""
    parts: list[_Part] = []
    seen = 0
    while seen < len(pattern):
        found = _PARTS.match(pattern, seen)
        if found is None:
            raise _refused(field, at + seen, f"A brace must be part of a place: {_NAMED}.")
        place, text = found["place"], found["text"]
        if place is not None and place not in _PLACES:
            raise _refused(field, at + seen, f"{{{place}}} is no place of a pattern; write {_NAMED}.")
        if any(part.is_place and part.text == place for part in parts):
            raise _refused(field, at + seen, f"{{{place}}} stands here a second time; each place can be used once.")
        parts.append(_Part(at + seen, text if place is None else place, place is not None))
        seen = found.end()
    return parts


class NamePattern(BaseModel):
    """What in the name of a test says which test case it is of."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"name": "tc{number}", "external_id": "TC-{number}"}]},
    )

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_LONGEST,
            description="What stands in the name, capitals and all, with places: `{number}`, `{letters}`, and `{id}`"
            " for letters, digits, `_`, `.` and `-`. It is found as a word of its own; with `*` before or behind it,"
            " within one too.",
        ),
    ]
    external_id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_LONGEST,
            description="The external id of the test case, made of the places of the name.",
        ),
    ]

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        _of_name(name)
        return name

    @field_validator("external_id")
    @classmethod
    def _check_external_id(cls, external_id: str, info: ValidationInfo) -> str:
        if "name" in info.data:  # else the name is refused
            _made(external_id, _of_name(info.data["name"]).places)
        return external_id


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds the external ids that names have by one pattern."""

    expression: re.Pattern[str]
    hint: str
    external_id: tuple[_Part, ...]

    def ids(self, name: str) -> Iterator[str]:
        """Return the external ids that a name has, in their order."""
        if self.hint not in name:  # most names, and this is quick
            return
        for found in self.expression.finditer(name, 0, _LONGEST_NAME):
            yield "".join(found[part.text] if part.is_place else part.text for part in self.external_id)


def finders(patterns: Iterable[NamePattern]) -> list[Finder]:
    """Return what finds the external ids of names by patterns."""
    compiled = []
    for pattern in patterns:
        known = _of_name(pattern.name)
        compiled.append(Finder(known.expression, known.hint, _made(pattern.external_id, known.places)))
    return compiled


@dataclass(frozen=True, slots=True)
class _Name:
    """What finds a pattern in names, and its places."""

    expression: re.Pattern[str]
    hint: str
    places: frozenset[str]


def _of_name(pattern: str) -> _Name:
    inner = pattern.removeprefix("*")
    text = inner.removesuffix("*")
    parts = _parts("name", text, 1 + len(pattern) - len(inner))
    places = frozenset(part.text for part in parts if part.is_place)
    if not places:
        raise _refused("name", 1, f"The pattern has no place; write {_NAMED} where names differ.")
    _check_order(parts)
    first, last = parts[0], parts[-1]
    expression = [
        rf"(?<!{_LETTER_OR_DIGIT})" if inner == pattern and first.begins_word else "",
        rf"(?<![{first.taken}])" if first.is_place else "",
        *(_expression(part) for part in parts),
        rf"(?!{_LETTER_OR_DIGIT})" if inner == text and last.ends_word else "",
    ]
    hint = max((part.text for part in parts if not part.is_place), key=len, default="")
    return _Name(re.compile("".join(expression)), hint, places)


def _check_order(parts: list[_Part]) -> None:
    for part in parts:
        star = -1 if part.is_place else part.text.find("*")
        if star >= 0:
            raise _refused("name", part.at + star, "A * stands only before or behind the whole pattern.")
    for before, behind in pairwise(parts):
        if before.is_place and before.takes_beginning_of(behind):
            detail = f"{{{before.text}}} takes what follows it here; put a character between that it does not take."
            raise _refused("name", behind.at, detail)


def _made(external_id: str, places: frozenset[str]) -> tuple[_Part, ...]:
    parts = _parts("external_id", external_id)
    for part in parts:
        if part.is_place and part.text not in places:
            raise _refused("external_id", part.at, f"{{{part.text}}} is no place of the name.")
    if not any(part.is_place for part in parts):
        detail = "The external id has no place; with none, all tests would be of one test case."
        raise _refused("external_id", 1, detail)
    return tuple(parts)


def _expression(part: _Part) -> str:
    if not part.is_place:
        return re.escape(part.text)
    # Possessive: nothing that was taken is given back, so nothing is tried twice.
    return f"(?P<{part.text}>[{part.taken}]{{1,{_PLACES[part.text][1]}}}+)(?![{part.taken}])"
