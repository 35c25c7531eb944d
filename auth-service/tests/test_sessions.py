"""Sessions: every log-in is listed until it ends, and can be ended from elsewhere."""

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from pydantic import ValidationError

from auth_service.open_sessions import service as open_sessions
from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

from .conftest import PASSWORD, Service, settings_of

GATEWAY = Identity(None, "gateway", None)
PATH = "/api/v1/auth/sessions"


async def logged_in(service: Service, user: Identity, address: str = "192.0.2.1") -> Identity:
    """Log in; return the caller as the gateway tells of one."""
    answered = ok(await service.log_in(user.email, address=address))
    claims = jwt.decode(answered["access_token"], options={"verify_signature": False})
    return _caller(user, claims)


def _caller(user: Identity, claims: Json) -> Identity:
    return Identity(
        user.id, user.email, user.role, claims["jti"], int(claims["exp"]), claims["auth_time"], session_id=claims["sid"]
    )


async def renewed(service: Service, caller: Identity) -> Identity:
    answered = ok(await service.call("POST", "/api/v1/auth/renew", caller=caller, user_agent="renewer"))
    return _caller(caller, jwt.decode(answered["access_token"], options={"verify_signature": False}))


async def listed(service: Service, caller: Identity) -> list[Json]:
    rows: list[Json] = ok(await service.call("GET", PATH, caller=caller))["items"]
    return rows


async def is_ended(service: Service, caller: Identity) -> bool:
    """Whether a token of the session is renewed no more."""
    answered = await service.call("POST", "/api/v1/auth/renew", caller=caller)
    return answered.status_code == 401


