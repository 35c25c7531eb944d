"""Table `outdated_scales`: a row a project whose terms and pending suggestions an older version has made.

Or that were made while the project had another language.
"""

from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value

_START = UUID(int=0)


async def projects(connection: Connection) -> list[str]:
    """Return the projects; those that the connection sees."""
    return await fetch_column(connection, "SELECT project_id FROM outdated_scales ORDER BY project_id")


async def put(connection: Connection) -> None:
    """Note that all of the project is to be read and scored anew, from its first item on."""
    await connection.execute(
        "INSERT INTO outdated_scales DEFAULT VALUES ON CONFLICT (project_id) DO UPDATE SET position = NULL"
    )


async def lock(connection: Connection) -> UUID | None:
    """Return up to which id the items have been read anew, None when all is done; nobody else does it meanwhile."""
    position: UUID | None = await fetch_value(
        connection, "SELECT coalesce(position, %s) FROM outdated_scales FOR UPDATE", (_START,)
    )
    return position


async def move(connection: Connection, position: UUID) -> None:
    """Note up to which id the items have been read anew."""
    await connection.execute("UPDATE outdated_scales SET position = %s", (position,))


async def finish(connection: Connection) -> None:
    """Note that nothing of the project is of an older version."""
    await connection.execute("DELETE FROM outdated_scales")
