"""The levels of a project as the API takes and gives them."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from chassis.web.text_forms import NOT_BLANK, TextForm

MOST_LEVELS: Final = 8
LONGEST_KEY: Final = 40
LONGEST_NAME: Final = 100
_EXAMPLE: JsonDict = {
    "levels": [
        {"key": "system", "name": "System requirement", "needs": ["child"]},
        {"key": "software", "name": "Software requirement", "needs": ["parent", "test"]},
    ]
}


class Need(StrEnum):
    """What each requirement of a level is to have: one above it, one below it, a test."""

    PARENT = "parent"
    CHILD = "child"
    TEST = "test"


class Level(BaseModel):
    """A level of requirements."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: Annotated[
        str,
        TextForm(
            "[a-z][a-z0-9_]{0,39}",
            "is no key of a level: that has 1 to 40 of a-z, 0-9 and _, and begins with a letter, such as system",
        ),
        Field(description="By which requirements, filters and files name it."),
    ]
    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME),
        NOT_BLANK,
        Field(description="What people read."),
    ]
    needs: Annotated[
        tuple[Need, ...],
        Field(max_length=len(Need), description="What each requirement of it is to have; without it, it is a gap."),
    ] = ()

    @field_validator("needs")
    @classmethod
    def _each_once(cls, needs: tuple[Need, ...]) -> tuple[Need, ...]:
        return tuple(need for need in Need if need in needs)


class LevelsWrite(BaseModel):
    """All levels of a project from the top: what is left out is removed."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True, json_schema_extra={"examples": [_EXAMPLE]})

    levels: Annotated[list[Level], Field(max_length=MOST_LEVELS)]

    @field_validator("levels")
    @classmethod
    def _differ(cls, levels: list[Level]) -> list[Level]:
        for what, names in (("key", [one.key for one in levels]), ("name", [one.name.casefold() for one in levels])):
            for number, name in enumerate(names):
                if name in names[:number]:
                    context = {"what": what, "name": name}
                    raise PydanticCustomError("repeated", "Two levels have the {what} {name}; change one.", context)
        return levels


class ProjectLevels(BaseModel):
    """The levels of a project."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    levels: list[Level]
