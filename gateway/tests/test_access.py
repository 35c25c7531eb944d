"""Which tokens pass, and what happens to them when their user changes."""

import asyncio
import hashlib
import hmac
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import orjson
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.utils import base64url_encode
from stand_ins import Running

from chassis.identity import Identity, Role
from contracts.auth import PasswordChanged, TokenEnded, UserState, UserUpdated

PATH = "/api/v1/requirements"


def user(**changed: Any) -> UserState:
    state = {
        "id": 7,
        "email": "u7@traceline.test",
        "full_name": "U",
        "role": "reviewer",
        "is_active": True,
        "tokens_not_before": None,
    }
    return UserState.model_validate(state | changed)


def assert_refused(response: httpx.Response) -> None:
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.headers["content-type"] == "application/problem+json"


async def role_that_reaches_the_service(running: Running, token: str) -> str:
    response = await running.get(PATH, token)
    assert response.status_code == 200, response.text
    internal = dict(response.json()["headers"])["authorization"].removeprefix("Bearer ")
    role = running.internal_tokens.verify(internal).role
    assert role is not None
    return role


async def test_a_right_token_is_swapped_for_an_internal_one(running: Running) -> None:
    token = running.issuer.token()
    response = await running.get(PATH, token)
    internal = dict(response.json()["headers"])["authorization"].removeprefix("Bearer ")
    identity = running.internal_tokens.verify(internal)
    assert (identity.id, identity.email, identity.role) == (7, "u7@traceline.test", "reviewer")
    assert token not in response.text


def tokens_that_do_not_pass(running: Running) -> dict[str, str]:
    issuer = running.issuer
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    public = issuer.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    own_key = Ed25519PrivateKey.generate()
    ed = {"algorithm": "EdDSA"}
    without = {f"without {name}": issuer.token(**{name: None}) for name in claims}
    return without | {
        "nonsense": "abc",
        "no text": "ü",
        "one megabyte": "a" * 1_000_000,
        "alg none": jwt.encode(claims, None, algorithm="none", headers={"kid": "k1"}),
        "HS256 with the public key": _hs256(claims, public),
        "another's key": jwt.encode(claims, own_key, headers={"kid": "k1"}, **ed),
        "unknown key id": jwt.encode(claims, own_key, headers={"kid": "k2"}, **ed),
        "no key id": jwt.encode(claims, issuer.key, **ed),
        "critical extension": jwt.encode(claims, issuer.key, headers={"kid": "k1", "crit": ["x"], "x": 1}, **ed),
        "wrong audience": issuer.token(aud="else"),
        "wrong issuer": issuer.token(iss="else"),
        "expired": issuer.token(exp=int(time.time()) - 1),
        "from the future": issuer.token(iat=time.time() + 3600),
        "no number": issuer.token(sub="abc"),
        "unknown role": issuer.token(role="root"),
        "internal token": running.internal_tokens.issue(Identity(7, "a@b.test", Role.ADMIN)),
    }


def _hs256(claims: dict[str, Any], key: bytes) -> str:
    """Sign by hand: the library refuses to take a public key for a secret."""
    head = base64url_encode(b'{"alg":"HS256","typ":"JWT","kid":"k1"}')
    body = base64url_encode(orjson.dumps(claims))
    signed = head + b"." + body
    return (signed + b"." + base64url_encode(hmac.new(key, signed, hashlib.sha256).digest())).decode()


async def test_no_other_token_passes_and_all_get_the_same_answer(running: Running) -> None:
    answers = set()
    for name, token in tokens_that_do_not_pass(running).items():
        response = await running.client.get(PATH, headers={"Authorization": b"Bearer " + token.encode()})
        assert response.status_code == 401, name
        assert_refused(response)
        body = response.json()
        del body["request_id"]
        answers.add(str(body))
    assert len(answers) == 1
    assert running.issuer.key_requests <= 2


async def test_no_token_at_all_is_refused(running: Running) -> None:
    for headers in ({}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer"}):
        assert_refused(await running.client.get(PATH, headers=headers))


async def test_a_kept_token_still_expires(running: Running) -> None:
    token = running.issuer.token(exp=int(time.time()) + 2)
    assert (await running.get(PATH, token)).status_code == 200
    await asyncio.sleep(2)
    assert_refused(await running.get(PATH, token))


async def test_an_old_token_works_on_with_the_role_as_it_is_now(running: Running) -> None:
    token = running.issuer.token(role="viewer")
    assert await role_that_reaches_the_service(running, token) == "viewer"
    running.issuer.tell(UserUpdated(user=user(role="admin"), changes={}))
    await running.access.refresh()
    assert await role_that_reaches_the_service(running, token) == "admin"


async def test_a_deactivated_user_does_not_pass_until_active_again(running: Running) -> None:
    token = running.issuer.token()
    running.issuer.tell(UserUpdated(user=user(is_active=False), changes={}))
    await running.access.refresh()
    assert_refused(await running.get(PATH, token))
    assert (await running.get(PATH, running.issuer.token(8))).status_code == 200
    running.issuer.tell(UserUpdated(user=user(), changes={}))
    await running.access.refresh()
    assert (await running.get(PATH, token)).status_code == 200


async def test_tokens_from_before_a_password_change_do_not_pass(running: Running) -> None:
    old = running.issuer.token()
    await asyncio.sleep(0.01)
    running.issuer.tell(PasswordChanged(user=user(tokens_not_before=datetime.now(UTC))))
    await asyncio.sleep(0.01)
    new = running.issuer.token()
    await running.access.refresh()
    assert_refused(await running.get(PATH, old))
    assert (await running.get(PATH, new)).status_code == 200


async def test_an_ended_token_does_not_pass_while_others_of_the_user_do(running: Running) -> None:
    ended, other = running.issuer.token(jti="ended"), running.issuer.token()
    assert (await running.get(PATH, ended)).status_code == 200
    running.issuer.tell(TokenEnded(user_id=7, token_id="ended", expires_at=datetime.now(UTC) + timedelta(hours=1)))
    await running.access.refresh()
    assert_refused(await running.get(PATH, ended))
    assert (await running.get(PATH, other)).status_code == 200


async def test_what_happens_to_users_is_noticed_without_being_asked_for(running: Running) -> None:
    token = running.issuer.token()
    running.issuer.tell(UserUpdated(user=user(is_active=False), changes={}))
    for _ in range(40):
        if (await running.get(PATH, token)).status_code == 401:
            return
        await asyncio.sleep(0.05)
    pytest.fail("the user still passes after 2 seconds")


async def test_nobody_passes_when_nothing_was_heard_of_users_for_too_long(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = running.issuer.token()
    running.issuer.away = True
    later = time.monotonic() + 60
    monkeypatch.setattr("gateway.access.time.monotonic", lambda: later)
    response = await running.get(PATH, token)
    assert response.status_code == 503
    assert "retry-after" in response.headers


async def test_a_new_key_is_fetched_when_a_token_is_signed_with_it(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.issuer.key, running.issuer.key_id = Ed25519PrivateKey.generate(), "k9"
    later = time.monotonic() + 11
    monkeypatch.setattr("gateway.access.time.monotonic", lambda: later)
    await running.access.refresh()
    assert (await running.get(PATH, running.issuer.token())).status_code == 200
