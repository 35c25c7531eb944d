"""The order in which suggestions are locked: that of their ids, so that nobody waits for another in a circle."""

from collections.abc import Sequence
from uuid import UUID

from chassis.db.database import Connection


async def lock_suggestions(connection: Connection, ids: Sequence[UUID]) -> None:
    """Lock those of the suggestions that exist, before anything that belongs to them."""
    await connection.execute("SELECT FROM suggestions WHERE id = ANY(%s) ORDER BY id FOR UPDATE", (list(ids),))
