"""What a field of a project is, and the fields of a project together."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, field_validator, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from chassis.web.text_forms import NOT_BLANK, TextForm

MOST_FIELDS: Final = 60
MOST_CHOICES: Final = 200
LONGEST_CHOICE: Final = 100
LONGEST_NAME: Final = 100
FIELDS: Final = "fields"
"""The member of custom_metadata that has the values, by key."""
PREFIX: Final = "field."
"""What stands before a key where a field is named beside the fields of all."""


class FieldKind(StrEnum):
    """What the values of a field are."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    CHOICE = "choice"
    CHOICES = "choices"
    PERSON = "person"
    ADDRESS = "address"
    YES_NO = "yes_no"


CHOOSING = frozenset({FieldKind.CHOICE, FieldKind.CHOICES})
"""The kinds whose values are from a list."""


class ItemName(StrEnum):
    """A kind of item."""

    REQUIREMENT = "requirement"
    TEST_CASE = "test_case"

    @property
    def table(self) -> str:
        """The table of its items."""
        return f"{self}s"


EXAMPLE: Final[JsonDict] = {
    "key": "asil",
    "name": "ASIL",
    "of": ["requirement"],
    "kind": "choice",
    "choices": ["QM", "A", "B", "C", "D"],
    "meaning": True,
    "required": False,
    "default": None,
}
KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_Choice = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_CHOICE), NOT_BLANK]


class ProjectField(BaseModel):
    """A field of a project: the items `of` which it is have its value in `custom_metadata.fields.<key>`."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [EXAMPLE]})

    key: Annotated[
        str,
        TextForm(
            KEY.pattern,
            "is no key of a field: that has 1 to 40 of a-z, 0-9 and _, and begins with a letter, such as asil",
        ),
        Field(description="By which the API, filters and files name it; never changed."),
    ]
    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME),
        NOT_BLANK,
        Field(description="What people read."),
    ]
    of: Annotated[tuple[ItemName, ...], Field(min_length=1, max_length=2, description="Which items have it.")]
    kind: FieldKind
    choices: Annotated[
        tuple[_Choice, ...],
        Field(max_length=MOST_CHOICES, description="Of choice and choices: the values, in their order."),
    ] = ()
    meaning: Annotated[
        StrictBool, Field(description="Whether a change raises the version of the item, and makes its links suspect.")
    ] = False
    required: Annotated[StrictBool, Field(description="Whether an item must have it, or gets the default.")] = False
    default: Annotated[Any, Field(description="What an item gets that lacks a required field.")] = None

    @field_validator("of", mode="after")
    @classmethod
    def _each_once(cls, of: tuple[ItemName, ...]) -> tuple[ItemName, ...]:
        return tuple(name for name in ItemName if name in of)

    @model_validator(mode="after")
    def _fits(self) -> "ProjectField":
        if self.kind in CHOOSING:
            if not self.choices:
                raise ValueError(f"A field of the kind {self.kind} needs its choices.")
            for number, choice in enumerate(self.choices):
                if choice in self.choices[:number]:
                    raise PydanticCustomError("repeated", "The choice {choice} is named twice.", {"choice": choice})
        elif self.choices:
            raise ValueError(f"Only choice and choices have choices; this is a field of the kind {self.kind}.")
        return self


class Fields:
    """The fields of a project as they are at a `revision`, 0 where none was ever defined.

    `former` are the keys of fields that were removed: their values stay where they are.
    """

    def __init__(self, revision: int = 0, defined: Iterable[ProjectField] = (), former: Iterable[str] = ()) -> None:
        self.revision = revision
        self.defined = tuple(defined)
        self.former = frozenset(former)

    @cached_property
    def by_key(self) -> Mapping[str, ProjectField]:
        """Each field by its key."""
        return {field.key: field for field in self.defined}

    def of(self, kind: str) -> Mapping[str, ProjectField]:
        """Return the fields that items of a kind have, by key."""
        return self._of_kinds[kind]

    @cached_property
    def _of_kinds(self) -> Mapping[str, Mapping[str, ProjectField]]:
        return {kind: {field.key: field for field in self.defined if kind in field.of} for kind in ItemName}

    @cached_property
    def meaning(self) -> Mapping[str, tuple[str, ...]]:
        """The keys of the fields whose change makes a new version, by kind of item."""
        return {
            kind: tuple(key for key, field in fields.items() if field.meaning)
            for kind, fields in self._of_kinds.items()
        }

    def __bool__(self) -> bool:
        return bool(self.defined)


NONE: Final = Fields()
