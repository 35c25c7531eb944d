"""Table `items`: the copy of catalog's requirements and test cases, with tombstones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from chassis.messaging.events import SYSTEM, Actor
from chassis.messaging.rebuild import Reach
from chassis.observability import telemetry
from suggestion_service.engine import Side
from suggestion_service.store import corpus_head, scoring_queue
from suggestion_service.store.scoring_queue import ChangedItem

_QUEUE = scoring_queue.put("""
    SELECT id, sequence, actor_id, actor_email, correlation_id, %(traceparent)s::text FROM rows
    WHERE %(score)s AND NOT EXISTS (SELECT FROM items i WHERE i.id = rows.id AND i.sequence >= rows.sequence)""")

_PUT = f"""
WITH rows AS (
    SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(
        id uuid, side text, external_id text, title text, module text, tags text[], priority text, text jsonb,
        terms jsonb, language text, text_sequence bigint, sequence bigint, actor_id bigint, actor_email text,
        correlation_id text)
), moved AS ({corpus_head.MOVE}), queued AS ({_QUEUE})
INSERT INTO items (id, side, external_id, title, module, tags, priority, text, terms, language, text_sequence, sequence,
    change, deleted, actor_id, actor_email, correlation_id)
SELECT id, side, external_id, title, module, tags, priority, text, terms, language, text_sequence, sequence, moved.head,
    false, actor_id, actor_email, correlation_id
FROM rows, moved
ON CONFLICT (id) DO UPDATE SET external_id = excluded.external_id, title = excluded.title,
    module = excluded.module, tags = excluded.tags, priority = excluded.priority, text = excluded.text,
    terms = excluded.terms, language = excluded.language, text_sequence = excluded.text_sequence,
    sequence = excluded.sequence, change = excluded.change, deleted = false, actor_id = excluded.actor_id,
    actor_email = excluded.actor_email, correlation_id = excluded.correlation_id
WHERE items.sequence < excluded.sequence
"""

_STORE_TOMBSTONES = f"""
WITH moved AS ({corpus_head.MOVE})
INSERT INTO items (id, side, title, tags, priority, text, terms, text_sequence, sequence, change, deleted)
SELECT r.id, r.side, r.title, '{{}}', r.priority, '{{}}', '{{}}', r.sequence, r.sequence, moved.head, true
FROM moved, jsonb_to_recordset(%s::jsonb) AS r(id uuid, side text, title text, priority text, sequence bigint)
ON CONFLICT (id) DO UPDATE SET text = excluded.text, terms = excluded.terms, sequence = excluded.sequence,
    change = excluded.change, deleted = true
WHERE items.sequence < excluded.sequence
"""


def _differ(*columns: str) -> str:
    real, fresh = (", ".join(f"{table}.{column}" for column in columns) for table in ("real", "fresh"))
    return f"({real}) IS DISTINCT FROM ({fresh})"


_SCORED = ("text", "module", "tags", "priority")
_COMPARED = (*_SCORED, "side", "external_id", "title", "terms", "sequence", "deleted")

_QUEUE_WRONG = scoring_queue.put(
    """
    SELECT q.item_id, q.sequence, q.actor_id, q.actor_email, q.correlation_id, q.traceparent
    FROM pg_temp.scoring_queue q JOIN wrong ON wrong.id = q.item_id AND wrong.to_score""",
    "public.",
)

# The place of a text that was right stays: a later one would bring back suggestions that people have rejected. How
# far it lies before that of the item's last event depends on how events came together.
_MERGE = f"""
WITH wrong AS (
    SELECT fresh.*, CASE
            WHEN real.id IS NULL OR real.text_sequence > fresh.sequence THEN fresh.text_sequence
            WHEN real.text = fresh.text THEN real.text_sequence
            ELSE greatest(real.text_sequence, fresh.text_sequence) END AS right_text_sequence,
        NOT fresh.deleted AND (real.id IS NULL OR real.deleted OR {_differ(*_SCORED)}) AS to_score
    FROM pg_temp.items fresh LEFT JOIN public.items real ON real.id = fresh.id
    WHERE real.id IS NULL OR NOT (real.deleted AND fresh.deleted)
        AND ({_differ(*_COMPARED)} OR real.text_sequence > fresh.sequence)
), queued AS ({_QUEUE_WRONG})
INSERT INTO public.items (id, side, external_id, title, module, tags, priority, text, terms, language, text_sequence,
    sequence, change, deleted, actor_id, actor_email, correlation_id)
