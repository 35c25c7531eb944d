"""A real PostgreSQL for tests, and databases with real migrations."""

import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg import sql

from chassis import migrations
from chassis.core.projects import MAIN
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_column
from chassis.local.postgres import Postgres

from . import older

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder with a random name is made in it
_MEMORY_NEEDED = 4 * 2**30


class PostgresServer:
    """A PostgreSQL server for tests; each database is a copy of one that was migrated once."""

    def __init__(self, url: str) -> None:
        """`url` is that of a database whose user may create others."""
        self.url = url
        self._migrated = cache(self._migrate)
        self._older = cache(self._restore)

    def database(self, package: str) -> str:
        """Return the URL of a fresh database with the schema of service `package`."""
        return self._create(template=self._migrated(package))

    @asynccontextmanager
    async def opened(self, package: str, *, project: str = MAIN, **options: Any) -> AsyncIterator[Database]:
        """Open such a database, which is dropped at the end; `options` are those of Database.

        What a test asks of it outside of any project, it asks of `project`.
        """
        database = Database(self.database(package), project=project, **options)
        await database.open()
        try:
            yield database
        finally:
            await database.close()
            self.drop(database.url)

    def older_database(self, package: str) -> str:
        """Return the URL of a fresh database as version 0.1.0 left it, with the record of the demo; see `older`."""
        return self._create(template=self._older(package))

    def empty_database(self) -> str:
        """Return the URL of a fresh database without any table."""
        return self._create(template="template0")

    def _migrate(self, package: str) -> str:
        url = self._create(template="template0")
        migrations.upgrade(package, url)
        return self._name(url)

    def _restore(self, package: str) -> str:
        url = self._create(template="template0")
        older.restore(package, url)
        return self._name(url)

    def _create(self, template: str) -> str:
        name = f"test_{uuid.uuid4().hex}"
        # Half the work of writing each page into the log, too.
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(copy.format(sql.Identifier(name), sql.Identifier(template)))
        return with_database(self.url, name)

    def drop(self, url: str) -> None:
        """Take a database away again, with whatever is connected to it: hundreds of them fill a disk."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self._name(url))))

    @staticmethod
    def _name(url: str) -> str:
        return url.partition("?")[0].rpartition("/")[2]


@asynccontextmanager
async def as_owner(database: Database) -> AsyncIterator[Connection]:
    """A connection that may do what a service may not: change tables, and see the rows of every project."""
    async with database.connection() as connection:
        [before] = await fetch_column(connection, "SELECT current_user::text")
        await connection.execute("SET ROLE NONE")
        try:
            yield connection
        finally:
            await connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(before)))


async def everything_in(database: Database) -> str:
    """Return all rows of all tables of a database as text; bytes as the text that they are, where they are one."""
    said = []
    async with as_owner(database) as connection:
        tables = await fetch_column(
            connection,
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
        )
        for table in tables:
            cursor = await connection.execute(sql.SQL("SELECT * FROM {}").format(sql.SQL(table)))
            for row in await cursor.fetchall():
                values = [
                    value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in row.values()
                ]
                said.append(f"{table} {values}")
    return "\n".join(said)


def with_database(url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    base, question_mark, query = url.partition("?")
    return f"{base.rpartition('/')[0]}/{name}{question_mark}{query}"


@contextmanager
def postgres_of_the_wheel() -> Iterator[str]:
    """Run the PostgreSQL that a Python package brings, in a temporary folder; return its URL.

    In memory where there is enough: a database is 300 files, and some disks take minutes to delete those of a run.
    """
    with tempfile.TemporaryDirectory(
        prefix="traceline-test-", dir=_memory_folder(), ignore_cleanup_errors=True
    ) as folder:
        # Durability costs time, and this data is thrown away.
        server = Postgres(Path(folder) / "pg", {"fsync": "off"})
        try:
            yield server.url("postgres")
        finally:
            server.stop()


def _memory_folder() -> Path | None:
    """Return a folder that is kept in memory and has room for the databases of a run; None where there is none."""
    if not os.access(_MEMORY, os.W_OK) or shutil.disk_usage(_MEMORY).free < _MEMORY_NEEDED:
        return None
    return _MEMORY


def schema_differences(url: str, metadata: sqlalchemy.MetaData) -> list[object]:
    """Return what differs between a migrated database and the models; empty when they agree."""
    engine = sqlalchemy.create_engine(migrations.sqlalchemy_url(url), poolclass=sqlalchemy.pool.NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return list(compare_metadata(context, metadata))
