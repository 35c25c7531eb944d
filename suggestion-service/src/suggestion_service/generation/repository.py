"""SQL of scoring: what the corpus is made of, which pairs may be suggested, and storing them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from chassis.database import Connection
from suggestion_service.locking import lock_suggestions

# A pair may be suggested when it is not linked and was not suggested since the text of one of the two changed, nor is
# about to be pending again.
# OFFSET 0 has the few pairs of a chunk looked up one by one: joined, whole tables would be read for each chunk.
_MAY_BE_SUGGESTED = """
    NOT EXISTS (SELECT FROM linked_pairs l WHERE l.requirement_id = n.requirement_id
                AND l.test_case_id = n.test_case_id AND NOT l.deleted OFFSET 0)
    AND NOT EXISTS (SELECT FROM suggestions s WHERE s.requirement_id = n.requirement_id
                    AND s.test_case_id = n.test_case_id
                    AND (s.status = 'pending'
                         OR EXISTS (SELECT FROM undo_intents u WHERE u.suggestion_id = s.id)
                         OR s.requirement_text_sequence >= n.requirement_text_sequence
                            AND s.test_case_text_sequence >= n.test_case_text_sequence) OFFSET 0)
"""

_CANDIDATES = f"""
SELECT n.place, o.own IS NULL AS new
FROM jsonb_to_recordset(%(pairs)s::jsonb) AS n(place integer, requirement_id uuid, test_case_id uuid,
    requirement_text_sequence bigint, test_case_text_sequence bigint)
LEFT JOIN LATERAL (SELECT true AS own FROM suggestions s WHERE s.requirement_id = n.requirement_id
    AND s.test_case_id = n.test_case_id AND s.run_id = %(run_id)s LIMIT 1) o ON true
WHERE o.own OR ({_MAY_BE_SUGGESTED})
"""

# A table of the connection: made once, empty again after each transaction.
_STAGE = """
CREATE TEMPORARY TABLE IF NOT EXISTS new_suggestions (requirement_id uuid, test_case_id uuid,
    similarity_score double precision, suggestion_method text, suggestion_reason text, suggestion_metadata jsonb,
    requirement_text_sequence bigint, test_case_text_sequence bigint) ON COMMIT DELETE ROWS
"""

_STORE = f"""
INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method, suggestion_reason,
    suggestion_metadata, status, created_at, run_id, requirement_text_sequence, test_case_text_sequence)
SELECT gen_random_uuid(), n.requirement_id, n.test_case_id, n.similarity_score, n.suggestion_method,
    n.suggestion_reason, n.suggestion_metadata, 'pending', %(now)s, %(run_id)s, n.requirement_text_sequence,
    n.test_case_text_sequence
FROM pg_temp.new_suggestions n
WHERE EXISTS (SELECT FROM items r WHERE r.id = n.requirement_id AND NOT r.deleted OFFSET 0)
    AND EXISTS (SELECT FROM items t WHERE t.id = n.test_case_id AND NOT t.deleted OFFSET 0)
    AND {_MAY_BE_SUGGESTED}
ON CONFLICT (requirement_id, test_case_id) WHERE status = 'pending' DO NOTHING
RETURNING requirement_id, test_case_id
"""

_RESCORE = """
UPDATE suggestions s SET similarity_score = n.similarity_score, suggestion_reason = n.suggestion_reason,
    suggestion_metadata = n.suggestion_metadata, requirement_text_sequence = n.requirement_text_sequence,
    test_case_text_sequence = n.test_case_text_sequence
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(id uuid, similarity_score double precision, suggestion_reason text,
    suggestion_metadata jsonb, requirement_text_sequence bigint, test_case_text_sequence bigint)
WHERE s.id = n.id AND s.status = 'pending'
    AND (s.similarity_score, s.suggestion_reason, s.suggestion_metadata, s.requirement_text_sequence,
        s.test_case_text_sequence) IS DISTINCT FROM (n.similarity_score, n.suggestion_reason, n.suggestion_metadata,
        n.requirement_text_sequence, n.test_case_text_sequence)
    AND s.requirement_text_sequence <= n.requirement_text_sequence
    AND s.test_case_text_sequence <= n.test_case_text_sequence
    AND NOT EXISTS (SELECT FROM accept_intents a WHERE a.suggestion_id = s.id)
