"""What history answers, for the OpenAPI document."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from catalog_service.items.schemas import ShortItem
from chassis.web.listing import Page


class HistoryAction(StrEnum):
    """What happened to an item."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


class ValueChange(BaseModel):
    """A field before and after; null where there was or is none."""

    before: Any
    after: Any


class HistoryEntry(BaseModel):
    """One change of an item: who made it, when, from which version to which, and each field before and after."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "action": "updated",
                    "actor": "kim@example.com",
                    "occurred_at": "2026-03-03T09:30:00.123456Z",
                    "from_version": 1,
                    "to_version": 2,
                    "changes": {"title": {"before": "Doors close", "after": "Doors close before departure"}},
                }
            ]
        }
    )

    action: HistoryAction
    actor: Annotated[str | None, Field(description="The email of who did it.")]
    occurred_at: datetime
    from_version: Annotated[int | None, Field(description="null of a creation.")]
    to_version: Annotated[
        int | None, Field(description="null of a deletion; the same as before where no meaning changed.")
    ]
    changes: dict[str, ValueChange]


class DifferenceSegment(BaseModel):
    """A run of text: in both versions, only in the earlier (`delete`), or only in the later (`insert`)."""

    op: Literal["equal", "delete", "insert"]
    text: str


Differences = Annotated[
    dict[str, list[DifferenceSegment]],
    Field(
        description="Word by word, the fields of meaning that differ: title, description, type, priority; of a test"
        " case also steps, preconditions, postconditions, test_data. Steps are compared as lines, `1. ...`.",
        examples=[
            {
                "title": [
                    {"op": "equal", "text": "Doors close"},
                    {"op": "insert", "text": " before departure"},
                ]
            }
        ],
    ),
]

Coarse = Annotated[
    list[str],
    Field(
        description="Those of the `differences` that are too long for that: where they differ, whole sentences or more"
        " are told as replaced."
    ),
]


class History(Page[HistoryEntry]):
    """A page of what happened to an item, the newest first; with `from` or `to`, how the two versions differ."""

    from_version: int | SkipJsonSchema[None] = None
    to_version: int | SkipJsonSchema[None] = None
    differences: Differences | SkipJsonSchema[None] = None
    coarse: Coarse | SkipJsonSchema[None] = None


class ChangeOfMeaning(BaseModel):
    """Who made a version, when, and which fields it changed."""

    actor: str
    occurred_at: datetime
    to_version: int
    fields: list[str]


class SuspectSide(ShortItem):
    """An item of a link: which version the link was made or confirmed for, which there is now, and how they differ."""

    from_version: int
    to_version: int
    differences: Differences
    coarse: Coarse
    changed_by: Annotated[list[ChangeOfMeaning], Field(description="The newest first.")]


class Suspicion(BaseModel):
    """What changed since a link was made or last confirmed; of a link that is not suspect: nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "link_id": "c3a7f5de-2f5e-4b7c-a2f0-9a4f6d1b7e33",
                    "suspect": True,
                    "summary": "The requirement went from version 1 to 2 (title) after this link was made or last"
                    " confirmed.",
                    "since": "2026-03-02T08:30:00.123456Z",
                    "requirement": {
                        "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                        "external_id": "REQ-42",
                        "title": "Doors close before departure",
                        "module": "doors",
                        "from_version": 1,
                        "to_version": 2,
                        "differences": {
                            "title": [
                                {"op": "equal", "text": "Doors close"},
                                {"op": "insert", "text": " before departure"},
                            ]
                        },
                        "coarse": [],
                        "changed_by": [
                            {
                                "actor": "kim@example.com",
                                "occurred_at": "2026-03-03T09:30:00.123456Z",
                                "to_version": 2,
                                "fields": ["title"],
                            }
                        ],
                    },
                    "test_case": {
                        "id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
                        "external_id": "TC-7",
                        "title": "The train does not start with an open door",
                        "module": "doors",
                        "from_version": 1,
                        "to_version": 1,
                        "differences": {},
                        "coarse": [],
                        "changed_by": [],
                    },
                }
            ]
        }
    )

    link_id: UUID
    suspect: bool
    summary: str | None
    since: Annotated[datetime, Field(description="When the link was made or last confirmed.")]
    requirement: SuspectSide
    test_case: SuspectSide


class RelationSuspicion(BaseModel):
    """What changed since a relation was made or last confirmed; of one that is not suspect: nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "relation_id": "c3a7f5de-2f5e-4b7c-a2f0-9a4f6d1b7e33",
                    "suspect": True,
                    "summary": "The parent went from version 1 to 2 (title) after this relation was made or last"
                    " confirmed.",
                    "since": "2026-03-02T08:30:00.123456Z",
                    "child": {
                        "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                        "external_id": "REQ-42",
                        "title": "Doors close before departure",
                        "module": "doors",
                        "from_version": 1,
                        "to_version": 1,
                        "differences": {},
                        "coarse": [],
                        "changed_by": [],
                    },
                    "parent": {
                        "id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
                        "external_id": "SYS-7",
                        "title": "Nobody is hurt by a door",
                        "module": "doors",
                        "from_version": 1,
                        "to_version": 2,
                        "differences": {
                            "title": [
                                {"op": "equal", "text": "Nobody is hurt"},
                                {"op": "insert", "text": " by a door"},
                            ]
                        },
                        "coarse": [],
                        "changed_by": [
                            {
                                "actor": "kim@example.com",
                                "occurred_at": "2026-03-03T09:30:00.123456Z",
                                "to_version": 2,
                                "fields": ["title"],
                            }
                        ],
                    },
                }
            ]
        }
    )

    relation_id: UUID
    suspect: bool
    summary: str | None
    since: Annotated[datetime, Field(description="When the relation was made or last confirmed.")]
    child: SuspectSide
    parent: SuspectSide
