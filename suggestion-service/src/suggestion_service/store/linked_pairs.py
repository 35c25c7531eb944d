"""Table `linked_pairs`: the copy of catalog's links, with tombstones."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import orjson

from chassis.db.database import Connection
from chassis.db.rows import fetch_column
from chassis.messaging.rebuild import Reach, replace
from suggestion_service.store import corpus_head

# The head is read so that it is locked before any pair is, as those do who bury pairs.
_PUT = f"""
WITH moved AS ({corpus_head.MOVE})
INSERT INTO linked_pairs (link_id, requirement_id, test_case_id, sequence, deleted)
SELECT r.*, %(deleted)s FROM moved, jsonb_to_recordset(%(rows)s::jsonb)
    AS r(link_id uuid, requirement_id uuid, test_case_id uuid, sequence bigint)
ON CONFLICT (link_id) DO UPDATE SET sequence = excluded.sequence, deleted = excluded.deleted
WHERE linked_pairs.sequence < excluded.sequence
    -- One that was buried unseen stays so until catalog tells of its end: that it was made is late news.
    AND (excluded.deleted OR NOT linked_pairs.deleted OR linked_pairs.sequence > 0)
RETURNING link_id
"""

# Whatever comes later of these links, that they were made among it, is no news.
_BURY = """
INSERT INTO linked_pairs (link_id, requirement_id, test_case_id, sequence, deleted)
SELECT s.link_id, s.requirement_id, s.test_case_id, 0, true FROM suggestions s
WHERE s.id = ANY(%s) AND s.link_id IS NOT NULL ORDER BY s.link_id
ON CONFLICT (link_id) DO UPDATE SET deleted = true WHERE NOT linked_pairs.deleted
"""


@dataclass(slots=True)
class LinkedPair:
    """A link as an event tells of it."""

    link_id: UUID
    requirement_id: UUID
    test_case_id: UUID
    sequence: int


async def put(connection: Connection, rows: Sequence[LinkedPair], *, deleted: bool) -> set[UUID]:
    """Store pairs that are linked, or not any more; return the links of which this is news."""
    return set(await fetch_column(connection, _PUT, {"rows": orjson.dumps(rows).decode(), "deleted": deleted}))


async def bury(connection: Connection, suggestion_ids: Sequence[UUID]) -> None:
    """Mark the links of suggestions deleted, those included that were never seen."""
    await connection.execute(_BURY, (list(suggestion_ids),))


async def merge(connection: Connection, reach: Reach) -> int:
    """Make the pairs what the rebuilt ones are; return how many were wrong or missing."""
    return await replace(connection, "linked_pairs", reach, "link_id")