SELECT id, side, external_id, title, module, tags, priority, text, terms, language, right_text_sequence, sequence,
    %(change)s, deleted, actor_id, actor_email, correlation_id
FROM wrong
ON CONFLICT (id) DO UPDATE SET side = excluded.side, external_id = excluded.external_id, title = excluded.title,
    module = excluded.module, tags = excluded.tags, priority = excluded.priority, text = excluded.text,
    terms = excluded.terms, language = excluded.language, text_sequence = excluded.text_sequence,
    sequence = excluded.sequence, change = excluded.change, deleted = excluded.deleted, actor_id = excluded.actor_id,
    actor_email = excluded.actor_email, correlation_id = excluded.correlation_id
"""

# A tombstone, not nothing: workers that have the item in memory see changes only.
_TOMBSTONES_OF_UNKNOWN = """
UPDATE public.items real SET text = '{{}}', terms = '{{}}', change = %(change)s, deleted = true
WHERE NOT real.deleted AND {covered} AND NOT EXISTS (SELECT FROM pg_temp.items fresh WHERE fresh.id = real.id)
"""


_KNOWN = "i.id, i.change, i.text_sequence, i.text, i.module, i.tags, i.priority, i.language"


@dataclass(slots=True)
class Place:
    """Where an item is in catalog's feed."""

    id: UUID
    external_id: str | None
    sequence: int


@dataclass(slots=True)
class Item(Place):
    """An item as an event leaves it; `text` is what it says by the names of `engine.ItemText`, `terms` counts words."""

    side: Side
    title: str
    module: str | None
    tags: list[str]
    priority: str
    text: dict[str, Any]
    text_sequence: int
    actor_id: int | None
    actor_email: str
    correlation_id: str
    terms: Mapping[str, int] | None = None
    language: str | None = None


@dataclass(slots=True)
class Tombstone:
    """An item that is deleted."""

    id: UUID
    side: Side
    title: str
    priority: str
    sequence: int


