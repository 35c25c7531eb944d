"""Reviews as the API takes and answers them. A field that is unknown is refused: what it says would be lost."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from chassis.web.filters import filters_alone
from suggestion_service.review.filters import FilterFields
from suggestion_service.review.schemas import Action, LinkType, Suggestion

_ID = "0d3c2f62-7a0e-4a06-b4a7-0b5c1f5f6a11"
_REVIEW_ID = "c9a1f0de-52c4-4d0b-9a2f-7f1f0c6f5d21"

BulkFeedback = Annotated[str | None, Field(max_length=10_000, description="Stored with each of the suggestions.")]


class Accept(BaseModel):
    """Why it is accepted, and what kind of link to make."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"feedback": "Exactly this.", "link_type": "verifies"}]}
    )

    feedback: str | None = None
    link_type: LinkType = LinkType.COVERS


class Reject(BaseModel):
    """Why it is rejected."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"feedback": "Another door."}]})

    feedback: str | None = None


if TYPE_CHECKING:
    BulkFilter = FilterFields
else:
    BulkFilter = filters_alone(FilterFields, "BulkFilter")


class BulkReview(BaseModel):
    """Several reviews at once: either `ids` or a `filter`, which asks for `expected_count`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"action": "accept", "ids": [_ID]},
                {"action": "reject", "filter": {"max_score": 0.4}, "dry_run": True},
                {"action": "reject", "filter": {"max_score": 0.4}, "expected_count": 12, "feedback": "Too weak."},
            ]
        },
    )

    action: Action
    ids: list[UUID] | None = Field(default=None, max_length=500)
    filter: BulkFilter | None = None
    feedback: BulkFeedback = None
    link_type: LinkType = LinkType.COVERS
    expected_count: Annotated[
        int | None,
        Field(ge=0, description="How many suggestions are to be reviewed; when it is another number now, none is."),
    ] = None
    dry_run: Annotated[bool, Field(description="Only count and show what would be reviewed.")] = False

    @model_validator(mode="after")
    def _either(self) -> "BulkReview":
        if (self.ids is None) == (self.filter is None):
            raise ValueError("Give either the ids or a filter.")
        return self


class ReviewResult(BaseModel):
    """What became of one suggestion; `code` and `detail` tell why not, as the problem of a single review does."""

    id: UUID
    status: str = Field(description="accepted, rejected or error; pending when it was reopened, or in a dry run")
    link_id: UUID | None = None
    code: str | None = None
    detail: str | None = None
    suggestion_status: str | None = Field(
        default=None,
        description="Of `suggestion_not_pending`, as of the next two: what became of it; accepting while it is being.",
    )
    reviewed_by: str | None = Field(default=None, description="Who was first.")
    reviewed_at: datetime | None = None


class _Answer(BaseModel):
    total: int = Field(description="How many suggestions were asked for, each counted once, or match the filter.")
    failed: int
    message: str = Field(description="What was done, and how to go on.")


class BulkResult(_Answer):
    """One result an id, in the order of the ids, or the best first for a filter."""

    items: list[ReviewResult]
    reviewed: int
    dry_run: Annotated[bool, Field(description="False: what could be reviewed has been.")]
    review_id: UUID | None = Field(description="What `undo` takes; null when nothing was reviewed.")


class BulkPreview(_Answer):
    """What a review would be of. Nothing has been reviewed.

    With a filter the items are the best 20 suggestions; with ids there is one result an id.
    """

    items: list[Suggestion] | list[ReviewResult]
    reviewed: Annotated[int, Field(description="0")]
    dry_run: Annotated[bool, Field(description="True: nothing has been reviewed.")]
    review_id: None
    count: int = Field(description="How many suggestions would be reviewed: what to send as `expected_count`.")


class UndoResult(_Answer):
    """One result an id, in the order of the review."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "items": [{"id": _ID, "status": "pending", "link_id": None, "code": None, "detail": None}],
                    "total": 1,
                    "reopened": 1,
                    "failed": 0,
                    "review_id": _REVIEW_ID,
                    "message": "1 suggestion is pending again, as if it had not been reviewed.",
                }
            ]
        }
    )

    items: list[ReviewResult]
    reopened: int
    review_id: UUID
