"""An answer that goes on: how it passes the gateway, and what ends it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import pytest
from stand_ins import Running, running_gateway

from chassis.messaging.events import Actor
from chassis.messaging.payloads import Payload
from contracts.auth import PasswordChanged, TokenEnded, UserUpdated
from gateway.routing import streams
from testing.factories import user
from testing.streams import Following, following

USER = Actor(7, "u7@traceline.test")


@pytest.fixture(params=[False, True], ids=["embedded", "deployed"])
async def running(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    monkeypatch.setattr(streams, "POLL", 0.05)
    async with running_gateway(deployed=request.param) as running:
        yield running


def follow(running: Running, token: str, **headers: str) -> AbstractAsyncContextManager[Following]:
    return following(running.gateway, "/api/v1/events", {"authorization": f"Bearer {token}", **headers})


def ended_token() -> Payload:
    return TokenEnded(user_id=7, token_id="ended", expires_at=datetime.now(UTC) + timedelta(hours=1))


def deactivation() -> Payload:
    return UserUpdated(user=user(USER, "reviewer", is_active=False), changes={})


def other_role() -> Payload:
    return UserUpdated(user=user(USER, "admin"), changes={})


def changed_password() -> Payload:
    return PasswordChanged(user=user(USER, "reviewer", tokens_not_before=datetime.now(UTC)))


async def test_events_pass_as_they_come_and_the_position_reaches_the_service(running: Running) -> None:
    async with follow(running, running.issuer.token(), **{"Last-Event-ID": "41"}) as events:
        assert (events.status, events.headers["content-type"]) == (200, "text/event-stream")
        assert events.headers["cache-control"] == "no-store"
        assert [event.id for event in await events.events(3)] == [42, 43, 44]
    async with asyncio.timeout(120):
        await running.endless.wait()  # the service tells nobody who has left


@pytest.mark.parametrize("what", [ended_token, deactivation, other_role, changed_password])
async def test_what_restricts_a_token_ends_its_streams_and_no_others(
    running: Running, what: Callable[[], Payload]
) -> None:
    async with (
        follow(running, running.issuer.token(jti="ended")) as events,
        follow(running, running.issuer.token(8)) as other,
    ):
        await events.events(1)
        running.issuer.tell(what())
        await running.verifier.revocations.refresh()
        await events.rest()
        assert len(await other.events(20)) == 20
        assert not other.is_over


async def test_a_stream_ends_with_its_token(running: Running) -> None:
    expires_at = int(time.time()) + 2
    async with follow(running, running.issuer.token(exp=expires_at)) as events:
        await events.rest()
        assert time.time() >= expires_at


async def test_a_stream_ends_when_nothing_is_heard_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_gateway(news_patience=60) as running, follow(running, running.issuer.token()) as events:
        await events.events(1)
        monkeypatch.setattr(running.verifier.revocations, "is_fresh", lambda: False)
        await events.rest()  # and waits for no news, as a request would


async def test_streams_end_when_the_gateway_stops(running: Running) -> None:
    async with follow(running, running.issuer.token()) as events:
        await events.events(1)
        events.server_stops.set()
        await events.rest()


async def test_no_stream_is_given_without_a_token(running: Running) -> None:
    assert (await running.get("/api/v1/events", None)).status_code == 401
