"""A database with the messaging tables, as each service has them."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from chassis.core.projects import MAIN
from chassis.db import isolation
from chassis.db.database import Database
from chassis.messaging import migration as messaging_migration
from testing import PostgresServer


def _messaging_database(postgres: PostgresServer) -> str:
    url = postgres.empty_database()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (
            *isolation.PREPARE,
            *messaging_migration.STATEMENTS,
            *messaging_migration.projects_apart(),
            *messaging_migration.PRUNING,
            *messaging_migration.INBOX_PRUNING,
        ):
            connection.execute(statement)
        connection.execute("CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, what text NOT NULL)")
    return url


@pytest.fixture
async def database(postgres: PostgresServer) -> AsyncIterator[Database]:
    """The database of a service that publishes, and may consume."""
    database = Database(_messaging_database(postgres), project=MAIN)
    await database.open()
    yield database
    await database.close()
    postgres.drop(database.url)


@pytest.fixture
async def other_database(postgres: PostgresServer) -> AsyncIterator[Database]:
    """The database of another service."""
    database = Database(_messaging_database(postgres), project=MAIN)
    await database.open()
    yield database
    await database.close()
    postgres.drop(database.url)
