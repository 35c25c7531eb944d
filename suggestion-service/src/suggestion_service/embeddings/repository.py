"""SQL of embeddings: which model is in use, what lacks vectors, claiming it, and storing them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import orjson

from chassis.db.database import Connection
from chassis.messaging.events import SYSTEM
from suggestion_service.engine import ItemText, ItemVectors

Place = tuple[int, UUID]
"""(change, id) of an item: how far someone has followed the items."""
START: Place = (0, UUID(int=0))

_LEASE = "interval '20 seconds'"
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
    SELECT p.id, %(model)s, %(claim)s, now() + {_LEASE}
    FROM page p LEFT JOIN embeddings e ON e.item_id = p.id AND e.model = %(model)s
    WHERE NOT p.deleted AND e.text_hash IS DISTINCT FROM p.text_hash
        AND (e.claimed_until IS NULL OR e.claimed_until < now())
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
UPDATE embeddings e SET claim = %(claim)s, claimed_until = now() + {_LEASE}
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


_COMPLETE = f"SELECT NOT EXISTS (SELECT FROM {_lacking('%(model)s')}) AS complete"
_MISSING = f"SELECT count(*) AS missing FROM {_lacking('(SELECT model FROM embedding_model)')}"
_ITEMS = "SELECT count(*) AS missing FROM items WHERE NOT deleted"

# One that is being scored just now and is done before this commits is left to the rescore sweep.
_SCORE_AGAIN = """
INSERT INTO scoring_queue (item_id, sequence, actor_id, actor_email, correlation_id)
SELECT id, sequence, actor_id, coalesce(actor_email, %(system)s), coalesce(correlation_id, '')
FROM items WHERE id = ANY(%(ids)s)
ON CONFLICT (item_id) DO NOTHING
"""

_CHANGED = f"""
SELECT i.id, i.side, i.change, e.whole, e.passages
FROM items i LEFT JOIN embeddings e ON e.item_id = i.id AND e.model = %(model)s AND NOT i.deleted
    AND e.text_hash = {_HASH}
WHERE (i.change, i.id) > (%(change)s, %(id)s) ORDER BY i.change, i.id LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """Items whose text is embedded by one worker now: their ids, the hashes of their texts, and what they say."""

    id: UUID
    model: str
    rows: Sequence[dict[str, Any]]

    @property
    def texts(self) -> list[ItemText]:
        """Return what the items say."""
        return [ItemText(**{"title": "", "description": ""} | row["text"]) for row in self.rows]

    def one_by_one(self) -> "list[Claim]":
        """Return the items each by itself."""
        return [Claim(self.id, self.model, [row]) for row in self.rows]


async def table_exists(connection: Connection) -> bool:
    """Check whether vectors can be stored: the server may lack pgvector."""
    row = await (await connection.execute("SELECT to_regclass('embeddings') IS NOT NULL AS there")).fetchone()
    return row is not None and row["there"]


async def declared(connection: Connection) -> tuple[str | None, bool]:
    """Return the model that workers compute with, and whether its vectors are in use."""
    row = await (await connection.execute("SELECT model, in_use FROM embedding_model")).fetchone()
    assert row is not None, "the migration puts the one row there"
    return row["model"], row["in_use"]


async def declare(connection: Connection, model: str | None) -> None:
    """Have workers compute with this model, or none. Another one's vectors are in use no more, from now on."""
    cursor = await connection.execute(
        "UPDATE embedding_model m SET model = %(model)s, in_use = false FROM embedding_model before"
        " WHERE m.model IS DISTINCT FROM %(model)s RETURNING before.in_use",
        {"model": model},
    )
    row = await cursor.fetchone()
    if row is not None and row["in_use"]:
        await _move_head(connection)


async def put_to_use(connection: Connection, model: str) -> bool:
    """Use the vectors of the declared model if those of all items are there, and forget those of others; tell
    whether it was done now. In a transaction.
    """
    await _lock_head(connection)
    if await declared(connection) != (model, False):
        return False
    row = await (await connection.execute(_COMPLETE, {"model": model})).fetchone()
    if row is None or not row["complete"]:
        return False
    await connection.execute("UPDATE embedding_model SET in_use = true")
    await connection.execute("DELETE FROM embeddings WHERE model <> %s", (model,))
    await _move_head(connection)
    return True


