"""Relations as the API takes and gives them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema

from catalog_service.items.ends import named_by_either
from catalog_service.items.kinds import BRIEF
from catalog_service.items.schemas import NewBody, ShortItem, UpTo100, absent, blank_is_none
from catalog_service.links.schemas import NewerSide
from catalog_service.requirements.schemas import REQUIREMENT_EXAMPLE
from catalog_service.values import RelationSource, RelationType
from chassis.web.tagged import TAGGED_EXAMPLE, Tagged

Notes = Annotated[Annotated[str, Field(max_length=10_000)] | None, BeforeValidator(blank_is_none)]


class RelationCreate(NewBody):
    """A relation to make by hand: the child is below the parent. Each is named by its id or by its external_id."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "child_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                    "parent_id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
                    "relation_type": "derives_from",
                    "notes": "Agreed in the review of 2 March",
                },
                {"child_external_id": "SW-42", "parent_external_id": "SYS-7"},
            ],
            "allOf": [named_by_either("child"), named_by_either("parent")],
        },
    )

    child_id: UUID | None = None
    child_external_id: UpTo100 = None
    parent_id: UUID | None = None
    parent_external_id: UpTo100 = None
    relation_type: RelationType = RelationType.REFINES
    role: Annotated[UpTo100, Field(description="What another tool calls it.")] = None
    notes: Notes = None


class RelationPatch(BaseModel):
    """A JSON merge patch of a relation."""

    model_config = ConfigDict(
        extra="forbid", use_enum_values=True, json_schema_extra={"examples": [{"notes": "Looked at again"}]}
    )

    relation_type: RelationType = Field(default_factory=absent)
    role: UpTo100 = None
    notes: Notes = None


class RelationSuspectReason(BaseModel):
    """Why a relation is suspect: for each side that is newer, from which version to which, and which fields."""

    summary: Annotated[str, Field(description="The same as a sentence.")]
    child: NewerSide | None
    parent: NewerSide | None


RELATION_EXAMPLE: JsonDict = {
    "id": "c3a7f5de-2f5e-4b7c-a2f0-9a4f6d1b7e33",
    "child_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
    "parent_id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
    "relation_type": "refines",
    "role": None,
    "notes": None,
    "source": "manual",
    "created_at": "2026-03-02T08:30:00.123456Z",
    "created_by": "kim@example.com",
    "confirmed_at": None,
    "confirmed_by": None,
    "updated_at": "2026-03-02T08:30:00.123456Z",
    "child_version": 1,
    "parent_version": 1,
    "suspect": True,
    "suspect_reason": {
        "summary": "The parent went from version 1 to 2 (title) after this relation was made or last confirmed.",
        "child": None,
        "parent": {"from_version": 1, "to_version": 2, "fields": ["title"]},
    },
}
_PARENT: JsonDict = {
    "id": RELATION_EXAMPLE["parent_id"],
    "external_id": "SYS-7",
    "title": "Nobody is hurt by a door",
    "module": "doors",
}
_ENDS: JsonDict = {"child": {name: REQUIREMENT_EXAMPLE[name] for name in BRIEF}, "parent": _PARENT}
_EXPANDED: JsonDict = {**RELATION_EXAMPLE, **_ENDS}


class Relation(BaseModel):
    """A relation. It is suspect while either requirement is newer than when it was made or last confirmed."""

    model_config = ConfigDict(json_schema_extra={"examples": [RELATION_EXAMPLE]})

    id: UUID
    child_id: UUID
    parent_id: UUID
    relation_type: RelationType
    role: str | None
    notes: str | None
    source: RelationSource
    created_at: datetime
    created_by: str | None
    confirmed_at: datetime | None
    confirmed_by: str | None
    updated_at: Annotated[datetime, Field(description="When it was made, changed or confirmed last.")]
    child_version: Annotated[int, Field(description="The version of the child that it was made or last confirmed for.")]
    parent_version: Annotated[int, Field(description="That of the parent.")]
    suspect: bool
    suspect_reason: RelationSuspectReason | None


class ExpandedRelation(Relation):
    """A relation, with both requirements where `expand=items` asks for them."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXPANDED]})

    child: ShortItem | SkipJsonSchema[None] = None
    parent: ShortItem | SkipJsonSchema[None] = None


class ListedRelation(Tagged, ExpandedRelation):
    """A relation as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_EXPANDED, **TAGGED_EXAMPLE}]})


class RelatedRequirement(Relation):
    """A relation of a requirement, with the requirement on its other side."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{**RELATION_EXAMPLE, "direction": "parent", "requirement": _PARENT}]}
    )

    direction: Annotated[Literal["parent", "child"], Field(description="What the other requirement is to this one.")]
    requirement: ShortItem
