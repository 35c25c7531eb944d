"""The first start makes an admin, and refuses what everyone knows."""

import asyncio
import logging

import pytest
from pydantic import ValidationError

from auth_service.settings import Settings
from auth_service.startup import BuiltInPasswordRefused, prepare
from chassis.database import Database

from .conftest import ADMIN, SECRET, running, settings_of


async def test_the_first_start_makes_the_default_admin(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with running(settings_of(url)) as service:
        assert (await service.log_in(ADMIN, "traceline-admin")).status_code == 200
        (event,) = await service.events("auth.user.created")
        assert (event["data"]["user"]["role"], event["actor"]) == ("admin", "system")
    assert "built-in password" in caplog.text
    assert "traceline-admin" not in caplog.text


async def test_the_settings_name_the_default_admin(url: str, caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(
        database_url=url,
        internal_token_secret=SECRET,
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
    await asyncio.gather(*(prepare(settings_of(url), database) for _ in range(4)))
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT role FROM users")).fetchall()
    await database.close()
    assert [row["role"] for row in rows] == ["admin"]


async def test_a_later_start_changes_nothing(url: str) -> None:
    async with running(settings_of(url)):
        pass
    async with running(settings_of(url, default_admin_email="other@example.com")) as service:
        assert [row["email"] for row in await service.rows("SELECT email FROM users")] == [ADMIN]


@pytest.mark.parametrize("given", [{}, {"default_admin_password": "traceline-admin"}])
async def test_the_built_in_password_is_refused_outside_development(url: str, given: dict[str, str]) -> None:
    database = Database(url)
    await database.open()
    settings = Settings(database_url=url, internal_token_secret=SECRET, **given)
    with pytest.raises(BuiltInPasswordRefused, match=r"Set DEFAULT_ADMIN_PASSWORD"):
        await prepare(settings, database)
    async with database.connection() as connection:
        assert await (await connection.execute("SELECT FROM users")).fetchone() is None
    await database.close()


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
    monkeypatch.setenv("INTERNAL_TOKEN_SECRET", SECRET)
    monkeypatch.setenv("ACCESS_TOKEN_EXPIRE_MINUTES", "5")
    monkeypatch.setenv("DEFAULT_ADMIN_EMAIL", "Root@Example.com")
    settings = Settings()
    assert settings.token_lifetime.total_seconds() == 300
    assert settings.default_admin_email == "root@example.com"


async def test_the_lifetime_of_tokens_is_a_setting(url: str) -> None:
    async with running(settings_of(url, access_token_expire_minutes=5)) as service:
        assert (await service.log_in(ADMIN, "traceline-admin")).json()["expires_in"] == 300
