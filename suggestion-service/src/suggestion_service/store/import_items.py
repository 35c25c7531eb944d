"""Table `import_items`: what imports have changed that are not told as a whole yet."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from chassis.db.database import Connection

OPEN = "EXISTS (SELECT FROM import_items WHERE noted_at > now() - interval '2 minutes')"
"""The condition that an import goes on; one that has died is not waited for."""
COUNT = "SELECT count(*) FROM import_items WHERE noted_at > now() - interval '2 minutes'"
"""How many items are noted of imports that go on."""


class Noted(NamedTuple):
    """What an import has changed; `settled`: what was pending was complete when it began."""

    item_ids: list[UUID]
    settled: bool


async def put(connection: Connection, import_id: UUID, item_ids: Sequence[UUID], *, settled: bool) -> None:
    """Note that an import has changed items."""
    await connection.execute(
        "INSERT INTO import_items (import_id, item_id, settled) SELECT %s, unnest(%s::uuid[]), %s"
        " ON CONFLICT (import_id, item_id) DO NOTHING",
        (import_id, list(item_ids), settled),
    )


async def take(connection: Connection, import_id: UUID) -> Noted:
    """Return what an import has changed, and forget it."""
    cursor = await connection.execute(
        "DELETE FROM import_items WHERE import_id = %s RETURNING item_id, settled", (import_id,)
    )
    rows = await cursor.fetchall()
    return Noted([row["item_id"] for row in rows], any(row["settled"] for row in rows))
