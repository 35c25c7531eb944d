"""Idempotency keys: a POST that creates answers a repeated key with its first answer."""

from collections.abc import Awaitable, Callable
from hashlib import blake2b

from fastapi import Request, Response

from chassis.core import projects
from chassis.core.identity import Identity
from chassis.core.problems import Invalid
from chassis.db.database import Connection, Database

_KEPT = "24 hours"
_REPLAYED_HEADERS = ("location", "etag")


async def answer_once(
    request: Request,
    database: Database,
    caller: Identity,
    create: Callable[[Connection], Awaitable[Response]],
    *,
    body_key: bytes = b"",
    whose: str = "",
    body: bytes | None = None,
) -> Response:
    """Run `create` and commit it; with an `Idempotency-Key`, once for the same key, caller and route in 24 h.

    `create` must write with exactly one statement: without a key it runs in no other transaction. A
    concurrent request of the same key waits for the first one. The same key with another body raises Invalid.
    `body_key` (at most 64 bytes) keys the hash that is kept of the body, where the body holds a secret.
    `whose` tells callers apart of whom nothing is known: each has keys of their own. `body` stands for a body that has
    been read, and was not kept.
    """
    key = request.headers.get("idempotency-key")
    if key is None:
        async with database.statement() as connection:
            return await create(connection)
    if not 1 <= len(key) <= 255 or not key.isprintable():
        raise Invalid.field(
            "/header/Idempotency-Key", "An idempotency key has 1 to 255 printable characters.", "invalid_key"
        )
    scope = f"{request.method} {request.scope['path']} {whose}".rstrip()
    if caller.project != projects.MAIN:
        scope = f"{caller.project}: {scope}"
    # The query says as much of what is wanted as the body does.
    asked = request.scope["query_string"] + b"\n" + (await request.body() if body is None else body)
    body_hash = blake2b(asked, digest_size=32, key=body_key).digest()
    identity = (caller.id, scope, key)
    async with database.transaction() as connection:
        cursor = await connection.execute(
            "INSERT INTO idempotency_keys (caller_id, scope, key, body_hash) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (caller_id, scope, key) DO UPDATE"
            " SET body_hash = excluded.body_hash, created_at = now()"
            f" WHERE idempotency_keys.created_at < now() - interval '{_KEPT}' RETURNING key",
            (*identity, body_hash),
        )
        if await cursor.fetchone() is None:
            return await _replay(connection, identity, body_hash)
        response = await create(connection)
        await connection.execute(
            "UPDATE idempotency_keys SET status = %s, headers = %s, body = %s"
            " WHERE caller_id = %s AND scope = %s AND key = %s",
            (
                response.status_code,
                [f"{name}: {response.headers[name]}" for name in _REPLAYED_HEADERS if name in response.headers],
                bytes(response.body),
                *identity,
            ),
        )
    return response


async def _replay(connection: Connection, identity: tuple[int | None, str, str], body_hash: bytes) -> Response:
    cursor = await connection.execute(
        "SELECT body_hash, status, headers, body FROM idempotency_keys"
        " WHERE caller_id = %s AND scope = %s AND key = %s",
        identity,
    )
    row = await cursor.fetchone()
    assert row is not None, "the conflict shows that it is there"
    if bytes(row["body_hash"]) != body_hash:
        raise Invalid(
            "This Idempotency-Key was used with another body; send a new key for a new request.",
            code="idempotency_key_reused",
        )
    headers = dict(line.split(": ", 1) for line in row["headers"])
    return Response(bytes(row["body"]), row["status"], headers, "application/json")


async def forget_old_keys(database: Database) -> None:
    """Delete keys that are not honoured any more."""
    async with database.across() as connection:
        await connection.execute(f"DELETE FROM idempotency_keys WHERE created_at < now() - interval '{_KEPT}'")
