"""Table `proposal_intents`: reviews of proposals that have begun and whose outcome in catalog is not known."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from chassis.messaging.events import Actor

NONE = "NOT EXISTS (SELECT FROM proposal_intents i WHERE i.proposal_id = p.id)"
"""The condition that nobody is reviewing the proposal `p`."""

FINISH = "DELETE FROM proposal_intents WHERE proposal_id = ANY(%(ids)s) RETURNING *"
"""To stand in a CTE beside what becomes of the proposals."""

_OF_PROPOSAL = (
    "p.kind, p.requirement_id, p.test_case_id, p.target, p.body, p.before, p.engine_score, p.confidence, p.made_id,"
    " p.review_id AS reviewed_as"
)

_BEGIN = f"""
WITH locked AS (
    SELECT * FROM proposals WHERE id = ANY(%(ids)s)
        AND (%(action)s = 'accept' AND status = 'pending' OR %(action)s = 'undo' AND status IN ('accepted', 'rejected'))
    ORDER BY id FOR UPDATE
), intents AS (
    INSERT INTO proposal_intents (proposal_id, action, reviewer_id, reviewer_email, feedback, correlation_id,
        created_at, due_at, review_id, link_id, at_page)
    SELECT id, %(action)s, %(reviewer_id)s, %(email)s, %(feedback)s, %(correlation_id)s, %(now)s, %(due_at)s,
        %(review_id)s, %(link_id)s, %(at_page)s
    FROM locked ON CONFLICT DO NOTHING
    RETURNING *
)
SELECT intents.*, {_OF_PROPOSAL} FROM intents JOIN locked p ON p.id = proposal_id ORDER BY proposal_id
"""

_CLAIM_OVERDUE = f"""
UPDATE proposal_intents i SET due_at = now() + interval '10 seconds' FROM proposals p
WHERE p.id = i.proposal_id AND i.proposal_id IN (
    SELECT proposal_id FROM proposal_intents WHERE due_at <= now() ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING i.*, {_OF_PROPOSAL}
"""


@dataclass(frozen=True, slots=True)
class Review:
    """What is stored with each proposal whose review begins; from `due_at` on it is reconciled.

    `link_id` is that of a link that is made already, of an acceptance that was lost with an older backup.
    """

    action: Literal["accept", "undo"]
    review_id: UUID
    reviewer_id: int | None
    email: str
    feedback: str | None
    correlation_id: str
    now: datetime
    due_at: datetime
    at_page: bool
    link_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ProposalIntent:
    """A review of one proposal that has begun, with what it is about; `reviewed_as` is the review that is undone."""

    proposal_id: UUID
    action: Literal["accept", "undo"]
    reviewer_id: int | None
    reviewer_email: str
    feedback: str | None
    correlation_id: str
    created_at: datetime
    due_at: datetime
    review_id: UUID
    link_id: UUID | None
    at_page: bool
    project_id: str
    kind: str
    requirement_id: UUID | None
    test_case_id: UUID | None
    target: dict[str, Any]
    body: dict[str, Any]
    before: dict[str, Any] | None
    engine_score: float | None
    confidence: float | None
    made_id: UUID | None
    reviewed_as: UUID | None

    @property
    def reviewer(self) -> Actor:
        """Who reviews it."""
        return Actor(self.reviewer_id, self.reviewer_email, self.at_page)


async def begin(connection: Connection, ids: Sequence[UUID], review: Review) -> list[ProposalIntent]:
    """Store the intent to accept proposals that are pending, or to undo those reviewed; return the intents."""
    return await fetch_all(connection, ProposalIntent, _BEGIN, {**asdict(review), "ids": list(ids)})


async def claim_overdue(connection: Connection, limit: int) -> list[ProposalIntent]:
    """Take intents that somebody began and did not finish."""
    return await fetch_all(connection, ProposalIntent, _CLAIM_OVERDUE, (limit,))


async def drop(connection: Connection, ids: Sequence[UUID]) -> None:
    """Forget intents, whose proposals stay as they are."""
    await connection.execute(FINISH, {"ids": list(ids)})
