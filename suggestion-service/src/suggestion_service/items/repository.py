"""SQL of the copy: items and linked pairs, with tombstones."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson

from chassis.db.database import Connection
from chassis.observability import telemetry

Row = Mapping[str, Any]

_KEEP = """
WITH rows AS (
    SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(
        id uuid, side text, external_id text, title text, module text, tags text[], priority text, text jsonb,
        terms jsonb, text_sequence bigint, sequence bigint, actor_id bigint, actor_email text, correlation_id text)
), moved AS (
    UPDATE corpus_head SET head = head + 1 RETURNING head
), queued AS (
    INSERT INTO scoring_queue (item_id, sequence, actor_id, actor_email, correlation_id, traceparent)
    SELECT id, sequence, actor_id, actor_email, correlation_id, %(traceparent)s::text FROM rows
    WHERE %(score)s AND NOT EXISTS (SELECT FROM items i WHERE i.id = rows.id
                                    AND (i.deleted OR i.sequence >= rows.sequence))
    ON CONFLICT (item_id) DO UPDATE SET sequence = excluded.sequence, actor_id = excluded.actor_id,
        actor_email = excluded.actor_email, correlation_id = excluded.correlation_id, due_at = excluded.due_at,
        attempts = 0, traceparent = excluded.traceparent
)
INSERT INTO items (id, side, external_id, title, module, tags, priority, text, terms, text_sequence, sequence,
    change, deleted, actor_id, actor_email, correlation_id)
SELECT id, side, external_id, title, module, tags, priority, text, terms, text_sequence, sequence, moved.head, false,
    actor_id, actor_email, correlation_id
FROM rows, moved
ON CONFLICT (id) DO UPDATE SET external_id = excluded.external_id, title = excluded.title,
    module = excluded.module, tags = excluded.tags, priority = excluded.priority, text = excluded.text,
    terms = excluded.terms, text_sequence = excluded.text_sequence, sequence = excluded.sequence,
    change = excluded.change, actor_id = excluded.actor_id, actor_email = excluded.actor_email,
    correlation_id = excluded.correlation_id
WHERE items.sequence < excluded.sequence AND NOT items.deleted
"""

_ENTOMB = """
WITH moved AS (UPDATE corpus_head SET head = head + 1 RETURNING head)
INSERT INTO items (id, side, title, tags, priority, text, terms, text_sequence, sequence, change, deleted)
SELECT r.id, r.side, r.title, '{}', r.priority, '{}', '{}', r.sequence, r.sequence, moved.head, true
FROM moved, jsonb_to_recordset(%(rows)s::jsonb) AS r(id uuid, side text, title text, priority text, sequence bigint)
ON CONFLICT (id) DO UPDATE SET text = excluded.text, terms = excluded.terms, sequence = excluded.sequence,
    change = excluded.change, deleted = true
WHERE NOT items.deleted
"""

_KEEP_LINKS = """
WITH moved AS (UPDATE corpus_head SET head = head + 1)
INSERT INTO linked_pairs (link_id, requirement_id, test_case_id, sequence, deleted)
SELECT *, %(deleted)s FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS r(link_id uuid, requirement_id uuid, test_case_id uuid, sequence bigint)
ON CONFLICT (link_id) DO UPDATE SET sequence = excluded.sequence, deleted = excluded.deleted
WHERE linked_pairs.sequence < excluded.sequence AND (excluded.deleted OR NOT linked_pairs.deleted)
RETURNING link_id
"""


async def known(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """Give, of these items, those that the copy has: what they say, and since where in the feed."""
    cursor = await connection.execute(
        "SELECT id, text_sequence, text, module, tags, priority FROM items WHERE id = ANY(%s)",
        (list(ids),),
    )
    return {row["id"]: row for row in await cursor.fetchall()}


async def keep(connection: Connection, rows: Sequence[Row], *, score: bool) -> None:
    """Store items that say something new, unless later news of them are there; with `score`, queue them too."""
    await connection.execute(_KEEP, {"rows": _json(rows), "score": score, "traceparent": telemetry.traceparent()})


async def touch(connection: Connection, rows: Sequence[Row]) -> None:
    """Store of items that scoring reads nothing new from where they are in the feed, and their external ids."""
    if rows:
        await connection.execute(
            "UPDATE items SET external_id = r.external_id, sequence = r.sequence"
            " FROM jsonb_to_recordset(%s::jsonb) AS r(id uuid, external_id text, sequence bigint)"
            " WHERE items.id = r.id AND items.sequence < r.sequence",
            (_json(rows),),
        )


async def entomb(connection: Connection, rows: Sequence[Row]) -> None:
    """Mark items deleted, those included that were never seen, and delete their suggestions."""
    ids = [row["id"] for row in rows]
    await connection.execute(_ENTOMB, {"rows": _json(rows)})
    await connection.execute("DELETE FROM scoring_queue WHERE item_id = ANY(%s)", (ids,))
    # In the order of ids, as everybody locks suggestions.
    await connection.execute(
        "DELETE FROM suggestions WHERE id IN (SELECT id FROM suggestions"
        " WHERE requirement_id = ANY(%(ids)s) OR test_case_id = ANY(%(ids)s) ORDER BY id FOR UPDATE)",
        {"ids": ids},
    )


async def keep_links(connection: Connection, rows: Sequence[Row], *, deleted: bool) -> set[UUID]:
    """Store pairs that are linked, or not any more; return the links of which this is news."""
    cursor = await connection.execute(_KEEP_LINKS, {"rows": _json(rows), "deleted": deleted})
    return {row["link_id"] for row in await cursor.fetchall()}


def _json(rows: Sequence[Row]) -> str:
    return orjson.dumps(rows).decode()