async def look(connection: Connection, model: str, after: Place, limit: int) -> tuple[Claim, Place | None]:
    """Look through the next items in the order of their changes, and claim those that lack vectors of this model.

    Gives where to go on, None at the end. Vectors of items that are deleted are, too. In a transaction.
    """
    await connection.execute(_ONE_AT_A_TIME)
    claim = uuid4()
    cursor = await connection.execute(
        _LOOK, {"model": model, "change": after[0], "id": after[1], "limit": limit, "claim": claim}
    )
    rows = await cursor.fetchall()
    return Claim(claim, model, [row for row in rows if row["claimed"]]), (
        (rows[-1]["change"], rows[-1]["id"]) if rows else None
    )


async def reclaim(connection: Connection, model: str, limit: int) -> Claim:
    """Claim items whose worker has died, or whose text has changed meanwhile. In a transaction."""
    await connection.execute(_ONE_AT_A_TIME)
    claim = uuid4()
    cursor = await connection.execute(_RECLAIM, {"model": model, "limit": limit, "claim": claim})
    return Claim(claim, model, await cursor.fetchall())


async def hold(connection: Connection, claim: Claim) -> None:
    """Extend a claim."""
    await connection.execute(
        f"UPDATE embeddings SET claimed_until = now() + {_LEASE} WHERE model = %s AND claim = %s AND item_id = ANY(%s)",
        (claim.model, claim.id, [row["id"] for row in claim.rows]),
    )


async def release(connection: Connection, claim: Claim) -> None:
    """Give back what is left of a claim: anybody may take it at once."""
    await connection.execute(
        "UPDATE embeddings SET claimed_until = now() - interval '1 second'"
        " WHERE model = %s AND claim = %s AND item_id = ANY(%s)",
        (claim.model, claim.id, [row["id"] for row in claim.rows]),
    )


async def store(
    connection: Connection, claim: Claim, vectors: Sequence[ItemVectors | None], *, score_again: bool
) -> int:
    """Store the vectors of the claimed items, in a transaction; return of how many.

    An item whose text has changed meanwhile is given back. Where vectors are in use, the items have changed for
    whoever follows them, and with `score_again` they are queued for scoring.
    """
    rows = [_row(row, item) for row, item in zip(claim.rows, vectors, strict=True)]
    # Changes of items wait, so that none is overlooked: see `release`.
    await _lock_head(connection)
    cursor = await connection.execute(
        _STORE, {"rows": orjson.dumps(rows).decode(), "model": claim.model, "claim": claim.id}
    )
    stored = [row["id"] for row in await cursor.fetchall()]
    await release(connection, claim)
    if stored and await declared(connection) == (claim.model, True):
        await connection.execute(
            "WITH moved AS (UPDATE corpus_head SET head = head + 1 RETURNING head)"
            " UPDATE items SET change = moved.head FROM moved WHERE id = ANY(%s)",
            (stored,),
        )
        if score_again:
            await connection.execute(_SCORE_AGAIN, {"ids": stored, "system": SYSTEM.email})
    return len(stored)


async def progress(connection: Connection, model: str) -> tuple[int, int]:
    """Return how many items have vectors of this model, and how many items there are; about."""
    cursor = await connection.execute(
        "SELECT (SELECT count(*) FROM embeddings WHERE model = %s AND text_hash IS NOT NULL) AS done,"
        " (SELECT count(*) FROM items WHERE NOT deleted) AS items",
        (model,),
    )
    row = await cursor.fetchone()
    assert row is not None, "counting always gives a row"
    return row["done"], row["items"]


async def missing(connection: Connection) -> int:
    """Count the items that lack vectors of the declared model for their present text; all while there is none."""
    query = _MISSING if await table_exists(connection) else _ITEMS
    row = await (await connection.execute(query)).fetchone()
    assert row is not None, "counting always gives a row"
    number: int = row["missing"]
    return number


async def changed(connection: Connection, model: str, after: Place, limit: int) -> list[dict[str, Any]]:
    """Return items that changed after (change, id), in that order, with their vectors as pgvector sends them in
    binary; None where there are none for the present text.
    """
    cursor = connection.cursor(binary=True)
    await cursor.execute(_CHANGED, {"model": model, "change": after[0], "id": after[1], "limit": limit})
    return await cursor.fetchall()


async def _lock_head(connection: Connection) -> None:
    await connection.execute("SELECT head FROM corpus_head FOR UPDATE")


async def _move_head(connection: Connection) -> None:
    await connection.execute("UPDATE corpus_head SET head = head + 1")


def _row(row: dict[str, Any], vectors: ItemVectors | None) -> dict[str, Any]:
    new = {"id": row["id"], "text_hash": row["text_hash"], "whole": None, "passages": None}
    if vectors is not None:
        new["whole"] = str(vectors.whole.tolist())
        new["passages"] = [str(passage) for passage in vectors.passages.tolist()]
    return new
