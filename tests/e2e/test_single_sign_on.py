"""Single sign-on at a real OpenID provider, as a browser does it: everything that a person or an attacker may try."""

import json
import re
import time
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from acceptance.client import PASSWORD, Traceline
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from acceptance.waiting import eventually
from testing.identity_provider import Browser, IdentityProvider

Running = RunningTraceline | RunningStack

GROUPS = {
    "owners": {"role": "admin"},
    "testers": {"role": "reviewer", "projects": {"GATE": "viewer"}},
    "door": {"projects": {"DOOR": "admin"}},
    "door-readers": {"projects": {"DOOR": "viewer"}},
}
LOGOUT = "/api/v1/auth/oidc/backchannel-logout"
EVENTS = {"http://schemas.openid.net/event/backchannel-logout": {}}
OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def provider(identity_provider: IdentityProvider) -> IdentityProvider:
    return identity_provider


@pytest.fixture(scope="module", params=["embedded", pytest.param("stack", marks=pytest.mark.long)])
def running(request: pytest.FixtureRequest, provider: IdentityProvider) -> Iterator[Running]:
    with fresh_folder() as place:
        running = RunningTraceline(place) if request.param == "embedded" else RunningStack(place)
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
            yield running


@pytest.fixture(scope="module")
def admin(running: Running) -> Iterator[Traceline]:
    with Traceline(running.base_url) as anyone:
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        admin.new_project(key="DOOR")
        yield admin


@pytest.fixture
def browser(running: Running) -> Iterator[Browser]:
    browser = Browser(running.base_url)
    with browser.http:
        yield browser


@pytest.fixture
def other_browser(running: Running) -> Iterator[Browser]:
    browser = Browser(running.base_url)
    with browser.http:
        yield browser


@pytest.fixture
def kim(provider: IdentityProvider) -> str:
    """Somebody whom the provider knows and Traceline does not yet."""
    name = f"kim-{uuid.uuid4().hex[:8]}"
    provider.person(name, **person(name))
    return name


def person(name: str, **claims: Any) -> dict[str, Any]:
    return {"email": email(name), "email_verified": True, "name": "Kim Person", "groups": ["testers"], **claims}


def email(name: str) -> str:
    return f"{name}@example.com"


def audited(admin: Traceline, sentence: str) -> None:
    """The audit log says so."""
    eventually(
        lambda: sentence in [one["summary"] for one in admin.read("/audit-log", limit=100)["items"]],
        sentence,
    )


