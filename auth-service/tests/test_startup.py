"""The first start makes an admin, and refuses what everyone knows."""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial

import jwt
import pytest
from pydantic import ValidationError

from auth_service.settings import Settings
from auth_service.startup import BuiltInPasswordRefused, log_in_hint, prepare
from chassis.db.database import Database

from .conftest import ADMIN, running, settings_of


async def test_the_first_start_makes_the_default_admin(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with running(settings_of(url)) as service:
        assert (await service.log_in(ADMIN, "traceline-admin")).status_code == 200
        (event,) = await service.events("auth.user.created")
        assert (event["data"]["user"]["role"], event["actor"]) == ("admin", "system")
    assert "built-in password" in caplog.text
    assert "traceline-admin" not in caplog.text


async def test_the_settings_name_the_default_admin(url: str, caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(
        database_url=url,
        default_admin_email="Root@Example.com",
        default_admin_password="a better password",
    )
    with caplog.at_level(logging.WARNING):
        async with running(settings) as service:
            assert (await service.log_in("root@example.com", "a better password")).status_code == 200
    assert caplog.records == []


async def test_replicas_that_start_together_make_one_admin(url: str) -> None:
    database = Database(url)
    await database.open()
    await asyncio.gather(*(prepare(settings_of(url), database, on_loopback=True) for _ in range(4)))
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT role FROM users")).fetchall()
    await database.close()
    assert [row["role"] for row in rows] == ["admin"]


async def test_a_later_start_changes_nothing(url: str) -> None:
    async with running(settings_of(url)):
        pass
    async with running(settings_of(url, default_admin_email="other@example.com")) as service:
        assert [row["email"] for row in await service.rows("SELECT email FROM users")] == [ADMIN]


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    opened = Database(url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.mark.parametrize(("environment", "on_loopback"), [("production", True), ("development", False)])
async def test_the_built_in_password_is_refused_where_others_could_use_it(
    url: str, database: Database, environment: str, on_loopback: bool
) -> None:
    settings = settings_of(url, environment=environment, default_admin_password="traceline-admin")
    with pytest.raises(BuiltInPasswordRefused, match="DEFAULT_ADMIN_PASSWORD is the built-in password"):
        await prepare(settings, database, on_loopback=on_loopback)
    async with database.connection() as connection:
        assert await (await connection.execute("SELECT FROM users")).fetchone() is None


@pytest.mark.parametrize(("environment", "on_loopback"), [("production", True), ("development", False)])
async def test_where_others_could_use_it_the_first_password_is_random_and_given_once(
    url: str, database: Database, environment: str, on_loopback: bool
) -> None:
    settings = settings_of(url, environment=environment)
    password = await prepare(settings, database, on_loopback=on_loopback)
    assert password is not None
    assert password != "traceline-admin"
    assert await prepare(settings, database, on_loopback=on_loopback) is None
    async with running(settings) as service:
        token = (await service.log_in(ADMIN, password)).json()["access_token"]
        assert jwt.decode(token, options={"verify_signature": False})["must_change_password"] is True
        assert (await service.log_in(ADMIN, "traceline-admin")).status_code == 401


async def test_how_to_log_in_is_said_as_it_is_now(url: str) -> None:
    async with running(settings_of(url)) as service:
        hint = partial(log_in_hint, database=service.database)
        assert (
            await hint(settings_of(url), password="traceline-admin") == f"Log in as {ADMIN}, password traceline-admin."
        )
        other = await hint(settings_of(url, default_admin_email="other@example.com"), password="traceline-admin")
        assert "other@example.com" not in other
        body = {"current_password": "traceline-admin", "new_password": "nobody else's"}
        changed = await service.call("POST", "/api/v1/auth/change-password", body, caller=await service.admin())
        assert changed.status_code == 204
        assert "traceline-admin" not in await hint(settings_of(url), password="traceline-admin")
        by_setting = await hint(settings_of(url), password="nobody else's")
        assert by_setting == f"Log in as {ADMIN}, with the password of DEFAULT_ADMIN_PASSWORD."
        await service.rows("UPDATE users SET is_active = false")
        assert ADMIN not in await hint(settings_of(url), password="nobody else's")


@pytest.mark.parametrize(
    "wrong",
    [
        {"access_token_expire_minutes": 0},
        {"access_token_expire_minutes": 43_201},
        {"signing_key_rotation_days": 0},
        {"default_admin_email": "nobody"},
        {"default_admin_password": "short"},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        settings_of("postgresql://nowhere/none", **wrong)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nowhere/none")
    monkeypatch.setenv("ACCESS_TOKEN_EXPIRE_MINUTES", "5")
    monkeypatch.setenv("DEFAULT_ADMIN_EMAIL", "Root@Example.com")
    settings = Settings()
    assert settings.token_lifetime.total_seconds() == 300
    assert settings.default_admin_email == "root@example.com"


async def test_the_lifetime_of_tokens_is_a_setting(url: str) -> None:
    async with running(settings_of(url, access_token_expire_minutes=5)) as service:
        assert (await service.log_in(ADMIN, "traceline-admin")).json()["expires_in"] == 300
