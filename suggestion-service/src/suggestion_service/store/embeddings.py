"""Table `embeddings`: the vectors of items by models, and the items that workers embed now, on a lease."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import orjson
from psycopg.rows import class_row

from chassis.db.database import Connection
from chassis.db.leases import Leases
from chassis.db.rows import fetch_all, fetch_column, fetch_only, fetch_value
from suggestion_service.engine import ItemText, ItemVectors, Side

Place = tuple[int, UUID]
"""(change, id) of an item: how far someone has followed the items."""
START: Place = (0, UUID(int=0))

LEASES = Leases("embeddings", "item_id, model", 20, where="claimed_until IS NOT NULL", counts_attempts=False)

_HASH = "md5(i.text::text)"

# Two who claim the same items in another order would wait for each other.
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('embedding claims'))"

_LOOK = f"""
WITH page AS (
    SELECT id, change, deleted, text, {_HASH} AS text_hash FROM items i
    WHERE (change, id) > (%(change)s, %(id)s) ORDER BY change, id LIMIT %(limit)s
), gone AS (
    DELETE FROM embeddings e USING page p WHERE p.deleted AND e.item_id = p.id
), claimed AS (
    INSERT INTO embeddings (item_id, model, claim, claimed_until)
    SELECT p.id, %(model)s, %(claim)s, {LEASES.end}
    FROM page p LEFT JOIN embeddings e ON e.item_id = p.id AND e.model = %(model)s
    WHERE NOT p.deleted AND e.text_hash IS DISTINCT FROM p.text_hash
        AND {LEASES.free("e")}
    ON CONFLICT (item_id, model) DO UPDATE SET claim = excluded.claim, claimed_until = excluded.claimed_until
    RETURNING item_id
)
SELECT p.id, p.change, p.text, p.text_hash, c.item_id IS NOT NULL AS claimed
FROM page p LEFT JOIN claimed c ON c.item_id = p.id ORDER BY p.change, p.id
"""

_RECLAIM = f"""
WITH expired AS (
    SELECT item_id FROM embeddings WHERE model = %(model)s AND claimed_until < now()
    LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM embeddings e USING expired x, items i
    WHERE e.model = %(model)s AND e.item_id = x.item_id AND i.id = x.item_id AND i.deleted
)
UPDATE embeddings e SET {LEASES.taken("e")}
FROM expired x, items i
WHERE e.model = %(model)s AND e.item_id = x.item_id AND i.id = x.item_id AND NOT i.deleted
RETURNING i.id, i.text, {_HASH} AS text_hash
"""

_STORE = f"""
UPDATE embeddings e SET text_hash = r.text_hash, whole = r.whole::halfvec, passages = r.passages::halfvec[],
    claim = NULL, claimed_until = NULL
FROM jsonb_to_recordset(%(rows)s::jsonb) AS r(id uuid, text_hash text, whole text, passages text[]), items i
WHERE e.item_id = r.id AND e.model = %(model)s AND e.claim = %(claim)s AND i.id = r.id AND NOT i.deleted
    AND {_HASH} = r.text_hash
RETURNING r.id
"""


def _lacking(model: str) -> str:
    """Items `i` that have no vectors of their present text from the model."""
    return f"""items i LEFT JOIN embeddings e ON e.item_id = i.id AND e.model = {model}
        WHERE NOT i.deleted AND e.text_hash IS DISTINCT FROM {_HASH}"""


_COMPLETE = f"SELECT NOT EXISTS (SELECT FROM {_lacking('%(model)s')})"
_MISSING = f"SELECT count(*) FROM {_lacking('(SELECT model FROM embedding_model)')}"
_ITEMS = "SELECT count(*) FROM items WHERE NOT deleted"

_CHANGED = f"""
SELECT i.id, i.side, i.change, e.whole, e.passages
FROM items i LEFT JOIN embeddings e ON e.item_id = i.id AND e.model = %(model)s AND NOT i.deleted
    AND e.text_hash = {_HASH}
WHERE (i.change, i.id) > (%(change)s, %(id)s) ORDER BY i.change, i.id LIMIT %(limit)s
"""


_PROGRESS = """
SELECT (SELECT count(*) FROM embeddings WHERE model = %s AND text_hash IS NOT NULL) AS done,
    (SELECT count(*) FROM items WHERE NOT deleted) AS items
