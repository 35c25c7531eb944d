"""The service as events and people meet it: real inbox, real database, real routes."""

import uuid
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from chassis.core.identity import Identity, InternalTokens, Role
from chassis.db.database import Database
from chassis.messaging.events import SYSTEM, Actor, NewEvent, Payload, sequenced
from chassis.messaging.inbox import Inbox
from chassis.testing import PostgresServer
from contracts import auth, catalog, suggestion
from notification_service.app import create_app
from notification_service.handlers import HANDLERS
from notification_service.settings import Settings

SECRET = "the quick brown fox signs for the lazy dog"
ANA = Actor(1, "ana@example.com")
BEN = Actor(2, "ben@example.com")


class World:
    """Tells events to the service, and asks it as one of its users."""

    ana = ANA
    ben = BEN
    system = SYSTEM

    def __init__(self, url: str, database: Database) -> None:
        self.database = database
        self.inbox = Inbox("notification", database, HANDLERS)
        self._tokens = InternalTokens(SECRET)
        settings = Settings(database_url=url, internal_token_secret=SECRET)
        transport = httpx.ASGITransport(app=create_app(settings, database, self._tokens))
        self._http = httpx.AsyncClient(transport=transport, base_url="http://service/api/v1")
        self._sequence = 0

    async def close(self) -> None:
        await self._http.aclose()

    def envelope(
        self,
        payload: Payload,
        by: Actor = ANA,
        *,
        at: datetime | None = None,
        sequence: int | None = None,
        request_id: str = "request-1",
        gateway_request_id: str | None = None,
    ) -> bytes:
        """Return the message of an event, the next of its feed unless `sequence` says which."""
        self._sequence += 1
        moment = datetime.now(UTC) if at is None else at
        event = NewEvent(
            payload, "subject", by, time=moment, correlation_id=request_id, gateway_request_id=gateway_request_id
        )
        return sequenced(self._sequence if sequence is None else sequence, event.envelope())

    async def tell(self, *payloads: Payload, by: Actor = ANA, **how: Any) -> None:
        """Deliver events in one batch."""
        await self.inbox.receive([self.envelope(payload, by, **how) for payload in payloads])
        assert await self.rows("SELECT error FROM inbox_failures") == []

    async def rows(self, query: str) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(query)).fetchall()

    async def ask(
        self, method: str, path: str, who: Actor = ANA, role: Role = Role.VIEWER, **options: Any
    ) -> httpx.Response:
        """Send a request as a user."""
        token = self._tokens.issue(Identity(id=who.id, email=who.email, role=role))
        headers = {"authorization": f"Bearer {token}", **options.pop("headers", {})}
        return await self._http.request(method, path, headers=headers, **options)

    async def read(self, path: str, who: Actor = ANA, role: Role = Role.VIEWER, **query: Any) -> Any:
        """Return the body of a GET that must succeed."""
        response = await self.ask("GET", path, who, role, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    async def notifications(self, who: Actor = ANA) -> list[dict[str, Any]]:
        page = await self.read("/notifications", who, limit=100)
        items: list[dict[str, Any]] = page["items"]
        return items

    async def audit_log(self, **query: Any) -> list[dict[str, Any]]:
        page = await self.read("/audit-log", role=Role.ADMIN, **query)
        items: list[dict[str, Any]] = page["items"]
        return items

    def requirement(self, **fields: Any) -> catalog.RequirementState:
        now = datetime(2026, 1, 31, 12, tzinfo=UTC)
        state: dict[str, Any] = {
            "id": uuid.uuid4(),
            "external_id": "REQ-1",
            "title": "Lock the account",
            "description": "After five failures.",
            "type": "functional",
            "priority": "high",
            "status": "draft",
            "module": None,
            "tags": ["login"],
            "custom_metadata": {"origin": {"page": 7}},
            "source_system": None,
            "source_url": None,
            "created_by": ANA.email,
            "version": 1,
            "created_at": now,
            "updated_at": now,
        }
        return catalog.RequirementState(**(state | fields))

    def test_case(self, **fields: Any) -> catalog.TestCaseState:
        state = {
            "external_id": None,
            "title": "Fail five times",
            "steps": {"1": "Fail.", "2": "Repeat."},
            "preconditions": None,
            "postconditions": None,
            "test_data": None,
            "automation_status": "manual",
            "execution_time_minutes": 5,
        }
        return catalog.TestCaseState(**(vars(self.requirement()) | state | fields))

    def link(self, **fields: Any) -> catalog.LinkState:
        state: dict[str, Any] = {
            "id": uuid.uuid4(),
            "requirement_id": uuid.uuid4(),
            "test_case_id": uuid.uuid4(),
            "link_type": "covers",
            "link_source": "manual",
            "confidence_score": 1.0,
            "notes": None,
            "created_at": datetime(2026, 1, 31, 12, tzinfo=UTC),
            "created_by": ANA.email,
            "confirmed_at": None,
            "confirmed_by": None,
            "requirement_title": "Lock the account",
            "test_case_title": "Fail five times",
            "requirement_external_id": "REQ-1",
            "test_case_external_id": "TC-7",
        }
        return catalog.LinkState(**(state | fields))

    def reviewed(self, status: str = "accepted", **fields: Any) -> suggestion.ReviewedSuggestion:
        state: dict[str, Any] = {
            "id": uuid.uuid4(),
            "requirement_id": uuid.uuid4(),
            "test_case_id": uuid.uuid4(),
            "requirement_title": "Lock the account",
            "test_case_title": "Fail five times",
            "similarity_score": 0.734512,
            "suggestion_method": "semantic_similarity",
            "status": status,
            "feedback": "Fits.",
            "link_id": uuid.uuid4() if status == "accepted" else None,
            "requirement_external_id": "REQ-1",
        }
        return suggestion.ReviewedSuggestion(**(state | fields))

    def reopened(self, **fields: Any) -> suggestion.ReopenedSuggestion:
        state = self.reviewed().model_dump() | {
            "reviewed_by": "kim@example.com",
            "reviewed_at": datetime(2026, 1, 30, 12, tzinfo=UTC),
            "review_id": uuid.UUID("c9a1f0de-52c4-4d0b-9a2f-7f1f0c6f5d21"),
        }
        return suggestion.ReopenedSuggestion(**(state | fields))

    def run(self, **fields: Any) -> suggestion.RunFinished:
        state: dict[str, Any] = {
            "run_id": uuid.uuid4(),
            "status": "completed",
            "algorithm": "tfidf",
            "threshold": 0.3,
            "pairs_analyzed": 600,
            "suggestions_created": 12,
            "suggestions_skipped": 30,
            "error": None,
        }
        return suggestion.RunFinished(**(state | fields))

    def found(self, **fields: Any) -> suggestion.ItemSuggestionsGenerated:
        state: dict[str, Any] = {
            "item_type": "requirement",
            "item_id": uuid.uuid4(),
            "item_title": "Lock the account",
            "item_external_id": "REQ-1",
            "algorithm": "tfidf",
            "threshold": 0.3,
            "suggestions_created": 3,
            "suggestions_skipped": 1,
        }
        return suggestion.ItemSuggestionsGenerated(**(state | fields))

    def drop(self) -> catalog.CoverageDropped:
        return catalog.CoverageDropped(
            coverage=0.79999, threshold=0.8, covered_requirements=79999, total_requirements=100000
        )

    def user(self, actor: Actor, role: str = "viewer", *, is_active: bool = True) -> auth.UserState:
        assert actor.id is not None
        return auth.UserState(
            id=actor.id,
            email=actor.email,
            full_name=actor.email.partition("@")[0].title(),
            role=role,
            is_active=is_active,
            tokens_not_before=datetime(2026, 1, 31, 12, tzinfo=UTC),
        )

    async def tell_users(self, users: Iterable[auth.UserState]) -> None:
        await self.tell(*(auth.UserCreated(user=user) for user in users), by=SYSTEM)


@pytest.fixture
async def world(postgres: PostgresServer) -> AsyncIterator[World]:
    url = postgres.database("notification_service")
    database = Database(url)
    await database.open()
    world = World(url, database)
    yield world
    await world.close()
    await database.close()
    postgres.drop(url)
