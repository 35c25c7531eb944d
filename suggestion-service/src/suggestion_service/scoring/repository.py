"""SQL of scoring: what the corpus is made of, which pairs may be suggested, and storing them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from chassis.db.database import Connection
from suggestion_service.locking import lock_suggestions

# A pair may be suggested when it is not linked and was not suggested since the text of one of the two changed, nor is
# about to be pending again. What a run has withdrawn counts as never suggested: nobody has decided about it.
# OFFSET 0 has the few pairs of a chunk looked up one by one: joined, whole tables would be read for each chunk.
_MAY_BE_SUGGESTED = """
    NOT EXISTS (SELECT FROM linked_pairs l WHERE l.requirement_id = n.requirement_id
                AND l.test_case_id = n.test_case_id AND NOT l.deleted OFFSET 0)
    AND NOT EXISTS (SELECT FROM suggestions s WHERE s.requirement_id = n.requirement_id
                    AND s.test_case_id = n.test_case_id
                    AND (s.status = 'pending'
                         OR EXISTS (SELECT FROM undo_intents u WHERE u.suggestion_id = s.id)
                         OR NOT s.withdrawn AND s.requirement_text_sequence >= n.requirement_text_sequence
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

# What a run withdrew comes back as the suggestion that it was, but not by the same run: it has looked at the pair.
_LOCK_WITHDRAWN = f"""
SELECT s.id FROM suggestions s WHERE s.id IN (
    SELECT w.id FROM pg_temp.new_suggestions n CROSS JOIN LATERAL (
        SELECT id FROM suggestions w WHERE w.requirement_id = n.requirement_id AND w.test_case_id = n.test_case_id
            AND w.withdrawn AND w.run_id IS DISTINCT FROM %(run_id)s LIMIT 1) w
    WHERE {_MAY_BE_SUGGESTED})
ORDER BY s.id FOR UPDATE
"""

_BRING_BACK = """
UPDATE suggestions s SET similarity_score = n.similarity_score, suggestion_method = n.suggestion_method,
    suggestion_reason = n.suggestion_reason, suggestion_metadata = n.suggestion_metadata, status = 'pending',
    created_at = %(now)s, feedback = NULL, run_id = %(run_id)s, withdrawn = false,
    requirement_text_sequence = n.requirement_text_sequence, test_case_text_sequence = n.test_case_text_sequence
FROM pg_temp.new_suggestions n
WHERE s.id = ANY(%(ids)s) AND s.requirement_id = n.requirement_id AND s.test_case_id = n.test_case_id
RETURNING s.requirement_id, s.test_case_id
"""

# Never by a score of an older text, and not those that somebody is accepting.
_OPEN = """
    s.id = n.id AND s.status = 'pending' AND s.requirement_text_sequence <= n.requirement_text_sequence
    AND s.test_case_text_sequence <= n.test_case_text_sequence
    AND NOT EXISTS (SELECT FROM accept_intents a WHERE a.suggestion_id = s.id)
"""

_RESCORE = f"""
UPDATE suggestions s SET similarity_score = n.similarity_score, suggestion_method = n.suggestion_method,
    suggestion_reason = n.suggestion_reason, suggestion_metadata = n.suggestion_metadata,
    requirement_text_sequence = n.requirement_text_sequence, test_case_text_sequence = n.test_case_text_sequence,
    run_id = coalesce(%(run_id)s, s.run_id)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(id uuid, similarity_score double precision, suggestion_method text,
    suggestion_reason text, suggestion_metadata jsonb, requirement_text_sequence bigint,
    test_case_text_sequence bigint)
WHERE {_OPEN}
    AND (s.similarity_score, s.suggestion_method, s.suggestion_reason, s.suggestion_metadata,
        s.requirement_text_sequence, s.test_case_text_sequence) IS DISTINCT FROM (n.similarity_score,
        n.suggestion_method, n.suggestion_reason, n.suggestion_metadata, n.requirement_text_sequence,
        n.test_case_text_sequence)
"""

_WITHDRAW = f"""
UPDATE suggestions s SET status = 'expired', feedback = n.feedback, withdrawn = true, run_id = %(run_id)s,
    requirement_text_sequence = n.requirement_text_sequence, test_case_text_sequence = n.test_case_text_sequence
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(id uuid, feedback text, requirement_text_sequence bigint,
    test_case_text_sequence bigint)
WHERE {_OPEN}
"""

_PENDING = "SELECT s.id, s.requirement_id, s.test_case_id FROM suggestions s"

# In the order of an index, from after one pair on.
_PENDING_BETWEEN = f"""
{_PENDING}
WHERE s.status = 'pending' AND (s.requirement_id, s.test_case_id) > (%(requirement_id)s, %(test_case_id)s)
    AND s.requirement_id <= %(last_id)s AND s.run_id IS DISTINCT FROM %(run_id)s
ORDER BY s.requirement_id, s.test_case_id LIMIT %(limit)s
"""


async def changed_items(connection: Connection, after: tuple[int, UUID], limit: int) -> list[dict[str, Any]]:
    """Return items that changed after (change, id), in that order, tombstones included; `terms` is JSON still."""
    cursor = await connection.execute(
        "SELECT id, side, module, tags, priority, terms::text, text_sequence, change, deleted FROM items"
        " WHERE (change, id) > (%s, %s) ORDER BY change, id LIMIT %s",
        (*after, limit),
    )
    return await cursor.fetchall()


async def changed_texts(
    connection: Connection, ids: Sequence[UUID], changes: Sequence[int | None]
) -> list[dict[str, Any]]:
    """Return what those of these items say whose last change is another than the one beside their id."""
    cursor = await connection.execute(
        "SELECT i.id, i.change, i.text, i.module, i.tags FROM unnest(%s::uuid[], %s::bigint[]) AS known(id, change)"
        " JOIN items i ON i.id = known.id WHERE NOT i.deleted AND i.change IS DISTINCT FROM known.change",
        (list(ids), list(changes)),
    )
    return await cursor.fetchall()


async def candidates(connection: Connection, pairs: str, run_id: UUID | None) -> tuple[set[int], int]:
    """Return the places of those pairs that may be suggested, and how many this same run has suggested already.

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
    """Store what was staged, but not of pairs that may not be suggested any more; return the pairs.

    What runs have withdrawn of them is pending again. The corpus must be locked.
    """
    parameters = {"run_id": run_id, "now": now}
    # Planned each time: the table grows under it.
    cursor = await connection.execute(_LOCK_WITHDRAWN, parameters, prepare=False)
    back = [row["id"] for row in await cursor.fetchall()]
    stored = []
    if back:
        cursor = await connection.execute(_BRING_BACK, {**parameters, "ids": back}, prepare=False)
        stored = await cursor.fetchall()
    cursor = await connection.execute(_STORE, parameters, prepare=False)
    stored += await cursor.fetchall()
    return [(row["requirement_id"], row["test_case_id"]) for row in stored]


async def rescore(connection: Connection, ids: Sequence[UUID], rows: str, run_id: UUID | None = None) -> int:
    """Return pending suggestions their new scores (a JSON array), but not those that are being accepted.

    Gives how many that changed; it locks all of them. Those become this run's.
    """
    await lock_suggestions(connection, ids)
    return (await connection.execute(_RESCORE, {"rows": rows, "run_id": run_id})).rowcount


async def withdraw(connection: Connection, ids: Sequence[UUID], rows: str, run_id: UUID) -> int:
    """Expire pending suggestions as this run's, with the feedback of each (a JSON array), to come back some day.

    Not those that are being accepted. Gives how many; it locks all of them.
    """
    await lock_suggestions(connection, ids)
    return (await connection.execute(_WITHDRAW, {"rows": rows, "run_id": run_id})).rowcount


async def pending_of(connection: Connection, item_ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return the pending suggestions of these items."""
    cursor = await connection.execute(
        f"{_PENDING} WHERE s.status = 'pending' AND (s.requirement_id = ANY(%(ids)s) OR s.test_case_id = ANY(%(ids)s))",
        {"ids": list(item_ids)},
    )
    return await cursor.fetchall()


async def pending_between(
    connection: Connection, after: tuple[UUID, UUID], last_id: UUID, run_id: UUID, limit: int
) -> list[dict[str, Any]]:
    """Return pending suggestions that are not this run's, by their pairs, from after the pair (requirement, test case)
    to those of the requirement `last_id`.
    """
    place = {"requirement_id": after[0], "test_case_id": after[1], "last_id": last_id}
    cursor = await connection.execute(_PENDING_BETWEEN, {**place, "run_id": run_id, "limit": limit})
    return await cursor.fetchall()
