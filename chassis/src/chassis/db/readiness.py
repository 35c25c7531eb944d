"""Whether a database has the schema that the software needs."""

from contextlib import suppress

import psycopg

from chassis.core.problems import Unavailable
from chassis.db.database import Connection


async def check_schema(connection: Connection, needed: str) -> str:
    """Return the schema of the database; raise Unavailable unless it is `needed`, or a newer one.

    A newer schema still serves older software: a migration that takes something away comes one version later.
    """
    found = None
    with suppress(psycopg.errors.UndefinedTable):
        row = await (await connection.execute("SELECT version_num FROM alembic_version")).fetchone()
        found = None if row is None else row["version_num"]
    if found is None or int(found) < int(needed):
        raise Unavailable(
            f"The database has {'no schema' if found is None else f'schema {found}'} and this program needs"
            f" {needed}; run the migrations."
        )
    return str(found)
