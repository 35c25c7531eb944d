"""Removes all rows of a project, some at a time: nobody else waits for it, and a crash loses nothing of it."""

from psycopg import sql

from chassis.core import projects
from chassis.db.database import Database
from chassis.db.rows import fetch_column
from chassis.messaging import withdrawal

_AT_ONCE = 1000

_TABLES = """
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    AND NOT relispartition AND relrowsecurity
    AND relname <> 'outbox' AND relname <> ALL(%s) ORDER BY relname
"""

_SOME = "DELETE FROM {0} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {0} LIMIT %s))"


async def remove(database: Database, project: str, keep: tuple[str, ...] = ()) -> int:
    """Remove the rows of a project from every table that has projects but those to `keep`; return how many there were.

    Its events are withdrawn from the feed. To be done once nothing more is taken of the project; what was under way
    then may need a second call.
    """
    removed = 0
    # Within it, and not across all: triggers count what is removed, and know no other project then.
    with projects.within(project):
        async with database.connection() as connection:
            tables = await fetch_column(connection, _TABLES, (list(keep),))
        # More than one round: triggers may keep counts of one table in another.
        while (once := sum([await _empty(database, table) for table in tables])) > 0:
            removed += once
        removed += await withdrawal.withdraw(database)
    return removed


async def _empty(database: Database, table: str) -> int:
    removed = 0
    name = sql.Identifier(table)
    any_left, some = sql.SQL("SELECT FROM {} LIMIT 1").format(name), sql.SQL(_SOME).format(name)
    while True:
        async with database.statement() as connection:
            # To remove nothing sets off triggers, too, and what they count would be there to be removed again.
            if (await connection.execute(any_left)).rowcount == 0:
                return removed
            cursor = await connection.execute(some, (_AT_ONCE,))
        removed += cursor.rowcount
        if cursor.rowcount < _AT_ONCE:
            return removed
