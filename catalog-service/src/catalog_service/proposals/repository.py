"""SQL of which proposals have been applied, and what taking that back needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from chassis.db.database import Connection
from chassis.db.rows import fetch_one, fetch_value

# One that was taken back can be applied again.
_BEGIN = """
INSERT INTO applied_proposals AS a (proposal_id, created_at) VALUES (%s, %s)
ON CONFLICT (proposal_id) DO UPDATE SET created_at = excluded.created_at, made_id = NULL, undo = NULL, undone = NULL
WHERE a.undone IS NOT NULL
"""
_IS_USED = """
SELECT EXISTS (SELECT FROM links WHERE requirement_id = %(id)s OR test_case_id = %(id)s)
    OR EXISTS (SELECT FROM requirement_relations WHERE child_id = %(id)s OR parent_id = %(id)s)
    OR EXISTS (SELECT FROM automated_test_cases WHERE test_case_id = %(id)s)
"""


@dataclass(frozen=True, slots=True)
class Applied:
    """A proposal that was applied: what it made, what taking it back needs, and the answer once it is taken back."""

    made_id: UUID | None
    undo: dict[str, Any] | None
    undone: dict[str, Any] | None


async def begin(connection: Connection, proposal_id: UUID) -> bool:
    """Note that a proposal is applied in this transaction; return False where another has, which is waited for."""
    cursor = await connection.execute(_BEGIN, (proposal_id, datetime.now(UTC)))
    return cursor.rowcount == 1


async def finish(connection: Connection, proposal_id: UUID, made_id: UUID, undo: Mapping[str, Any]) -> None:
    """Store what a proposal has made or changed, and what taking it back needs."""
    await connection.execute(
        "UPDATE applied_proposals SET made_id = %s, undo = %s WHERE proposal_id = %s",
        (made_id, Json(undo), proposal_id),
    )


async def made(connection: Connection, proposal_id: UUID) -> UUID:
    """Return what an earlier call has made or changed for a proposal."""
    found: UUID = await fetch_value(
        connection, "SELECT made_id FROM applied_proposals WHERE proposal_id = %s", (proposal_id,)
    )
    return found


async def lock(connection: Connection, proposal_id: UUID) -> Applied | None:
    """Return what a proposal did, locked; None where it was never applied."""
    query = "SELECT made_id, undo, undone FROM applied_proposals WHERE proposal_id = %s FOR UPDATE"
    return await fetch_one(connection, Applied, query, (proposal_id,))


async def take_back(connection: Connection, proposal_id: UUID, answer: Mapping[str, Any]) -> None:
    """Store that what a proposal did is taken back, and the answer to who asks for that again."""
    await connection.execute(
        "UPDATE applied_proposals SET undone = %s WHERE proposal_id = %s", (Json(answer), proposal_id)
    )


async def is_used(connection: Connection, item_id: UUID) -> bool:
    """Check whether links, relations or automated tests are of an item."""
    used: bool = await fetch_value(connection, _IS_USED, {"id": item_id})
    return used
