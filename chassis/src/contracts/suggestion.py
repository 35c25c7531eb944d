"""What suggestion-service tells."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from chassis.messaging.payloads import Momentary, Payload

Id = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
"""An id of which there are too many to make an object of each."""


class _Suggestion(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: UUID
    requirement_id: UUID
    test_case_id: UUID
    requirement_title: str
    test_case_title: str
    similarity_score: float
    status: Literal["accepted", "rejected"]
    link_id: UUID | None
    requirement_external_id: str | None = None
    test_case_external_id: str | None = None


class ReviewedSuggestion(_Suggestion):
    """A suggestion as it is after its review, with the names of its pair for people to read."""

    suggestion_method: str
    feedback: str | None


class ItemSuggestionsGenerated(Momentary):
    """The background found suggestions for one item; the actor is who created or updated it."""

    wire_name = "suggestion.item.generated"
    item_type: Literal["requirement", "test_case"]
    item_id: UUID
    item_title: str
    algorithm: str
    threshold: float
    suggestions_created: int
    suggestions_skipped: int
    item_external_id: str | None = None


class RunProgressed(Momentary):
    """A generation over everything that goes on has come further: at most one event a second; the actor asked for it.

    A run that takes no second has none; its end is told by RunFinished.
    """

    wire_name = "suggestion.run.progressed"
    run_id: UUID
    algorithm: str
    threshold: float
    progress: float
    pairs_analyzed: int
    suggestions_created: int
    suggestions_updated: int
    suggestions_withdrawn: int
    suggestions_skipped: int


class RunFinished(Momentary):
    """A generation over everything ended; the actor is who asked for it. `progress` (0..1): how far it had come.

    With `pending_only` nobody did: scores mean something else since an update, and pending suggestions got new ones.
    `advised_threshold`, where more than ten suggestions a requirement are pending, would leave three.
    """

    wire_name = "suggestion.run.finished"
    run_id: UUID
    status: Literal["completed", "failed", "cancelled"]
    algorithm: str
    threshold: float
    pairs_analyzed: int
    suggestions_created: int
    suggestions_skipped: int
    error: str | None
    suggestions_updated: int = 0
    suggestions_withdrawn: int = 0
    progress: float | None = None
    pending_only: bool = False
    advised_threshold: float | None = None


class SuggestionReviewed(Payload):
    """One suggestion was accepted or rejected; `review_id` is what undoing it takes (none before 0009)."""

    wire_name = "suggestion.suggestion.reviewed"
    suggestion: ReviewedSuggestion
    review_id: UUID | None = None

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the pair."""
        return _pairs([envelope["data"]["suggestion"]])


class SuggestionsBulkReviewed(Payload):
    """Several suggestions were reviewed by one request: one event, not one a suggestion.

    The `feedback` of all stands beside them, once; in events of older programs each has its own.
    """

    wire_name = "suggestion.suggestions.bulk_reviewed"
    action: Literal["accept", "reject"]
    suggestions: list[ReviewedSuggestion]
    review_id: UUID | None = None
    feedback: str | None = None

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the pairs."""
        return _pairs(envelope["data"]["suggestions"])


class ReopenedSuggestion(_Suggestion):
    """A suggestion that is pending again, and what its review had said; `link_id` is of the link that went with it."""

    reviewed_by: str | None
    reviewed_at: datetime | None
    review_id: UUID | None


class SuggestionsReopened(Momentary):
    """Reviews were undone by one request; the actor is who undid them, be they of somebody else."""

    wire_name = "suggestion.suggestions.reopened"
    suggestions: list[ReopenedSuggestion]


class SuggestionsExpired(Momentary):
    """Suggestions were pending for too long, or their pair was linked directly (`reason`)."""

    wire_name = "suggestion.suggestions.expired"
    suggestion_ids: list[UUID]
    reason: str


class PendingPairsChanged(Payload):
    """Pairs became pending, or are so no more; some hundred an event, test cases by requirement.

    Reviews are events of their own: what they take out of the queue is not told here, what they give back to it is.
    """

    wire_name = "suggestion.pending_pairs.changed"
    pending: bool
    pairs: dict[Id, list[Id]]

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the pairs."""
        pairs: Mapping[str, list[str]] = envelope["data"]["pairs"]
        return [
            _pair(requirement_id, test_case_id)
            for requirement_id, test_case_ids in pairs.items()
            for test_case_id in test_case_ids
        ]


class ToldProposal(BaseModel):
    """A proposal of an agent, with the names of what it is about, for people to read.

    `agent` and `owner_email` say which API token proposed it and whose that is, `client` by which program.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: UUID
    kind: str
    status: Literal["pending", "accepted", "rejected", "withdrawn", "expired", "outdated"]
    agent_id: str
    agent_name: str
    owner_email: str
    client: str | None
    batch: UUID
    rationale: str
    feedback: str | None
    review_id: UUID | None
    made_id: UUID | None
    requirement_id: UUID | None
    test_case_id: UUID | None
    requirement_title: str | None
    test_case_title: str | None
    requirement_external_id: str | None
    test_case_external_id: str | None


class ProposalsMade(Momentary):
    """An agent proposed something by one request; the actor is whose token it is. Nothing else has changed."""

    wire_name = "suggestion.proposal.made"
    batch: UUID
    proposals: list[ToldProposal]


class ProposalsReviewed(Momentary):
    """Proposals have another `status`: the actor has reviewed them, undone that, or withdrawn them, or time is over."""

    wire_name = "suggestion.proposal.reviewed"
    proposals: list[ToldProposal]


def _pairs(suggestions: Iterable[Mapping[str, Any]]) -> list[str]:
    return [_pair(suggestion["requirement_id"], suggestion["test_case_id"]) for suggestion in suggestions]


def _pair(requirement_id: str, test_case_id: str) -> str:
    return f"{requirement_id} {test_case_id}"


EVENTS: tuple[type[Payload], ...] = (
    ItemSuggestionsGenerated,
    RunProgressed,
    RunFinished,
    SuggestionReviewed,
    SuggestionsBulkReviewed,
    SuggestionsReopened,
    SuggestionsExpired,
    PendingPairsChanged,
    ProposalsMade,
    ProposalsReviewed,
)
