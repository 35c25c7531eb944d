"""The only public address: routes, paths, headers, sizes and health."""

import http.client
import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, created, ok, problem, requirement

pytestmark = pytest.mark.requirement("TL-SAFE-3")

MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def outside(base_url: str) -> Iterator[httpx.Client]:
    """A client of the whole address and not only of /api/v1."""
    with httpx.Client(base_url=base_url, timeout=30) as client:
        yield client


def raw(base_url: str, method: str, target: str, token: str | None) -> tuple[int, str, Json]:
    """Send a request target as it is, which no ordinary client would; return status, media type, JSON."""
    address = urlsplit(base_url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)
    try:
        connection.putrequest(method, target)
        connection.putheader("Authorization", f"Bearer {token}")
        connection.putheader("Content-Length", "0")
        connection.endheaders()
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    return response.status, str(response.headers.get_content_type()), json.loads(body or b"{}")


def test_an_unknown_address_is_a_problem_document(admin: Traceline, outside: httpx.Client) -> None:
    for path in ("/", "/nothing", "/requirements/x/y/z", "/internal/changes", "/auth", "/requirementsx", "/users/1/x"):
        problem(admin.get(path), 404)
        problem(admin.post(path, json={}), 404)
    for path in ("/api", "/api/v2/requirements", "/internal/changes", "/requirements", "/nothing"):
        problem(outside.get(path), 404)


def test_a_method_that_a_route_does_not_have_is_a_problem_document(admin: Traceline) -> None:
    for method, path in (
        ("PUT", "/requirements"),
        ("DELETE", "/requirements"),
        ("POST", "/auth/me"),
        ("GET", "/auth/login"),
        ("GET", "/suggestions/00000000-0000-4000-8000-000000000000/accept"),
        ("PATCH", "/reports/gaps"),
        ("TRACE", "/requirements"),
    ):
        response = admin.request(method, path)
        problem(response, 405)
        assert response.headers["allow"]
        assert method not in response.headers["allow"].replace(" ", "").split(","), (method, path)


def test_a_path_with_encoded_slashes_dots_or_backslashes_is_refused(base_url: str, admin: Traceline) -> None:
    for target in (
        "/api/v1/requirements/..%2f..%2fusers",
        "/api/v1/requirements%2F00000000-0000-4000-8000-000000000000",
        "/api/v1/requirements/../users",
        "/api/v1/requirements/%2e%2e/users",
        "/api/v1/requirements/.%2E/users",
        "/api/v1/./users",
        "/api/v1/requirements/%2e/",
        "/api/v1\\users",
        "/api/v1/requirements\\..\\users",
        "/api/v1/requirements/%5c..%5cusers",
        "/api/v1/requirements/..;/users",
        "/api/v1//users",
        "/api/v1/requirements%00",
        "/api/v1/%75sers%2f1",
    ):
        status, media_type, answer = raw(base_url, "GET", target, admin.token)
        assert status in {400, 404}, (target, answer)
        assert media_type == "application/problem+json", target
        assert answer["status"] == status, target
        assert answer["code"], target


@pytest.mark.parametrize("spelling", ["X-User-{}", "x-user-{}", "X_User_{}", "X-User_{}"])
def test_headers_that_claim_an_identity_change_nothing(
    viewer: Traceline, reviewer: Traceline, anyone: Traceline, spelling: str
) -> None:
    claim = {spelling.format(name): value for name, value in (("Id", "1"), ("Role", "admin"), ("Email", "x@y.test"))}
    claim |= {"X-Forwarded-User": "admin", "X-Internal-Token": "x", "X-Actor": "1"}
    problem(anyone.get("/requirements", headers=claim), 401)
    problem(viewer.get("/users", headers=claim), 403)
    problem(viewer.post("/requirements", json=requirement(), headers=claim), 403)
    made = created(reviewer.post("/requirements", json=requirement(), headers=claim))
    assert made["created_by"] == reviewer.me()["email"]
    assert ok(viewer.get("/auth/me", headers=claim)) == viewer.me()


def test_a_body_of_1_mebibyte_is_the_limit(reviewer: Traceline) -> None:
    body = json.dumps(requirement(description=""))
    room = MEBIBYTE - len(body)
    largest = body.replace('"description": ""', f'"description": "{"x" * room}"')
    assert len(largest) == MEBIBYTE
    headers = {"Content-Type": "application/json"}
    created(reviewer.post("/requirements", content=largest, headers=headers))
    problem(reviewer.post("/requirements", content=largest + " ", headers=headers), 413)


def test_a_body_that_does_not_say_its_size_is_limited_too(reviewer: Traceline) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"title": "'
        for _ in range(20):
            yield b"x" * (MEBIBYTE // 16)
        yield b'"}'

    response = reviewer.post("/requirements", content=chunks(), headers={"Content-Type": "application/json"})
    problem(response, 413)


def test_a_request_keeps_the_id_that_its_sender_gave_it(reviewer: Traceline) -> None:
    mine = f"trace-{texts.word()}.1"
    response = reviewer.get("/requirements", headers={"X-Request-ID": mine})
    assert response.headers["x-request-id"] == mine
    answer = problem(reviewer.get("/nothing", headers={"X-Request-ID": mine}), 404)
    assert answer["request_id"] == mine


def test_a_request_whose_id_is_no_sane_token_gets_another(reviewer: Traceline) -> None:
    for strange in ("", "a b", "x" * 500, "<script>", '"', "a;b", "\xe4", "${jndi:ldap://x}"):
        response = reviewer.get("/requirements", headers={"X-Request-ID": strange.encode("latin-1")})
        assert response.headers["x-request-id"] not in ("", strange)


def test_every_answer_has_a_request_id(reviewer: Traceline, anyone: Traceline, outside: httpx.Client) -> None:
    responses = [
        reviewer.post("/requirements", json=requirement()),
        reviewer.post("/requirements", json={}),
        anyone.get("/requirements"),
        anyone.get("/auth/jwks.json"),
        outside.get("/healthz"),
        outside.get("/nothing"),
    ]
    ids = [response.headers["x-request-id"] for response in responses]
    assert len(set(ids)) == len(ids)


def test_a_healthy_traceline_says_so_to_anyone(outside: httpx.Client) -> None:
    response = outside.get("/healthz")
    assert response.status_code == 200
    assert response.json()


def test_a_malformed_request_is_refused_and_harms_nobody(base_url: str, outside: httpx.Client) -> None:
    address = urlsplit(base_url)
    for request in (
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Length: 5\r\n\r\n0\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ):
        with socket.create_connection((str(address.hostname), address.port or 80), timeout=10) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(65536)
        if answer:  # else the connection was closed, which is an answer too
            assert answer.split(b" ")[1].startswith(b"4"), (request, answer)
            assert b"application/problem+json" in answer, request
        assert outside.get("/healthz").status_code == 200, request