def refused(response: httpx.Response, status: int, code: str) -> None:
    """The browser shows a page that says what to do, and nobody is signed in."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("text/html")
    assert code in response.text
    (told,) = re.findall(r"<p>([^<]+)</p>", response.text)
    assert len(told) > 40
    assert 'href="/sign-in"' in response.text
    assert "SameSite=Strict" not in response.headers.get("set-cookie", "")


def changed(address: str, **parameters: str) -> str:
    """The address with other values of some parameters."""
    return str(httpx.URL(address).copy_merge_params(parameters))


def test_whoever_signs_in_at_the_provider_has_a_session(browser: Browser, kim: str) -> None:
    response = browser.sign_in(kim, "/p/MAIN/matrix")
    assert (response.status_code, response.headers["location"]) == (303, "/p/MAIN/matrix"), response.text
    assert "x-access-token" not in response.headers
    (cookie,) = response.headers.get_list("set-cookie")
    assert cookie.startswith(f"traceline-{urlsplit(browser.base_url).port}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    # The page that it leads to comes without the cookie of the session: the browser is still on its way from elsewhere.
    page = httpx.get(
        f"{browser.base_url}/p/MAIN/matrix", headers={"Accept": "text/html", "Sec-Fetch-Site": "cross-site"}
    )
    assert page.status_code == 200 or "The page of Traceline is not here" in page.text
    user = browser.session()["user"]
    assert (user["email"], user["full_name"], user["role"]) == (email(kim), "Kim Person", "reviewer")
    assert browser.http.get("/api/v1/requirements", headers=OWN).status_code == 200
    listed = browser.http.get("/api/v1/auth/sessions", headers=OWN).json()["items"]
    assert [one["is_current"] for one in listed] == [True]


def test_a_second_sign_in_is_the_same_account(browser: Browser, other_browser: Browser, kim: str) -> None:
    assert browser.sign_in(kim).status_code == 303
    assert other_browser.sign_in(kim).status_code == 303
    assert browser.session()["user"] == other_browser.session()["user"]
    assert browser.http.delete("/session", headers={**OWN, "Origin": browser.base_url}).status_code == 204
    assert browser.session()["user"] is None
    assert other_browser.session()["user"] is not None


def test_the_session_that_a_browser_has_ends_when_another_one_begins_in_it(
    browser: Browser, other_browser: Browser, kim: str
) -> None:
    for one in (browser, other_browser):
        assert one.sign_in(kim).status_code == 303
    token = browser.http.cookies[f"traceline-{urlsplit(browser.base_url).port}"]
    with Traceline(browser.base_url, token=token) as earlier:
        browser.answer(kim)
        assert earlier.get("/auth/me").status_code == 200, "a sign-in that nobody ends changes nothing"
        assert browser.sign_in(kim).status_code == 303
        eventually(lambda: earlier.get("/auth/me").status_code, "the end of the session before", equals=401)
    assert browser.session()["user"] is not None
    assert other_browser.session()["user"] is not None, "that of another browser goes on"


def test_the_page_is_told_that_there_is_single_sign_on(browser: Browser) -> None:
    assert browser.http.get("/api/v1/auth/ways-in").json()["single_sign_on"] == "offered"


def test_groups_give_roles_and_memberships_at_each_sign_in(
    browser: Browser, provider: IdentityProvider, admin: Traceline, kim: str
) -> None:
    def role_in_door() -> str | None:
        members = {one["email"]: one["role"] for one in admin.items("/projects/DOOR/members")}
        return members.get(email(kim))

    def sign_in(*groups: str) -> str:
        provider.person(kim, **person(kim, groups=groups))
        assert browser.sign_in(kim).status_code == 303
        role: str = browser.session()["user"]["role"]
        return role

    # GATE is in the map and not there: that keeps nobody out.
    assert (sign_in("testers", "door", "door-readers"), role_in_door()) == ("reviewer", "admin")
    # At once, on this gateway: members alone see the project.
    assert browser.http.get("/api/v1/projects/DOOR/requirements", headers=OWN).status_code == 200
    assert (sign_in("door-readers"), role_in_door()) == ("viewer", "viewer")
    assert (sign_in("owners", "unheard-of"), role_in_door()) == ("admin", None)
    audited(admin, f"The system changed role of the account {email(kim)}.")
    audited(admin, f"The system made {email(kim)} admin of the project DOOR.")
    audited(admin, f"The system removed {email(kim)} from the project DOOR.")


def test_whoever_is_in_no_group_of_the_map_gets_no_account(
    browser: Browser, provider: IdentityProvider, admin: Traceline, kim: str
) -> None:
    provider.person(kim, **person(kim, groups=["strangers"]))
    refused(browser.sign_in(kim), 403, "not_in_group")
    assert admin.items("/users", q=kim) == []


def test_an_account_of_the_same_address_is_linked_when_the_address_is_verified(
    browser: Browser, provider: IdentityProvider, admin: Traceline, kim: str
) -> None:
    registered = admin.with_token(None).register(email(kim))
    assert registered.status_code == 201
    # Anybody can register here with any address: whoever did so is not in the account any more.
    squatter = admin.logged_in(email(kim))
    provider.person(kim, **person(kim, email_verified=False))
    refused(browser.sign_in(kim), 409, "email_not_verified")
    assert squatter.get("/auth/me").status_code == 200
    provider.person(kim, **person(kim))
    assert browser.sign_in(kim).status_code == 303
    assert browser.session()["user"]["id"] == registered.json()["id"]
    assert admin.login(email(kim), PASSWORD).status_code == 401
    eventually(lambda: squatter.get("/auth/me").status_code, "the end of the squatter's token", equals=401)
    audited(admin, f"The system changed identity provider of the account {email(kim)}.")


def test_nobody_else_at_the_provider_gets_a_linked_account(
    browser: Browser, other_browser: Browser, provider: IdentityProvider, kim: str
) -> None:
    assert browser.sign_in(kim).status_code == 303
    provider.person(f"{kim}-two", **person(kim))
    refused(other_browser.sign_in(f"{kim}-two"), 409, "account_linked")


def test_without_an_address_there_is_no_account(browser: Browser, provider: IdentityProvider, kim: str) -> None:
    provider.person(kim, groups=["testers"])
    refused(browser.sign_in(kim), 403, "email_missing")


def test_a_deactivated_account_stays_out(browser: Browser, admin: Traceline, kim: str) -> None:
    assert browser.sign_in(kim).status_code == 303
    user = browser.session()["user"]
    assert admin.patch(f"/users/{user['id']}", json={"is_active": False}).status_code == 200
    refused(browser.sign_in(kim), 403, "account_inactive")


def test_an_invitation_is_accepted_by_signing_in(browser: Browser, admin: Traceline, kim: str) -> None:
    made = admin.post("/users/invitations", json={"email": email(kim), "project": "DOOR", "role": "reviewer"})
    assert made.status_code == 201
    assert browser.sign_in(kim).status_code == 303
    members = {one["email"]: one["role"] for one in admin.items("/projects/DOOR/members")}
    assert email(kim) not in members, "the map says who is a member of DOOR"
    assert email(kim) not in [one["email"] for one in admin.items("/users/invitations")]


def test_only_the_browser_that_began_a_sign_in_ends_it(browser: Browser, other_browser: Browser, kim: str) -> None:
    address = browser.answer(kim)
    refused(other_browser.http.get(address), 401, "sign_in_not_begun")
    other_browser.begin()
    refused(other_browser.http.get(address), 401, "sign_in_not_begun")
    assert browser.http.get(address).status_code == 303  # which others cannot spoil


def test_a_state_of_nobody_is_refused(browser: Browser, kim: str) -> None:
    address = browser.answer(kim)
    refused(browser.http.get(changed(address, state="x" * 43)), 401, "sign_in_not_begun")
    refused(browser.http.get(str(httpx.URL(address).copy_remove_param("state"))), 401, "sign_in_not_begun")


def test_an_answer_is_good_once(browser: Browser, kim: str) -> None:
    address = browser.answer(kim)
    assert browser.http.get(address).status_code == 303
    refused(browser.http.get(address), 401, "sign_in_not_begun")
    # And its code, in the answer to another sign-in, is refused by the provider.
    code = parse_qs(urlsplit(address).query)["code"][0]
    refused(browser.http.get(changed(browser.answer(kim), code=code)), 401, "code_refused")


def test_a_code_of_another_sign_in_is_refused_by_its_verifier(browser: Browser, kim: str) -> None:
    other = parse_qs(urlsplit(browser.answer(kim)).query)["code"][0]
    refused(browser.http.get(changed(browser.answer(kim), code=other)), 401, "code_refused")


def test_a_wrong_nonce_is_refused(browser: Browser, kim: str) -> None:
    address = changed(browser.begin(), nonce="of-somebody-else")
    refused(browser.http.get(browser.answer(kim, address)), 401, "(nonce)")


def test_a_code_for_another_client_is_refused(browser: Browser, provider: IdentityProvider, kim: str) -> None:
    other_client, _ = provider.client(browser.base_url)
    address = changed(browser.begin(), client_id=other_client)
    refused(browser.http.get(browser.answer(kim, address)), 401, "code_refused")


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"aud": "another-client"}, "aud"),
        ({"iss": "http://127.0.0.1:1"}, "iss"),
        ({"exp": 1_600_000_000}, "exp"),
        ({"nonce": None}, "nonce"),
        ({"sub": None}, "sub"),
        ({"aud": ["{client}", "another-client"], "azp": "another-client"}, "azp"),
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    browser: Browser,
    provider: IdentityProvider,
    running: Running,
    kim: str,
    claims: dict[str, Any],
    why: str,
) -> None:
    written = json.dumps(claims).replace("{client}", running.settings["OIDC_CLIENT_ID"])
    provider.tamper(json.loads(written))
    refused(browser.sign_in(kim), 401, f"({why})")


@pytest.mark.parametrize("key", ["foreign", "none", "public"])
def test_an_id_token_that_the_provider_did_not_sign_is_refused(
    browser: Browser, provider: IdentityProvider, kim: str, key: str
) -> None:
    provider.tamper(key=key)
    refused(browser.sign_in(kim), 401, "id_token_invalid")


def test_another_issuer_in_the_answer_is_refused(browser: Browser, kim: str) -> None:
    refused(browser.http.get(changed(browser.answer(kim), iss="https://evil.example")), 401, "issuer_wrong")


def test_whoever_refuses_at_the_provider_is_led_back(browser: Browser, kim: str) -> None:
    refused(browser.http.get(browser.answer(kim, refuse=True)), 403, "access_denied")


def test_a_provider_that_is_away_is_named(browser: Browser, provider: IdentityProvider, kim: str) -> None:
    address = browser.answer(kim)
    provider.be_away()
    try:
        refused(browser.http.get(address), 503, "provider_unavailable")
    finally:
        provider.be_away(False)
    assert browser.sign_in(kim).status_code == 303


@pytest.mark.parametrize(
    "return_to", ["https://evil.example/", "//evil.example", "/\\evil.example", "\\evil", "", "/ x", "javascript:1"]
)
def test_a_sign_in_leads_to_no_other_site(browser: Browser, return_to: str) -> None:
    refused(browser.http.get("/api/v1/auth/oidc/login", params={"return_to": return_to}), 422, "invalid_request")


def test_what_is_no_browser_gets_a_problem_document(running: Running) -> None:
    response = httpx.get(f"{running.base_url}/api/v1/auth/oidc/callback", params={"code": "x", "state": "y"})
    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, response.json()["code"]) == (401, "sign_in_not_begun")


def test_a_log_out_at_the_provider_ends_the_session_here(
    browser: Browser, other_browser: Browser, provider: IdentityProvider, admin: Traceline, kim: str
) -> None:
    assert browser.sign_in(kim).status_code == 303
    assert other_browser.sign_in(kim).status_code == 303
    browser.sign_out_at(provider.issuer)
    eventually(lambda: browser.session()["user"] is None, "the end of the session")
    assert other_browser.session()["user"] is not None, "that of another browser goes on"


def test_a_logout_token_is_of_the_provider_for_traceline_and_good_once(
    browser: Browser, provider: IdentityProvider, running: Running, kim: str
) -> None:
    assert browser.sign_in(kim).status_code == 303
    now = int(time.time())
    right = {
        "iss": provider.issuer,
        "aud": running.settings["OIDC_CLIENT_ID"],
        "iat": now,
        "exp": now + 120,
        "jti": uuid.uuid4().hex,
        "sub": kim,
        "events": EVENTS,
    }

    def send(token: str) -> tuple[int, str]:
        response = browser.http.post(LOGOUT, data={"logout_token": token})
        return response.status_code, "" if response.status_code == 200 else response.json()["code"]

    wrong: list[dict[str, Any]] = [
        {"iss": "http://127.0.0.1:1"},
        {"aud": "another-client"},
        {"events": None},
        {"events": {"http://schemas.openid.net/event/other": {}}},
        {"nonce": "x"},
        {"jti": None},
        {"iat": None},
        {"iat": now - 3600},
        {"exp": now - 600},
        {"sub": None},
    ]
    for claims in wrong:
        assert send(provider.signed({**right, **claims})) == (400, "logout_token_invalid"), claims
    for key in ("foreign", "none", "public"):
        assert send(provider.signed(right, key=key)) == (400, "logout_token_invalid"), key
    assert send(provider.signed(right, typ="at+jwt")) == (400, "logout_token_invalid")
    assert send("nonsense") == (400, "logout_token_invalid")
    assert browser.session()["user"] is not None
    assert send(provider.signed(right, typ="logout+jwt")) == (200, "")
    assert send(provider.signed(right)) == (400, "logout_token_used")
    eventually(lambda: browser.session()["user"] is None, "the end of the session")
