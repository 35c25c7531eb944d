"""The SQL of second factors."""

from datetime import datetime
from typing import TypedDict

from psycopg.rows import DictRow

from chassis.db.database import Connection


class SecondFactorRow(TypedDict):
    """A second factor; `confirmed_at` None: it was begun, and counts for nothing yet."""

    secret: str
    confirmed_at: datetime | None
    recovery_hashes: list[str]


async def find(connection: Connection, user_id: int) -> SecondFactorRow | None:
    """Return the second factor of a user, active or only begun."""
    cursor = await connection.execute(
        "SELECT secret, confirmed_at, recovery_hashes FROM second_factors WHERE user_id = %s", (user_id,)
    )
    return await cursor.fetchone()  # type: ignore[return-value]


async def is_active(connection: Connection, user_id: int) -> bool:
    """Check whether a user has one that counts."""
    cursor = await connection.execute(
        "SELECT FROM second_factors WHERE user_id = %s AND confirmed_at IS NOT NULL", (user_id,)
    )
    return cursor.rowcount > 0


async def begin(connection: Connection, user_id: int, secret: str) -> None:
    """Store the secret of one that is begun, in place of one that was begun before."""
    await connection.execute(
        "INSERT INTO second_factors (user_id, secret) VALUES (%s, %s)"
        " ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = 0",
        (user_id, secret),
    )


async def secrets(connection: Connection, but: str | None) -> list[DictRow]:
    """Return the secret of each user who has one, as it is stored, unless it begins with `but`."""
    cursor = await connection.execute(
        "SELECT user_id, secret FROM second_factors WHERE starts_with(secret, %s) IS NOT TRUE ORDER BY user_id",
        (but,),
    )
    return await cursor.fetchall()


async def replace_secret(connection: Connection, user_id: int, before: str, after: str) -> bool:
    """Store a secret in another form, unless it was changed since; return whether that was done."""
    cursor = await connection.execute(
        "UPDATE second_factors SET secret = %s WHERE user_id = %s AND secret = %s", (after, user_id, before)
    )
    return cursor.rowcount > 0


async def confirm(connection: Connection, user_id: int, now: datetime, recovery_hashes: list[str]) -> None:
    """Have one count from now on."""
    await connection.execute(
        "UPDATE second_factors SET confirmed_at = %s, recovery_hashes = %s WHERE user_id = %s",
        (now, recovery_hashes, user_id),
    )


async def set_recovery_hashes(connection: Connection, user_id: int, recovery_hashes: list[str]) -> None:
    """Replace all recovery codes."""
    await connection.execute(
        "UPDATE second_factors SET recovery_hashes = %s WHERE user_id = %s", (recovery_hashes, user_id)
    )


async def use_step(connection: Connection, user_id: int, step: int) -> bool:
    """Store that the code of a time step was used; return False for one that was used before, or an earlier one."""
    cursor = await connection.execute(
        "UPDATE second_factors SET last_step = %s WHERE user_id = %s AND last_step < %s", (step, user_id, step)
    )
    return cursor.rowcount > 0


async def use_recovery_code(connection: Connection, user_id: int, code_hash: str) -> bool:
    """Take a recovery code away; return False when there is none with this hash."""
    cursor = await connection.execute(
        "UPDATE second_factors SET recovery_hashes = array_remove(recovery_hashes, %s)"
        " WHERE user_id = %s AND %s = ANY(recovery_hashes)",
        (code_hash, user_id, code_hash),
    )
    return cursor.rowcount > 0


async def delete(connection: Connection, user_id: int) -> bool:
    """Delete the second factor of a user, active or not; return whether one was active."""
    cursor = await connection.execute(
        "DELETE FROM second_factors WHERE user_id = %s RETURNING confirmed_at", (user_id,)
    )
    row = await cursor.fetchone()
    return row is not None and row["confirmed_at"] is not None
