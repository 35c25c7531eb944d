"""Sessions of people in browsers: the cookie, what it opens, and who may use it."""

import itertools
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from stand_ins import PASSWORD, Running, identity_of, running_gateway
from test_access import user

from contracts.auth import TokenEnded, UserUpdated
from gateway.auth.session_cookie import SessionCookie
from gateway.session.schemas import DemoAccount

HTTPS = "https://traceline.example.com"
OWN = "http://localhost:8000"
SIGN_IN = {"email": "kim@example.com", "password": PASSWORD}
READ, WRITTEN = "/api/v1/requirements", "/api/v1/links"
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
SITES = ("same-origin", "none", "same-site", "cross-site", "nonsense", None)
ORIGINS = (OWN, "http://localhost:9000", "https://localhost:8000", "http://evil.example", "null", None)


@pytest.fixture(params=[False, True], ids=["embedded", "deployed"])
async def running(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    async with running_gateway(deployed=request.param) as running:
        yield running


async def call(running: Running, method: str, path: str, **headers: str | None) -> httpx.Response:
    """Send as a browser at localhost:8000 does: nothing that the client has kept, and `Sec-Fetch-Site` unless None."""
    running.client.cookies.clear()
    sent = {"Host": "localhost:8000", "Sec-Fetch-Site": "same-origin"}
    for name, value in headers.items():
        sent[name.replace("_", "-")] = value or ""
    return await running.client.request(
        method, path, headers={name: value for name, value in sent.items() if value}, json=None
    )


async def sign_in(running: Running, host: str = "localhost:8000", **changed: Any) -> httpx.Response:
    headers = {"Host": host, "Sec-Fetch-Site": "same-origin"}
    return await running.client.post("/session", json=SIGN_IN | changed, headers=headers)


def cookie(running: Running, name: str = "traceline-8000", **changed: Any) -> str:
    return f"{name}={running.issuer.token(**changed)}"


def assert_refused(response: httpx.Response, status: int, code: str) -> None:
    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, response.json()["code"]) == (status, code), response.text


async def test_signing_in_keeps_the_token_where_no_script_can_read_it(running: Running) -> None:
    response = await sign_in(running)
    assert response.status_code == 200
    session = response.json()
    assert session["user"]["full_name"] == "U"
    assert session["expires_at"].endswith("Z")
    assert response.headers["cache-control"] == "no-store"
    pair, *attributes = response.headers["set-cookie"].split("; ")
    name, _, token = pair.partition("=")
    assert name == "traceline-8000"
    assert token.count(".") == 2
    assert token not in response.text
    max_age = attributes.pop(0)
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert 595 <= int(max_age.removeprefix("Max-Age=")) <= 600
    assert (await call(running, "GET", READ, Cookie=pair)).status_code == 200


def test_the_cookie_of_a_sign_in_comes_along_from_another_site_and_is_no_session() -> None:
    kept = SessionCookie(HTTPS, suffix="-sign-in", same_site="Lax").of("x", 600, "traceline.example.com", "https")
    assert kept == "__Host-traceline-sign-in=x; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure"
    assert SessionCookie(HTTPS).read(kept.partition(";")[0], "traceline.example.com", "https") is None


@pytest.mark.parametrize(
    ("public_url", "host", "name", "secure"),
    [
        (HTTPS, "traceline.example.com", "__Host-traceline", True),
        (f"{HTTPS}:8443", "10.0.0.1:8000", "__Host-traceline", True),
        ("http://traceline.example.com", "10.0.0.1:8000", "traceline-80", False),
        ("http://traceline.example.com:81", "10.0.0.1:8000", "traceline-81", False),
        (None, "127.0.0.1:8123", "traceline-8123", False),
        (None, "[::1]:8123", "traceline-8123", False),
        (None, "[::1]", "traceline-80", False),
        (None, "localhost", "traceline-80", False),
    ],
)
async def test_the_cookie_has_the_name_that_fits_the_address(
    public_url: str | None, host: str, name: str, *, secure: bool
) -> None:
    async with running_gateway(public_url=public_url) as running:
        kept = (await sign_in(running, host)).headers["set-cookie"]
        assert kept.startswith(f"{name}=")
        assert kept.endswith("; Secure") == secure
        session = await call(running, "GET", "/session", Cookie=kept.partition(";")[0], Host=host)
        assert session.json()["user"]["id"] == 7


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"password": "wrong"}, 401, "invalid_credentials"),
        ({"email": "inactive@example.com"}, 403, "account_inactive"),
        ({"email": "locked@example.com"}, 429, "too_many_requests"),
        ({"password": "x" * 129}, 422, "invalid_request"),
        ({"password": None}, 422, "invalid_request"),
        ({"password": ""}, 422, "invalid_request"),
        ({"email": ""}, 422, "invalid_request"),
    ],
)
async def test_a_refused_log_in_is_told_as_auth_service_tells_it(
    running: Running, changed: dict[str, Any], status: int, code: str
) -> None:
    response = await sign_in(running, **changed)
    assert_refused(response, status, code)
    assert response.json()["instance"] == "/session"
    assert response.headers.get("retry-after") == ("77" if status == 429 else None)
    assert "set-cookie" not in response.headers


