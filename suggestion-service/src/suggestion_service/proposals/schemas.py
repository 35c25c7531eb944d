"""Proposals as the API takes and answers them. A field that is unknown is refused: what it says would be lost."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.config import JsonDict

from chassis.web.listing import Page
from suggestion_service.proposals.evidence import Evidence
from suggestion_service.review.schemas import Action, LinkType, RequirementTexts, ShortItem, TestCaseTexts

MOST_AT_ONCE = 100
_EXAMPLE: JsonDict = {
    "kind": "link",
    "target": {"requirement": "REQ-3", "test_case": "TC-7"},
    "body": {"link_type": "covers"},
    "rationale": "The steps of TC-7 open the door with a valid badge, which is what REQ-3 asks for.",
    "evidence": [{"type": "file", "ref": "tests/test_doors.py", "lines": "12-20", "quote": "assert door.is_open"}],
    "confidence": 0.8,
}
Reference = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
"""An id or an external_id."""


Version = Annotated[int | None, Field(ge=1, le=2**31 - 1)]
Body = Annotated[dict[str, Any], Field(max_length=100)]


class Kind(StrEnum):
    LINK = "link"
    UNLINK = "unlink"
    CONFIRM_LINK = "confirm_link"
    RELATION = "relation"
    REQUIREMENT = "requirement"
    TEST_CASE = "test_case"
    CHANGE = "change"


class ProposalStatus(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    OUTDATED = "outdated"


class LinkTarget(BaseModel):
    """The pair to link, each by its id or its external_id."""

    model_config = ConfigDict(extra="forbid")

    requirement: Reference
    test_case: Reference


class LinkedTarget(LinkTarget):
    """A pair that is linked; with versions, as the agent has read the two: others by now are refused."""

    requirement_version: Version = None
    test_case_version: Version = None


class RelationTarget(BaseModel):
    """Two requirements, the child below the parent, each by its id or its external_id."""

    model_config = ConfigDict(extra="forbid")

    child: Reference
    parent: Reference


class ChangeTarget(BaseModel):
    """The item to change, by its id or its external_id, and the version that it was read at."""

    model_config = ConfigDict(extra="forbid")

    requirement: Reference | None = None
    test_case: Reference | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1)]

    @model_validator(mode="after")
    def _one(self) -> "ChangeTarget":
        if (self.requirement is None) == (self.test_case is None):
            raise ValueError("Name either a requirement or a test_case.")
        return self


class NoTarget(BaseModel):
    """What is new has no target."""

    model_config = ConfigDict(extra="forbid")


class NoBody(BaseModel):
    """Nothing more is to be said."""

    model_config = ConfigDict(extra="forbid")


class LinkBody(BaseModel):
    """The link to make."""

    model_config = ConfigDict(extra="forbid")

    link_type: LinkType = LinkType.COVERS


class _Reasoned(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rationale: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000),
        Field(description="Why, for the person who decides."),
    ]
    evidence: Annotated[list[Evidence], Field(max_length=10)] = []
    confidence: Annotated[
        float | None,
        Field(ge=0, le=1, allow_inf_nan=False, description="The agent's own; shown beside our score, never mixed."),
    ] = None


class LinkProposal(_Reasoned):
    """Link a requirement and a test case."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    kind: Literal["link"]
    target: LinkTarget
    body: LinkBody = LinkBody()


NotDuplicates = Annotated[
    list[Reference],
    Field(max_length=100, description="Ids or external ids of items that say nearly the same, and are others."),
]


class UnlinkProposal(_Reasoned):
    """Delete the link of a pair."""

    kind: Literal["unlink"]
    target: LinkedTarget
    body: NoBody = NoBody()


class ConfirmLinkProposal(_Reasoned):
    """Confirm that a suspect link still holds."""

    kind: Literal["confirm_link"]
    target: LinkedTarget
    body: NoBody = NoBody()


class RelationProposal(_Reasoned):
    """Relate two requirements; `body` is that of `POST /relations` without the two."""

    kind: Literal["relation"]
    target: RelationTarget
    body: Body = {}


class RequirementProposal(_Reasoned):
    """Create a requirement; `body` is that of `POST /requirements`."""

    kind: Literal["requirement"]
    target: NoTarget = NoTarget()
    body: Body
    not_a_duplicate_of: NotDuplicates = []


class TestCaseProposal(_Reasoned):
    """Create a test case; `body` is that of `POST /test-cases`."""

    kind: Literal["test_case"]
    target: NoTarget = NoTarget()
    body: Body
    not_a_duplicate_of: NotDuplicates = []


class ChangeProposal(_Reasoned):
    """Change an item; `body` is a merge patch, as of `PATCH /requirements/{id}`. No newer version is overwritten."""

    kind: Literal["change"]
    target: ChangeTarget
    body: Body


ONE = (
    LinkProposal,
    UnlinkProposal,
    ConfirmLinkProposal,
    RelationProposal,
    RequirementProposal,
    TestCaseProposal,
    ChangeProposal,
)
NewProposal = Annotated[
    LinkProposal
    | UnlinkProposal
    | ConfirmLinkProposal
    | RelationProposal
    | RequirementProposal
    | TestCaseProposal
    | ChangeProposal,
    Field(discriminator="kind"),
]


