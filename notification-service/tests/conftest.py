"""The service as events and people meet it: real inbox, real database, real routes."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from chassis.core.identity import Identity, Role
from chassis.core.projects import NONE
from chassis.db.database import Database
from chassis.messaging.events import SYSTEM, Actor, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Payload
from contracts import auth
from contracts.routes import NOTIFICATION
from notification_service.app import create_app
from notification_service.handlers import HANDLERS
from notification_service.settings import Settings
from testing import PostgresServer
from testing.internal import verifier_of
from testing.service import Json, ServiceUnderTest, ok

ANA = Actor(1, "ana@example.com")
BEN = Actor(2, "ben@example.com")


class World(ServiceUnderTest):
    """Tells events to the service, and asks it as one of its users."""

    ana = ANA
    ben = BEN
    system = SYSTEM

    def __init__(self, database: Database) -> None:
        settings = Settings(database_url=database.url)
        super().__init__(create_app(settings, database, verifier_of(NOTIFICATION)), database)
        self.inbox = Inbox("notification", database, HANDLERS)
        self._sequence = 0

    def envelope(
        self,
        payload: Payload,
        by: Actor = ANA,
        *,
        at: datetime | None = None,
        sequence: int | None = None,
        request_id: str = "request-1",
        gateway_request_id: str | None = None,
        batch_id: UUID | None = None,
        subject: str = "subject",
    ) -> bytes:
        """Return the message of an event, the next of its feed unless `sequence` says which."""
        self._sequence += 1
        moment = datetime.now(UTC) if at is None else at
        event = NewEvent(
            payload,
            subject,
            by,
            time=moment,
            correlation_id=request_id,
            gateway_request_id=gateway_request_id,
            batch_id=batch_id,
        )
        return sequenced(self._sequence if sequence is None else sequence, event.envelope())

    async def tell(self, *payloads: Payload, by: Actor = ANA, **how: Any) -> None:
        """Deliver events in one batch."""
        await self.inbox.receive([self.envelope(payload, by, **how) for payload in payloads])
        assert await self.rows("SELECT error FROM inbox_failures") == []

    async def ask(
        self, method: str, path: str, who: Actor = ANA, role: Role = Role.VIEWER, **options: Any
    ) -> httpx.Response:
        """Send a request as a user."""
        return await self.client(Identity(who.id, who.email, role)).request(method, path, **options)

    async def read(self, path: str, who: Actor = ANA, role: Role = Role.VIEWER, **query: Any) -> Json:
        """Return the body of a GET that must succeed."""
        return ok(await self.ask("GET", path, who, role, params=query))

    async def notifications(self, who: Actor = ANA) -> list[Json]:
        return (await self.read("/notifications", who, limit=100))["items"]

    async def audit_log(self, **query: Any) -> list[Json]:
        return (await self.read("/audit-log", role=Role.ADMIN, **query))["items"]

    async def tell_users(self, users: Iterable[auth.UserState]) -> None:
        await self.tell(*(auth.UserCreated(user=user) for user in users), by=SYSTEM)


@pytest.fixture
async def world_of_projects(postgres: PostgresServer) -> AsyncIterator[World]:
    """As services run: in no project unless it is said."""
    async with postgres.opened("notification_service", project=NONE) as database:
        yield World(database)


@pytest.fixture
async def world(postgres: PostgresServer) -> AsyncIterator[World]:
    async with postgres.opened("notification_service") as database:
        yield World(database)