async def test_auth_service_is_told_who_signs_in(running: Running) -> None:
    await sign_in(running)
    path, headers = running.issuer.came[0]
    assert path == "/api/v1/auth/login"
    assert headers["x-forwarded-for"] == "127.0.0.1"
    assert "cookie" not in headers


async def test_nobody_is_signed_in_without_a_token_that_works(running: Running) -> None:
    other = cookie(running, "traceline-9000")
    twice = f"{cookie(running)}; {cookie(running)}"
    for sent in (None, other, twice, "traceline-8000=", "traceline-8000=abc", cookie(running, exp=1)):
        response = await call(running, "GET", "/session", Cookie=sent)
        assert (response.status_code, response.json()) == (200, {"user": None}), sent
        assert (await call(running, "GET", READ, Cookie=sent)).status_code == 401, sent
    response = await call(running, "GET", "/session", Cookie=f"a=b; {cookie(running)}; c")
    assert response.json()["user"]["email"] == "u7@traceline.test"


async def test_a_session_ends_with_its_token_and_its_user(running: Running) -> None:
    kept = cookie(running, jti="the one")
    expires_at = (await call(running, "GET", "/session", Cookie=kept)).json()["expires_at"]
    running.issuer.tell(TokenEnded(user_id=7, token_id="the one", expires_at=expires_at))
    await running.verifier.revocations.refresh()
    assert (await call(running, "GET", "/session", Cookie=kept)).json() == {"user": None}
    assert_refused(await call(running, "GET", READ, Cookie=kept), 401, "unauthenticated")
    running.issuer.tell(UserUpdated(user=user(is_active=False), changes={}))
    await running.verifier.revocations.refresh()
    assert (await call(running, "GET", "/session", Cookie=cookie(running))).json() == {"user": None}


async def test_authorization_wins_over_the_cookie(running: Running) -> None:
    token = running.issuer.token(user_id=8)
    response = await call(running, "GET", READ, Cookie=cookie(running), Authorization=f"Bearer {token}")
    reached = dict(response.json()["headers"])
    internal = reached["authorization"].removeprefix("Bearer ")
    assert identity_of(internal).id == 8
    for wrong in ("Bearer abc", "Basic eDp5"):
        response = await call(running, "GET", READ, Cookie=cookie(running), Authorization=wrong)
        assert response.status_code == 401
    # A page of another site cannot send the header, and so a request that has it needs no other proof.
    sent = {"Authorization": f"Bearer {token}", "Sec_Fetch_Site": "cross-site", "Origin": "http://evil.example"}
    assert (await call(running, "POST", WRITTEN, Cookie=cookie(running), **sent)).status_code == 200


async def test_no_cookie_reaches_a_service(running: Running) -> None:
    response = await call(running, "GET", READ, Cookie=cookie(running))
    reached = dict(response.json()["headers"])
    assert reached.keys().isdisjoint({"cookie", "origin", "sec-fetch-site"})
    assert identity_of(reached["authorization"].removeprefix("Bearer ")).id == 7


@pytest.mark.parametrize("method", ["GET", "HEAD", *UNSAFE])
async def test_a_session_works_for_the_own_page_alone(running: Running, method: str) -> None:
    is_safe = method not in UNSAFE
    for site, origin in itertools.product(SITES, ORIGINS):
        response = await call(running, method, WRITTEN, Cookie=cookie(running), Sec_Fetch_Site=site, Origin=origin)
        by_origin = site is None and (is_safe or origin == OWN)
        passes = by_origin or site == "same-origin" or (is_safe and site == "none")
        assert response.status_code == (200 if passes else 403), (site, origin)
        if not passes and method != "HEAD":
            assert_refused(response, 403, "cross_site_request")


@pytest.mark.parametrize(
    ("public_url", "host", "origin", "passes"),
    [
        (None, "127.0.0.1:8000", "http://127.0.0.1:8000", True),
        (None, "[::1]:8000", "http://[::1]:8000", True),
        (None, "192.168.1.7:8000", "http://192.168.1.7:8000", True),
        (None, "traceline.localhost:8000", "http://traceline.localhost:8000", True),
        (None, "localhost:8000", "http://127.0.0.1:8000", False),
        (HTTPS, "10.0.0.1", HTTPS, True),
        (f"{HTTPS}:443", "10.0.0.1", HTTPS, True),
        (HTTPS, "10.0.0.1", "http://10.0.0.1", False),
        (HTTPS, "traceline.example.com", "http://traceline.example.com", False),
        (HTTPS, "traceline.example.com", f"{HTTPS}:8443", False),
    ],
)
async def test_without_the_browsers_word_the_origin_has_to_be_the_own_one(
    public_url: str | None, host: str, origin: str, *, passes: bool
) -> None:
    async with running_gateway(public_url=public_url) as running:
        kept = (await sign_in(running, host)).headers["set-cookie"].partition(";")[0]
        sent = {"Cookie": kept, "Host": host, "Origin": origin, "Sec_Fetch_Site": None}
        response = await call(running, "POST", WRITTEN, **sent)
        assert response.status_code == (200 if passes else 403)


