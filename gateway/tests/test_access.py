"""Which tokens pass, and what happens to them when their user changes."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.utils import base64url_encode
from stand_ins import Running, identity_of, running_gateway
from test_api_tokens import made

from chassis.core.identity import Identity, Role
from chassis.messaging.payloads import Payload
from contracts.auth import (
    KeysReplaced,
    PasswordChanged,
    PasswordReset,
    SessionsEnded,
    TokenEnded,
    UserState,
    UserUpdated,
)
from contracts.tokens import LONGEST_LIFETIME, TYPE
from testing.internal import token as token_inside
from testing.service import problem

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
    role = identity_of(internal).role
    assert role is not None
    return role


async def test_a_right_token_is_swapped_for_an_internal_one(running: Running) -> None:
    token = running.issuer.token()
    response = await running.get(PATH, token)
    internal = dict(response.json()["headers"])["authorization"].removeprefix("Bearer ")
    identity = identity_of(internal)
    assert (identity.id, identity.email, identity.role) == (7, "u7@traceline.test", "reviewer")
    assert token not in response.text


def tokens_that_do_not_pass(running: Running) -> dict[str, str]:
    issuer = running.issuer
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    public_key = issuer.key.public_key()
    pem = public_key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    own_key = Ed25519PrivateKey.generate()
    ed = {"algorithm": "EdDSA"}
    without = {f"without {name}": issuer.token(**{name: None}) for name in claims}
    subjects = {f"subject {sub!r}": issuer.token(sub=sub) for sub in ("abc", "", 7, 7.5, True, ["7"], {"id": 7})}
    head, payload, signature = issuer.token().split(".")
    return (
        without
        | subjects
        | {
            "nonsense": "abc",
            "no text": "ü",
            "dots": "." * 3000,
            "one megabyte": "a" * 1_000_000,
            "another payload": f"{head}.{_part(claims | {'role': 'admin'})}.{signature}",
            "no signature": f"{head}.{payload}.",
            "two parts": f"{head}.{payload}",
            "a header of many levels": f"{_part(b'[' * 2900)}.{payload}.{signature}",
            "a header that is no object": f"{_part(b'7')}.{payload}.{signature}",
            "a header that is no text": f"{_part(bytes([255]))}.{payload}.{signature}",
            "alg none": jwt.encode(claims, None, algorithm="none", headers={"kid": "k1", "typ": TYPE}),
            "alg None": _signed(claims, {"alg": "None", "typ": TYPE, "kid": "k1"}, b""),
            "algs": _signed(claims, {"alg": ["EdDSA"], "typ": TYPE, "kid": "k1"}, b""),
            "HS256 with the public key's PEM": _signed(claims, {"alg": "HS256", "typ": TYPE, "kid": "k1"}, pem),
            "HS256 with the public key": _signed(
                claims, {"alg": "HS256", "typ": TYPE, "kid": "k1"}, public_key.public_bytes_raw()
            ),
            "HS256 with the published key": _signed(
                claims,
                {"alg": "HS256", "typ": TYPE, "kid": "k1"},
                jwt.algorithms.OKPAlgorithm.to_jwk(public_key).encode(),
            ),
            "HS256 with nothing": _signed(claims, {"alg": "HS256", "typ": TYPE, "kid": "k1"}, b""),
            "another's key": jwt.encode(claims, own_key, headers={"kid": "k1", "typ": TYPE}, **ed),
            "unknown key id": jwt.encode(claims, own_key, headers={"kid": "k2", "typ": TYPE}, **ed),
            "no key id": jwt.encode(claims, issuer.key, headers={"typ": TYPE}, **ed),
            "a key id that is no text": _signed(claims, {"alg": "EdDSA", "typ": TYPE, "kid": ["k1"]}, b""),
            "a key id that is half a character": _signed(claims, {"alg": "EdDSA", "typ": TYPE, "kid": "\ud800"}, b""),
            "critical extension": jwt.encode(
                claims, issuer.key, headers={"kid": "k1", "typ": TYPE, "crit": ["x"], "x": 1}, **ed
            ),
            "wrong audience": issuer.token(aud="else"),
            "wrong issuer": issuer.token(iss="else"),
            "a lifetime that is never given": issuer.token(exp=time.time() + LONGEST_LIFETIME.total_seconds() + 60),
            "without a type": issuer.token(kind="JWT"),
            "another type": issuer.token(kind="id+jwt"),
            "no type": issuer.token(kind=None),
            "expired": issuer.token(exp=int(time.time()) - 1),
            "an end that is no time": issuer.token(exp="tomorrow"),
            "from the future": issuer.token(iat=time.time() + 3600),
            "not yet": issuer.token(nbf=time.time() + 3600),
            "unknown role": issuer.token(role="root"),
            "internal token": token_inside(Identity(7, "a@b.test", Role.ADMIN), "catalog-service"),
        }
    )


def _part(content: bytes | dict[str, Any]) -> str:
    return base64url_encode(content if isinstance(content, bytes) else json.dumps(content).encode()).decode()


def _signed(claims: dict[str, Any], header: dict[str, Any], secret: bytes) -> str:
    """Sign by hand, with HMAC: the library refuses to take a public key for a secret."""
    signed = f"{_part(header)}.{_part(claims)}"
    return f"{signed}.{_part(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


async def details(running: Running, sent: dict[str, str]) -> dict[str, str]:
    """Send each as the Authorization header; return what is told, in answers that are alike but for that."""
    told, others = {}, set()
    for name, value in sent.items():
        response = await running.client.get(PATH, headers={"Authorization": value.encode()})
        assert response.status_code == 401, name
        assert_refused(response)
        document = response.json()
        told[name] = document.pop("detail")
        headers = {**response.headers, "x-request-id": "", "content-length": ""}
        others.add(str(({**document, "request_id": ""}, sorted(headers.items()))))
    assert len(others) == 1
    return told


NOT_ONE = ("nonsense", "no text", "dots", "one megabyte", "two parts", "a header of many levels")


async def test_no_other_token_passes_and_nobody_is_told_how_near_they_came(running: Running) -> None:
    others = tokens_that_do_not_pass(running)
    expired = others.pop("expired")
    told = await details(running, {name: f"Bearer {token}" for name, token in others.items()})
    for name in NOT_ONE:
        assert "What follows 'Bearer' is no access token" in told.pop(name), name
    assert len(set(told.values())) == 1, told
    assert "is not one of this Traceline" in told["another's key"]
    assert "has expired" in (await details(running, {"expired": f"Bearer {expired}"}))["expired"]
    assert running.issuer.key_requests <= 2


async def test_who_sends_no_token_is_told_what_they_sent_instead(running: Running) -> None:
    token = running.issuer.token()
    told = await details(
        running,
        {
            "nothing": "",
            "no token": "Bearer",
            "a name and a password": "Basic YTpi",
            "no scheme": token,
            "another scheme": f"DPoP {token}",
            "twice": f"Bearer Bearer {token}",
            "two tokens": f"Bearer {token} {token}",
            "a list": f"Bearer {token}, x",
            "quotes": f'Bearer "{token}"',
        },
    )
    assert told["twice"] == "'Bearer' stands twice in the Authorization header; send it once, before the token."
    assert "This address needs an access token" in told["nothing"]
    for name in ("no token", "a name and a password", "no scheme", "another scheme"):
        assert "is not 'Bearer' and a token" in told[name], name
    for name in ("two tokens", "a list", "quotes"):
        assert "is no access token, which is three parts" in told[name], name
    for elsewhere in ({"params": {"access_token": token}}, {"headers": {"Cookie": f"access_token={token}"}}):
        response = await running.client.get(PATH, **elsewhere)  # type: ignore[arg-type]
        assert_refused(response)
        assert response.json()["detail"] == told["nothing"]


async def test_keys_are_fetched_once_an_interval_however_many_tokens_name_unknown_ones(running: Running) -> None:
    own_key = Ed25519PrivateKey.generate()
    claims = jwt.decode(running.issuer.token(), options={"verify_signature": False})
    later = time.monotonic() + 11
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gateway.auth.revocations.time.monotonic", lambda: later)
        await running.verifier.revocations.refresh()
        before = running.issuer.key_requests
        answers = await asyncio.gather(
            *(
                running.get(
                    PATH, jwt.encode(claims, own_key, "EdDSA", headers={"kid": f"unknown {number}", "typ": TYPE})
                )
                for number in range(200)
            )
        )
        for response in answers:
            assert_refused(response)
        assert running.issuer.key_requests == before + 1
        assert (await running.get(PATH, running.issuer.token())).status_code == 200


async def test_who_was_logged_in_when_the_gateway_was_upgraded_stays_so(running: Running) -> None:
    earlier = running.issuer.token(kind="JWT", iat=time.time() - 300)
    assert (await running.get(PATH, earlier)).status_code == 200


async def test_a_token_of_the_longest_lifetime_passes(running: Running) -> None:
    now = time.time()
    token = running.issuer.token(iat=now, exp=now + LONGEST_LIFETIME.total_seconds())
    assert (await running.get(PATH, token)).status_code == 200


async def test_a_service_learns_when_the_user_logged_in(running: Running) -> None:
    now = time.time()
    # A token of an older version has been issued at a log-in.
    for claims, logged_in_at in (({"iat": now, "auth_time": now - 3600}, now - 3600), ({"iat": now}, now)):
        response = await running.get(PATH, running.issuer.token(**claims))
        internal = dict(response.json()["headers"])["authorization"].removeprefix("Bearer ")
        assert identity_of(internal).logged_in_at == logged_in_at
    assert_refused(await running.get(PATH, running.issuer.token(auth_time="noon")))


async def test_a_kept_token_still_expires(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = int(time.time()) + 300
    token = running.issuer.token(exp=ends)
    assert (await running.get(PATH, token)).status_code == 200
    monkeypatch.setattr("gateway.auth.verifier.time.time", lambda: float(ends))
    assert_refused(await running.get(PATH, token))


async def test_an_old_token_works_on_with_the_role_as_it_is_now(running: Running) -> None:
    token = running.issuer.token(role="viewer")
    assert await role_that_reaches_the_service(running, token) == "viewer"
    running.issuer.tell(UserUpdated(user=user(role="admin"), changes={}))
    await running.verifier.revocations.refresh()
    assert await role_that_reaches_the_service(running, token) == "admin"


async def test_a_deactivated_user_does_not_pass_until_active_again(running: Running) -> None:
    token = running.issuer.token()
    running.issuer.tell(UserUpdated(user=user(is_active=False), changes={}))
    await running.verifier.revocations.refresh()
    assert_refused(await running.get(PATH, token))
    assert (await running.get(PATH, running.issuer.token(8))).status_code == 200
    running.issuer.tell(UserUpdated(user=user(), changes={}))
    await running.verifier.revocations.refresh()
    assert (await running.get(PATH, token)).status_code == 200


@pytest.mark.parametrize("replaced", [PasswordChanged, partial(PasswordReset, way="link")])
async def test_tokens_from_before_a_password_change_do_not_pass(
    running: Running, replaced: Callable[..., Payload]
) -> None:
    old = running.issuer.token()
    await asyncio.sleep(0.01)
    running.issuer.tell(replaced(user=user(tokens_not_before=datetime.now(UTC))))
    await asyncio.sleep(0.01)
    new = running.issuer.token()
    await running.verifier.revocations.refresh()
    assert_refused(await running.get(PATH, old))
    assert (await running.get(PATH, new)).status_code == 200


async def test_a_token_of_a_password_that_somebody_else_chose_is_for_choosing_another(running: Running) -> None:
    token = running.issuer.token(must_change_password=True)
    for path in (PATH, "/api/v1/auth/sessions", "/api/v1/projects/MAIN/requirements"):
        refused = problem(await running.get(path, token), 403, "password_change_required")
        assert "/api/v1/auth/change-password" in refused["detail"]
    assert (await running.get("/api/v1/auth/me", token)).status_code == 200
    ended = await running.client.post("/api/v1/auth/logout", headers={"Authorization": f"Bearer {token}"})
    assert ended.status_code == 204
    assert (await running.get(PATH, running.issuer.token())).status_code == 200


async def test_a_token_of_somebody_who_needs_a_second_factor_is_for_having_one(running: Running) -> None:
    token = running.issuer.token(must_enrol=True)
    for path in (PATH, "/api/v1/auth/sessions", "/api/v1/projects/MAIN/requirements"):
        refused = problem(await running.get(path, token), 403, "second_factor_enrolment_required")
        assert "/api/v1/auth/second-factor" in refused["detail"]
    headers = {"Authorization": f"Bearer {token}"}
    removed = await running.client.delete("/api/v1/auth/second-factor", headers=headers)
    assert problem(removed, 403)["code"] == "second_factor_enrolment_required"
    # The service behind knows only some of these; whatever it says, the gateway has let them pass.
    for method, path in (
        *(("GET", "me"), ("GET", "second-factor"), ("POST", "second-factor"), ("POST", "second-factor/confirm")),
        *(("POST", "renew"), ("POST", "change-password"), ("POST", "logout")),
    ):
        response = await running.client.request(method, f"/api/v1/auth/{path}", headers=headers)
        assert response.status_code in {200, 204, 404}, (path, response.text)


async def test_an_ended_token_does_not_pass_while_others_of_the_user_do(running: Running) -> None:
    ended, other = running.issuer.token(jti="ended"), running.issuer.token()
    assert (await running.get(PATH, ended)).status_code == 200
    running.issuer.tell(TokenEnded(user_id=7, token_id="ended", expires_at=datetime.now(UTC) + timedelta(hours=1)))
    await running.verifier.revocations.refresh()
    refused = await running.get(PATH, ended)
    assert_refused(refused)
    assert "works no more" in refused.json()["detail"]
    assert (await running.get(PATH, other)).status_code == 200


async def test_a_session_ends_for_all_of_its_tokens(running: Running) -> None:
    first, renewed = running.issuer.token(jti="s1", sid="s1"), running.issuer.token(sid="s1")
    other, older = running.issuer.token(sid="s2"), running.issuer.token(jti="s3")
    for token in (first, renewed, other, older):
        assert (await running.get(PATH, token)).status_code == 200
    end = datetime.now(UTC) + timedelta(hours=1)
    running.issuer.tell(SessionsEnded(user_id=7, session_ids=("s1", "s3"), expires_at=end, reason="elsewhere"))
    await running.verifier.revocations.refresh()
    for token in (first, renewed, older):
        assert_refused(await running.get(PATH, token))
    assert (await running.get(PATH, other)).status_code == 200
    running.issuer.tell(TokenEnded(user_id=7, token_id="s2", expires_at=end))
    await running.verifier.revocations.refresh()
    assert_refused(await running.get(PATH, other))


async def test_auth_service_is_told_where_sessions_were_seen_last(running: Running) -> None:
    token = running.issuer.token(sid="s1")
    for agent in ("first", "second"):
        await running.get(PATH, token, headers={"User-Agent": agent})
    internal = dict((await running.get(PATH, token)).json()["headers"])["authorization"].removeprefix("Bearer ")
    assert identity_of(internal).session_id == "s1"
    before = datetime.now(UTC)
    await running.get(PATH, token, headers={"User-Agent": "third é".encode("latin-1") + b"x" * 1000})
    await running.verifier.report_use()
    (told,) = running.issuer.used
    seen = told["sessions"]["s1"]
    assert datetime.fromisoformat(seen["at"]) >= before
    assert (seen["address"], seen["agent"][:7], len(seen["agent"])) == ("127.0.0.1", "third é", 300)
    await running.verifier.report_use()
    assert len(running.issuer.used) == 1, "nothing has happened since"


async def test_who_was_away_until_the_feed_was_pruned_asks_anew_who_may_pass(running: Running) -> None:
    ended, later = running.issuer.token(jti="ended"), running.issuer.token(jti="later")
    ends = datetime.now(UTC) + timedelta(hours=1)
    running.issuer.tell(TokenEnded(user_id=7, token_id="ended", expires_at=ends))
    running.issuer.tell(TokenEnded(user_id=7, token_id="later", expires_at=ends))
    running.issuer.pruned = 1
    running.issuer.ended_tokens = [{"token_id": "ended", "expires_at": ends.isoformat()}]
    await running.verifier.revocations.refresh()
    assert_refused(await running.get(PATH, ended))
    running.issuer.tell(TokenEnded(user_id=7, token_id="later", expires_at=ends))
    await running.verifier.revocations.refresh()
    assert_refused(await running.get(PATH, later))


async def test_ended_tokens_are_forgotten_when_they_would_have_expired(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    for name, ends in (("short", now + timedelta(seconds=30)), ("long", now + timedelta(hours=1))):
        running.issuer.tell(TokenEnded(user_id=7, token_id=name, expires_at=ends))
    later = time.time() + 61
    monkeypatch.setattr("gateway.auth.revocations.time.time", lambda: later)
    await running.verifier.revocations.refresh()
    assert set(running.verifier.revocations.ended) == {"long"}


async def test_what_happens_to_users_is_noticed_without_being_asked_for(running: Running) -> None:
    token = running.issuer.token()
    running.issuer.tell(UserUpdated(user=user(is_active=False), changes={}))
    async with asyncio.timeout(120):
        while (await running.get(PATH, token)).status_code != 401:  # noqa: ASYNC110 - it is seen by asking
            await asyncio.sleep(0.05)


async def test_nobody_passes_when_nothing_was_heard_of_users_for_too_long(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = running.issuer.token()
    running.issuer.away = True
    later = time.monotonic() + 60
    monkeypatch.setattr("gateway.auth.revocations.time.monotonic", lambda: later)
    response = await running.get(PATH, token)
    assert response.status_code == 503
    assert "retry-after" in response.headers


async def test_when_keys_are_replaced_no_token_of_an_old_one_passes(running: Running) -> None:
    seen, unseen = running.issuer.token(), running.issuer.token()
    leaked, leaked_id = running.issuer.key, running.issuer.key_id
    assert (await running.get(PATH, seen)).status_code == 200
    running.issuer.key, running.issuer.key_id = Ed25519PrivateKey.generate(), "k9"
    running.issuer.tell(KeysReplaced(kid="k9"))
    await running.verifier.revocations.refresh()
    claims = jwt.decode(seen, options={"verify_signature": False})
    forged = jwt.encode(claims, leaked, "EdDSA", headers={"kid": leaked_id, "typ": TYPE})
    for token in (seen, unseen, forged):
        assert_refused(await running.get(PATH, token))
    assert (await running.get(PATH, running.issuer.token())).status_code == 200


async def test_a_new_key_is_fetched_when_a_token_is_signed_with_it(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.issuer.key, running.issuer.key_id = Ed25519PrivateKey.generate(), "k9"
    later = time.monotonic() + 11
    monkeypatch.setattr("gateway.auth.revocations.time.monotonic", lambda: later)
    await running.verifier.revocations.refresh()
    assert (await running.get(PATH, running.issuer.token())).status_code == 200


@pytest.mark.parametrize("is_api_token", [False, True], ids=["session", "api token"])
async def test_requests_wait_for_a_gateway_that_has_heard_nothing_of_users_yet(
    monkeypatch: pytest.MonkeyPatch, is_api_token: bool
) -> None:
    async with running_gateway(news_patience=60) as running:
        token = await made(running, "read") if is_api_token else running.issuer.token()
        monkeypatch.setattr("gateway.auth.revocations._MAX_STALENESS", -1)
        asked = asyncio.create_task(running.get(PATH, token))
        await asyncio.sleep(0.3)
        assert not asked.done()
        monkeypatch.undo()
        assert (await asked).status_code == 200


async def test_requests_are_refused_once_they_have_waited_for_news_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_gateway(news_patience=0.3) as running:
        monkeypatch.setattr(running.verifier.revocations, "is_fresh", lambda: False)
        problem(await running.get(PATH, running.issuer.token()), 503, "unavailable")
        monkeypatch.undo()
        assert (await running.get(PATH, running.issuer.token())).status_code == 200


async def test_in_one_process_a_request_reads_the_news_that_are_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_gateway(at_hand=True) as running:
        of_user = running.issuer.token()
        assert (await running.get(PATH, of_user)).status_code == 200
        # As on a machine that gave the reader of news no time for a minute.
        running.watching.cancel()
        running.issuer.tell(UserUpdated(user=user(is_active=False), changes={}))
        late = time.monotonic() + 60
        monkeypatch.setattr("gateway.auth.revocations.time.monotonic", lambda: late)
        problem(await running.get(PATH, of_user), 401, "unauthenticated")
        assert (await running.get(PATH, running.issuer.token(user_id=2))).status_code == 200
        assert (await running.get("/readyz")).status_code == 200
