"""Items to search in, put into the database directly, and a client."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from catalog_service.app import SCHEMA_VERSION
from catalog_service.search.endpoints import router
from chassis.database import Database, columns, placeholders
from chassis.http.app import create_app
from chassis.identity import Identity, InternalTokens, Role
from chassis.testing import PostgresServer

TOKENS = InternalTokens("a-secret-of-at-least-32-characters!!")


class Items:
    """Puts requirements and test cases into the database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def requirement(self, **fields: Any) -> UUID:
        """Store a requirement; give its id."""
        return await self._insert("requirements", {"type": "functional", "status": "draft", **fields})

    async def test_case(self, **fields: Any) -> UUID:
        """Store a test case; give its id."""
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
            await connection.execute(f"INSERT INTO {table} ({columns(row)}) VALUES ({placeholders(row)})", row)
        return row["id"]


@pytest.fixture
async def items(postgres: PostgresServer) -> AsyncIterator[Items]:
    """An empty record."""
    database = Database(postgres.database("catalog_service"))
    await database.open()
    yield Items(database)
    await database.close()


@pytest.fixture
async def client(items: Items) -> AsyncIterator[httpx.AsyncClient]:
    """A viewer's client."""
    app = create_app(
        "catalog", [router], database=items.database, internal_tokens=TOKENS, schema_version=SCHEMA_VERSION, state={}
    )
    token = TOKENS.issue(Identity(id=1, email="viewer@example.test", role=Role.VIEWER))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app),
        base_url="http://service",
        headers={"authorization": f"Bearer {token}"},
    ) as client:
        yield client
