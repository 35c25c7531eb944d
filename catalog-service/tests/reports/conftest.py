"""A record for the reports, put into the database directly, and a client."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from chassis.db.database import Database, columns, placeholders
from testing import PostgresServer
from testing.postgres import as_owner

_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)


class Record:
    """Requirements, test cases and links: in the database, and here to compute from."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.requirements: dict[UUID, dict[str, Any]] = {}
        self.test_cases: dict[UUID, dict[str, Any]] = {}
        self.links: list[dict[str, Any]] = []
        self.acceptances: list[dict[str, Any]] = []

    def requirement(self, **fields: Any) -> UUID:
        """Note a requirement; `save` stores it."""
        row = {**self._item(len(self.requirements)), "type": "functional", **fields}
        self.requirements[row["id"]] = row
        return row["id"]

    def test_case(self, **fields: Any) -> UUID:
        """Note a test case; `save` stores it."""
        item = self._item(len(self.test_cases))
        row = {**item, "type": "functional", "automation_status": "manual", **fields}
        self.test_cases[row["id"]] = row
        return row["id"]

    def link(self, requirement: UUID, test_case: UUID, *, suspect: bool = False, **fields: Any) -> UUID:
        """Note a link between two items that are noted; `save` stores it."""
        row = {
            "id": uuid4(),
            "requirement_id": requirement,
            "test_case_id": test_case,
            "link_type": "covers",
            "link_source": "manual",
            "confidence_score": 1.0,
            "created_at": _BEGAN + timedelta(seconds=len(self.links)),
            "requirement_version": self.requirements[requirement]["version"] - suspect,
            "test_case_version": self.test_cases[test_case]["version"],
            **fields,
        }
        self.links.append(row)
        return row["id"]

    def accepted(self, link: UUID) -> UUID:
        """Note that a link was made from a suggestion; `save` stores it. Return the suggestion's id."""
        row = {"suggestion_id": uuid4(), "link_id": link, "created_at": _BEGAN}
        self.acceptances.append(row)
        return row["suggestion_id"]

    async def save(self) -> None:
        """Store everything that is noted."""
        revisions = [
            {"item_id": key, "version": 2, "changed_fields": ["title", "priority"], "changed_at": _BEGAN}
            for key in (*self.requirements, *self.test_cases)
        ]
        tables = (
            ("item_revisions", revisions),
            ("requirements", self.requirements.values()),
            ("test_cases", self.test_cases.values()),
            ("links", self.links),
            ("accepted_suggestions", self.acceptances),
        )
        async with self.database.transaction() as connection, connection.cursor() as cursor:
            for table, rows in tables:
                for row in list(rows)[:1]:
                    insert = f"INSERT INTO {table} ({columns(row)}) VALUES ({placeholders(row)})"
                    await cursor.executemany(insert, list(rows))
        async with as_owner(self.database) as connection:
            await connection.execute("ANALYZE")

    @staticmethod
    def _item(number: int) -> dict[str, Any]:
        return {
            "id": uuid4(),
            "external_id": None,
            "title": f"Item {number}",
            "description": "What it is about.",
            "priority": "high",
            "status": "draft",
            "module": None,
            "tags": [],
            "created_by": None,
            "version": 2,
            "created_at": _BEGAN + timedelta(seconds=number),
            "updated_at": _BEGAN + timedelta(seconds=number),
        }


@pytest.fixture
async def record(postgres: PostgresServer) -> AsyncIterator[Record]:
    """An empty record."""
    async with postgres.opened("catalog_service") as database:
        yield Record(database)


@pytest.fixture
async def client(record: Record, viewing: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A viewer's client."""
    async with viewing(record.database) as client:
        yield client