async def test_each_log_in_is_a_session_and_a_renewed_one_stays_the_same(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    first = await logged_in(service, kim, "192.0.2.1")
    second = await logged_in(service, kim, "192.0.2.2")
    again = await renewed(service, first)
    assert again.session_id == first.session_id == first.token_id != again.token_id
    sessions = {session["address"]: session for session in await listed(service, again)}
    assert sessions["192.0.2.2"] == {
        **sessions["192.0.2.2"],
        "id": second.session_id,
        "agent": "python-httpx/" + sessions["192.0.2.2"]["agent"].partition("/")[2],
        "is_current": False,
    }
    (current,) = [session for session in sessions.values() if session["is_current"]]
    assert (current["id"], current["agent"]) == (first.session_id, "renewer")
    assert len(sessions) == 2
    assert len(await listed(service, kim)) == 2


async def test_a_session_is_ended_by_its_user_alone_and_with_all_its_tokens(service: Service) -> None:
    kim, lee = await service.registered("kim@example.com"), await service.registered("lee@example.com")
    here, there = await logged_in(service, kim), await logged_in(service, kim)
    later = await renewed(service, there)
    where = f"{PATH}/{there.session_id}"
    problem(await service.call("DELETE", where, caller=lee), 404, "session_not_found")
    assert (await service.call("DELETE", where, caller=here)).status_code == 204
    problem(await service.call("DELETE", where, caller=here), 404, "session_not_found")
    assert [session["id"] for session in await listed(service, here)] == [here.session_id]
    for caller in (there, later):
        assert await is_ended(service, caller)
    assert not await is_ended(service, here)
    (event,) = await service.events("auth.sessions.ended")
    assert event["data"] == {
        "user_id": kim.id,
        "session_ids": [there.session_id],
        "expires_at": event["data"]["expires_at"],
        "reason": "one",
    }
    ends_at = datetime.fromisoformat(event["data"]["expires_at"]).timestamp()
    assert ends_at >= later.token_expires_at, "no token of it lives longer"


async def test_everywhere_else_leaves_only_the_session_of_the_request(service: Service) -> None:
    kim, lee = await service.registered("kim@example.com"), await service.registered("lee@example.com")
    here, *others = [await logged_in(service, kim) for _ in range(3)]
    lees = await logged_in(service, lee)
    for _ in range(2):
        assert (await service.call("DELETE", PATH, caller=here)).status_code == 204
    assert [await is_ended(service, other) for other in (here, *others, lees)] == [False, True, True, False]
    (event,) = await service.events("auth.sessions.ended")
    assert set(event["data"]["session_ids"]) == {other.session_id for other in others}
    assert event["data"]["reason"] == "elsewhere"


async def test_an_admin_ends_all_sessions_of_a_user(service: Service) -> None:
    kim, admin = await service.registered("kim@example.com"), await service.admin()
    sessions = [await logged_in(service, kim) for _ in range(2)]
    where = f"/api/v1/users/{kim.id}/sessions"
    problem(await service.call("DELETE", where, caller=kim), 403, "role_too_low")
    problem(await service.call("DELETE", "/api/v1/users/999/sessions", caller=admin), 404, "user_not_found")
    for _ in range(2):
        assert (await service.call("DELETE", where, caller=admin)).status_code == 204
    assert all([await is_ended(service, session) for session in sessions])
    (event,) = await service.events("auth.sessions.ended")
    assert (event["actorid"], event["data"]["reason"]) == (admin.id, "by_admin")
    assert not await is_ended(service, await logged_in(service, kim))


async def test_logging_out_and_changing_the_password_end_sessions_too(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    here, there = await logged_in(service, kim), await logged_in(service, kim)
    await service.call("POST", "/api/v1/auth/logout", caller=here)
    (event,) = await service.events("auth.token.ended")
    assert event["data"]["token_id"] == here.session_id
    assert [session["id"] for session in await listed(service, there)] == [there.session_id]
    change = {"current_password": PASSWORD, "new_password": "another battery"}
    await service.call("POST", "/api/v1/auth/change-password", change, caller=there)
    assert await listed(service, kim) == []


async def test_gateways_tell_where_a_session_was_seen_last(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    here = await logged_in(service, kim)
    now = datetime.now(UTC)
    for minutes, address in ((5, "192.0.2.5"), (3, "192.0.2.3")):
        seen = {"at": (now + timedelta(minutes=minutes)).isoformat(), "address": address, "agent": "a browser"}
        body = {"sessions": {here.session_id: seen, "unknown": seen}}
        response = await service.call("PUT", "/internal/access-use", body, caller=GATEWAY)
        assert response.status_code == 204, response.text
        (session,) = await listed(service, here)
        assert (session["address"], session["agent"]) == ("192.0.2.5", "a browser")
    assert datetime.fromisoformat(session["last_seen_at"]) == now + timedelta(minutes=5)


async def test_a_session_in_which_nobody_is_seen_ends(service: Service) -> None:
    kim, lee = await service.registered("kim@example.com"), await service.registered("lee@example.com")
    idle, other, active = [await logged_in(service, user) for user in (kim, lee, kim)]
    await service.rows(
        "UPDATE sessions SET last_seen_at = now() - interval '17 minutes' WHERE id IN (%s, %s)",
        idle.session_id,
        other.session_id,
    )
    await open_sessions.end_idle(service.database, timedelta(minutes=16))
    assert await service.events("auth.sessions.ended") == [], "a gateway may not have told yet"
    await open_sessions.end_idle(service.database, timedelta(minutes=15))
    assert [await is_ended(service, session) for session in (idle, other, active)] == [True, True, False]
    events = await service.events("auth.sessions.ended")
    assert {(event["data"]["user_id"], event["data"]["reason"]) for event in events} == {
        (kim.id, "idle"),
        (lee.id, "idle"),
    }
    assert {event["actor"] for event in events} == {"system"}


async def test_a_session_that_has_expired_is_forgotten(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    old, new = await logged_in(service, kim), await logged_in(service, kim)
    await service.rows("UPDATE sessions SET expires_at = now() WHERE id = %s", old.session_id)
    assert [session["id"] for session in await listed(service, kim)] == [new.session_id]
    await open_sessions.prune(service.database)
    assert len(await service.rows("SELECT FROM sessions")) == 1


async def test_who_was_logged_in_before_there_were_sessions_is_listed_once_renewed(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    here = await logged_in(service, kim)
    await service.rows("DELETE FROM sessions")
    older = Identity(kim.id, kim.email, Role.VIEWER, here.token_id, here.token_expires_at, here.logged_in_at)
    again = await renewed(service, older)
    assert [session["id"] for session in await listed(service, again)] == [here.token_id]


def test_the_idle_time_is_a_setting() -> None:
    assert settings_of("postgresql://x").session_idle is None
    assert settings_of("postgresql://x", session_idle_minutes=15).session_idle == timedelta(minutes=15)
    with pytest.raises(ValidationError):
        settings_of("postgresql://x", session_idle_minutes=-1)
