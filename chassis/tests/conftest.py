"""A database with the messaging tables, as each service has them."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from chassis import migrations
from chassis.core.projects import MAIN
from chassis.db import isolation, schema
from chassis.db.creation import create_schema
from chassis.db.database import Database
from testing import PostgresServer


def _messaging_database(postgres: PostgresServer) -> str:
    url = postgres.empty_database()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in isolation.PREPARE:
            connection.execute(statement)
    engine = sqlalchemy.create_engine(migrations.sqlalchemy_url(url), poolclass=sqlalchemy.pool.NullPool)
    with engine.begin() as connection:
        create_schema(connection, schema.new_metadata(), Path())
        connection.exec_driver_sql("CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, what text NOT NULL)")
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
