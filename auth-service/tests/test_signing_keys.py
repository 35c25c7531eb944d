"""Keys take over from one another without logging anyone out."""

import asyncio
import logging
import secrets
from datetime import timedelta

import jwt
import pytest

from auth_service.rotate_keys import KeySettings, rotate
from auth_service.settings import BUILT_IN_ADMIN_PASSWORD
from auth_service.signing_keys import service as keys
from auth_service.startup import prepare
from chassis.core.settings import read
from chassis.core.start_failure import StartFailure

from .conftest import ADMIN, Service, running, settings_of


async def published(service: Service) -> list[str]:
    response = await service.call("GET", "/api/v1/auth/jwks.json")
    assert response.headers["cache-control"] == "public, max-age=60"
    return [key["kid"] for key in response.json()["keys"]]


async def token(url: str) -> str:
    """A token of a replica that has just started, which has no key in its memory."""
    async with running(settings_of(url)) as replica:
        await replica.register("kim@example.com")
        answer: str = (await replica.log_in("kim@example.com")).json()["access_token"]
        return answer


async def verify(service: Service, token: str) -> None:
    response = await service.call("GET", "/api/v1/auth/jwks.json")
    key = jwt.PyJWKSet.from_dict(response.json())[jwt.get_unverified_header(token)["kid"]]
    jwt.decode(token, key, algorithms=["EdDSA"], audience="traceline-api", leeway=1)


async def let_pass(service: Service, time: timedelta) -> None:
    await service.rows("UPDATE signing_keys SET signs_from = signs_from - %s", time)


async def test_only_the_public_half_is_public(service: Service) -> None:
    response = await service.call("GET", "/api/v1/auth/jwks.json")
    (key,) = response.json()["keys"]
    assert set(key) == {"kty", "crv", "use", "alg", "kid", "x"}
    (row,) = await service.rows("SELECT private_key FROM signing_keys")
    assert keys.urlsafe_b64encode(row["private_key"]).rstrip(b"=").decode() not in response.text


async def test_a_new_key_is_published_before_it_signs(service: Service, url: str) -> None:
    (old,) = await published(service)
    await keys.rotate(service.database, None)
    new, still = await published(service)
    assert still == old
    assert jwt.get_unverified_header(await token(url))["kid"] == old
    await let_pass(service, keys.PUBLISHED_AHEAD)
    assert jwt.get_unverified_header(await token(url))["kid"] == new


async def test_a_rotation_keeps_old_tokens_verifiable_until_they_expire(service: Service, url: str) -> None:
    old_token = await token(url)
    await keys.rotate(service.database, None)
    await let_pass(service, keys.PUBLISHED_AHEAD)
    new_token = await token(url)
    lifetime = service.settings.token_lifetime
    await keys.forget_old(service.database, lifetime)
    await verify(service, old_token)
    await verify(service, new_token)
    await let_pass(service, lifetime)
    await keys.forget_old(service.database, lifetime)
    await verify(service, old_token)
    await let_pass(service, timedelta(minutes=2))
    await keys.forget_old(service.database, lifetime)
    assert await published(service) == [jwt.get_unverified_header(new_token)["kid"]]


async def test_a_key_that_waits_to_sign_does_not_end_the_one_that_signs(service: Service, url: str) -> None:
    await let_pass(service, timedelta(days=100))
    await keys.rotate(service.database, None)
    await keys.forget_old(service.database, service.settings.token_lifetime)
    assert len(await published(service)) == 2
    await verify(service, await token(url))


