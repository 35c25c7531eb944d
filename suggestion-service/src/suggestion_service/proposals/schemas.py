"""Proposals as the API takes and answers them. A field that is unknown is refused: what it says would be lost."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.config import JsonDict

from chassis.web.listing import Page
from suggestion_service.proposals.evidence import Evidence
from suggestion_service.review.schemas import LinkType, RequirementTexts, ShortItem, TestCaseTexts

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


class Kind(StrEnum):
    LINK = "link"


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


NewProposal = LinkProposal


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
    test_case: ShortItem | TestCaseTexts | None = Field(description="With `expand=texts`, all that it says.")


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


class AcceptProposal(BaseModel):
    """Why it is accepted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"feedback": "Exactly this."}]})

    feedback: Annotated[str | None, Field(max_length=10_000)] = None


class RejectProposal(BaseModel):
    """Why it is rejected; the agent reads it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"feedback": "Another door."}]})

    feedback: Annotated[str | None, Field(max_length=10_000)] = None
