"""SQL of which proposals have been applied."""

from datetime import UTC, datetime
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_value


async def begin(connection: Connection, proposal_id: UUID) -> bool:
    """Note that a proposal is applied in this transaction; return False where another has, which is waited for."""
    cursor = await connection.execute(
        "INSERT INTO applied_proposals (proposal_id, created_at) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (proposal_id, datetime.now(UTC)),
    )
    return cursor.rowcount == 1


async def finish(connection: Connection, proposal_id: UUID, made_id: UUID) -> None:
    """Store what a proposal has made or changed."""
    await connection.execute("UPDATE applied_proposals SET made_id = %s WHERE proposal_id = %s", (made_id, proposal_id))


async def made(connection: Connection, proposal_id: UUID) -> UUID:
    """Return what an earlier call has made or changed for a proposal."""
    found: UUID = await fetch_value(
        connection, "SELECT made_id FROM applied_proposals WHERE proposal_id = %s", (proposal_id,)
    )
    return found
