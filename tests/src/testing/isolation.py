"""What tests of all services ask of the walls between projects."""

import psycopg

from chassis.db.database import Database
from chassis.db.isolation import ACROSS, SETTING
from chassis.db.rows import fetch_column, fetch_value
from testing.postgres import as_owner

OF_THE_INSTALLATION = {
    "alembic_version": "which schema it is",
    "feed_head": "the feed is one, and its events name their project",
    "relay_position": "how far the feed is published",
    "feed_consumers": "how far it is received",
    "feed_latest": "hashes by which it is pruned",
    "feed_pruning": "how far it is pruned",
    "inbox": "ids of events, to know them by",
    "inbox_positions": "how far the feeds of others are received",
}
"""Tables of every service that no project owns, and why not."""

_UNWALLED = f"""
SELECT relname FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT (
    relrowsecurity AND relforcerowsecurity
    AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'project_id' AND attnotnull)
    AND (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid) = 2
    AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polroles = '{{0}}' AND polwithcheck IS NULL
        AND polcmd = '*' AND pg_get_expr(polqual, polrelid) LIKE '(project\\_id = % current_setting(''{SETTING}''%')
    AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid
        AND polroles = ARRAY['{ACROSS}'::regrole::oid, relowner] AND pg_get_expr(polqual, polrelid) = 'true'))
"""


def unwalled_tables(url: str) -> set[str]:
    """Return the tables of a database whose rows everybody sees: no project, or no forced row-level security."""
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute(_UNWALLED).fetchall()}


async def checksums(database: Database, project: str) -> dict[str, int]:
    """Return a number for what each table has of a project, which is another one when that has changed."""
    async with as_owner(database) as connection:
        tables = await fetch_column(
            connection,
            "SELECT attrelid::regclass::text FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
            " WHERE attname = 'project_id' AND relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace",
        )
        return {
            table: await fetch_value(
                connection,
                f"SELECT coalesce(sum(hashtextextended(t::text, 0)), 0)::numeric FROM {table} t WHERE project_id = %s",
                (project,),
            )
            for table in tables
        }