async def test_a_leaked_key_is_replaced_at_once_and_its_tokens_with_it(
    service: Service, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    old_token = await token(url)
    await keys.rotate(service.database, None)
    await rotate(service.settings, at_once=True)
    (only,) = await published(service)
    assert jwt.get_unverified_header(await token(url))["kid"] == only
    with pytest.raises(KeyError):
        await verify(service, old_token)
    assert "Forgot 2 signing keys" in caplog.text
    assert [event["data"]["kid"] for event in await service.events("auth.keys.replaced")] != []


async def test_replicas_that_start_together_make_one_key(service: Service) -> None:
    await service.rows("DELETE FROM signing_keys")
    await asyncio.gather(*(keys.ensure_first(service.database, None) for _ in range(6)))
    assert len(await published(service)) == 1


async def test_keys_rotate_by_age_once_among_all_replicas(service: Service) -> None:
    age = timedelta(days=30)
    await keys.rotate_when_due(service.database, age, None)
    assert len(await published(service)) == 1
    await let_pass(service, age)
    await asyncio.gather(*(keys.rotate_when_due(service.database, age, None) for _ in range(6)))
    assert len(await published(service)) == 2


async def test_the_command_rotates_and_says_so(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await rotate(service.settings)
        await rotate(service.settings)
    assert len(await published(service)) == 2
    new, _ = await published(service)
    assert f"Made the signing key {new}" in caplog.text
    assert f"Key {new} is waiting already" in caplog.text


async def kept(service: Service) -> list[bytes]:
    return [
        row["private_key"] for row in await service.rows("SELECT private_key FROM signing_keys ORDER BY signs_from")
    ]


async def sign(url: str, secret: str | None) -> str:
    """Log in at a replica that has just started with this key."""
    async with running(settings_of(url, data_encryption_key=secret)) as replica:
        answer: str = (await replica.log_in(ADMIN, BUILT_IN_ADMIN_PASSWORD)).json()["access_token"]
        return answer


async def test_private_keys_of_before_are_encrypted_at_start_and_sign_as_they_did(service: Service, url: str) -> None:
    secret = secrets.token_hex(32)
    (plain,) = await kept(service)
    await verify(service, await sign(url, secret))
    (encrypted,) = await kept(service)
    assert len(plain) == 32
    assert plain not in encrypted
    await verify(service, await sign(url, secret))
    assert await kept(service) == [encrypted]


async def test_every_key_that_is_made_later_is_encrypted(service: Service, url: str) -> None:
    settings = settings_of(url, data_encryption_key=secrets.token_hex(32))
    await keys.encrypt_all(service.database, settings.cipher)
    await rotate(settings)
    await let_pass(service, timedelta(days=31))
    await keys.rotate_when_due(service.database, timedelta(days=30), settings.cipher)
    made = await kept(service)
    assert [len(key) for key in made] == [61, 61, 61]
    await rotate(settings, at_once=True)
    assert [len(key) for key in await kept(service)] == [61]


@pytest.mark.parametrize(
    ("other", "what"), [(None, "missing"), (secrets.token_hex(32), "wrong")], ids=["none", "another"]
)
async def test_without_the_right_key_nothing_starts_and_no_key_is_made(
    service: Service, url: str, other: str | None, what: str
) -> None:
    await keys.encrypt_all(service.database, settings_of(url, data_encryption_key=secrets.token_hex(32)).cipher)
    before = await kept(service)
    settings = settings_of(url, data_encryption_key=other)
    with pytest.raises(StartFailure, match=f"DATA_ENCRYPTION_KEY is {what}.* --at-once"):
        await prepare(settings, service.database, on_loopback=True)
    with pytest.raises(StartFailure):
        await rotate(settings)
    with pytest.raises(StartFailure):
        await keys.rotate_when_due(service.database, timedelta(0), settings.cipher)
    assert await kept(service) == before
    # The way out that the message names.
    await rotate(settings, at_once=True)
    await verify(service, await sign(url, other))


async def test_what_an_earlier_secret_encrypted_is_encrypted_by_the_first(service: Service, url: str) -> None:
    earlier, later = secrets.token_hex(32), secrets.token_hex(32)
    before = await sign(url, earlier)
    both = f"{later}\n{earlier}\n"
    await prepare(settings_of(url, data_encryption_key=f"{earlier} {later}"), service.database, on_loopback=True)
    await rotate(settings_of(url, data_encryption_key=earlier))
    await prepare(settings_of(url, data_encryption_key=both), service.database, on_loopback=True)
    renewed = await kept(service)
    await prepare(settings_of(url, data_encryption_key=both), service.database, on_loopback=True)
    assert await kept(service) == renewed
    await verify(service, before)
    await verify(service, await sign(url, later))
    with pytest.raises(StartFailure, match="is wrong"):
        await prepare(settings_of(url, data_encryption_key=earlier), service.database, on_loopback=True)


async def test_an_encrypted_key_does_not_work_under_the_id_of_another(service: Service, url: str) -> None:
    cipher = settings_of(url, data_encryption_key=secrets.token_hex(32)).cipher
    await keys.encrypt_all(service.database, cipher)
    await service.rows("UPDATE signing_keys SET kid = 'another'")
    with pytest.raises(StartFailure, match="is wrong"):
        await keys.encrypt_all(service.database, cipher)


def test_an_empty_key_is_none_and_a_guessable_one_is_refused_unshown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "nowhere")
    monkeypatch.setenv("DATA_ENCRYPTION_KEY", "")
    assert read(KeySettings).data_encryption_key is None
    for guessable, reason in (("hush-hush", "it needs 32 characters or more"), ("hush" * 10, "different characters")):
        monkeypatch.setenv("DATA_ENCRYPTION_KEY", guessable)
        with pytest.raises(StartFailure, match=reason) as refused:
            read(KeySettings)
        assert guessable not in str(refused.value)
