"""What holds for every answer of the gateway, and what its settings change of that."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import ValidationError
from stand_ins import Running, running_gateway

from contracts.routes import SERVICES
from gateway.settings import Settings

OURS = "https://app.example.com"
LISTS = (
    "/api/v1/auth/me",
    "/api/v1/links",
    "/api/v1/users",
    "/api/v1/users/7",
    "/api/v1/audit-log",
    "/api/v1/notifications",
)
PREFLIGHT = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization, if-match"}


@pytest.fixture(params=[False, True], ids=["embedded", "deployed"])
async def both(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    async with running_gateway(deployed=request.param) as running:
        yield running


def settings(**given: Any) -> Settings:
    return Settings(**given)


@pytest.mark.parametrize("path", ["/api/v1/links", "/healthz", "/docs", "/api/v1/nothing", "/api/v1/auth/jwks.json"])
async def test_head_is_answered_as_get_without_the_body(both: Running, path: str) -> None:
    token = both.issuer.token()
    got = await both.get(path, token, headers={"X-Request-ID": "r"})
    asked = await both.get(path, token, method="HEAD", headers={"X-Request-ID": "r"})
    assert (asked.status_code, asked.content) == (got.status_code, b"")
    assert got.content
    assert sorted(asked.headers) == sorted(got.headers)


async def test_head_needs_the_token_that_get_needs(both: Running) -> None:
    assert (await both.get("/api/v1/links", method="HEAD")).status_code == 401


@pytest.mark.parametrize("path", ["/api/v1/auth/oidc/login", "/api/v1/auth/oidc/callback?code=c&state=s"])
async def test_head_neither_begins_nor_ends_a_sign_in(both: Running, path: str) -> None:
    refused = await both.get(path, method="HEAD")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET")
    assert (await both.get(path)).json() == {"detail": "Not Found"}, "GET reaches auth-service, which has no such route"


@pytest.mark.parametrize(
    ("public_url", "host", "is_answered"),
    [
        (None, "evil.example:8000", False),
        (None, "traceline", False),
        (None, "localhost.evil.example", False),
        (None, "127.0.0.1.evil.example", False),
        (None, "user@localhost", False),
        (None, "", False),
        (None, "localhost", True),
        (None, "LOCALHOST:8000", True),
        (None, "traceline.localhost:8000", True),
        (None, "10.1.2.3:8000", True),
        (None, "[fe80::1]:8000", True),
        ("https://traceline.example.com", "traceline.example.com", True),
        ("https://traceline.example.com:8443", "Traceline.example.com:443", True),
        ("https://traceline.example.com", "10.1.2.3:8000", True),
        ("https://traceline.example.com", "localhost:8000", True),
        ("https://traceline.example.com", "traceline-example.com", False),
        ("https://traceline.example.com", "evil.traceline.example.com", False),
        ("https://traceline.example.com", "traceline.example.com:443.evil.example", False),
        ("http://[fd00::7]:8000", "evil.example", False),
    ],
)
async def test_only_addresses_localhost_and_the_public_name_are_answered(
    public_url: str | None, host: str, *, is_answered: bool
) -> None:
    async with running_gateway(public_url=public_url, cors_allowed_origins=OURS) as running:
        token = running.issuer.token()
        for method, path in (
            *(("GET", path) for path in ("/", "/assets/x.js", "/p/MAIN", "/docs", "/openapi.json", "/nothing")),
            *(("GET", f"/{probe}") for probe in ("livez", "readyz", "healthz")),
            *(("GET", f"/api/v1/{path}") for path in ("links", "version", "openapi.json", "auth/oidc/login")),
            *(("POST", path) for path in ("/session", "/api/v1/auth/login", "/api/v1/links")),
            ("OPTIONS", "/api/v1/links"),
        ):
            sent = {"Host": host, "Origin": OURS, "Access-Control-Request-Method": "PATCH"}
            response = await running.get(path, token, method=method, headers=sent)
            assert (response.status_code != 421) == is_answered, path
            if not is_answered:
                problem = response.json()
                assert problem["code"] == "misdirected_request"
                assert "PUBLIC_URL" in problem["detail"]
        assert is_answered or not [path for path, _ in running.issuer.came if not path.startswith("/internal")]


async def test_head_ends_what_get_would_go_on_with(both: Running) -> None:
    both.endless.clear()
    async with asyncio.timeout(120):
        response = await both.get("/api/v1/links/endless", both.issuer.token(), method="HEAD")
        assert (response.status_code, response.content) == (200, b"")
        await both.endless.wait()


async def test_answers_about_people_are_kept_on_no_disk(running: Running) -> None:
    token = running.issuer.token()
    kept = {path: (await running.get(path, token)).headers["cache-control"] for path in LISTS}
    assert kept.pop("/api/v1/links") == "private, no-cache"
    assert set(kept.values()) == {"no-store"}
    assert (await running.get("/api/v1/users")).headers["cache-control"] == "no-store", "nor is a refusal"


@pytest.mark.parametrize(
    ("public_url", "told"),
    [
        ("https://traceline.example.com", "max-age=31536000; includeSubDomains"),
        ("HTTPS://Traceline.example.com:8443/", "max-age=31536000; includeSubDomains"),
        ("http://traceline.example.com", None),
        ("", None),
        (None, None),
    ],
)
async def test_browsers_are_told_to_use_https_where_people_do(public_url: str | None, told: str | None) -> None:
    async with running_gateway(public_url=public_url) as running:
        for path in ("/healthz", "/api/v1/links", "/docs", "/nothing"):
            response = await running.get(path, running.issuer.token())
            assert response.headers.get("strict-transport-security") == told, path


@pytest.mark.parametrize("url", ["traceline.example.com", "ftp://a.b", "https://", "https://a.b/path", "https://a b"])
def test_a_public_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="like https://traceline"):
        settings(public_url=url)


async def test_a_page_of_an_allowed_origin_may_call() -> None:
    async with running_gateway(cors_allowed_origins=f"http://localhost:5173, {OURS}/") as running:
        asked = await running.get("/api/v1/links", method="OPTIONS", headers={"Origin": OURS, **PREFLIGHT})
        assert (asked.status_code, asked.content) == (204, b"")
        assert asked.headers["access-control-allow-origin"] == OURS
        assert {"GET", "HEAD", "PATCH", "DELETE"} <= set(asked.headers["access-control-allow-methods"].split(", "))
        allowed = set(asked.headers["access-control-allow-headers"].split(", "))
        assert {"Authorization", "Content-Type", "If-Match", "Idempotency-Key", "Prefer", "X-Request-ID"} <= allowed
        for path, token in (("/api/v1/links", running.issuer.token()), ("/api/v1/links", None), ("/nothing", None)):
            response = await running.get(path, token, headers={"Origin": OURS})
            assert response.headers["access-control-allow-origin"] == OURS
            assert response.headers["vary"] == "Origin"
            exposed = set(response.headers["access-control-expose-headers"].split(", "))
            assert {"Location", "ETag", "Link", "Retry-After", "X-Request-ID"} <= exposed
            assert "access-control-allow-credentials" not in response.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://app.example.com.evil.example"])
async def test_a_page_of_another_origin_may_not(origin: str) -> None:
    async with running_gateway(cors_allowed_origins=OURS) as running:
        for method in ("GET", "OPTIONS"):
            response = await running.get("/healthz", method=method, headers={"Origin": origin, **PREFLIGHT})
            assert not [name for name in response.headers if name.startswith("access-control-")]
            assert response.headers["vary"] == "Origin"


async def test_without_the_setting_no_answer_speaks_of_origins(running: Running) -> None:
    for method in ("GET", "OPTIONS"):
        response = await running.get("/api/v1/links", method=method, headers={"Origin": OURS, **PREFLIGHT})
        assert response.status_code == 401
        assert not [name for name in response.headers if name.startswith(("access-control-", "vary"))]


@pytest.mark.parametrize("origins", ["*", "app.example.com", f"{OURS}/page", "null"])
def test_an_origin_that_is_none_is_refused(origins: str) -> None:
    with pytest.raises(ValidationError, match=r"such as|like"):
        settings(cors_allowed_origins=origins)


async def test_who_may_read_the_documentation_is_a_setting() -> None:
    paths = ("/docs", "/api/v1/openapi.json", "/openapi.json")
    async with running_gateway(docs="signed-in") as running:
        for path in paths:
            assert (await running.get(path)).status_code == 401
        assert (await running.get("/docs", running.issuer.token())).status_code == 200
    async with running_gateway(docs="off") as running:
        for path in (*paths, "/docs/assets/swagger-ui.css"):
            assert (await running.get(path, running.issuer.token())).json()["code"] == "route_not_found"


async def test_tools_find_the_document_at_the_root(running: Running) -> None:
    led = await running.get("/openapi.json")
    assert (led.status_code, led.headers["location"]) == (307, "/api/v1/openapi.json")


async def test_everybody_may_read_the_version(running: Running) -> None:
    version = (await running.get("/api/v1/version")).json()
    assert (version["api"], version["schema"]["auth-service"]) == ("v1", "0003")
    assert version["schema"].keys() == {service.name for service in SERVICES}
    assert [int(part) for part in version["software"].split(".")]
    assert (await running.get("/healthz")).json()["version"] == version


async def test_the_services_are_asked_once_a_second_however_many_ask(running: Running) -> None:
    answers = await asyncio.gather(*(running.get("/healthz") for _ in range(50)))
    assert {answer.status_code for answer in answers} == {200}
    assert running.issuer.ready_requests == 1
