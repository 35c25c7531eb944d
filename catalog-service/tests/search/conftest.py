"""Items to search in, put into the database directly, and a client."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from psycopg.types.json import Json

from chassis.db.database import Database, columns, placeholders
from testing import PostgresServer


class Items:
    """Puts requirements and test cases into the database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def requirement(self, **fields: Any) -> UUID:
        """Store a requirement; return its id."""
        return await self._insert("requirements", {"type": "functional", "status": "draft", **fields})

    async def test_case(self, **fields: Any) -> UUID:
        """Store a test case; return its id."""
        ready = {"type": "functional", "status": "ready", "automation_status": "manual"}
        return await self._insert("test_cases", {**ready, **fields})

    async def _insert(self, table: str, fields: dict[str, Any]) -> UUID:
        now = datetime.now(UTC)
        row = {
            "id": uuid4(),
            "title": "Nothing to see",
            "description": "Nothing at all.",
            "priority": "high",
            "created_at": now,
            "updated_at": now,
            **fields,
        }
        async with self.database.connection() as connection:
            stored = {name: Json(value) if isinstance(value, dict) else value for name, value in row.items()}
            await connection.execute(f"INSERT INTO {table} ({columns(row)}) VALUES ({placeholders(row)})", stored)
        return row["id"]


@pytest.fixture
async def items(postgres: PostgresServer) -> AsyncIterator[Items]:
    """An empty record."""
    async with postgres.opened("catalog_service") as database:
        yield Items(database)


@pytest.fixture
async def client(items: Items, viewing: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A viewer's client."""
    async with viewing(items.database) as client:
        yield client
