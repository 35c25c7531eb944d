"""A gateway before real ASGI apps."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from stand_ins import SECRET, Issuer, Running, telling_app
from starlette.types import ASGIApp

from chassis.identity import InternalTokens
from chassis.peers import Peer
from gateway.access import Access
from gateway.app import Gateway
from gateway.proxy import Proxy
from gateway.routes import AUTH, CATALOG, NOTIFICATION, SUGGESTION


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    issuer = Issuer()
    internal_tokens = InternalTokens(SECRET)
    services: dict[str, ASGIApp] = {
        AUTH: issuer.app(),
        CATALOG: telling_app(),
        SUGGESTION: telling_app(),
        NOTIFICATION: telling_app(),
    }
    clients = {
        name: httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service")
        for name, app in services.items()
    }
    peers = {name: Peer(name, client, internal_tokens, "gateway") for name, client in clients.items()}
    access = Access(peers[AUTH])
    proxy = Proxy(services, access, internal_tokens, timeout=0.3, max_body_bytes=1000)
    gateway = Gateway(proxy, access, peers)
    watching = asyncio.create_task(access.run())
    async with asyncio.timeout(10):
        while not access.is_fresh():  # noqa: ASYNC110 - this is what a caller would see
            await asyncio.sleep(0.01)
    transport = httpx.ASGITransport(app=gateway)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        yield Running(client, issuer, access, gateway, internal_tokens)
    watching.cancel()
    for other in clients.values():
        await other.aclose()
