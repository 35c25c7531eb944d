"""What of a request reaches a service, and what the gateway answers itself."""

import asyncio
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

import orjson
import pytest
from servers import serving
from stand_ins import Running, running_gateway
from starlette.types import Message

from contracts.routes import AUTH, SERVICES
from gateway.routing.versions import VERSIONS, Deprecation


@pytest.fixture(params=[False, True], ids=["embedded", "deployed"])
async def running(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    async with running_gateway(deployed=request.param) as running:
        yield running


def assert_problem(response: Any, status: int, code: str) -> None:
    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    assert response.json()["request_id"] == response.headers["x-request-id"]


async def raw(running: Running, method: str, path: bytes, headers: list[tuple[bytes, bytes]]) -> tuple[int, bytes]:
    """Send a request as a server hands it over, without a client that tidies it."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": unquote(path.decode("latin-1")),
        "raw_path": path,
        "query_string": b"",
        "headers": headers,
        "client": ("192.0.2.1", 1),
    }
    await running.gateway(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


async def test_only_known_headers_reach_a_service_and_none_that_speaks_for_the_gateway(running: Running) -> None:
    hostile = {
        "X-User-Id": "1",
        "X-Gateway-Request-Id": "attacker-chosen-1",
        "X_User_Id": "1",
        "X-Forwarded-For": "10.0.0.1",
        "Connection": "keep-alive, X-Other",
        "Keep-Alive": "1",
        "TE": "trailers",
        "Upgrade": "h2c",
        "Cookie": "a=b",
        "X-Anything": "1",
        "Accept": "text/csv",
        "If-None-Match": '"x"',
        "Idempotency-Key": "k",
    }
    response = await running.get("/api/v1/links", running.issuer.token(), headers=hostile)
    reached = dict(response.json()["headers"])
    assert reached.pop("host", "the service") != "gateway"
    assert set(reached) <= {
        "accept",
        "if-none-match",
        "idempotency-key",
        "user-agent",
        "x-request-id",
        "x-gateway-request-id",
        "x-forwarded-for",
        "authorization",
    }
    assert reached["accept"] == "text/csv"
    assert reached["x-forwarded-for"] == "127.0.0.1"
    assert len(reached["x-gateway-request-id"]) == 32


@pytest.mark.parametrize(
    "path",
    [
        b"/api/v1/requirements/..%2fusers",
        b"/api/v1/requirements/%2E%2E/users",
        b"/api/v1/requirements/../users",
        b"/api/v1/requirements/./x",
        b"/api/v1/requirements\\x",
        b"/api/v1/requirements/%5cx",
        b"/api/v1//requirements",
        b"//api/v1/requirements",
        b"/api/v1/requirements/%00",
        b"/api/v1/requirements/by-external-id/..%2f..%2fusers",
        b"/api/v1/requirements/by-external-id/../x",
        b"/api/v1/test-cases/by-external-id/a%5c%2e%2E%5cb",
        b"/api/v1/test-cases/by-external-id/%2e",
        b"/api/v1/test-cases/by-external-id/a%00",
        b"/api/v1/links/by-external-id/a%2fb",
        b"/api/v1/requirements/x%2fby-external-id/a",
    ],
)
async def test_a_path_that_could_mean_two_things_is_refused(running: Running, path: bytes) -> None:
    status, body = await raw(running, "GET", path, [(b"host", b"localhost")])
    assert status == 400
    assert b"malformed_path" in body


@pytest.mark.parametrize("value", ["A%2FB", "a%5Cb", "A/B", "a//b", "/a/", "1.%2E.2", "%2Etest%2E", "a..%20.."])
async def test_a_value_at_the_end_of_a_path_may_have_any_character(running: Running, value: str) -> None:
    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + running.issuer.token().encode())]
    path = f"/api/v1/requirements/by-external-id/{value}"
    status, body = await raw(running, "GET", path.encode(), headers)
    assert status == 200, body
    assert unquote(orjson.loads(body)["path"]) == unquote(path)


@pytest.mark.parametrize("name", [b"host", b"authorization", b"content-length", b"content-type", b"idempotency-key"])
async def test_a_header_with_one_value_is_refused_when_it_comes_twice(running: Running, name: bytes) -> None:
    headers = [(b"host", b"localhost"), (name, b"1"), (name, b"2")]
    status, body = await raw(running, "GET", b"/api/v1/links", headers)
    assert (status, b"duplicate_header" in body) == (400, True)


async def test_a_request_without_host_is_refused(running: Running) -> None:
    status, body = await raw(running, "GET", b"/api/v1/links", [])
    assert (status, b"missing_host" in body) == (400, True)


async def test_addresses_that_nobody_answers_are_not_found(running: Running) -> None:
    for path in ("/api/v1/nothing", "/api/v2/requirements", "/internal/changes", "/api/v1/", "/nothing"):
        assert_problem(await running.get(path, running.issuer.token()), 404, "route_not_found")


async def test_public_addresses_need_no_token(running: Running) -> None:
    assert (await running.get("/api/v1/auth/jwks.json")).status_code == 200
    assert (await running.get("/healthz")).json()["status"] == "ok"
    assert (await running.get("/livez")).json()["status"] == "ok"
    assert "swagger-ui" in (await running.get("/docs")).text
    assert (await running.get("/docs/assets/swagger-ui.css")).status_code == 200


async def test_the_gateways_own_addresses_take_no_parameters(running: Running) -> None:
    for path in ("/healthz", "/livez", "/readyz", "/docs", "/api/v1/openapi.json", "/api/v1/version"):
        refused = await running.get(f"{path}?verbose=1")
        assert (refused.status_code, refused.json()["code"]) == (422, "unknown_parameter"), path
        assert refused.json()["errors"][0]["pointer"] == "/query/verbose"


async def test_the_gateways_own_addresses_only_take_get(running: Running) -> None:
    for path in ("/healthz", "/docs", "/docs/assets/swagger-ui.css"):
        response = await running.get(path, method="POST")
        assert_problem(response, 405, "method_not_allowed")
        assert response.headers["allow"] == "GET, HEAD"
        assert response.json()["detail"] == "This address takes GET, not POST."


async def test_health_names_the_service_that_is_away(running: Running) -> None:
    running.issuer.away = True
    response = await running.get("/healthz")
    assert_problem(response, 503, "not_ready")
    assert response.json()["detail"] == "Not ready: auth-service."
    assert response.json()["services"] == {service.name: "away" if service is AUTH else "ok" for service in SERVICES}


async def test_a_service_that_is_away_takes_no_gateway_out_of_the_balancer(running: Running) -> None:
    running.issuer.away = True
    assert (await running.get("/readyz")).json() == {"status": "ok"}


async def test_a_gateway_that_can_let_nobody_pass_is_not_ready(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.auth.revocations._MAX_STALENESS", -1)
    response = await running.get("/readyz")
    assert_problem(response, 503, "not_ready")
    assert response.json()["detail"] == "Not ready: gateway."


async def test_a_body_beyond_the_limit_is_refused_announced_or_not(running: Running) -> None:
    token = running.issuer.token()
    response = await running.get("/api/v1/links", token, method="POST", content=b"x" * 1001)
    assert_problem(response, 413, "body_too_large")

    async def chunks() -> Any:
        for _ in range(11):
            yield b"x" * 100

    response = await running.get("/api/v1/links", token, method="POST", content=chunks())
    assert_problem(response, 413, "body_too_large")
    response = await running.get("/api/v1/links", token, method="POST", content=b"x" * 1000)
    assert response.json()["body_length"] == 1000


async def test_a_file_has_a_limit_of_its_own(running: Running) -> None:
    token = running.issuer.token()

    async def file(parts: int) -> AsyncIterator[bytes]:
        for _ in range(parts):
            yield bytes(1024 * 1024)

    response = await running.get("/api/v1/imports", token, method="POST", content=file(64))
    assert response.json() == {"body_length": 64 * 1024 * 1024}
    too_long = {"content": file(65)}, {"headers": {"Content-Length": str(64 * 1024 * 1024 + 1)}}
    for request in too_long:
        response = await running.get("/api/v1/imports", token, method="POST", **request)
        assert_problem(response, 413, "body_too_large")
        assert "larger than the 64 MiB that this address takes; split the file" in response.json()["detail"]
    response = await running.get("/api/v1/imports/mappings", token, method="POST", content=b"x" * 1001)
    assert "larger than the 1000 bytes that this address takes; send less" in response.json()["detail"]


@pytest.mark.parametrize("deployed", [False, True], ids=["embedded", "deployed"])
async def test_a_service_that_does_not_answer_in_time_is_504(deployed: bool) -> None:
    async with running_gateway(deployed=deployed, patience=0.5) as running:
        token = running.issuer.token()
        assert_problem(await running.get("/api/v1/links/slow", token), 504, "timed_out")
        unread = await running.get("/api/v1/links/slow", token, method="POST", content=b"x")
        assert_problem(unread, 504, "timed_out")


async def test_what_a_service_does_not_take_of_a_file_stays_with_the_caller(running: Running) -> None:
    size = 64 * 1024 * 1024
    head = "POST /api/v1/imports/inspect HTTP/1.1\r\nHost: localhost\r\n"
    async with serving(running.gateway) as address:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
        authorization = f"Authorization: Bearer {running.issuer.token()}\r\n"
        writer.write(f"{head}{authorization}Content-Length: {size}\r\nConnection: close\r\n\r\n".encode())
        sent = 0
        with suppress(TimeoutError):
            while sent < size:
                writer.write(bytes(64 * 1024))
                sent += 64 * 1024
                async with asyncio.timeout(0.5):
                    await writer.drain()
        assert sent < size / 2, "what the system's own buffers hold of it, and no more"
        running.endless.set()
        writer.write(bytes(size - sent))
        answer = await reader.read()
        writer.close()
    assert answer.endswith(b'{"body_length":%d}' % size)


@pytest.mark.parametrize("deployed", [False, True])
async def test_the_time_for_an_answer_begins_when_the_body_is_whole(deployed: bool) -> None:
    async def slow() -> AsyncIterator[bytes]:
        for _ in range(4):
            await asyncio.sleep(1.2)
            yield b"x"

    async with running_gateway(deployed=deployed, patience=3) as running:
        token = running.issuer.token()
        response = await running.get("/api/v1/imports", token, method="POST", content=slow())
        assert response.json() == {"body_length": 4}
        response = await running.get("/api/v1/links/slow", token, method="POST", content=b"x")
        assert_problem(response, 504, "timed_out")


async def test_a_service_that_fails_is_503_and_tells_no_secret(embedded: Running) -> None:
    response = await embedded.get("/api/v1/links/crash", embedded.issuer.token())
    assert_problem(response, 503, "unavailable")
    assert "secret" not in response.text


async def test_the_request_id_is_on_every_answer_and_reaches_the_service(running: Running) -> None:
    response = await running.get("/api/v1/links", running.issuer.token(), headers={"X-Request-ID": "abc-1"})
    reached = dict(response.json()["headers"])
    assert reached["x-request-id"] == "abc-1"
    assert len(reached["x-gateway-request-id"]) == 32, "an id that the caller cannot choose"
    assert (await running.get("/healthz", headers={"X-Request-ID": "abc-1"})).headers["x-request-id"] == "abc-1"
    assert len((await running.get("/nothing")).headers["x-request-id"]) == 32


async def test_a_deprecated_version_says_so(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    deprecation = Deprecation(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, tzinfo=UTC), "/docs/v1")
    deprecated = replace(VERSIONS[0], deprecation=deprecation)
    monkeypatch.setattr("gateway.routing.versions.VERSIONS", (deprecated,))
    response = await running.get("/api/v1/links", running.issuer.token())
    assert response.headers["deprecation"] == "@1767225600"
    assert response.headers["sunset"] == "Thu, 31 Dec 2026 00:00:00 GMT"
    assert response.headers["link"] == '</docs/v1>; rel="deprecation"; type="text/html"'


async def test_every_answer_tells_browsers_to_make_nothing_else_of_it(running: Running) -> None:
    token = running.issuer.token()
    answers = {
        path: await running.get(path, token)
        for path in ("/api/v1/links", "/api/v1/nothing", "/nothing", "/healthz", "/docs")
    }
    answers["refused"] = await running.get("/api/v1/links")
    for name, response in answers.items():
        assert response.headers["x-content-type-options"] == "nosniff", name
        assert response.headers["referrer-policy"] == "no-referrer", name
        assert response.headers["cache-control"] == "private, no-cache", name
        policy = response.headers["content-security-policy"]
        assert all(f"{what} 'none'" in policy for what in ("default-src", "base-uri", "frame-ancestors")), name


async def test_the_page_may_run_its_own_scripts_and_no_other(running: Running) -> None:
    response = await running.get("/docs")
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", response.text, re.DOTALL)
    hashes = [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts]
    assert policy["script-src"].split() == ["'self'", *hashes]


async def test_many_requests_at_once_each_get_their_own_answer(running: Running) -> None:
    token = running.issuer.token()
    responses = await asyncio.gather(*(running.get(f"/api/v1/links/{n}", token) for n in range(100)))
    assert [response.json()["path"] for response in responses] == [f"/api/v1/links/{n}" for n in range(100)]
