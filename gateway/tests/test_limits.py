"""How much one party may ask for, and what they are told when it is too much."""

import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from stand_ins import Running, running_gateway
from test_access import user

from chassis.core.problems import TooManyRequests
from contracts import api_tokens
from contracts.auth import ApiTokenCreated, ApiTokenState
from gateway.routing.limits import Limit

PATH = "/api/v1/requirements"
Later = Callable[[float], None]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Have the clock of the limits stand still, and go on by so many seconds."""
    now = [time.monotonic()]
    monkeypatch.setattr("gateway.routing.limits.monotonic", lambda: now[0])

    def go_on(seconds: float) -> None:
        now[0] += seconds

    return go_on


@asynccontextmanager
async def limited(user: int = 0, token: int = 0, address: int = 0) -> AsyncIterator[Running]:
    async with running_gateway(rate_limit_user=user, rate_limit_token=token, rate_limit_address=address) as running:
        yield running


async def api_token(running: Running, id_: int) -> str:
    token, now = api_tokens.new(), datetime.now(UTC)
    state = ApiTokenState(
        id=id_,
        user_id=7,
        name="pipeline",
        scopes=("read",),
        projects=None,
        created_at=now,
        expires_at=now + timedelta(days=1),
    )
    running.issuer.tell(ApiTokenCreated(token=state, token_hash=api_tokens.digest(token), owner=user()))
    await running.verifier.revocations.refresh()
    return token


async def statuses(running: Running, token: str | None, count: int, path: str = PATH) -> list[int]:
    return [(await running.get(path, token)).status_code for _ in range(count)]


def assert_limited(response: httpx.Response, policy: str) -> int:
    assert (response.status_code, response.json()["code"]) == (429, "rate_limited"), response.text
    seconds = int(response.headers["retry-after"])
    name = policy.partition(";")[0]
    assert response.headers["ratelimit-policy"] == policy
    assert response.headers["ratelimit"] == f"{name};r=0;t={seconds}"
    return seconds


def test_a_bucket_gives_what_it_has_at_once_and_fills_in_a_minute(later: Later) -> None:
    limit = Limit("user", 120, "of one user")
    for _ in range(120):
        limit.take(1)
    with pytest.raises(TooManyRequests):
        limit.take(1)
    limit.take(2)
    later(1.1)
    limit.take(1)
    limit.take(1)
    with pytest.raises(TooManyRequests) as refused:
        limit.take(1)
    assert refused.value.headers["Retry-After"] == "1"
    later(3600)
    for _ in range(120):
        limit.take(1)
    with pytest.raises(TooManyRequests):
        limit.take(1)


def test_what_is_left_is_told_when_it_is_little(later: Later) -> None:
    limit = Limit("user", 100, "of one user")
    told = [limit.take(1) for _ in range(100)]
    assert told[:90] == [[]] * 90
    assert told[91] == [(b"ratelimit-policy", b'"user";q=100;w=60'), (b"ratelimit", b'"user";r=8;t=1')]


def test_no_more_parties_are_kept_than_have_asked_lately(later: Later, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.routing.limits._MOST", 10)
    limit = Limit("address", 60, "from one address")
    for party in range(10):
        limit.take(party)
    for _ in range(59):
        limit.take(0)
    later(5)
    limit.take("new")
    assert set(limit._buckets) == {0, "new"}
    for party in range(1, 20):
        limit.take(party)
        limit.take(party)
    assert len(limit._buckets) <= 10


async def test_one_user_is_held_up_whatever_token_they_use_and_no_other(later: Later) -> None:
    async with limited(user=3) as running:
        first, second, other = running.issuer.token(), running.issuer.token(), running.issuer.token(8)
        assert await statuses(running, first, 2) == [200, 200]
        passed = await running.get(PATH, second)
        assert (passed.status_code, passed.headers["ratelimit"]) == (200, '"user";r=0;t=20')
        assert assert_limited(await running.get(PATH, await api_token(running, 1)), '"user";q=3;w=60') == 20
        assert await statuses(running, other, 1) == [200]
        later(20)
        assert await statuses(running, first, 2) == [200, 429]


async def test_one_api_token_is_held_up_and_not_its_owner(later: Later) -> None:
    async with limited(token=2) as running:
        one, two = await api_token(running, 1), await api_token(running, 2)
        assert await statuses(running, one, 2) == [200, 200]
        assert_limited(await running.get(PATH, one), '"token";q=2;w=60')
        assert await statuses(running, two, 1) == [200]
        assert await statuses(running, running.issuer.token(), 5) == [200] * 5


async def test_without_a_token_that_works_an_address_is_held_up(later: Later) -> None:
    async with limited(address=3) as running:
        token = running.issuer.token()
        assert await statuses(running, None, 1, "/api/v1/auth/jwks.json") == [200]
        assert await statuses(running, "a.b.c", 2) == [401, 401]
        for path in ("/api/v1/auth/jwks.json", PATH):
            assert_limited(await running.get(path), '"address";q=3;w=60')
        assert await statuses(running, token, 5) == [200] * 5
        later(60)
        assert await statuses(running, None, 1, "/api/v1/auth/jwks.json") == [200]


async def test_signing_in_counts_as_the_address_does(later: Later) -> None:
    async with limited(address=2) as running:
        body = {"email": "kim@example.com", "password": "wrong"}
        answers = [await running.client.post("/session", json=body) for _ in range(3)]
        assert [answered.status_code for answered in answers] == [401, 401, 429]
        assert re.fullmatch(r'"address";r=0;t=\d+', answers[2].headers["ratelimit"])