class ProposalBatch(BaseModel):
    """Up to 100 proposals, each answered by itself."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"proposals": [_EXAMPLE]}]})

    proposals: Annotated[list[NewProposal], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Agent(BaseModel):
    """Who proposes: an API token by its name, and the person or service account whose it is."""

    id: str = Field(description="`tlp_` and the number of the token; `user_` and that of a user who came without one.")
    name: str
    owner: str


class Client(BaseModel):
    """The program that the agent runs in, as it says itself."""

    name: str
    version: str | None = None


class Segment(BaseModel):
    """A run of text: in both, only in the former (`delete`), or only in the new one (`insert`)."""

    op: Literal["equal", "delete", "insert"]
    text: str


class Proposal(BaseModel):
    """What an agent proposes, why, and what became of it.

    `target` has the ids of what it is about. `engine_score` is ours for the pair, by the scale of the queue,
    `confidence` what the agent says: the two are never mixed. `suggestion_id` is of our own pending suggestion of the
    pair, to which it is attached then: they are reviewed as one.
    """

    id: UUID
    kind: Kind
    status: ProposalStatus
    target: dict[str, Any]
    body: dict[str, Any]
    rationale: str
    evidence: list[Evidence]
    confidence: float | None
    engine_score: float | None
    agent: Agent
    client: Client | None
    batch: UUID
    created_at: datetime
    reviewed_at: datetime | None
    reviewed_by: str | None
    feedback: str | None = Field(description="Of the person who reviewed it, or why it ended without a review.")
    review_id: UUID | None
    suggestion_id: UUID | None
    made_id: UUID | None = Field(description="Of the link or item that accepting it made or changed.")
    requirement_id: UUID | None
    test_case_id: UUID | None
    requirement: ShortItem | RequirementTexts | None = Field(description="With `expand=texts`, all that it says.")
    parent: ShortItem | RequirementTexts | None = Field(description="Of a relation, the requirement above.")
    test_case: ShortItem | TestCaseTexts | None = Field(description="With `expand=texts`, all that it says.")
    before: dict[str, Any] | None = Field(default=None, description="Of a change, with `expand=diff`: what it said.")
    differences: dict[str, list[Segment]] | None = Field(
        default=None, description="Of a change, with `expand=diff`: how each field differs, word by word."
    )


class ProposalPage(Page[Proposal]):
    """One page of proposals."""


class Proposed(BaseModel):
    """What became of one proposal of several; `code` and `detail` tell why not, as the problem of a single one does."""

    id: UUID | None
    status: str = Field(description="pending, error, or similar_exists")
    code: str | None = None
    detail: str | None = None
    proposal: Proposal | None = None


class ProposedBatch(BaseModel):
    """One result a proposal, in their order."""

    items: list[Proposed]
    total: int
    proposed: int
    failed: int
    batch: UUID
    message: str


class BulkProposalFilter(BaseModel):
    """Which of those that are pending."""

    model_config = ConfigDict(extra="forbid")

    agent: Annotated[str | None, Field(max_length=1_000)] = None
    batch: Annotated[str | None, Field(max_length=1_000)] = None
    kind: Annotated[str | None, Field(max_length=200)] = None


class BulkProposalReview(BaseModel):
    """Several reviews at once: either `ids` or a `filter`, which asks for `expected_count`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"action": "reject", "filter": {"agent": "tlp_7"}, "expected_count": 12, "feedback": "Guesses."}
            ]
        },
    )

    action: Action
    ids: Annotated[list[UUID] | None, Field(max_length=MOST_AT_ONCE)] = None
    filter: BulkProposalFilter | None = None
    feedback: Annotated[str | None, Field(max_length=10_000)] = None
    expected_count: Annotated[
        int | None, Field(ge=0, description="How many are to be reviewed; when it is another number now, none is.")
    ] = None
    dry_run: Annotated[bool, Field(description="Only count what would be reviewed.")] = False

    @model_validator(mode="after")
    def _either(self) -> "BulkProposalReview":
        if (self.ids is None) == (self.filter is None):
            raise ValueError("Give either the ids or a filter.")
        return self


class ReviewedProposal(BaseModel):
    """What became of one proposal; `code` and `detail` tell why not, as the problem of a single review does."""

    id: UUID
    status: str = Field(description="accepted, rejected or error; pending in a dry run")
    code: str | None = None
    detail: str | None = None


class BulkProposalResult(BaseModel):
    """One result a proposal, in the order of the ids, or the newest first for a filter."""

    items: list[ReviewedProposal]
    total: int
    count: int = Field(description="How many are pending of those asked for: what to send as `expected_count`.")
    reviewed: int
    failed: int
    dry_run: bool
    message: str


class AcceptProposal(BaseModel):
    """Why it is accepted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"feedback": "Exactly this."}]})

    feedback: Annotated[str | None, Field(max_length=10_000)] = None


class RejectProposal(BaseModel):
    """Why it is rejected; the agent reads it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"feedback": "Another door."}]})

    feedback: Annotated[str | None, Field(max_length=10_000)] = None
