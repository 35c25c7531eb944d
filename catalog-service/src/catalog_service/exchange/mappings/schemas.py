"""Saved mappings as the API takes and answers them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.config import JsonDict

from catalog_service.items.bounds import JsonObject
from catalog_service.items.schemas import NewBody, blank_is_none
from chassis.web.tagged import TAGGED_EXAMPLE, Tagged
from chassis.web.text_forms import NOT_BLANK

_WRITTEN: JsonDict = {
    "name": "Jira, weekly",
    "description": "The filter 'Requirements' of the project DOOR",
    "mapping": {
        "version": 1,
        "format": "csv",
        "kind": "requirements",
        "external_id_prefix": "jira:",
        "source_system": "jira",
        "fields": {
            "external_id": {"column": "Issue key"},
            "title": {"column": "Summary"},
            "description": {"column": "Description", "default_from": "title"},
            "priority": {"column": "Priority", "values": {"Highest": "critical", "*": "medium"}},
            "type": {"constant": "functional"},
        },
    },
}
_READ: JsonDict = {
    "id": "0a1d7c9e-58f4-4c1c-8d5f-3e2b7a6c9d10",
    **_WRITTEN,
    "created_by": "kim@example.com",
    "created_at": "2026-03-02T08:15:00.123456Z",
    "updated_at": "2026-03-02T08:15:00.123456Z",
}


_About = Annotated[Annotated[str, Field(max_length=2000)] | None, BeforeValidator(blank_is_none)]


class MappingWrite(NewBody):
    """A mapping to keep; its name is unique."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_WRITTEN]})

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), NOT_BLANK]
    description: _About = None
    mapping: Annotated[JsonObject, Field(description="As POST /imports/inspect proposes it.")]


class SavedMapping(BaseModel):
    """A mapping that is kept."""

    model_config = ConfigDict(json_schema_extra={"examples": [_READ]})

    id: UUID
    name: str
    description: str | None
    mapping: dict[str, Any]
    created_by: str
    created_at: datetime
    updated_at: datetime


class ListedMapping(Tagged, SavedMapping):
    """A mapping as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_READ, **TAGGED_EXAMPLE}]})
