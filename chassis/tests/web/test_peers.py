"""A service that another asks while it restarts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from chassis.core.problems import Unavailable
from chassis.local.free_ports import free_port
from chassis.web.peers import Peer
from testing.internal import SIGNERS

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


@asynccontextmanager
async def served(port: int) -> AsyncIterator[None]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", port):
        yield


@pytest.fixture
def port() -> int:
    return free_port(None, set())


@asynccontextmanager
async def asking(port: int, patience: float) -> AsyncIterator[Peer]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        yield Peer("catalog-service", client, SIGNERS["suggestion-service"], patience=patience)


async def test_a_service_that_restarts_is_waited_for(port: int) -> None:
    async with asking(port, patience=30) as peer:
        waiting = asyncio.create_task(peer.put("/links", {}))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        async with served(port):
            assert (await waiting).status_code == 200


async def test_a_service_that_stays_away_is_waited_for_once_each_time_that_it_goes(port: int) -> None:
    async with asking(port, patience=0.2) as peer:
        began = asyncio.get_running_loop().time()
        for _ in range(20):
            with pytest.raises(Unavailable):
                await peer.get("/links")
        assert 0.2 <= asyncio.get_running_loop().time() - began < 20 * 0.2
        async with served(port):
            await peer.get("/links")
        waiting = asyncio.create_task(peer.get("/links"))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        with pytest.raises(Unavailable):
            await waiting
