"""Makes what imports have created or changed searchable, and has their jobs say so."""

from catalog_service.search.maintenance import MISSING_DOCUMENTS, make_missing_documents
from chassis.db.database import Database
from chassis.db.rows import fetch_value

_WAITS = "applied_at IS NOT NULL AND NOT search_ready"
_HAS_LEFT_SOME = "NOT search_ready AND (applied_at IS NOT NULL OR applied_step > 0)"


async def complete(database: Database) -> None:
    """Make the search documents that are missing, and then tell it in the jobs of imports that are applied.

    Queries are planned for the many new rows from then on.
    """
    async with database.across() as connection:
        # Not by the items: what is not committed of a large import takes long to be passed over.
        if not await fetch_value(connection, f"SELECT EXISTS (SELECT FROM import_jobs WHERE {_HAS_LEFT_SOME})"):
            return
    await make_missing_documents(database)
    async with database.connection() as connection:
        await connection.execute("SELECT analyze_record()")
    async with database.across() as connection:
        # Of one moment: an import that is applied meanwhile is not seen, nor what it lacks.
        await connection.execute(
            f"UPDATE import_jobs SET search_ready = true WHERE {_WAITS} AND NOT ({MISSING_DOCUMENTS})"
        )
