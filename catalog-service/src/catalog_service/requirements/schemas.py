"""Requirements as the API takes and gives them."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema

from catalog_service.items.bounds import LONGEST_TEXT
from catalog_service.items.schemas import Expanded, ItemPatch, ItemRead, ItemWrite, StoredUrl, absent, blank_is_none
from catalog_service.levels.schemas import LONGEST_KEY
from catalog_service.rolled.schemas import Below, Rolled
from catalog_service.values import RequirementStatus, RequirementType
from chassis.web.tagged import TAGGED_EXAMPLE, Tagged

_EXAMPLE: JsonDict = {
    "external_id": "REQ-42",
    "title": "Doors close before departure",
    "description": "All doors shall be closed and locked before the train starts to move.",
    "type": "functional",
    "priority": "critical",
    "status": "approved",
    "module": "doors",
    "tags": ["safety"],
    "custom_metadata": {"asil": "B"},
    "source_system": "jira",
    "source_url": "https://tracker.example/browse/REQ-42",
    "section": ["3 Doors", "3.2 Closing"],
    "created_by": "kim@example.com",
    "level": "system",
    "derived": False,
    "rationale": None,
}
_LevelKey = Annotated[Annotated[str, Field(max_length=LONGEST_KEY)] | None, BeforeValidator(blank_is_none)]
Rationale = Annotated[Annotated[str, Field(max_length=LONGEST_TEXT)] | None, BeforeValidator(blank_is_none)]
_LEVEL = Field(description="Key of a level of the project.")
_DERIVED = Field(description="Whether it has no requirement above it on purpose; `rationale` says why.")


REQUIREMENT_EXAMPLE: JsonDict = {
    "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
    **_EXAMPLE,
    "position": "065f2c8e31a40",
    "version": 1,
    "created_at": "2026-03-02T08:15:00.123456Z",
    "updated_at": "2026-03-02T08:15:00.123456Z",
}


class RequirementWrite(ItemWrite):
    """A requirement to create, or to replace another."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    type: RequirementType
    status: RequirementStatus = RequirementStatus.DRAFT
    level: Annotated[_LevelKey, _LEVEL] = None
    derived: Annotated[StrictBool, _DERIVED] = False
    rationale: Rationale = None


class RequirementPatch(ItemPatch):
    """Changes of a requirement."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "approved", "module": None}]})

    type: RequirementType = Field(default_factory=absent)
    status: RequirementStatus | None = None
    level: Annotated[_LevelKey, _LEVEL] = None
    derived: Annotated[StrictBool | None, _DERIVED] = None
    rationale: Rationale = None


class Requirement(RequirementWrite, ItemRead):
    """A requirement."""

    model_config = ConfigDict(json_schema_extra={"examples": [REQUIREMENT_EXAMPLE]})

    tags: list[str] = []
    custom_metadata: dict[str, Any] | None = None
    source_url: StoredUrl = None
    section: list[str] = []
    level: str | None = None
    rationale: str | None = None


class ExpandedRequirement(Expanded, Requirement):
    """A requirement, with what `expand` asks for: its coverage, and what it comes to with those below it."""

    rolled: Rolled | SkipJsonSchema[None] = None
    rolled_coverage: Below | SkipJsonSchema[None] = None


class ListedRequirement(Tagged, ExpandedRequirement):
    """A requirement as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**REQUIREMENT_EXAMPLE, **TAGGED_EXAMPLE}]})
