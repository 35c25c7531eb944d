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
SELECT s.relname FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
WHERE s.schemaname = 'public' AND s.n_live_tup > {_FEW} + 2 * greatest(c.reltuples, 0)
    AND has_table_privilege(s.relid, 'MAINTAIN')
"""


async def refresh(database: Database) -> list[str]:
    """Make statistics of the tables that have more than doubled since their last; return the tables' names."""
    async with database.across() as connection:
        grown = await fetch_column(connection, _GROWN)
        for table in grown:
            await connection.execute(sql.SQL("ANALYZE (SKIP_LOCKED) {}").format(sql.Identifier(table)))
    return grown