async def test_nobody_is_signed_in_or_out_by_a_page_of_another_site(running: Running) -> None:
    kept = cookie(running)
    for method, path in (("POST", "/session"), ("POST", "/session/renew"), ("DELETE", "/session"), ("GET", "/session")):
        for site in ("same-site", "cross-site"):
            for sent in (kept, None):
                response = await call(running, method, path, Cookie=sent, Sec_Fetch_Site=site)
                assert_refused(response, 403, "cross_site_request")
    assert running.issuer.came == []
    response = await running.client.post("/session", json=SIGN_IN)
    assert response.status_code == 200, "what is no browser sends no such header, and has no session yet"


async def test_who_signs_in_again_has_one_session(running: Running) -> None:
    before = cookie(running)
    for sent, ended in ((before, 1), (None, 0)):
        running.issuer.came.clear()
        headers = {"Host": "localhost:8000", "Sec-Fetch-Site": "same-origin", **({"Cookie": sent} if sent else {})}
        running.client.cookies.clear()
        assert (await running.client.post("/session", json=SIGN_IN, headers=headers)).status_code == 200
        assert [path for path, _ in running.issuer.came].count("/api/v1/auth/logout") == ended


async def test_a_session_is_renewed_with_another_token(running: Running) -> None:
    kept = cookie(running)
    response = await call(running, "POST", "/session/renew", Cookie=kept)
    assert response.status_code == 200
    assert response.json().keys() == {"user", "expires_at"}
    renewed = response.headers["set-cookie"].partition(";")[0]
    assert renewed.startswith("traceline-8000=")
    assert renewed != kept
    for sent in (None, "traceline-8000=abc", cookie(running, exp=1)):
        refused = await call(running, "POST", "/session/renew", Cookie=sent)
        assert_refused(refused, 401, "unauthenticated")


async def test_signing_out_ends_the_token_and_what_the_browser_kept(running: Running) -> None:
    for sent, ended in ((cookie(running), 1), (None, 0), (cookie(running, exp=1), 0)):
        running.issuer.came.clear()
        response = await call(running, "DELETE", "/session", Cookie=sent)
        assert (response.status_code, response.content) == (204, b"")
        assert response.headers["set-cookie"] == "traceline-8000=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict"
        assert response.headers["clear-site-data"] == '"cache", "storage"'
        assert [path for path, _ in running.issuer.came] == ["/api/v1/auth/logout"] * ended


async def test_who_cannot_be_signed_out_keeps_the_session(running: Running) -> None:
    running.issuer.away = True
    response = await call(running, "DELETE", "/session", Cookie=cookie(running))
    assert_refused(response, 503, "unavailable")
    assert "set-cookie" not in response.headers


async def test_sessions_refuse_what_they_do_not_know(running: Running) -> None:
    response = await call(running, "PUT", "/session")
    assert_refused(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "DELETE, GET, HEAD, POST"
    assert (await call(running, "GET", "/session/renew")).headers["allow"] == "POST"
    for method, path in (("POST", "/session"), ("GET", "/session"), ("DELETE", "/session"), ("POST", "/session/renew")):
        assert_refused(await call(running, method, f"{path}?next=/p/MAIN"), 422, "unknown_parameter")
    assert_refused(await call(running, "GET", "/session/other"), 404, "route_not_found")
    form = await running.client.post("/session", data={"email": "a", "password": "b"})
    assert_refused(form, 415, "unsupported_media_type")
    assert_refused(await sign_in(running, email="x" * 2000), 413, "body_too_large")


async def test_only_a_demo_tells_how_to_sign_in(running: Running) -> None:
    assert "demo" not in (await call(running, "GET", "/session")).json()
    async with running_gateway(demo=DemoAccount(email="a@b", password="known to all", project="DEMO")) as demo:
        assert (await call(demo, "GET", "/session")).json() == {
            "user": None,
            "demo": {"email": "a@b", "password": "known to all", "project": "DEMO"},
        }


async def test_who_is_signed_in_reads_the_documentation_that_others_may_not() -> None:
    async with running_gateway(docs="signed-in") as running:
        for path in ("/docs", "/api/v1/openapi.json"):
            assert (await call(running, "GET", path)).status_code == 401
        assert (await call(running, "GET", "/docs", Cookie=cookie(running))).status_code == 200
        assert (await call(running, "GET", "/docs", Cookie=cookie(running), Sec_Fetch_Site="none")).status_code == 200
        refused = await call(running, "GET", "/docs", Cookie=cookie(running), Sec_Fetch_Site="same-site")
        assert_refused(refused, 403, "cross_site_request")
