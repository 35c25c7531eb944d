"""The table of vectors, in databases whose server has pgvector: `python -m suggestion_service.embeddings.tables`.

A new database has it if it can. The command is for a server that got pgvector later; it may be run again.
"""

import sys

import psycopg
import sqlalchemy

from chassis import migrations
from chassis.core.settings import DatabaseSettings, read
from chassis.core.start_failure import StartFailure
from chassis.db import creation
from suggestion_service.models import embeddings

_AVAILABLE = """
SELECT name FROM pg_available_extension_versions
WHERE name = 'vector' AND string_to_array(version, '.')::integer[] >= '{0,7}'
"""
"""Returns a row when the server has pgvector, of a version with half precision."""


def create_tables(database_url: str) -> None:
    """Make what is missing; raise StartFailure when the server has no pgvector, or the user may not install it."""
    engine = sqlalchemy.create_engine(migrations.sqlalchemy_url(database_url), poolclass=sqlalchemy.pool.NullPool)
    with engine.begin() as connection:
        if connection.exec_driver_sql(_AVAILABLE).first() is None:
            raise StartFailure(
                "The PostgreSQL server has no extension vector of version 0.7 or later: install pgvector."
            )
        try:
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        except sqlalchemy.exc.ProgrammingError as error:
            if not isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
                raise
            raise StartFailure(
                f"{error.orig.diag.message_primary}: run CREATE EXTENSION vector as a superuser of this database, then"
                " this command again."
            ) from None
        if not sqlalchemy.inspect(connection).has_table(embeddings.name):
            creation.create_tables(connection, [embeddings])


if __name__ == "__main__":
    try:
        create_tables(read(DatabaseSettings).database_url)
    except StartFailure as failure:
        sys.exit(str(failure))
    except sqlalchemy.exc.OperationalError as error:
        sys.exit(f"The database cannot be reached: {str(error.orig).partition(chr(10))[0]}.")
