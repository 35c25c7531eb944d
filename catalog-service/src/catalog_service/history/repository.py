"""The SQL of what items said before.

A trigger keeps each change with the event that tells it; of a creation only what the item itself does not tell.
"""

from datetime import datetime
from typing import TypedDict
from uuid import UUID

from catalog_service.items.kinds import ItemKind
from chassis.db.database import Connection
from chassis.db.rows import fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page


class ItemChange(TypedDict):
    """What changed or deleted an item: the fields before and after, or all fields as they were last.

    `revised` are the fields of meaning whose change made its version, by this change or an earlier one.
    """

    id: int
    action: str
    actor: str | None
    occurred_at: datetime
    version: int
    told: Row
    revised: list[str] | None


_COLUMNS = """
    id, action, actor, occurred_at, version, told,
    (SELECT changed_fields FROM item_revisions v WHERE v.item_id = item_changes.item_id
        AND v.version = item_changes.version) AS revised
"""
NEWEST_FIRST = Order("occurred_at:desc", (By("id", int, True),))


async def find_item(connection: Connection, kind: ItemKind, item_id: UUID) -> Row | None:
    """Return an item as it is, or as it was when it was deleted, or None."""
    cursor = connection.cursor(binary=True)
    await cursor.execute(f"SELECT {', '.join(kind.columns)} FROM {kind.table} WHERE id = %s", (item_id,))
    row = await cursor.fetchone()
    if row is not None:
        return row
    await cursor.execute(
        "SELECT told FROM item_changes WHERE item_id = %s AND kind = %s AND action = 'deleted'", (item_id, kind.name)
    )
    deleted = await cursor.fetchone()
    return None if deleted is None else deleted["told"]


async def find_changes(connection: Connection, item_id: UUID, above: int, up_to: int, wanted: PageRequest) -> Fetched:
    """Return a page of what changed or deleted an item, each an ItemChange, the newest first.

    Only what belongs to versions above `above` and up to `up_to`; a version is that after the change.
    """
    conditions = Conditions(
        "item_id = %(item_id)s AND action <> 'created' AND version > %(above)s AND version <= %(up_to)s",
        item_id=item_id,
        above=above,
        up_to=up_to,
    )
    return await fetch_page(connection, _COLUMNS, "item_changes", conditions, wanted)


async def find_values(connection: Connection, item_id: UUID, version: int) -> Row:
    """Return what the fields of an item that changed after a version were in it; of version 0, when it was created."""
    cursor = await connection.execute(
        """
        SELECT DISTINCT ON (field.key) field.key, field.value -> 'before' AS value
        FROM item_changes changed, json_each(changed.told) AS field
        WHERE changed.item_id = %s AND changed.action = 'updated' AND changed.version > %s
        ORDER BY field.key, changed.id
        """,
        (item_id, version),
    )
    return {row["key"]: row["value"] for row in await cursor.fetchall()}


async def find_creator(connection: Connection, item_id: UUID) -> str | None:
    """Return who created an item if that is somebody else than it names, or None."""
    query = "SELECT actor FROM item_changes WHERE item_id = %s AND action = 'created'"
    actor: str | None = await fetch_value(connection, query, (item_id,))
    return actor
