"""Single sign-on at a real OpenID provider, as a browser does it: everything that a person or an attacker may try."""

import json
from collections.abc import Iterator

import pytest

from acceptance.process import RunningTraceline, fresh_folder
from testing.identity_provider import Browser, IdentityProvider

GROUPS = {
    "owners": {"role": "admin"},
    "testers": {"role": "reviewer"},
    "door": {"projects": {"DOOR": "admin"}},
    "door-readers": {"projects": {"DOOR": "viewer"}},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def base_url(provider: IdentityProvider) -> Iterator[str]:
    with fresh_folder() as place:
        running = RunningTraceline(place)
        client_id, secret = provider.client(running.base_url)
        running.settings |= {
            "PUBLIC_URL": running.base_url,
            "OIDC_ISSUER": provider.issuer,
            "OIDC_CLIENT_ID": client_id,
            "OIDC_CLIENT_SECRET": secret,
            "OIDC_SCOPES": "openid email profile groups",
            "OIDC_ROLE_CLAIM": "groups",
            "OIDC_GROUPS": json.dumps(GROUPS),
        }
        with running:
            yield running.base_url


@pytest.fixture
def browser(base_url: str) -> Iterator[Browser]:
    browser = Browser(base_url)
    with browser.http:
        yield browser


def test_whoever_signs_in_at_the_provider_has_a_session(browser: Browser, provider: IdentityProvider) -> None:
    provider.person("kim", email="kim@example.com", email_verified=True, name="Kim Person", groups=["testers"])
    response = browser.sign_in("kim", "/p/MAIN/matrix")
    assert (response.status_code, response.headers["location"]) == (303, "/p/MAIN/matrix"), response.text
    (cookie,) = [one for one in response.headers.get_list("set-cookie") if "SameSite=Strict" in one]
    assert "HttpOnly" in cookie
    user = browser.session()["user"]
    assert (user["email"], user["full_name"], user["role"]) == ("kim@example.com", "Kim Person", "reviewer")
    own = {"Sec-Fetch-Site": "same-origin"}
    assert browser.http.get("/api/v1/requirements", headers=own).status_code == 200
