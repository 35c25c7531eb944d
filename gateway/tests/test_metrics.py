"""What the gateway measures of the requests that pass through it."""

import httpx
from stand_ins import Running

from chassis.observability.requests import Measured
from gateway.app import measured_as
from testing.metrics import Series, measured, rises

OWN = ("/", "/session", "/healthz", "/livez", "/readyz", "/docs", "/api/v1/openapi.json")


async def counted(running: Running, *paths: str, token: str | None = None) -> Series:
    """The requests that the gateway has counted while these paths were read, by route and status."""
    before = await measured()
    transport = httpx.ASGITransport(app=Measured(running.gateway, "gateway", measured_as))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for path in paths:
            await client.get(path, headers={} if token is None else {"Authorization": f"Bearer {token}"})
    name = 'traceline_http_requests_total{method="GET",program="gateway",route='
    risen = rises(before, await measured())
    return {series.removeprefix(name): number for series, number in risen.items() if series.startswith(name)}


async def test_requests_are_counted_by_the_part_of_the_address_that_is_routed(running: Running) -> None:
    token = running.issuer.token()
    paths = ("/api/v1/requirements/1", "/api/v1/requirements/2/links", "/api/v1/requirements/crash", "/api/v1/users/3")
    assert await counted(running, *paths, token=token) == {
        '"/api/v1/requirements",status="200"}': 2,
        '"/api/v1/requirements",status="503"}': 1,
        '"/api/v1/users",status="404"}': 1,
    }


async def test_what_nobody_answers_is_one_series(running: Running) -> None:
    assert await counted(running, "/one", "/two", "/api/v1/three", "/api/v2/requirements") == {
        '"other",status="404"}': 4
    }


async def test_the_gateways_own_addresses_have_their_names(running: Running) -> None:
    seen = await counted(running, *OWN, "/docs/assets/none.js", "/assets/none.js", "/sign-in", "/p/MAIN/review")
    assert {series.partition(",")[0].strip('"') for series in seen} >= set(OWN)
    assert not any(series.startswith('"other"') for series in seen), seen