"""


class ClaimedItem(NamedTuple):
    """An item whose text is embedded now."""

    id: UUID
    text: dict[str, Any]
    text_hash: str

    @property
    def said(self) -> ItemText:
        """What the item says."""
        return ItemText(**{"title": "", "description": ""} | self.text)


class ChangedVectors(NamedTuple):
    """The vectors of an item after a change, in binary."""

    id: UUID
    side: Side
    change: int
    whole: bytes | None
    passages: bytes | None


class Progress(NamedTuple):
    """How many items have vectors, of how many."""

    done: int
    items: int


@dataclass(frozen=True, slots=True)
class Claim:
    """Items whose text is embedded by one worker now."""

    id: UUID
    model: str
    items: Sequence[ClaimedItem]


async def table_exists(connection: Connection) -> bool:
    """Check whether vectors can be stored: the server may lack pgvector."""
    return bool(await fetch_value(connection, "SELECT to_regclass('embeddings') IS NOT NULL"))


async def complete(connection: Connection, model: str) -> bool:
    """Check whether there are vectors of all items."""
    return bool(await fetch_value(connection, _COMPLETE, {"model": model}))


async def delete_others(connection: Connection, model: str) -> None:
    """Delete the vectors of other models."""
    await connection.execute("DELETE FROM embeddings WHERE model <> %s", (model,))


async def look(connection: Connection, model: str, after: Place, limit: int) -> tuple[Claim, Place | None]:
    """Look through the next items in the order of their changes, and claim those that lack vectors of this model.

    Returns also where to go on, None at the end. Deletes vectors of deleted items. In a transaction.
    """
    await connection.execute(_ONE_AT_A_TIME)
    claim = uuid4()
    cursor = await connection.execute(
        _LOOK, {"model": model, "change": after[0], "id": after[1], "limit": limit, "claim": claim}
    )
    rows = await cursor.fetchall()
    claimed = [ClaimedItem(row["id"], row["text"], row["text_hash"]) for row in rows if row["claimed"]]
    return Claim(claim, model, claimed), (rows[-1]["change"], rows[-1]["id"]) if rows else None


async def projects_with_expired(connection: Connection) -> list[str]:
    """Return the projects with items whose worker has died; those that the connection sees."""
    query = "SELECT DISTINCT project_id FROM embeddings WHERE claimed_until < now()"
    return await fetch_column(connection, query)


async def reclaim(connection: Connection, model: str, limit: int) -> Claim:
    """Claim items whose worker has died, or whose text has changed meanwhile. In a transaction."""
    await connection.execute(_ONE_AT_A_TIME)
    claim = uuid4()
    rows = await fetch_all(connection, ClaimedItem, _RECLAIM, {"model": model, "limit": limit, "claim": claim})
    return Claim(claim, model, rows)


async def store(connection: Connection, claim: Claim, vectors: Sequence[ItemVectors | None]) -> list[UUID]:
    """Store the vectors of the claimed items; return the items. One whose text has changed meanwhile is given back.

    The corpus must be locked, so that no change is overlooked.
    """
    rows = [_row(row, item) for row, item in zip(claim.items, vectors, strict=True)]
    parameters = {"model": claim.model, "claim": claim.id, "rows": orjson.dumps(rows).decode()}
    stored = await fetch_column(connection, _STORE, parameters)
    await LEASES.release(connection, claim.id)
    return stored


async def progress(connection: Connection, model: str) -> Progress:
    """Return how many items have vectors of this model, and how many items there are; about."""
    return await fetch_only(connection, Progress, _PROGRESS, (model,))


async def missing(connection: Connection) -> int:
    """Count the items that lack vectors of the declared model for their present text; all while there is none."""
    return int(await fetch_value(connection, _MISSING if await table_exists(connection) else _ITEMS))


async def changed(connection: Connection, model: str, after: Place, limit: int) -> list[ChangedVectors]:
    """Return items that changed after (change, id), in that order, with their vectors as pgvector sends them in
    binary; None where there are none for the present text.
    """
    cursor = connection.cursor(binary=True, row_factory=class_row(ChangedVectors))
    await cursor.execute(_CHANGED, {"model": model, "change": after[0], "id": after[1], "limit": limit})
    return await cursor.fetchall()


def _row(item: ClaimedItem, vectors: ItemVectors | None) -> dict[str, Any]:
    new = {"id": item.id, "text_hash": item.text_hash, "whole": None, "passages": None}
    if vectors is not None:
        new["whole"] = str(vectors.whole.tolist())
        new["passages"] = [str(passage) for passage in vectors.passages.tolist()]
    return new
