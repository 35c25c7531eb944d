"""What the worker does for search, so that writes do not wait for it."""

import asyncio

from chassis.db.database import Database

TABLES = ("requirements", "test_cases")
_AT_ONCE = 200
MISSING_DOCUMENTS = " OR ".join(f"EXISTS (SELECT FROM {table} WHERE search IS NULL)" for table in TABLES)
"""The condition that there are items without a search document."""


async def merge_pending_entries(database: Database) -> None:
    """Merge the pending entries of the search indexes.

    PostgreSQL collects new entries in a list, which each search looks through; a write that finds it full would have
    to merge it.
    """
    async with database.connection() as connection:
        await connection.execute("SELECT merge_search_entries()")


async def make_missing_documents(database: Database) -> None:
    """Make the search documents that imports have left to be made; half of the time is left to other work.

    Items that others are changing are passed over: that makes their documents.
    """
    clock = asyncio.get_running_loop()
    for table in TABLES:
        while True:
            began = clock.time()
            async with database.across() as connection:
                made = await connection.execute(
                    f"UPDATE {table} SET search = NULL WHERE id IN ("
                    f"SELECT id FROM {table} WHERE search IS NULL ORDER BY id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED)",
                    (_AT_ONCE,),
                )
            if made.rowcount == 0:
                break
            await asyncio.sleep(clock.time() - began)


async def rebuild_documents(database: Database) -> None:
    """Rebuild the search documents that a migration has made outdated; half of the time is left to other work."""
    clock = asyncio.get_running_loop()
    for table in TABLES:
        while True:
            began = clock.time()
            async with database.across() as connection, connection.transaction():
                # Deleted items are no reason to end, locked ones are waited for.
                await connection.execute(
                    f"""
                    WITH batch AS MATERIALIZED (
                        SELECT id FROM {table}
                        WHERE id > (SELECT after FROM search_documents_due WHERE table_name = %(table)s FOR UPDATE)
                        ORDER BY id LIMIT %(at_once)s
                    ), made AS (
                        UPDATE {table} SET search = NULL WHERE id IN (SELECT id FROM batch)
                    ), moved AS (
                        UPDATE search_documents_due SET after = (SELECT id FROM batch ORDER BY id DESC LIMIT 1)
                        WHERE table_name = %(table)s AND EXISTS (SELECT FROM batch)
                    )
                    DELETE FROM search_documents_due WHERE table_name = %(table)s AND NOT EXISTS (SELECT FROM batch)
                    RETURNING table_name
                    """,
                    {"table": table, "at_once": _AT_ONCE},
                )
                remaining = await connection.execute("SELECT FROM search_documents_due WHERE table_name = %s", (table,))
                due = await remaining.fetchone() is not None
            if not due:
                break
            await asyncio.sleep(clock.time() - began)
