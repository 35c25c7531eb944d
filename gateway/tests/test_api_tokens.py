"""API tokens at the gateway: which pass, for what, and how soon a change counts."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from stand_ins import Running, identity_of

from chassis.core.identity import Identity
from contracts import api_tokens
from contracts.auth import ApiTokenCreated, ApiTokenRevoked, ApiTokenState, PasswordChanged, UserState, UserUpdated

PATH = "/api/v1/requirements"


def owner(**changed: Any) -> UserState:
    state = {
        "id": 7,
        "email": "u7@traceline.test",
        "full_name": "U",
        "role": "reviewer",
        "is_active": True,
        "tokens_not_before": None,
    }
    return UserState.model_validate(state | changed)


async def made(running: Running, *scopes: str, **how: Any) -> str:
    """Have a token made, and the gateway hear of it; return it."""
    token = api_tokens.new()
    running.issuer.tell(creation(token, *scopes, **how))
    await running.verifier.revocations.refresh()
    return token


def creation(
    token: str,
    *scopes: str,
    id_: int = 1,
    days: float = 1,
    projects: tuple[str, ...] | None = None,
    **changed: Any,
) -> ApiTokenCreated:
    now = datetime.now(UTC)
    state = ApiTokenState(
        id=id_,
        user_id=7,
        name="pipeline",
        scopes=scopes,
        projects=projects,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return ApiTokenCreated(token=state, token_hash=api_tokens.digest(token), owner=owner(**changed))


def caller_of(running: Running, response: httpx.Response) -> Identity:
    assert response.status_code == 200, response.text
    internal = dict(response.json()["headers"])["authorization"].removeprefix("Bearer ")
    return identity_of(internal)


def refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    document: dict[str, Any] = response.json()
    assert (response.status_code, document["code"]) == (status, code), document
    return document


def test_a_scanner_knows_a_token_without_asking_anybody() -> None:
    token = api_tokens.new()
    assert (len(token), token[:4]) == (40, "tlp_")
    assert api_tokens.is_whole(token)
    assert token != api_tokens.new()
    # By hand: the CRC-32 of thirty zeros is 0x0B5FBDB9, the digits of which are 0, 1 ... 9, A ... Z, a ... z.
    assert api_tokens.is_whole("tlp_" + "0" * 30 + _base62(_crc32(b"0" * 30)))
    other = "a" if token[10] != "a" else "b"
    for wrong in (token[:-1], token + "0", token[:10] + other + token[11:], token[4:], "tlp_", "tlp_ü" + token[5:]):
        assert not api_tokens.is_whole(wrong), wrong


def _crc32(data: bytes) -> int:
    """CRC-32 as RFC 1952 has it, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _base62(number: int) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return "".join(digits[number // 62**place % 62] for place in range(5, -1, -1))


async def test_a_token_is_its_owner_with_the_role_of_now(running: Running) -> None:
    token = await made(running, "write")
    caller = caller_of(running, await running.get(PATH, token))
    assert (caller.id, caller.email, caller.role) == (7, "u7@traceline.test", "reviewer")
    running.issuer.tell(UserUpdated(user=owner(role="viewer"), changes={}))
    await running.verifier.revocations.refresh()
    response = await running.get(PATH, token)
    assert caller_of(running, response).role == "viewer"
    assert token not in response.text


async def test_whoever_makes_a_token_uses_it_at_once(running: Running) -> None:
    token = api_tokens.new()
    running.issuer.next_event = creation(token, "write")
    assert (await running.get("/api/v1/auth/tokens", running.issuer.token(), method="POST")).status_code == 200
    assert caller_of(running, await running.get(PATH, token)).id == 7


@pytest.mark.parametrize(
    ("scope", "method", "path", "passes"),
    [
        ("read", "GET", "/requirements", True),
        ("read", "POST", "/requirements", False),
        ("write", "GET", "/suggestions", True),
        ("write", "PATCH", "/requirements/1", True),
        ("write", "POST", "/suggestions/generate", True),
        ("write", "POST", "/suggestions/1/accept", False),
        ("propose", "POST", "/suggestions/generate", True),
        ("propose", "POST", "/suggestions/1/accept", False),
        ("propose", "POST", "/suggestions/bulk-review", False),
        ("propose", "POST", "/links", False),
        ("propose", "POST", "/imports/1/apply", False),
        ("review", "POST", "/suggestions/1/accept", True),
        ("review", "POST", "/requirements", False),
        ("results", "POST", "/requirements", False),
        ("admin", "GET", "/users", True),
        ("admin", "GET", "/requirements", True),
        ("admin", "DELETE", "/links/1", False),
        ("write", "GET", "/users", False),
        ("write", "GET", "/audit-log", False),
        ("write", "PUT", "/requirements/by-external-id/a%2Fb", True),
    ],
)
async def test_a_token_may_what_its_scopes_say(
    running: Running, scope: str, method: str, path: str, passes: bool
) -> None:
    token = await made(running, scope, role="admin")
    response = await running.get(f"/api/v1{path}", token, method=method)
    if passes:
        assert response.json().get("code") in {None, "not_found"}, response.text
    else:
        document = refused(response, 403, "scope_missing")
        assert all(f"'{missing}'" in document["detail"] for missing in document["scopes"])
        assert scope not in document["scopes"]


async def test_two_scopes_may_what_either_may(running: Running) -> None:
    token = await made(running, "write", "review")
    for path in ("/requirements", "/suggestions/1/accept"):
        assert (await running.get(f"/api/v1{path}", token, method="POST")).status_code == 200


async def test_what_is_for_people_no_token_may(running: Running) -> None:
    token = await made(running, *api_tokens.Scope, role="admin")
    for method, path in (
        ("POST", "auth/tokens"),
        ("GET", "auth/tokens"),
        ("DELETE", "auth/tokens/1"),
        ("POST", "auth/change-password"),
        ("POST", "auth/renew"),
        ("POST", "auth/logout"),
        ("POST", "users"),
        ("POST", "users/invitations"),
        ("POST", "users/7/password-reset"),
        ("DELETE", "users/7/second-factor"),
        ("DELETE", "projects/DOOR?confirm=DOOR"),
        ("POST", "projects/DOOR/restore"),
        ("DELETE", "test-runs/0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0"),
    ):
        refused(await running.get(f"/api/v1/{path}", token, method=method), 403, "session_needed")


async def test_what_the_table_does_not_have_no_token_reaches(running: Running) -> None:
    token = await made(running, *api_tokens.Scope)
    refused(await running.get("/api/v1/requirements/1/nothing/here", token), 404, "route_not_found")
    answered = await running.get("/api/v1/requirements", token, method="DELETE")
    refused(answered, 405, "method_not_allowed")
    assert answered.headers["allow"] == "GET, HEAD, POST"
    assert answered.json()["detail"] == "This address takes GET and POST, not DELETE."


async def test_who_sends_a_token_that_does_not_work_is_told_why_and_nothing_more(running: Running) -> None:
    whole = await made(running, "read")
    expired = await made(running, "read", id_=2, days=-0.01)
    details = {}
    for name, token in {
        "mistyped": whole[:-1] + ("0" if whole[-1] != "0" else "1"),
        "cut": whole[:20],
        "long": whole * 500,
        "unknown": api_tokens.new(),
        "expired": expired,
    }.items():
        response = await running.get(PATH, token)
        details[name] = refused(response, 401, "unauthenticated")["detail"]
        assert response.headers["www-authenticate"] == "Bearer"
        assert token not in response.text
    assert details["mistyped"] == details["cut"] == details["long"]
    assert "no whole API token" in details["cut"]
    assert "not one of this Traceline" in details["unknown"]
    assert "has expired" in details["expired"]


async def test_a_revoked_token_does_not_pass(running: Running) -> None:
    token, other = await made(running, "read"), await made(running, "read", id_=2)
    now = datetime.now(UTC)
    state = ApiTokenState(
        id=1, user_id=7, name="pipeline", scopes=("read",), projects=None, created_at=now, expires_at=now
    )
    running.issuer.tell(ApiTokenRevoked(token=state))
    await running.verifier.revocations.refresh()
    assert "works no more" in refused(await running.get(PATH, token), 401, "unauthenticated")["detail"]
    assert (await running.get(PATH, other)).status_code == 200


async def test_a_token_ends_with_its_owner_and_with_the_password(running: Running) -> None:
    token = await made(running, "read")
    running.issuer.tell(UserUpdated(user=owner(is_active=False), changes={}))
    await running.verifier.revocations.refresh()
    refused(await running.get(PATH, token), 401, "unauthenticated")
    running.issuer.tell(UserUpdated(user=owner(), changes={}))
    await running.verifier.revocations.refresh()
    assert (await running.get(PATH, token)).status_code == 200
    running.issuer.tell(PasswordChanged(user=owner(tokens_not_before=datetime.now(UTC))))
    await running.verifier.revocations.refresh()
    refused(await running.get(PATH, token), 401, "unauthenticated")


async def test_a_gateway_that_starts_knows_the_tokens_of_before(running: Running) -> None:
    now = datetime.now(UTC)
    tokens = [api_tokens.new() for _ in range(2)]
    running.issuer.owners = [
        {"id": 9, "email": "u9@traceline.test", "role": "viewer", "is_active": True, "tokens_not_before": None}
    ]
    running.issuer.api_tokens = [
        {
            "id": number,
            "user_id": 9,
            "token_hash": api_tokens.digest(token),
            "scopes": ["write"],
            "projects": None,
            "created_at": now.isoformat(),
            "expires_at": (now + timedelta(days=300)).isoformat(),
            "is_revoked": number == 1,
        }
        for number, token in enumerate(tokens)
    ]
    following = asyncio.create_task(running.verifier.revocations.follow())
    async with asyncio.timeout(120):
        while (response := await running.get(PATH, tokens[0])).status_code != 200:  # noqa: ASYNC110 - it is seen by asking
            await asyncio.sleep(0.05)
    following.cancel()
    await asyncio.wait([following])
    assert caller_of(running, response).email == "u9@traceline.test"
    refused(await running.get(PATH, tokens[1]), 401, "unauthenticated")


async def test_auth_service_is_told_of_the_hour_in_which_a_token_was_used(running: Running) -> None:
    token = await made(running, "read")
    for _ in range(2):
        await running.get(PATH, token)
        await running.verifier.report_use()
    hour = datetime.fromtimestamp(time.time() // 3600 * 3600, UTC).isoformat().replace("+00:00", "Z")
    assert running.issuer.used == [{"api_tokens": {"1": hour}, "sessions": {}}]


async def test_what_could_not_be_told_is_told_later(running: Running) -> None:
    token = await made(running, "read")
    await running.get(PATH, token)
    running.issuer.away = True
    await running.verifier.report_use()
    running.issuer.away = False
    await running.verifier.report_use()
    assert list(running.issuer.used[0]["api_tokens"]) == ["1"]
