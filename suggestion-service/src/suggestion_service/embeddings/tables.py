"""The table of vectors, in databases whose server has pgvector: `python -m suggestion_service.embeddings.tables`.

The migration makes it if it can. The command is for a server that got pgvector later; it may be run again.
"""

import sys
from collections.abc import Iterator

import psycopg

from chassis.core.settings import DatabaseSettings, read
from chassis.core.start_failure import StartFailure
from chassis.db.isolation import add_project, isolate

AVAILABLE = """
SELECT name FROM pg_available_extension_versions
WHERE name = 'vector' AND string_to_array(version, '.')::integer[] >= '{0,7}'
"""
"""Returns a row when the server has pgvector, of a version with half precision."""

_HAS_NO_PROJECTS = """
SELECT WHERE NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'embeddings'::regclass AND attname = 'project_id')
"""

STATEMENTS = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    """
    CREATE TABLE IF NOT EXISTS embeddings (
        item_id uuid NOT NULL,
        model text NOT NULL,
        text_hash text,
        whole halfvec,
        passages halfvec[],
        claim uuid,
        claimed_until timestamptz,
        CONSTRAINT pk_embeddings PRIMARY KEY (item_id, model)
    )
    """,
    "COMMENT ON COLUMN embeddings.text_hash IS 'md5 of the items.text that the vectors are of'",
    "COMMENT ON COLUMN embeddings.whole IS 'unit vector times 2000, whole numbers; null where there are no words'",
    "CREATE INDEX IF NOT EXISTS ix_embeddings_claimed_until ON embeddings (claimed_until)"
    " WHERE claimed_until IS NOT NULL",
)


def projects_apart() -> Iterator[str]:
    """Yield the SQL that gives the vectors that are there to MAIN, and each project sight of its own alone."""
    yield from add_project("embeddings")
    yield "CREATE INDEX ix_embeddings_project_id ON embeddings (project_id)"
    yield from isolate("embeddings")


def create_tables(database_url: str) -> None:
    """Make what is missing; raise StartFailure when the server has no pgvector, or the user may not install it."""
    with psycopg.connect(database_url) as connection:
        if connection.execute(AVAILABLE).fetchone() is None:
            raise StartFailure(
                "The PostgreSQL server has no extension vector of version 0.7 or later: install pgvector."
            )
        try:
            for statement in STATEMENTS:
                connection.execute(statement)
            if connection.execute(_HAS_NO_PROJECTS).fetchone() is not None:
                for statement in projects_apart():
                    connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartFailure(
                f"{error.diag.message_primary}: run CREATE EXTENSION vector as a superuser of this database, then this"
                " command again."
            ) from None


if __name__ == "__main__":
    try:
        create_tables(read(DatabaseSettings).database_url)
    except StartFailure as failure:
        sys.exit(str(failure))
    except psycopg.OperationalError as error:
        sys.exit(f"The database cannot be reached: {str(error).partition(chr(10))[0]}.")
