"""Renewing a token: without the password, for twelve hours."""

from datetime import timedelta

import httpx
import jwt

from chassis.core.identity import Identity, Role
from contracts.tokens import RENEWABLE
from testing.service import Json, ok, problem

from .conftest import PASSWORD, Service

HOURS = 3600.0


def claims_of(answered: httpx.Response) -> Json:
    claims: Json = jwt.decode(ok(answered)["access_token"], options={"verify_signature": False})
    return claims


async def logged_in(service: Service, email: str = "kim@example.com") -> Identity:
    """Register and log in; return the caller as the gateway tells of one."""
    registered = await service.registered(email)
    return caller_of(claims_of(await service.log_in(email)), registered)


def caller_of(claims: Json, registered: Identity, hours_ago: float = 0) -> Identity:
    since = claims["auth_time"] - hours_ago * HOURS
    return Identity(registered.id, registered.email, Role.VIEWER, claims["jti"], int(claims["exp"]), since)


async def renew(service: Service, caller: Identity) -> httpx.Response:
    return await service.call("POST", "/api/v1/auth/renew", caller=caller)


async def test_a_renewed_token_is_answered_as_one_of_a_log_in_and_keeps_its_time(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    log_in = await service.log_in("kim@example.com")
    first = claims_of(log_in)
    assert first["auth_time"] == first["iat"]
    await service.change(await service.admin(), kim.id or 0, {"role": "reviewer"})

    answered = await renew(service, caller_of(first, kim))
    assert set(answered.json()) == set(log_in.json())
    assert answered.json()["expires_in"] == log_in.json()["expires_in"]
    assert answered.headers["cache-control"] == "no-store"
    second = claims_of(answered)
    assert (second["sub"], second["role"], second["auth_time"]) == (str(kim.id), "reviewer", first["auth_time"])
    assert second["jti"] != first["jti"]
    assert second["exp"] > first["exp"]
    assert claims_of(await renew(service, caller_of(second, kim)))["auth_time"] == first["auth_time"]


async def test_a_token_is_renewed_for_twelve_hours_after_the_log_in(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    claims = claims_of(await service.log_in("kim@example.com"))
    assert timedelta(hours=12) == RENEWABLE
    ok(await renew(service, caller_of(claims, kim, hours_ago=11.9)))
    problem(await renew(service, caller_of(claims, kim, hours_ago=12.1)), 401, "login_too_old")


async def test_a_token_of_which_nobody_knows_when_it_was_issued_is_not_renewed(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    problem(await renew(service, kim), 401, "login_too_old")


async def test_what_ended_a_token_a_moment_ago_ends_its_renewal(service: Service) -> None:
    kim = await logged_in(service)
    await service.call("POST", "/api/v1/auth/logout", caller=kim)
    problem(await renew(service, kim), 401, "unauthenticated")

    ana = await logged_in(service, "ana@example.com")
    passwords = {"current_password": PASSWORD, "new_password": "another good password"}
    changed = await service.call("POST", "/api/v1/auth/change-password", passwords, caller=ana)
    assert changed.status_code == 204
    problem(await renew(service, ana), 401, "unauthenticated")

    ben = await logged_in(service, "ben@example.com")
    await service.change(await service.admin(), ben.id or 0, {"is_active": False})
    problem(await renew(service, ben), 401, "unauthenticated")
