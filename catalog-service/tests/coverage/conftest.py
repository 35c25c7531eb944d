"""A catalog whose feed is written as the service writes it, and its database."""

from collections.abc import AsyncIterator

import pytest

from chassis.db.database import Database
from testing import PostgresServer


@pytest.fixture
async def database(postgres: PostgresServer) -> AsyncIterator[Database]:
    """An empty database of catalog-service."""
    async with postgres.opened("catalog_service") as database:
        yield database
