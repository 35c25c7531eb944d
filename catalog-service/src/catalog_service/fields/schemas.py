"""The fields of a project as the API takes and gives them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from catalog_service.fields.definitions import EXAMPLE, MOST_FIELDS, ProjectField

_OWNER: JsonDict = {
    "key": "owner",
    "name": "Owner",
    "of": ["requirement", "test_case"],
    "kind": "person",
    "choices": [],
    "meaning": False,
    "required": False,
    "default": None,
}
_EXAMPLE: JsonDict = {"fields": [EXAMPLE, _OWNER]}


class FieldsWrite(BaseModel):
    """All fields of a project, in the order in which people see them: what is left out is removed."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    fields: Annotated[list[ProjectField], Field(max_length=MOST_FIELDS)]

    @field_validator("fields")
    @classmethod
    def _each_once(cls, fields: list[ProjectField]) -> list[ProjectField]:
        for what, names in (("key", [f.key for f in fields]), ("name", [f.name.casefold() for f in fields])):
            for number, name in enumerate(names):
                if name in names[:number]:
                    context = {"what": what, "name": name}
                    raise PydanticCustomError("repeated", "Two fields have the {what} {name}; change one.", context)
        return fields


class ProjectFields(BaseModel):
    """The fields of a project."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    fields: list[ProjectField]
