"""Statistics of tables, from which PostgreSQL plans queries, while a record is being filled.

PostgreSQL makes them by itself, but up to a minute late. Until then it takes a table for small and each project for a
two-hundredth of it, and reads a whole project where an index would give the one row that is looked for.
"""

from psycopg import sql

from chassis.db.database import Database
from chassis.db.rows import fetch_column

_FEW = 50
"""Rows, at which PostgreSQL makes them, too."""

_GROWN = f"""
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relpersistence = 'p'
    AND pg_stat_get_live_tuples(oid) > {_FEW} + 2 * greatest(reltuples, 0) AND has_table_privilege(oid, 'MAINTAIN')
"""


async def refresh(database: Database) -> list[str]:
    """Make statistics of the tables that have more than doubled since their last; return the tables' names.

    Who fills an unlogged table has statistics made of it once, at the end.
    """
    async with database.across() as connection:
        grown = await fetch_column(connection, _GROWN)
        for table in grown:
            await connection.execute(sql.SQL("ANALYZE (SKIP_LOCKED) {}").format(sql.Identifier(table)))
    return grown
