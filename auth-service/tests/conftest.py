"""auth-service as its callers see it: the app over a database of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
import psycopg
import pytest

from auth_service.app import create_app
from auth_service.settings import Settings
from auth_service.startup import prepare
from auth_service.users.passwords import Passwords
from chassis.core.identity import Identity, InternalTokens, Role
from chassis.db.database import Database
from chassis.messaging import outbox
from chassis.testing import PostgresServer
from chassis.web.responses import encode

SECRET = "the quick brown fox signs for the lazy dog"
POOL_SIZE = 8
PASSWORD = "correct horse battery"
ADMIN = "admin@traceline.local"

Json = dict[str, Any]


class Service:
    """A replica of auth-service: its HTTP app, without a network."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings = settings
        self.database = database
        self.tokens = InternalTokens(SECRET)
        app = create_app(settings, database, self.tokens)
        self.passwords: Passwords = app.state.passwords
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app),
            base_url="http://service",
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def call(
        self, method: str, path: str, body: Json | None = None, *, caller: Identity | None = None, **headers: str
    ) -> httpx.Response:
        """Call the service as the gateway does; header names with underscores for hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if caller is not None:
            sent["authorization"] = f"Bearer {self.tokens.issue(caller)}"
        if body is not None:
            sent.setdefault("content-type", "application/json")
        return await self._client.request(method, path, content=None if body is None else encode(body), headers=sent)

    async def register(self, email: str, password: str = PASSWORD, **fields: Any) -> httpx.Response:
        body = {"email": email, "password": password, "full_name": "Kim Person", **fields}
        return await self.call("POST", "/api/v1/auth/register", body)

    async def registered(self, email: str, role: Role = Role.VIEWER) -> Identity:
        """Register, be given the role, and come back as a caller."""
        user = (await self.register(email)).json()
        if role is not Role.VIEWER:
            changed = await self.change(await self.admin(), user["id"], {"role": role})
            assert changed.status_code == 200, changed.text
        return Identity(user["id"], user["email"], role)

    async def log_in(self, email: str, password: str = PASSWORD, *, address: str = "192.0.2.1") -> httpx.Response:
        return await self._client.post(
            "/api/v1/auth/login",
            data={"username": email, "password": password},
            headers={"x-forwarded-for": address},
        )

    async def admin(self) -> Identity:
        """The default admin."""
        (row,) = await self.rows("SELECT id FROM users WHERE email = %s", ADMIN)
        return Identity(row["id"], ADMIN, Role.ADMIN)

    async def change(self, admin: Identity, user_id: int, body: Json, **headers: str) -> httpx.Response:
        return await self.call("PATCH", f"/api/v1/users/{user_id}", body, caller=admin, **headers)

    async def rows(self, query: str, *parameters: Any) -> list[Json]:
        async with self.database.connection() as connection:
            cursor = await connection.execute(query, parameters)
            return await cursor.fetchall() if cursor.description else []

    async def events(self, wire_name: str) -> list[Json]:
        """The envelopes of one type, in the order of the feed."""
        await outbox.number(self.database)
        found = await outbox.read(self.database, 0, 10_000)
        return [orjson.loads(envelope) for name, envelope in found if name == wire_name]


def settings_of(url: str, **values: Any) -> Settings:
    given = {"internal_token_secret": SECRET, "environment": "development", **values}
    return Settings(database_url=url, **given)


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Service]:
    """A replica that is prepared and serves."""
    database = Database(settings.database_url, pool_size=POOL_SIZE)
    await database.open()
    service = Service(settings, database)
    try:
        await prepare(settings, database, on_loopback=True)
        yield service
    finally:
        await service.close()
        await database.close()


_EMPTY = """
    TRUNCATE users, ended_tokens, login_attempts, known_networks, signing_keys, outbox, idempotency_keys
        RESTART IDENTITY;
    UPDATE feed_head SET head = 0;
    UPDATE relay_position SET position = 0;
"""


@pytest.fixture(scope="session")
def migrated(postgres: PostgresServer) -> str:
    return postgres.database("auth_service")


@pytest.fixture
def url(migrated: str) -> str:
    """A database as after the migrations: emptied, which is quicker than made."""
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute(_EMPTY)
    return migrated


@pytest.fixture
async def service(url: str) -> AsyncIterator[Service]:
    async with running(settings_of(url)) as service:
        yield service


def problem(response: httpx.Response, status: int, code: str | None = None, field: str | None = None) -> Json:
    """Check that the answer is this problem, and return its document."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document: Json = response.json()
    if code is not None:
        assert document["code"] == code
    if field is not None:
        assert field in [error["pointer"] for error in document["errors"]]
    return document
