"""Brings the databases of services to their schema: `python -m chassis.migrations PACKAGE...`.

A new database is made of the service's models; one that has a schema already goes on by Alembic's migrations.

Where is said by a setting of the package, CATALOG_SERVICE_DATABASE_URL for example, or else by DATABASE_URL.
It is a command, never a part of starting an app; an app waits for its schema.
"""

import sys
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import sqlalchemy
from alembic import command, context
from alembic.config import Config
from psycopg.errors import DeadlockDetected, LockNotAvailable
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import MetaData, pool

from chassis.core.settings import DatabaseSettings, read
from chassis.core.start_failure import StartFailure
from chassis.db import isolation
from chassis.db.creation import create_schema, execute

_LOCK = 7_235_114
_PATIENCE = 20.0
"""Seconds for which a migration is tried again while others hold what it needs."""


class _OwnDatabase(BaseSettings):
    """Where the database of one of several packages is."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    database_url: str | None = None


def upgrade(package: str, database_url: str) -> None:
    """Bring the database of service `package` to its newest schema, unless it has a newer one; others wait.

    Raise StartFailure for one that is too old. Each migration is committed by itself. Programs may use the database
    meanwhile: a migration that would keep them waiting gives way, and is tried again.
    """
    config = Config()
    config.set_main_option("script_location", str(files(package).joinpath("migrations")))
    config.attributes.update(package=package, database_url=database_url)
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            command.upgrade(config, "head")
        except sqlalchemy.exc.OperationalError as error:
            if not isinstance(error.orig, LockNotAvailable | DeadlockDetected) or time.monotonic() > end:
                raise
            time.sleep(0.5)
        else:
            return


def run(metadata: MetaData) -> None:
    """What each service's `migrations/env.py` calls; `metadata` is that of its models."""
    engine = sqlalchemy.create_engine(
        sqlalchemy_url(context.config.attributes["database_url"]), poolclass=pool.NullPool
    )
    with engine.connect() as connection:
        _prepare(connection)
        connection.execute(sqlalchemy.text("SET lock_timeout = '60s'"))
        connection.execute(sqlalchemy.text(f"SELECT pg_advisory_lock({_LOCK})"))
        # Whoever asks for a table after us waits behind us. Less than deadlock_timeout (1 s), so that of a circle it is
        # a migration that gives way, and no request.
        connection.execute(sqlalchemy.text("SET lock_timeout = '800ms'"))
        connection.commit()
        context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
        found = context.get_context().get_current_revision()
        if found is None:
            create_schema(connection, metadata, Path(context.script.dir))
            context.get_context().stamp(context.script, "head")
            connection.commit()
        elif int(found) < int(context.script.get_base() or 0):
            raise StartFailure(
                f"The database of {context.config.attributes['package']} has schema {found}, older than that of version"
                f" 0.1.0 ({context.script.get_base()}): start version 0.1.0 with it once, then this version."
            )
        elif int(found) <= int(context.script.get_current_head() or 0):
            with context.begin_transaction():
                context.run_migrations()


def _prepare(connection: sqlalchemy.Connection) -> None:
    """Make the roles that services run as, and let them use the tables; raise StartFailure where we may not."""
    try:
        for statement in isolation.PREPARE:
            execute(connection, statement)
        connection.commit()
    except sqlalchemy.exc.ProgrammingError as error:
        raise StartFailure(
            f"The roles {isolation.APP} and {isolation.ACROSS} cannot be made or used ({error.orig}); have a superuser"
            " execute what `python -m chassis.db.isolation` prints in this database."
        ) from None


def sqlalchemy_url(database_url: str) -> str:
    """Return SQLAlchemy's form of a libpq URL: the driver is psycopg."""
    return "postgresql+psycopg://" + database_url.partition("://")[2]


def main(packages: Sequence[str]) -> None:
    """Migrate the database of each of these services; raise StartFailure when one cannot be."""
    for package in packages:
        own = read(_OwnDatabase, _env_prefix=f"{package}_").database_url
        url = own or read(DatabaseSettings).database_url
        try:
            upgrade(package, url)
        except sqlalchemy.exc.OperationalError as error:
            reason = str(error.orig).partition("\n")[0]
            raise StartFailure(f"The database of {package} cannot be migrated: {reason}.") from None


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except StartFailure as failure:
        sys.exit(str(failure))
