"""Sessions of the web page, with the real auth-service behind: begun, renewed, and ended for whoever has a copy."""

import httpx
import pytest

from acceptance.client import PASSWORD, Traceline, ok, problem
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-USER-2")


def test_who_is_logged_in_twice_sees_it_and_ends_the_other(admin: Traceline) -> None:
    here = admin.new_user("viewer")
    there = here.logged_in(here.me()["email"])
    sessions = here.items("/auth/sessions")
    assert sorted(session["is_current"] for session in sessions) == [False, True]
    assert all("python-httpx" in session["agent"] for session in sessions)
    assert all(session["address"] in {"127.0.0.1", "::1"} for session in sessions)
    assert here.delete("/auth/sessions").status_code == 204
    eventually(lambda: there.get("/auth/me").status_code, "the end of the other session", equals=401)
    here.read("/auth/me")
    assert admin.delete(f"/users/{here.me()['id']}/sessions").status_code == 204
    eventually(lambda: here.get("/auth/me").status_code, "the end of all sessions", equals=401)


def test_a_session_is_renewed_and_ends_for_all_its_copies(admin: Traceline) -> None:
    email = admin.new_user("viewer").me()["email"]

    def call(method: str, path: str, cookie: str = "", **parts: object) -> httpx.Response:
        """Send as a page does, with this cookie alone: a client that keeps them would send its own."""
        headers = {"Origin": admin.base_url, "Cookie": cookie}
        return httpx.request(method, admin.base_url + path, headers=headers, timeout=60, **parts)  # type: ignore[arg-type]

    def kept(response: httpx.Response) -> str:
        assert ok(response)["user"]["email"] == email
        cookie: str = response.headers["set-cookie"].partition(";")[0]
        return cookie

    problem(call("POST", "/session", json={"email": email, "password": "wrong"}), 401, "invalid_credentials")
    first = kept(call("POST", "/session", json={"email": email, "password": PASSWORD}))
    second = kept(call("POST", "/session/renew", first))
    assert second != first
    for cookie in (first, second):
        assert ok(call("GET", "/api/v1/auth/me", cookie))["email"] == email
        assert ok(call("GET", "/session", cookie))["user"]["email"] == email
    assert call("DELETE", "/session", second).status_code == 204
    eventually(lambda: call("GET", "/api/v1/auth/me", second).status_code, "the end of the token", equals=401)
    eventually(lambda: ok(call("GET", "/session", second)), "its end in each worker", equals={"user": None})
    problem(call("POST", "/session/renew", second), 401, "unauthenticated")
