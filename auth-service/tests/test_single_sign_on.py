"""Single sign-on as auth-service has it: over several replicas, as it is set, and with a provider that fails."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from pydantic import ValidationError

from auth_service.single_sign_on import provider as calls
from auth_service.single_sign_on import service as single_sign_on
from auth_service.single_sign_on.groups import Grant, Groups
from chassis.core.identity import ANONYMOUS, Role
from chassis.core.start_failure import StartFailure
from testing.identity_provider import Browser, IdentityProvider
from testing.service import problem

from .conftest import ADMIN, PASSWORD, Service, running, settings_of

PUBLIC = "http://127.0.0.1:9"
LOGIN, CALLBACK = "/api/v1/auth/oidc/login", "/api/v1/auth/oidc/callback"
ADMIN_PASSWORD = "traceline-admin"
NOBODY_LISTENS = "http://127.0.0.1:9"


def set_up(issuer: str, **changed: Any) -> dict[str, Any]:
    return {"public_url": PUBLIC, "oidc_issuer": issuer, "oidc_client_id": "traceline", **changed}


def at(provider: IdentityProvider, **changed: Any) -> dict[str, Any]:
    client_id, secret = provider.client(PUBLIC)
    return set_up(provider.issuer, oidc_client_id=client_id, oidc_client_secret=secret, **changed)


async def begun(service: Service, browser: str) -> httpx.Response:
    return await service.call("GET", LOGIN, caller=ANONYMOUS, x_sign_in_browser=browser)


async def answer_of(service: Service, browser: str, person: str) -> str:
    """Sign in at the provider; return the query that it sends the browser back with."""
    address = (await begun(service, browser)).headers["location"]
    at_provider = Browser(PUBLIC)
    with at_provider.http:
        return urlsplit(await asyncio.to_thread(at_provider.answer, person, address)).query


async def complete(service: Service, browser: str, query: str) -> httpx.Response:
    return await service.call("GET", f"{CALLBACK}?{query}", caller=ANONYMOUS, x_sign_in_browser=browser)


async def signed_in(service: Service, person: str) -> httpx.Response:
    browser = secrets.token_urlsafe(32)
    return await complete(service, browser, await answer_of(service, browser, person))


async def test_a_replica_ends_what_another_began(url: str, identity_provider: IdentityProvider) -> None:
    settings = settings_of(url, **at(identity_provider))
    identity_provider.person("kim", email="kim@example.com", email_verified=True)
    browser = secrets.token_urlsafe(32)
    async with running(settings) as one, running(settings) as other:
        query = await answer_of(one, browser, "kim")
        assert (await complete(other, browser, query)).status_code == 303
        problem(await complete(one, browser, query), 401, "sign_in_not_begun")


async def test_the_database_holds_nothing_that_ends_a_sign_in(url: str, identity_provider: IdentityProvider) -> None:
    async with running(settings_of(url, **at(identity_provider))) as service:
        browser = secrets.token_urlsafe(32)
        address = (await begun(service, browser)).headers["location"]
        (row,) = await service.rows("SELECT * FROM begun_sign_ins")
        parameters = httpx.URL(address).params
        assert parameters["code_challenge_method"] == "S256"
        assert parameters["redirect_uri"] == f"{PUBLIC}{CALLBACK}"
        for secret in (browser, parameters["state"], parameters["nonce"]):
            assert secret not in str(row)


async def test_two_first_sign_ins_at_once_make_one_account(url: str, identity_provider: IdentityProvider) -> None:
    identity_provider.person("kim", email="kim@example.com", email_verified=True)
    async with running(settings_of(url, **at(identity_provider))) as service:
        browsers = [secrets.token_urlsafe(32) for _ in range(4)]
        queries = [await answer_of(service, browser, "kim") for browser in browsers]
        answers = await asyncio.gather(*(complete(service, *one) for one in zip(browsers, queries, strict=True)))
        assert [response.status_code for response in answers] == [303] * 4
        assert len(await service.rows("SELECT FROM users WHERE email = 'kim@example.com'")) == 1
        assert len(await service.rows("SELECT FROM identities")) == 1


async def test_a_sign_in_that_took_too_long_is_refused_and_forgotten(
    url: str, identity_provider: IdentityProvider
) -> None:
    identity_provider.person("kim", email="kim@example.com", email_verified=True)
    async with running(settings_of(url, **at(identity_provider))) as service:
        browser = secrets.token_urlsafe(32)
        query = await answer_of(service, browser, "kim")
        await service.rows("UPDATE begun_sign_ins SET expires_at = now() - interval '1 second' RETURNING state_hash")
        problem(await complete(service, browser, query), 401, "sign_in_not_begun")
        await single_sign_on.forget_old(service.database)
        assert await service.rows("SELECT FROM begun_sign_ins") == []


async def test_without_groups_a_role_that_an_admin_gave_stays(url: str, identity_provider: IdentityProvider) -> None:
    identity_provider.person("kim", email="kim@example.com", email_verified=True)
    async with running(settings_of(url, **at(identity_provider), registration="invited")) as service:
        invited = {"email": "kim@example.com", "role": "reviewer"}
        made = await service.call("POST", "/api/v1/users/invitations", invited, caller=await service.admin())
        assert made.status_code == 201
        identity_provider.person("lee", email="lee@example.com", email_verified=True)
        assert (await signed_in(service, "lee")).status_code == 303
        assert len(await service.rows("SELECT FROM invitations")) == 1, "it is of another address"
        assert (await signed_in(service, "kim")).status_code == 303
        (row,) = await service.rows("SELECT id, role FROM users WHERE email = 'kim@example.com'")
        assert row["role"] == "reviewer", "as the invitation says"
        assert await service.rows("SELECT FROM invitations") == []
        await service.change(await service.admin(), row["id"], {"role": "admin"})
        assert (await signed_in(service, "kim")).status_code == 303
        assert await service.rows("SELECT role FROM users WHERE id = %s", row["id"]) == [{"role": "admin"}]


async def test_the_last_admin_stays_one_whatever_the_groups_are(url: str, identity_provider: IdentityProvider) -> None:
    groups = {"oidc_role_claim": "groups", "oidc_groups": {"*": {}}, "registration": "invited"}
    identity_provider.person("boss", email=ADMIN, email_verified=True)
    async with running(settings_of(url, **at(identity_provider, **groups))) as service:
        assert (await signed_in(service, "boss")).status_code == 303
        assert await service.rows("SELECT role FROM users") == [{"role": "admin"}]
        assert (await service.log_in(ADMIN, ADMIN_PASSWORD)).status_code == 200, "linked, and the password works on"


async def test_whoever_comes_by_the_provider_is_asked_for_no_password(
    url: str, identity_provider: IdentityProvider
) -> None:
    identity_provider.person("kim", email="kim@example.com", email_verified=True)
    given = settings_of(url, **at(identity_provider), registration="invited")
    async with running(given) as service:
        body = {"email": "kim@example.com", "password": PASSWORD, "full_name": "Kim", "must_change_password": True}
        made = await service.call("POST", "/api/v1/users", body, caller=await service.admin())
        assert made.status_code == 201, made.text
        assert (await signed_in(service, "kim")).status_code == 303
        assert await service.rows("SELECT must_change_password FROM users WHERE email = 'kim@example.com'") == [
            {"must_change_password": False}
        ]
        problem(await service.log_in("kim@example.com"), 401, "invalid_credentials")


async def test_with_oidc_only_one_admin_alone_has_a_password(url: str, identity_provider: IdentityProvider) -> None:
    async with running(settings_of(url)) as before:
        await before.register("local@example.com")
    identity_provider.person("kim", email="kim@example.com", email_verified=True)
    async with running(settings_of(url, **at(identity_provider), oidc_only=True)) as service:
        for known_or_not in ("local@example.com", "nobody@example.com"):
            told = problem(await service.log_in(known_or_not, PASSWORD), 403, "password_login_off")
            assert "single sign-on" in told["detail"]
        assert (await service.log_in(ADMIN, ADMIN_PASSWORD)).status_code == 200
        problem(await service.register("new@example.com"), 403, "registration_closed")
        body = {"token": "x" * 22, "password": PASSWORD, "full_name": "Kim"}
        problem(await service.call("POST", "/api/v1/auth/accept-invitation", body), 403, "password_login_off")
        assert (await signed_in(service, "kim")).status_code == 303
        assert (await service.call("GET", "/api/v1/auth/ways-in")).json()["single_sign_on"] == "only"


async def test_the_secret_at_the_provider_is_changed_and_each_sign_in_ends(
    url: str, identity_provider: IdentityProvider
) -> None:
    person = f"kim-{secrets.token_hex(4)}"
    identity_provider.person(person, email=f"{person}@example.com", email_verified=True)
    settings = at(identity_provider)
    client, first, second = settings["oidc_client_id"], settings["oidc_client_secret"], secrets.token_hex(32)
    identity_provider.takes_secrets(client, first, second)
    async with (
        running(settings_of(url, **settings)) as before,
        running(settings_of(url, **settings | {"oidc_client_secret": second})) as after,
    ):
        browser = secrets.token_urlsafe(32)
        begun_before = await answer_of(before, browser, person)
        assert (await signed_in(before, person)).status_code == 303
        assert (await complete(after, browser, begun_before)).status_code == 303
        identity_provider.takes_secrets(client, second)
        assert (await signed_in(after, person)).status_code == 303
        problem(await signed_in(before, person), 503, "provider_unusable")


async def test_without_a_provider_there_is_no_single_sign_on(service: Service) -> None:
    problem(await begun(service, "x"), 404, "single_sign_on_off")
    problem(await complete(service, "x", "code=x&state=y"), 404, "single_sign_on_off")


async def test_a_provider_that_nobody_runs_is_named(url: str) -> None:
    async with running(settings_of(url, **set_up(NOBODY_LISTENS))) as service:
        response = await begun(service, "x")
        problem(response, 503, "provider_unavailable")
        assert int(response.headers["retry-after"]) >= 1


@asynccontextmanager
async def answering(content: bytes | None, status: str = "200 OK") -> AsyncIterator[str]:
    """Somebody who answers everything with the same, or None: never."""
    held = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if content is None:
            await held.wait()
        else:
            head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + content)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        held.set()
        server.close()
        await server.wait_closed()


async def test_a_provider_that_never_answers_is_not_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_DEADLINE", 0.2)
    async with answering(None) as issuer, running(settings_of(url, **set_up(issuer))) as service:
        problem(await begun(service, "x"), 503, "provider_unavailable")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"no JSON", "200 OK"),
        (b"[]", "200 OK"),
        (b'{"issuer": "https://evil.example", "authorization_endpoint": "https://evil.example/a"}', "200 OK"),
        (b" " * (1024 * 1024 + 1), "200 OK"),
        (b"", "302 Found\r\nLocation: http://127.0.0.1:9/"),
        (b"", "404 Not Found"),
    ],
)
async def test_a_provider_that_answers_something_else_is_not_followed(url: str, content: bytes, status: str) -> None:
    async with answering(content, status) as issuer, running(settings_of(url, **set_up(issuer))) as service:
        problem(await begun(service, "x"), 503, "provider_unusable")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"public_url": None}, ["PUBLIC_URL"]),
        ({"oidc_client_id": " ", "public_url": None}, ["OIDC_CLIENT_ID", "PUBLIC_URL"]),
        ({"oidc_issuer": "http://login.example.com", "environment": "production"}, ["OIDC_ISSUER"]),
        ({"oidc_role_claim": "groups"}, ["OIDC_GROUPS"]),
        ({"oidc_groups": '{"*": {}}'}, ["OIDC_ROLE_CLAIM"]),
        ({"oidc_issuer": None, "oidc_only": True}, ["OIDC_ISSUER"]),
    ],
)
def test_all_that_is_missing_is_said_at_the_start(changed: dict[str, Any], named: list[str]) -> None:
    settings = settings_of("postgresql://x", **{**set_up("https://login.example.com"), **changed})
    with pytest.raises(StartFailure) as failure:
        settings.provider()
    for name in named:
        assert name in str(failure.value)
    assert len(str(failure.value).splitlines()) == len(named)


@pytest.mark.parametrize(
    "wrong",
    [
        {"oidc_issuer": "login.example.com"},
        {"oidc_issuer": "ftp://login.example.com"},
        {"oidc_issuer": "https://login.example.com/?realm=x"},
        {"oidc_scopes": "email"},
        {"oidc_groups": "testers=reviewer"},
        {"oidc_groups": "[]"},
        {"oidc_groups": '{"testers": {"role": "boss"}}'},
        {"oidc_groups": '{"testers": {"projects": {"door": "viewer"}}}'},
        {"oidc_groups": '{"testers": {"rol": "viewer"}}'},
    ],
)
def test_what_a_setting_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        settings_of("postgresql://x", **wrong)


def test_settings_that_are_empty_are_none() -> None:
    empty = settings_of("postgresql://x", oidc_issuer="", oidc_client_id="", oidc_role_claim="", oidc_groups="")
    assert empty.provider() is None
    assert empty.groups is None


def test_the_most_of_all_groups_counts() -> None:
    written = {
        "a": {"projects": {"DOOR": "viewer", "GATE": "admin"}},
        "b": {"role": "reviewer", "projects": {"DOOR": "reviewer"}},
        "c": {"role": "admin"},
    }
    settings = settings_of("postgresql://x", oidc_role_claim="realm.roles", oidc_groups=json.dumps(written))
    groups = settings.groups
    assert groups is not None
    assert groups.projects == {"DOOR", "GATE"}
    both = groups.of({"realm": {"roles": ["b", "a", "unheard-of", 1]}})
    assert both == Grant(role=Role.REVIEWER, projects={"DOOR": Role.REVIEWER, "GATE": Role.ADMIN})
    assert groups.of({"realm.roles": "c"}) == Grant(role=Role.ADMIN)
    for nothing in ({}, {"realm": None}, {"realm": {"roles": {"a": 1}}}, {"realm.roles": []}):
        assert groups.of(nothing) is None
    assert Groups("groups", {"*": Grant()}).of({}) == Grant()
