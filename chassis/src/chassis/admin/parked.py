"""Messages that could not be applied: waiting to be tried again, or parked."""

import logging
from collections.abc import Sequence
from typing import Any

import orjson

from chassis.admin.running import Refused
from chassis.db.database import Connection

Row = dict[str, Any]

_log = logging.getLogger(__name__)

_FAILED = (
    "SELECT id, wire_name, event_id, failed_at, attempts, next_attempt_at, parked_at, error,"
    " CASE WHEN parked_at IS NULL THEN 'waiting' ELSE 'parked' END AS state,"
    " extract(epoch FROM now() - failed_at)::float8 AS age_seconds FROM inbox_failures"
)
_RETRY = "UPDATE inbox_failures SET parked_at = NULL, next_attempt_at = now(), attempts = 0"


async def failed(connection: Connection) -> list[Row]:
    """Return all failed messages, without their content, the oldest first."""
    return await (await connection.execute(f"{_FAILED} ORDER BY id")).fetchall()


async def find(connection: Connection, message_id: int) -> Row:
    """Return one failed message with its content: `message` is its JSON, or its text when it is none.

    Raises Refused for an unknown id.
    """
    query = f"SELECT k.*, f.message FROM ({_FAILED}) k JOIN inbox_failures f USING (id) WHERE id = %s"
    row = await (await connection.execute(query, (message_id,))).fetchone()
    if row is None:
        raise _unknown([message_id])
    row["message"] = _readable(row["message"])
    return row


async def retry(connection: Connection, ids: Sequence[int]) -> None:
    """Have the running worker try messages again, as if for the first time; raise Refused for an unknown id."""
    async with connection.transaction():
        cursor = await connection.execute(f"{_RETRY} WHERE id = ANY(%s) RETURNING id", (list(ids),))
        _all_there(ids, await cursor.fetchall())


async def retry_all(connection: Connection) -> int:
    """Have all failed messages tried again; return how many."""
    return (await connection.execute(_RETRY)).rowcount


async def drop(connection: Connection, ids: Sequence[int]) -> None:
    """Forget messages for good; each is logged. What was an event is known from now on, should it come again.

    The inbox's position is beyond them already. Raises Refused for an unknown id.
    """
    async with connection.transaction():
        cursor = await connection.execute(
            "WITH dropped AS (DELETE FROM inbox_failures WHERE id = ANY(%s)"
            " RETURNING id, event_id, wire_name, message, error),"
            " known AS (INSERT INTO inbox (event_id, wire_name)"
            " SELECT event_id, wire_name FROM dropped WHERE wire_name <> '' ON CONFLICT DO NOTHING)"
            " SELECT * FROM dropped ORDER BY id",
            (list(ids),),
        )
        dropped = await cursor.fetchall()
        _all_there(ids, dropped)
    for row in dropped:
        message = orjson.dumps(_readable(row["message"])).decode()
        _log.warning("Dropped %s %s (%s): %s", row["wire_name"], row["event_id"], row["error"], message)


def _all_there(ids: Sequence[int], rows: Sequence[Row]) -> None:
    missing = sorted(set(ids) - {row["id"] for row in rows})
    if missing:
        raise _unknown(missing)


def _unknown(ids: Sequence[int]) -> Refused:
    return Refused(f"No message is kept as {', '.join(map(str, ids))}; `parked list` shows those that are.")


def _readable(message: bytes) -> Any:
    try:
        return orjson.loads(message)
    except ValueError:
        return bytes(message).decode(errors="backslashreplace")
