"""How much the fields of an item hold: what one member writes, all others read.

What was stored before there were bounds stays, and can be read and changed in its other fields.
"""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from chassis.core.problems import Invalid
from chassis.core.wording import shown

LONGEST_TAG = 100
DEEPEST_SECTION = 12
LONGEST_SECTION_TITLE = 300
MOST_TAGS = 100
LONGEST_TEXT = 100_000
"""Of preconditions and postconditions. A description has no bound but that of a body."""
LONGEST_STEP = 20_000
MOST_STEPS = 1_000
LAST_STEP = 9_999
LONGEST_URL = 2_000
LONGEST_KEY = 500
"""Of a member of custom_metadata or test_data: headers of tables become such."""
MOST_MEMBERS = 10_000
"""Of custom_metadata or test_data, those of objects and lists in it counted."""
DEEPEST = 32

_MOST = {"custom_metadata": MOST_MEMBERS, "test_data": MOST_MEMBERS, "steps": MOST_STEPS, "tags": MOST_TAGS}


def not_blank(text: str) -> str:
    """Return a text; raises ValueError for one of white space alone."""
    if not text or text.isspace():
        raise ValueError("This text must not be blank.")
    return text


def _check_tag(tag: str) -> str:
    if len(tag) > LONGEST_TAG:
        raise _refusal(
            "tag_too_long",
            f"A tag has at most {LONGEST_TAG} characters; {shown(tag)} has {len(tag)}. Shorten it, or put the text into"
            " the description.",
        )
    return not_blank(tag)


def _check_object(value: dict[str, Any]) -> dict[str, Any]:
    for count, (key, depth) in enumerate(_members(value, 1), start=1):
        if key is not None and len(key) > LONGEST_KEY:
            raise _refusal(
                "key_too_long",
                f"The name of a member has at most {LONGEST_KEY} characters; {shown(key)} has {len(key)}. Shorten it.",
            )
        if depth > DEEPEST:
            raise _refusal("too_deep", f"Objects and lists in it are nested at most {DEEPEST} deep; make it flatter.")
        if count > MOST_MEMBERS:
            raise _refusal("too_many", f"It has at most {MOST_MEMBERS} members in all. Leave some out.")
    return value


def _refusal(code: str, message: str) -> PydanticCustomError:
    return PydanticCustomError(code, "{message}", {"message": message})


def check_growth(name: str, before: Any, after: Any) -> None:
    """Raise Invalid for a field that was added to, and has become larger than it may be, or than it was before that."""
    most = _MOST.get(name)
    if most is None or after is None:
        return
    count = sum(1 for _ in _members(after, 1))
    if count > most and count > sum(1 for _ in _members(before, 1)):
        raise Invalid.field(
            f"/{name}",
            f"It has at most {most} members in all; together with what is there, these are {count}. Remove some first.",
            "too_many",
        )


def _members(value: Any, depth: int) -> Iterator[tuple[str | None, int]]:
    members = value.items() if isinstance(value, dict) else ((None, one) for one in value or ())
    for key, member in members:
        yield key, depth
        if isinstance(member, dict | list):
            yield from _members(member, depth + 1)


Tag = Annotated[str, AfterValidator(_check_tag), Field(json_schema_extra={"maxLength": LONGEST_TAG})]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]
SectionTitle = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_SECTION_TITLE),
    AfterValidator(not_blank),
]
Section = Annotated[list[SectionTitle], Field(max_length=DEEPEST_SECTION)]
"""Titles of sections from the top."""
StepText = Annotated[str, StringConstraints(max_length=LONGEST_STEP)]
JsonObject = Annotated[
    dict[str, Any],
    AfterValidator(_check_object),
    Field(
        json_schema_extra={"maxProperties": MOST_MEMBERS, "propertyNames": {"maxLength": LONGEST_KEY}},
    ),
]
"""Free JSON of a client's own."""