"""

_PENDING = "SELECT s.id, s.requirement_id, s.test_case_id, s.suggestion_method FROM suggestions s"


async def changed_items(connection: Connection, after: tuple[int, UUID], limit: int) -> list[dict[str, Any]]:
    """Give items that changed after (change, id), in that order, tombstones included; `terms` is JSON still."""
    cursor = await connection.execute(
        "SELECT id, side, module, tags, priority, terms::text, text_sequence, change, deleted FROM items"
        " WHERE (change, id) > (%s, %s) ORDER BY change, id LIMIT %s",
        (*after, limit),
    )
    return await cursor.fetchall()


async def texts(connection: Connection, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Give what these items say."""
    cursor = await connection.execute(
        "SELECT id, text, module, tags FROM items WHERE id = ANY(%s) AND NOT deleted", (list(ids),)
    )
    return await cursor.fetchall()


async def candidates(connection: Connection, pairs: str, run_id: UUID | None) -> tuple[set[int], int]:
    """Give the places of those pairs that may be suggested, and how many this same run has suggested already.

    `pairs` is a JSON array of objects with `place`, the two ids and the two text sequences.
    """
    cursor = await connection.execute(_CANDIDATES, {"pairs": pairs, "run_id": run_id}, prepare=False)
    rows = await cursor.fetchall()
    new = {row["place"] for row in rows if row["new"]}
    return new, len(rows) - len(new)


async def lock_corpus(connection: Connection) -> None:
    """Wait for events that are being applied, and keep others out until the transaction ends."""
    await connection.execute("SELECT head FROM corpus_head FOR UPDATE")


async def stage(connection: Connection, rows: bytes) -> None:
    """Bring new suggestions (lines of COPY, see `proposals`) to where `store` finds them in the same transaction."""
    await connection.execute(_STAGE)
    async with connection.cursor().copy("COPY pg_temp.new_suggestions FROM STDIN") as copy:
        await copy.write(rows)


async def store(connection: Connection, run_id: UUID | None, now: datetime) -> list[tuple[UUID, UUID]]:
    """Store what was staged, but not of pairs that may not be suggested any more; give the pairs.

    The corpus must be locked.
    """
    # Planned each time: the table grows under it.
    cursor = await connection.execute(_STORE, {"run_id": run_id, "now": now}, prepare=False)
    return [(row["requirement_id"], row["test_case_id"]) for row in await cursor.fetchall()]


async def rescore(connection: Connection, ids: Sequence[UUID], rows: str) -> int:
    """Give pending suggestions their new scores (a JSON array), but not those that are being accepted.

    Gives how many that changed; it locks all of them.
    """
    await lock_suggestions(connection, ids)
    return (await connection.execute(_RESCORE, {"rows": rows})).rowcount


async def pending_of(connection: Connection, item_ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Give the pending suggestions of these items."""
    cursor = await connection.execute(
        f"{_PENDING} WHERE s.status = 'pending' AND (s.requirement_id = ANY(%(ids)s) OR s.test_case_id = ANY(%(ids)s))",
        {"ids": list(item_ids)},
    )
    return await cursor.fetchall()


async def pending_with_old_text(connection: Connection, after: UUID, limit: int) -> list[dict[str, Any]]:
    """Give, by id, pending suggestions whose score is that of a text that has changed since."""
    cursor = await connection.execute(
        f"{_PENDING} JOIN items r ON r.id = s.requirement_id JOIN items t ON t.id = s.test_case_id"
        " WHERE s.status = 'pending' AND s.id > %s AND (s.requirement_text_sequence < r.text_sequence"
        " OR s.test_case_text_sequence < t.text_sequence) ORDER BY s.id LIMIT %s",
        (after, limit),
    )
    return await cursor.fetchall()
