"""What the events of the stream look like, for the OpenAPI document."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, RootModel

from notification_service.schemas import UnreadCount
from notification_service.vocabulary import ResourceType

EXAMPLE = {
    "id": 42,
    "event": "item.changed",
    "data": {
        "resource_type": "requirement",
        "ids": ["5f0c3b1e-2f6e-4a53-9d0d-0a8f6f1f5a11"],
        "change": "updated",
    },
}


class _Event(BaseModel):
    id: int = Field(description="The position, for `Last-Event-ID`.", examples=[42])


class UnreadEvent(_Event):
    """How many notifications the caller has not read: at the beginning, and when that has changed."""

    event: Literal["unread"]
    data: UnreadCount


class SuggestionsDecided(BaseModel):
    """Which suggestions are not what they were, and by whom: reviewed, pending again, or expired."""

    suggestion_ids: list[UUID] = Field(max_length=500)
    status: Literal["accepted", "rejected", "pending", "expired"]
    by: str = Field(description="An email, or `system`.", examples=["ana@example.com"])
    at: datetime


class SuggestionReviewedEvent(_Event):
    """Suggestions were reviewed, singly or together, reopened, or expired."""

    event: Literal["suggestion.reviewed"]
    data: SuggestionsDecided


class ProposalsTold(BaseModel):
    """Which proposals of agents are new or not what they were, and by whom."""

    proposal_ids: list[UUID] = Field(max_length=500)
    status: Literal["pending", "accepted", "rejected", "withdrawn", "expired", "outdated"]
    by: str = Field(description="An email, or `system`.", examples=["ana@example.com"])
    at: datetime


class ProposalChangedEvent(_Event):
    """Agents have proposed something, or proposals were reviewed, reopened, withdrawn, or are at their end."""

    event: Literal["proposal.changed"]
    data: ProposalsTold


class ChangedItems(BaseModel):
    """Which items changed, and how."""

    resource_type: Literal[ResourceType.REQUIREMENT, ResourceType.TEST_CASE, ResourceType.LINK, ResourceType.RELATION]
    ids: list[UUID] = Field(max_length=500, description="Empty when an import has changed many: it may be any.")
    change: Literal["created", "updated", "deleted"]


class ItemChangedEvent(_Event):
    """Requirements, test cases, links or relations were created, updated or deleted.

    What happened to an item several times within a moment may be told once.
    """

    event: Literal["item.changed"]
    data: ChangedItems


class RunState(BaseModel):
    """A run of generation as it is now."""

    run_id: UUID
    status: Literal["running", "completed", "failed", "cancelled"]
    progress: float | None = Field(description="0..1; null where a program of before does not tell.")
    pairs_analyzed: int
    suggestions_created: int
    suggestions_updated: int
    suggestions_withdrawn: int
    suggestions_skipped: int
    error: str | None = None


class RunProgressEvent(_Event):
    """A run has begun, has come further (told at most once a second), or has ended."""

    event: Literal["run.progress"]
    data: RunState


class ImportState(BaseModel):
    """An import as it is now."""

    import_id: UUID
    status: Literal["applying", "applied"]
    progress: float = Field(ge=0, le=1)


class ImportProgressEvent(_Event):
    """An import is being applied, at most once a second, or is in the record: what it has changed is told before."""

    event: Literal["import.progress"]
    data: ImportState


class CompletedTestRun(BaseModel):
    """Which run of tests ended, and how many of its tests ended how."""

    run_id: UUID
    branch: str
    is_default_branch: bool
    counts: dict[str, int]


class TestRunCompletedEvent(_Event):
    """A run of tests has ended, or one that had ended got more results: verdicts may be others."""

    __test__ = False

    event: Literal["test_run.completed"]
    data: CompletedTestRun


class CoverageFigures(BaseModel):
    """The figures of the whole record."""

    coverage: float = Field(ge=0, le=1, description="Covered of total requirements; 0 where there are none.")
    covered_requirements: int
    total_requirements: int


class CoverageEvent(_Event):
    """There are more or fewer requirements, or more or fewer of them have a link: at most once a second."""

    event: Literal["coverage"]
    data: CoverageFigures


class Nothing(BaseModel):
    """No data."""


class ResetEvent(_Event):
    """The position is not kept any more: whatever is shown may be old, and what comes next is new."""

    event: Literal["reset"]
    data: Nothing


class StreamEvent(
    RootModel[
        Annotated[
            UnreadEvent
            | SuggestionReviewedEvent
            | ProposalChangedEvent
            | ItemChangedEvent
            | RunProgressEvent
            | ImportProgressEvent
            | TestRunCompletedEvent
            | CoverageEvent
            | ResetEvent,
            Field(discriminator="event"),
        ]
    ]
):
    """An event of the stream."""