@dataclass(frozen=True, slots=True)
class KnownItem:
    """What scoring reads of an item: since its last change, and its text since a place in the feed."""

    id: UUID
    change: int
    text_sequence: int
    text: dict[str, Any]
    module: str | None
    tags: list[str]
    priority: str
    language: str | None


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What a change has made of an item for scoring; `terms` is JSON still."""

    id: UUID
    side: Side
    module: str | None
    tags: list[str]
    priority: str
    terms: str
    language: str | None
    text_sequence: int
    change: int
    deleted: bool


async def known(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, KnownItem]:
    """Return those of the items that the copy has, tombstones included."""
    query = f"SELECT {_KNOWN} FROM items i WHERE id = ANY(%s)"
    return {item.id: item for item in await fetch_all(connection, KnownItem, query, (list(ids),))}


async def put(connection: Connection, rows: Sequence[Item], *, score: bool) -> None:
    """Store items that say something new, unless later news of them are there; with `score`, queue them too."""
    await connection.execute(_PUT, {"rows": _json(rows), "score": score, "traceparent": telemetry.traceparent()})


async def after(connection: Connection, item_id: UUID, limit: int) -> list[KnownItem]:
    """Return the items with the next ids after this one, in their order."""
    query = f"SELECT {_KNOWN} FROM items i WHERE i.id > %s AND NOT i.deleted ORDER BY i.id LIMIT %s"
    return await fetch_all(connection, KnownItem, query, (item_id, limit))


async def touch(connection: Connection, rows: Sequence[Place]) -> None:
    """Store of items that scoring reads nothing new from where they are in the feed, and their external ids."""
    if rows:
        await connection.execute(
            "UPDATE items SET external_id = r.external_id, sequence = r.sequence"
            " FROM jsonb_to_recordset(%s::jsonb) AS r(id uuid, external_id text, sequence bigint)"
            " WHERE items.id = r.id AND items.sequence < r.sequence",
            (_json(rows),),
        )


async def store_tombstones(connection: Connection, rows: Sequence[Tombstone]) -> None:
    """Mark items deleted, those included that were never seen."""
    await connection.execute(_STORE_TOMBSTONES, (_json(rows),))


async def mark_changed(connection: Connection, ids: Sequence[UUID]) -> None:
    """Have those who follow the items read these again."""
    await connection.execute(
        f"WITH moved AS ({corpus_head.MOVE}) UPDATE items SET change = moved.head FROM moved WHERE id = ANY(%s)",
        (list(ids),),
    )


async def merge(connection: Connection, change: int, reach: Reach) -> int:
    """Bring the items to what the rebuilt ones say, as this change; return how many differed.

    Only what differs is written, and followed in memory. Items whose text differs are queued.
    """
    differed = await connection.execute(_MERGE, {"change": change})
    statement = _TOMBSTONES_OF_UNKNOWN.format(covered=reach.covers("real.sequence"))
    unknown = await connection.execute(statement, {"change": change})
    return differed.rowcount + unknown.rowcount


async def changes(connection: Connection, after: tuple[int, UUID], limit: int) -> list[ItemChange]:
    """Return items that changed after (change, id), in that order, tombstones included."""
    query = (
        "SELECT id, side, module, tags, priority, terms::text, language, text_sequence, change, deleted FROM items"
        " WHERE (change, id) > (%s, %s) ORDER BY change, id LIMIT %s"
    )
    return await fetch_all(connection, ItemChange, query, (*after, limit))


async def changed_texts(connection: Connection, ids: Sequence[UUID], changes: Sequence[int | None]) -> list[KnownItem]:
    """Return what those of these items say whose last change is another than the one beside their id."""
    query = (
        f"SELECT {_KNOWN} FROM unnest(%s::uuid[], %s::bigint[]) AS known(id, change)"
        " JOIN items i ON i.id = known.id WHERE NOT i.deleted AND i.change IS DISTINCT FROM known.change"
    )
    return await fetch_all(connection, KnownItem, query, (list(ids), list(changes)))


async def naming(connection: Connection, pattern: str) -> dict[str, list[UUID]]:
    """Return the items whose texts have a regular expression of PostgreSQL's in them, by project."""
    cursor = await connection.execute(
        "SELECT project_id, array_agg(id) AS ids FROM items WHERE text::text ~* %s GROUP BY 1", (pattern,)
    )
    return {row["project_id"]: row["ids"] for row in await cursor.fetchall()}


async def put_terms(connection: Connection, read: Mapping[UUID, tuple[Mapping[str, int], str]]) -> None:
    """Store the terms, and their language, of items whose texts are others than before, or are read otherwise."""
    await connection.execute(
        f"WITH moved AS ({corpus_head.MOVE}) UPDATE items SET terms = r.terms, language = r.language,"
        " change = moved.head"
        " FROM moved, jsonb_to_recordset(%s::jsonb) AS r(id uuid, terms jsonb, language text)"
        " WHERE items.id = r.id",
        (
            _json(
                [{"id": item_id, "terms": terms, "language": language} for item_id, (terms, language) in read.items()]
            ),
        ),
    )


async def terms(connection: Connection, ids: Collection[UUID]) -> dict[UUID, dict[str, int]]:
    """Return the terms of items, none for those that are not there."""
    cursor = await connection.execute("SELECT id, terms FROM items WHERE id = ANY(%s)", (list(ids),))
    found = {row["id"]: row["terms"] for row in await cursor.fetchall()}
    return {item_id: found.get(item_id, {}) for item_id in ids}


async def last_changed(connection: Connection, ids: Sequence[UUID]) -> list[ChangedItem]:
    """Return those of the items that are there, with who changed them last."""
    cursor = await connection.execute(
        "SELECT id, side, title, external_id, actor_id, actor_email, correlation_id FROM items"
        " WHERE id = ANY(%s) AND NOT deleted",
        (list(ids),),
    )
    return [_changed(row) for row in await cursor.fetchall()]


def _changed(row: dict[str, Any]) -> ChangedItem:
    is_known = row["actor_email"] is not None
    actor = Actor(row["actor_id"], row["actor_email"]) if is_known else SYSTEM
    return ChangedItem(row["id"], row["side"], row["title"], row["external_id"], actor, row["correlation_id"] or "")


def _json(rows: Sequence[Any]) -> str:
    return orjson.dumps(rows).decode()
