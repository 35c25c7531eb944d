"""Services are asked over TLS, and nobody is taken for one who cannot show it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from servers import Speaking, serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chassis.core.problems import Unavailable
from chassis.core.start_failure import StartFailure
from chassis.core.tls import TlsSettings
from gateway.upstream.client import Upstream
from testing.certificates import Authority


async def _echo(request: Request) -> Response:
    return Response(await request.body(), headers={"x-scheme": request.url.scheme})


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def port(authority: Authority) -> AsyncIterator[int]:
    """The port of a service that is known as localhost."""
    app = Starlette(routes=[Route("/", _echo, methods=["GET", "POST"])])
    async with serving(app, authority.settings_of("localhost").server()) as address:
        found = urlsplit(address).port
        assert found is not None
        yield found


def through(upstream: Upstream) -> httpx.AsyncClient:
    """A client of the gateway's way to a service."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(upstream), base_url="http://gateway")


async def test_a_request_passes_over_tls_with_all_of_its_body(authority: Authority, port: int) -> None:
    believes = TlsSettings(tls_ca=authority.file).client()
    body = b"0123456789" * 100_000
    async with Upstream("s", f"https://localhost:{port}", believes) as upstream, through(upstream) as client:
        for sent in (b"", body, b"short"):
            answer = await client.post("/", content=sent)
            assert (answer.status_code, answer.headers["x-scheme"]) == (200, "https")
            assert answer.content == sent


async def test_a_service_of_another_authority_or_name_or_without_tls_is_not_asked(
    authority: Authority, port: int, tmp_path: Path
) -> None:
    believes = TlsSettings(tls_ca=authority.file).client()
    other = TlsSettings(tls_ca=Authority(tmp_path, "other").file).client()
    for url, believed in (
        (f"https://localhost:{port}", other),
        (f"https://localhost:{port}", None),
        (f"https://127.0.0.1:{port}", believes),
        (f"http://localhost:{port}", believes),
    ):
        async with Upstream("s", url, believed) as upstream, through(upstream) as client:
            with pytest.raises(Unavailable):
                await client.get("/")
    async with serving(Starlette()) as plain, Upstream("s", f"https://{plain[7:]}", believes) as upstream:
        with pytest.raises(Unavailable):
            await through(upstream).get("/")


async def test_a_service_that_ends_while_tls_is_agreed_upon_is_asked_again(authority: Authority) -> None:
    hello: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def ends(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        begun = await reader.readexactly(1)
        writer.transport.abort()
        if not hello.done():
            hello.set_result(begun)

    app = Starlette(routes=[Route("/", _echo, methods=["POST"])])
    believes = TlsSettings(tls_ca=authority.file).client()
    async with Speaking(ends) as service:
        port = urlsplit(service.address).port or 0
        upstream = Upstream("s", f"https://localhost:{port}", believes, patience=30)
        asked = asyncio.create_task(through(upstream).post("/", content=b"once"))
        await hello
    async with serving(app, authority.settings_of("localhost").server(), port), upstream:
        assert (await asked).content == b"once"


def test_files_that_do_not_serve_are_told_in_a_sentence(authority: Authority, tmp_path: Path) -> None:
    right = authority.settings_of("one")
    other = authority.settings_of("other").tls_key
    nowhere = tmp_path / "nowhere.pem"
    for wrong, said in (
        ({"tls_key": None}, "belong together"),
        ({"tls_key": other}, "are no certificate and its key"),
        ({"tls_certificate": nowhere}, "nowhere.pem .*No such file"),
    ):
        with pytest.raises(StartFailure, match=said):
            right.model_copy(update=wrong).server()
    for file in (nowhere, right.tls_key):
        with pytest.raises(StartFailure, match="holds no certificates"):
            TlsSettings(tls_ca=file).client()
