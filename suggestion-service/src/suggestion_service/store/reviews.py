"""Table `reviews`: one row a request, of what it reviewed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_one


@dataclass(frozen=True, slots=True)
class Review:
    """A review; `undone_*` are of the last time that some of it was undone."""

    suggestion_ids: list[UUID]
    undone_at: datetime | None
    undone_by: str | None


def note(action: Literal["accept", "reject"], reviewed: str) -> str:
    """Return the statement, to stand in a CTE, that stores the review of the suggestions whose ids `reviewed` gives.

    They stand in the order in which they were asked for (`ids`); there is no row when there are none.
    """
    return f"""
    INSERT INTO reviews (id, action, suggestion_ids, reviewed_by, reviewed_at)
    SELECT %(review_id)s, '{action}', array_agg(id ORDER BY place), %(email)s, %(now)s
    FROM (SELECT id, min(place) AS place FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS asked(id, place) GROUP BY id)
        asked
    WHERE id IN ({reviewed}) HAVING count(*) > 0
    """


def undo(ids: str) -> str:
    """Return the statement, to stand in a CTE, that stores who undid the reviews whose ids `ids` gives."""
    return f"UPDATE reviews SET undone_at = %(now)s, undone_by = %(email)s WHERE id IN ({ids})"


async def get(connection: Connection, review_id: UUID) -> Review | None:
    """Return a review, None when there is none with this id."""
    query = "SELECT suggestion_ids, undone_at, undone_by FROM reviews WHERE id = %s"
    return await fetch_one(connection, Review, query, (review_id,))
