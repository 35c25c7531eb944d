"""Table `undo_intents`: undoings that have begun and whose link is not known to be deleted."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from chassis.messaging.events import Actor

FINISH = "DELETE FROM undo_intents WHERE suggestion_id = ANY(%(ids)s) RETURNING suggestion_id"
"""To stand in a CTE beside what becomes of the suggestions."""

_BEGIN = """
WITH intents AS (
    INSERT INTO undo_intents (suggestion_id, actor_id, actor_email, correlation_id, created_at, due_at, at_page)
    SELECT id, %(actor_id)s, %(email)s, %(correlation_id)s, %(now)s, %(due_at)s, %(at_page)s
    FROM suggestions
    WHERE id = ANY(%(ids)s) AND status IN ('accepted', 'rejected') ORDER BY id
    ON CONFLICT DO NOTHING
    RETURNING *
)
SELECT i.*, s.requirement_id, s.test_case_id, s.link_id, s.review_id
FROM intents i JOIN suggestions s ON s.id = i.suggestion_id
"""

_CLAIM_OVERDUE = """
UPDATE undo_intents u SET due_at = now() + interval '10 seconds' FROM suggestions s
WHERE s.id = u.suggestion_id AND u.suggestion_id IN (
    SELECT suggestion_id FROM undo_intents WHERE due_at <= now() ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING u.*, s.requirement_id, s.test_case_id, s.link_id, s.review_id
"""


@dataclass(frozen=True, slots=True)
class Undo:
    """What is stored with each suggestion that somebody begins to reopen; from `due_at` on it is reconciled."""

    actor_id: int | None
    email: str
    correlation_id: str
    now: datetime
    due_at: datetime
    at_page: bool


@dataclass(frozen=True, slots=True)
class UndoIntent:
    """An undoing of the review of one suggestion that has begun, with its pair and its link."""

    suggestion_id: UUID
    actor_id: int | None
    actor_email: str
    correlation_id: str
    created_at: datetime
    due_at: datetime
    requirement_id: UUID
    test_case_id: UUID
    link_id: UUID | None
    review_id: UUID | None
    project_id: str
    at_page: bool

    @property
    def actor(self) -> Actor:
        """Who undoes it."""
        return Actor(self.actor_id, self.actor_email, self.at_page)


async def begin(connection: Connection, ids: Collection[UUID], undo: Undo) -> list[UndoIntent]:
    """Store the intent to undo the reviews of suggestions, which must be locked; return the intents."""
    return await fetch_all(connection, UndoIntent, _BEGIN, {**asdict(undo), "ids": list(ids)})


async def claim_overdue(connection: Connection, limit: int) -> list[UndoIntent]:
    """Take intents that somebody began and did not finish."""
    return await fetch_all(connection, UndoIntent, _CLAIM_OVERDUE, (limit,))


async def drop(connection: Connection, ids: Sequence[UUID]) -> None:
    """Forget intents, whose suggestions must be locked: they stay as they were reviewed."""
    await connection.execute(FINISH, {"ids": list(ids)})
