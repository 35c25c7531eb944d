"""The SQL of the outline: neighbours of a place, and what sections hold."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from catalog_service.items.kinds import ItemKind
from chassis.db import isolation
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value


async def lock(connection: Connection, kind: ItemKind) -> None:
    """Let nobody else move items of a kind until the transaction ends: two would come between the same."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('outline of ' || %s ||"
        f" current_setting('{isolation.SETTING}'), 0))",
        (kind.table,),
    )


async def find_place(connection: Connection, kind: ItemKind, item_id: UUID) -> tuple[list[str], str] | None:
    """Return section and position of an item, None where it is not there."""
    cursor = await connection.execute(
        f"SELECT section, position FROM {kind.table} WHERE id = %s FOR KEY SHARE", (item_id,)
    )
    row = await cursor.fetchone()
    return None if row is None else (row["section"], row["position"])


async def find_before(connection: Connection, kind: ItemKind, position: str, but: Sequence[UUID]) -> str | None:
    """Return the last position before one, those of some items aside."""
    return await _neighbour(connection, kind, "position < %(at)s", "DESC", position, but)


async def find_behind(connection: Connection, kind: ItemKind, position: str, but: Sequence[UUID]) -> str | None:
    """Return the first position behind one, those of some items aside."""
    return await _neighbour(connection, kind, "position > %(at)s", "ASC", position, but)


async def _neighbour(
    connection: Connection, kind: ItemKind, where: str, order: str, position: str, but: Sequence[UUID]
) -> str | None:
    found: list[str] = await fetch_column(
        connection,
        f"SELECT position FROM {kind.table} WHERE {where} AND id <> ALL(%(but)s) ORDER BY position {order} LIMIT 1",
        {"at": position, "but": list(but)},
    )
    return found[0] if found else None


async def read_sections(connection: Connection, kind: ItemKind) -> list[dict[str, Any]]:
    """Return all sections in the order of the outline, each with how many items are in it itself."""
    cursor = await connection.execute(
        f"""
        SELECT above, title, sections.position, section_text, coalesce(items, 0) AS items
        FROM sections LEFT JOIN (
            SELECT substring(position FROM '^.*/') AS key, count(*) AS items FROM {kind.table}
            WHERE position LIKE '%%/%%' GROUP BY 1
        ) AS counted ON key = sections.position
        WHERE item_kind = %s ORDER BY sections.position
        """,
        (kind.name,),
    )
    return await cursor.fetchall()


async def count_without(connection: Connection, kind: ItemKind) -> int:
    """Return how many items are in no section."""
    return int(await fetch_value(connection, f"SELECT count(*) FROM {kind.table} WHERE position NOT LIKE '%%/%%'", ()))
