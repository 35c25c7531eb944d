"""What timelines answer, for the OpenAPI document."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from catalog_service.history.schemas import Coarse, Differences, ValueChange
from catalog_service.items.schemas import ShortItem


class TimelineGroup(StrEnum):
    """What entries of a timeline are of."""

    VERSIONS = "versions"
    LINKS = "links"
    SUGGESTIONS = "suggestions"
    RESULTS = "results"
    IMPORTS = "imports"


class TimelineKind(StrEnum):
    """What happened."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    LINK_MADE = "link_made"
    LINK_ACCEPTED = "link_accepted"
    LINK_CHANGED = "link_changed"
    LINK_SUSPECTED = "link_suspected"
    LINK_CONFIRMED = "link_confirmed"
    LINK_REMOVED = "link_removed"
    SUGGESTION_REJECTED = "suggestion_rejected"
    RESULT = "result"


class TimelineResult(BaseModel):
    """A result that is not as the one before it, of the same test on the same branch and environment."""

    status: str
    before: Annotated[str | None, Field(description="null: it is the first.")]
    message: str | None
    test: dict[str, Any]
    run: Annotated[dict[str, Any], Field(description="`recorded_by`: who executed it, of one by hand.")]


class TimelineEntry(BaseModel):
    """One thing that happened; what does not belong to its kind is null or empty."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "item-12",
                    "at": "2026-03-03T09:30:00.123456Z",
                    "kind": "changed",
                    "actor": "kim@example.com",
                    "version": 2,
                    "changes": {"title": {"before": "Doors close", "after": "Doors close before departure"}},
                    "differences": {
                        "title": [
                            {"op": "equal", "text": "Doors close"},
                            {"op": "insert", "text": " before departure"},
                        ]
                    },
                    "coarse": [],
                    "item": None,
                    "link_id": None,
                    "link_type": None,
                    "link_source": None,
                    "suggestion_id": None,
                    "score": None,
                    "note": None,
                    "suspected_by": None,
                    "fields": [],
                    "import_id": None,
                    "result": None,
                }
            ]
        }
    )

    id: str
    at: datetime
    kind: TimelineKind
    actor: Annotated[str | None, Field(description="The email of who did it.")]
    version: Annotated[int | None, Field(description="Of the item after a change of it; of what made a link suspect.")]
    changes: Annotated[dict[str, ValueChange], Field(description="Fields of the item or link, before and after.")]
    differences: Differences
    coarse: Coarse
    item: Annotated[
        ShortItem | None, Field(description="The item at the other end of the link, or the test case of the result.")
    ]
    link_id: UUID | None
    link_type: str | None
    link_source: str | None
    suggestion_id: UUID | None
    score: float | None
    note: str | None
    suspected_by: Annotated[
        str | None, Field(description="Whose new version made the link suspect: requirement or test_case.")
    ]
    fields: Annotated[list[str], Field(description="Which fields that version changed.")]
    import_id: Annotated[UUID | None, Field(description="The import that did it.")]
    result: TimelineResult | None
