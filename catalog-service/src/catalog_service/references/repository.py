"""Table `waiting_references`; the database itself makes links of its rows, see `migrations/before_tables.sql`."""

from datetime import datetime
from uuid import UUID

from catalog_service.items.kinds import KINDS
from chassis.db import isolation
from chassis.db.database import Connection
from chassis.db.rows import fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

NEWEST_FIRST = Order("since:desc", (By("w.since", datetime, descending=True), By("w.id", UUID)))
_JOINED = """
    LEFT JOIN requirements r ON w.owner_kind = 'requirement' AND r.id = w.owner_id
    LEFT JOIN test_cases t ON w.owner_kind = 'test_case' AND t.id = w.owner_id
"""
_COLUMNS = """
    w.id, CASE WHEN w.owner_id IS NOT NULL THEN json_build_object('kind', w.owner_kind, 'id', w.owner_id,
        'external_id', coalesce(r.external_id, t.external_id), 'title', coalesce(r.title, t.title)) END AS owner,
    w.kind, w.key, w.wanted_kind AS key_kind, w.owner_key AS other_key, w.link_type, w.notes, w.source, w.import_id,
    w.since
"""


async def page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the references `w` under conditions, as they are answered."""
    return await fetch_page(connection, _COLUMNS, "waiting_references w", conditions, wanted, joined=_JOINED)


async def take(connection: Connection, reference_id: UUID) -> Row | None:
    """Delete a reference and return it as it was answered, None where it does not wait (any more)."""
    await connection.execute("SELECT FROM waiting_references WHERE id = %s FOR UPDATE", (reference_id,))
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM waiting_references w {_JOINED} WHERE w.id = %s", (reference_id,)
    )
    row = await cursor.fetchone()
    await connection.execute("DELETE FROM waiting_references WHERE id = %s", (reference_id,))
    return row


async def settle(connection: Connection, head: str, *, stored: bool) -> None:
    """Make links of all references whose other end is there by now, told as `head` says (attributes of an event).

    `stored`: the transaction has stored some that wait; it looks then while nobody else is about to create an item.
    """
    lock = "pg_advisory_xact_lock" if stored else "pg_advisory_xact_lock_shared"
    await connection.execute(
        f"SELECT {lock}(hashtextextended('references of ' || current_setting('{isolation.SETTING}'), 0))"
    )
    if not await fetch_value(connection, "SELECT EXISTS (SELECT FROM waiting_references)"):
        return
    for kind in KINDS:
        await connection.execute(
            """
            SELECT settle_references(%(kind)s, ARRAY(
                SELECT key FROM waiting_references WHERE wanted_kind = %(kind)s
                UNION SELECT owner_key FROM waiting_references WHERE owner_kind = %(kind)s AND owner_key IS NOT NULL
            )::text[], %(head)s::json)
            """,
            {"kind": kind.name, "head": head},
        )
