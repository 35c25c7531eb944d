"""SQL of learning: the reviews that still say something, and what is pending."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from suggestion_service.store.suggestions import PENDING, REVIEWED

OF_ONE_REVIEW = 50
"""What one request reviewed says no more than that, however much it was: it was hardly looked at pair by pair."""

# A review is about the texts that were read: it says nothing of later ones, nor when its link was deleted since.
# Those of before there were ids of reviews count as one each.
_STANDING = f"""
SELECT s.id, s.requirement_id, s.test_case_id, s.status, s.similarity_score, s.reviewed_at,
    row_number() OVER (PARTITION BY s.status, coalesce(s.review_id, s.id) ORDER BY s.reviewed_at DESC, s.id) AS place,
    r.external_id AS requirement_external_id, r.title AS requirement_title,
    t.external_id AS test_case_external_id, t.title AS test_case_title
FROM suggestions s JOIN items r ON r.id = s.requirement_id JOIN items t ON t.id = s.test_case_id
WHERE {REVIEWED}
    AND s.requirement_text_sequence >= r.text_sequence AND s.test_case_text_sequence >= t.text_sequence
    AND NOT EXISTS (SELECT FROM linked_pairs l WHERE l.link_id = s.link_id AND l.deleted)
"""

# One of each kind in turn, until there are enough or one kind is at its end: a thousand that were rejected do not take
# the place of the few that were accepted, nor those that were rejected at once that of those rejected one by one.
_REVIEWS = f"""
SELECT requirement_id, test_case_id, status, similarity_score, requirement_title, test_case_title,
    coalesce(requirement_external_id, requirement_title) AS requirement,
    coalesce(test_case_external_id, test_case_title) AS test_case
FROM ({_STANDING}) standing WHERE place <= %s
ORDER BY row_number() OVER (PARTITION BY status ORDER BY reviewed_at DESC, id), reviewed_at DESC, id LIMIT %s
"""

_PENDING = f"""
SELECT id, requirement_id, test_case_id, review_adjustment AS adjustment, review_evidence AS because FROM suggestions s
WHERE {PENDING} AND (requirement_id, test_case_id) > (%s, %s)
ORDER BY requirement_id, test_case_id LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class ReviewedPair:
    """A reviewed pair; `requirement` and `test_case` are external ids, or titles where there are none."""

    requirement_id: UUID
    test_case_id: UUID
    status: str
    similarity_score: float
    requirement_title: str
    test_case_title: str
    requirement: str
    test_case: str

    @property
    def accepted(self) -> bool:
        """Whether it was accepted."""
        return self.status == "accepted"


@dataclass(frozen=True, slots=True)
class PendingPair:
    """A pending suggestion, and what reviews say of it so far."""

    id: UUID
    requirement_id: UUID
    test_case_id: UUID
    adjustment: float | None
    because: list[dict[str, Any]] | None


async def reviews(connection: Connection, limit: int) -> list[ReviewedPair]:
    """Return the latest reviews of texts that have not changed since, with what to call their items.

    They are half accepted and half rejected, as far as there are as many; the rest is filled with the other kind. Of
    one review there are at most `OF_ONE_REVIEW`.
    """
    return await fetch_all(connection, ReviewedPair, _REVIEWS, (OF_ONE_REVIEW, limit))


async def pending(connection: Connection, after: tuple[UUID, UUID], limit: int) -> list[PendingPair]:
    """Return pending suggestions by their pairs, from after the pair (requirement, test case) on."""
    return await fetch_all(connection, PendingPair, _PENDING, (*after, limit))
