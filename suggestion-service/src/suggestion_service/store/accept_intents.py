"""Table `accept_intents`: acceptances that have begun and whose link is not known to be made."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from chassis.messaging.events import Actor
from suggestion_service.store import reviews

NONE = "NOT EXISTS (SELECT FROM accept_intents a WHERE a.suggestion_id = s.id)"
"""The condition that nobody is accepting the suggestion `s`."""

FINISH_ONE = "DELETE FROM accept_intents WHERE suggestion_id = %(id)s RETURNING suggestion_id"
"""To stand in a CTE beside what becomes of the suggestion."""

FINISH_MADE = """
    DELETE FROM accept_intents a USING made WHERE a.suggestion_id = made.suggestion_id
    RETURNING a.*, made.link_id AS made_link_id
"""
"""The same for the rows (suggestion_id, link_id) of `made`."""

_BEGIN = f"""
WITH locked AS (
    SELECT id, requirement_id, test_case_id, similarity_score FROM suggestions
    WHERE id = ANY(%(ids)s) AND status = 'pending' ORDER BY id FOR UPDATE
), intents AS (
    INSERT INTO accept_intents (suggestion_id, reviewer_id, reviewer_email, feedback, link_type, correlation_id,
        created_at, due_at, review_id, link_id, at_page)
    SELECT id, %(reviewer_id)s, %(email)s, %(feedback)s, %(link_type)s, %(correlation_id)s, %(now)s, %(due_at)s,
        %(review_id)s, %(link_id)s, %(at_page)s
    FROM locked ON CONFLICT DO NOTHING
    RETURNING *
), noted AS ({reviews.note("accept", "SELECT suggestion_id FROM intents")})
SELECT intents.*, requirement_id, test_case_id, similarity_score FROM intents JOIN locked ON id = suggestion_id
"""

_CLAIM_OVERDUE = """
UPDATE accept_intents a SET due_at = now() + interval '10 seconds' FROM suggestions s
WHERE s.id = a.suggestion_id AND a.suggestion_id IN (
    SELECT suggestion_id FROM accept_intents WHERE due_at <= now() ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING a.*, s.requirement_id, s.test_case_id, s.similarity_score
"""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What is stored with each suggestion that somebody begins to accept; from `due_at` on it is reconciled.

    `link_id` is that of a link that is made already, of an acceptance that was lost with an older backup.
    """

    review_id: UUID
    reviewer_id: int | None
    email: str
    feedback: str | None
    link_type: str
    link_id: UUID | None
    correlation_id: str
    now: datetime
    due_at: datetime
    at_page: bool


@dataclass(frozen=True, slots=True)
class AcceptIntent:
    """An acceptance of one suggestion that has begun, with its pair and its score."""

    suggestion_id: UUID
    reviewer_id: int | None
    reviewer_email: str
    feedback: str | None
    link_type: str
    correlation_id: str
    created_at: datetime
    due_at: datetime
    review_id: UUID | None
    link_id: UUID | None
    requirement_id: UUID
    test_case_id: UUID
    similarity_score: float
    project_id: str
    at_page: bool

    @property
    def reviewer(self) -> Actor:
        """Who accepts it."""
        return Actor(self.reviewer_id, self.reviewer_email, self.at_page)


async def begin(connection: Connection, ids: Sequence[UUID], acceptance: Acceptance) -> list[AcceptIntent]:
    """Store the intent to accept those of the suggestions that are pending; return the intents."""
    return await fetch_all(connection, AcceptIntent, _BEGIN, {**asdict(acceptance), "ids": list(ids)})


async def claim_overdue(connection: Connection, limit: int) -> list[AcceptIntent]:
    """Take intents that somebody began and did not finish."""
    return await fetch_all(connection, AcceptIntent, _CLAIM_OVERDUE, (limit,))


async def drop(connection: Connection, suggestion_id: UUID) -> None:
    """Forget the intent to accept a suggestion, which stays as it is."""
    await connection.execute(FINISH_ONE, {"id": suggestion_id})
