"""auth-service as its callers see it: the app over a database of its own."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest
from argon2 import PasswordHasher

from auth_service.app import create_app
from auth_service.settings import Settings
from auth_service.startup import prepare
from auth_service.users import passwords as passwords_module
from auth_service.users.passwords import Passwords
from chassis.core.identity import ANONYMOUS, Identity, Role
from chassis.db.database import Database
from chassis.web.responses import encode
from contracts.routes import AUTH
from testing import PostgresServer
from testing.internal import token, verifier_of
from testing.service import Json, ServiceUnderTest

POOL_SIZE = 8
PASSWORD = "correct horse battery"
ADMIN = "admin@traceline.local"
HASHER = passwords_module._HASHER
"""What makes the hashes outside of these tests."""


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Hash passwords at the least cost: at the real one a hash takes as long as several requests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords_module, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


class Service(ServiceUnderTest):
    """A replica of auth-service: its HTTP app, without a network."""

    def __init__(self, settings: Settings, database: Database) -> None:
        super().__init__(create_app(settings, database, verifier_of(AUTH)), database)
        self.settings = settings
        self.passwords: Passwords = self.app.state.passwords
        self._http = self.client()

    async def call(
        self, method: str, path: str, body: Json | None = None, *, caller: Identity | None = None, **headers: str
    ) -> httpx.Response:
        """Call the service as the gateway does; header names with underscores for hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if caller is not None:
            sent["authorization"] = f"Bearer {token(caller, AUTH.name)}"
        if body is not None:
            sent.setdefault("content-type", "application/json")
        return await self._http.request(method, path, content=None if body is None else encode(body), headers=sent)

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

    async def log_in(
        self, email: str, password: str = PASSWORD, *, otp: str | None = None, address: str = "192.0.2.1"
    ) -> httpx.Response:
        return await self._http.post(
            "/api/v1/auth/login",
            data={"username": email, "password": password, **({} if otp is None else {"otp": otp})},
            headers={"x-forwarded-for": address, "authorization": f"Bearer {token(ANONYMOUS, AUTH.name)}"},
        )

    async def admin(self) -> Identity:
        """The default admin."""
        (row,) = await self.rows("SELECT id FROM users WHERE email = %s", ADMIN)
        return Identity(row["id"], ADMIN, Role.ADMIN)

    async def change(self, admin: Identity, user_id: int, body: Json, **headers: str) -> httpx.Response:
        return await self.call("PATCH", f"/api/v1/users/{user_id}", body, caller=admin, **headers)


def settings_of(url: str, **values: Any) -> Settings:
    given = {"environment": "development", **values}
    return Settings(database_url=url, **given)


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Service]:
    """A replica that is prepared and serves."""
    database = Database(settings.database_url, pool_size=POOL_SIZE)
    await database.open()
    try:
        service = Service(settings, database)
        await prepare(settings, database, on_loopback=True)
        yield service
    finally:
        await database.close()


_EMPTY = """
    TRUNCATE users, project_members, ended_tokens, api_tokens, api_token_networks, second_factors, sessions,
        service_accounts, login_attempts, known_networks, signing_keys, counted_actions, asked_mails, invitations,
        password_resets, identities, begun_sign_ins, used_logout_tokens, outbox, idempotency_keys RESTART IDENTITY;
    DELETE FROM projects WHERE key <> 'MAIN';
    UPDATE projects SET name = 'Main project', description = '', visibility = 'open', archived = false, settings = '{}';
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
