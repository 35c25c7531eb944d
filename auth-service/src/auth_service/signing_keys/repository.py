"""The SQL of signing keys."""

from datetime import timedelta

from psycopg.rows import DictRow

from chassis.db.database import Connection

_LOCK = 7_235_120


async def lock(connection: Connection) -> None:
    """Have whoever else makes keys wait until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))


async def newest(connection: Connection) -> DictRow | None:
    """Return `kid`, `signs_from`, whether it `is_waiting` to sign and the `age` of its signing, of the newest key."""
    cursor = await connection.execute(
        "SELECT kid, signs_from, signs_from > now() AS is_waiting, now() - signs_from AS age"
        " FROM signing_keys ORDER BY signs_from DESC LIMIT 1"
    )
    return await cursor.fetchone()


async def insert(
    connection: Connection, kid: str, public_key: bytes, private_key: bytes, signs_in: timedelta
) -> DictRow:
    """Store a key that signs after `signs_in`; return its `kid` and `signs_from`."""
    cursor = await connection.execute(
        "INSERT INTO signing_keys (kid, public_key, private_key, signs_from)"
        " VALUES (%s, %s, %s, now() + %s) RETURNING kid, signs_from",
        (kid, public_key, private_key, signs_in),
    )
    row = await cursor.fetchone()
    assert row is not None
    return row


async def signing(connection: Connection) -> DictRow | None:
    """Return `kid` and `private_key` of the key that signs now."""
    cursor = await connection.execute(
        "SELECT kid, private_key FROM signing_keys WHERE signs_from <= now() ORDER BY signs_from DESC LIMIT 1"
    )
    return await cursor.fetchone()


async def published(connection: Connection) -> list[DictRow]:
    """Return `kid` and `public_key` of every key, the newest first."""
    cursor = await connection.execute("SELECT kid, public_key FROM signing_keys ORDER BY signs_from DESC")
    return await cursor.fetchall()


async def private_keys(connection: Connection) -> list[DictRow]:
    """Return `kid` and `private_key` of every key."""
    return await (await connection.execute("SELECT kid, private_key FROM signing_keys")).fetchall()


async def store_private_key(connection: Connection, kid: str, private_key: bytes) -> None:
    """Put another form of a private key in place of the present one."""
    await connection.execute("UPDATE signing_keys SET private_key = %s WHERE kid = %s", (private_key, kid))


async def delete_others(connection: Connection, kid: str) -> int:
    """Delete every key but one; return how many."""
    return (await connection.execute("DELETE FROM signing_keys WHERE kid <> %s", (kid,))).rowcount


async def delete_succeeded(connection: Connection, since: timedelta) -> int:
    """Delete the keys whose successor has been signing for longer than `since`; return how many."""
    deleted = await connection.execute(
        "DELETE FROM signing_keys AS old USING signing_keys AS successor"
        " WHERE successor.signs_from > old.signs_from AND successor.signs_from < now() - %s",
        (since,),
    )
    return deleted.rowcount
