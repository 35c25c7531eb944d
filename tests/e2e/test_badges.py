"""Badges: what a README shows, with a token in the address that can do nothing else."""

import re
from collections.abc import Callable
from uuid import uuid4

import httpx
import pytest

from acceptance.callers import in_one_process
from acceptance.client import Traceline, created, ok
from acceptance.waiting import eventually

pytestmark = in_one_process

Token = Callable[..., str]
FIGURES = ("verified", "coverage", "gate")


@pytest.fixture
def project(admin: Traceline) -> Traceline:
    """A project of its own."""
    key = admin.new_project()
    return admin.within(key)


@pytest.fixture
def token(admin: Traceline) -> Token:
    """Makes a token and waits until the gateway knows it."""

    def make(*scopes: str, projects: list[str] | None = None) -> str:
        body = {"name": "badge", "scopes": list(scopes), "projects": projects}
        made: str = created(admin.post("/auth/tokens", json=body))["token"]
        known = admin.with_token(made)
        eventually(lambda: known.get("/requirements").status_code != 401, "the gateway to know the token")
        return made

    return make


@pytest.fixture
def badge(base_url: str, project: Traceline) -> Callable[..., httpx.Response]:
    """Asks for a badge as a browser does: without a header that says who it is."""

    def ask(figure: str, key: str | None = None, **query: str) -> httpx.Response:
        address = f"{base_url}/api/v1/projects/{key or project.project}/badges/{figure}.svg"
        return httpx.get(address, params=query, trust_env=False)

    return ask


def said(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["cache-control"] == "max-age=60"
    assert "script" not in answer.text
    (label,) = re.findall('aria-label="([^"]*)"', answer.text)
    return str(label)


def test_badges_say_the_figures_of_the_project(
    project: Traceline, token: Token, badge: Callable[..., httpx.Response]
) -> None:
    secret = token("badge")
    assert said(badge("verified", token=secret)) == "verified: no requirements"
    assert said(badge("gate", token=secret)) == "gate: does not pass"
    requirements = [project.create_requirement() for _ in range(3)]
    test_cases = [project.create_test_case(external_id=f"B-{number}") for number in range(3)]
    for requirement, test_case in zip(requirements[:2], test_cases[:2], strict=True):
        project.create_link(requirement["id"], test_case["id"])
    assert said(badge("coverage", token=secret)) == "coverage: 66 %"
    case = (
        '<testcase classname="doors" name="close {0}"><properties><property name="test_key" value="{0}"/></properties>'
    )
    report = "".join(f"{case.format(one['external_id'])}</testcase>" for one in test_cases[:2])
    sent = project.post(f"/test-results?run={uuid4()}", content=f"<testsuite>{report}</testsuite>".encode())
    run = ok(sent)["run"]["id"]
    ok(project.post(f"/test-runs/{run}/complete"))
    assert said(badge("verified", token=secret)) == "verified: 66 %"
    assert said(badge("gate", token=secret)) == "gate: passes"
    assert said(badge("gate", token=secret, branch="other")) == "gate: does not pass"


def test_without_its_token_there_is_no_badge(
    admin: Traceline, project: Traceline, token: Token, badge: Callable[..., httpx.Response]
) -> None:
    reading, own = token("read"), token("badge", projects=[str(project.project)])
    both = token("badge", "read")
    others = ["", "tlp_x", "tlp_" + "0" * 36, reading, both, "eyJ.a.b", str(admin.token)]
    for figure in FIGURES:
        assert badge(figure, token=own).status_code == 200
        for query in ({}, *({"token": other} for other in others)):
            refused = badge(figure, **query)
            assert (refused.status_code, refused.json()["code"]) == (404, "badge_not_found")
            assert all(len(other) < 8 or other not in refused.text for other in others)
        assert badge(figure, key="MAIN", token=own).status_code == 404
        assert badge(figure, key="NOWHERE", token=own).status_code == 404
    assert badge("anything", token=own).status_code == 404


def test_a_token_of_badges_can_do_nothing_else(project: Traceline, token: Token) -> None:
    bearer = project.with_token(token("badge"))
    assert bearer.get("/badges/verified.svg").status_code == 200
    for path in (
        "/requirements",
        "/reports/gate",
        "/reports/verification",
        "/test-runs",
        "/search?q=doors",
        "/exports",
    ):
        assert bearer.get(path).status_code == 403, path
    assert bearer.post("/requirements", json={"title": "x"}).status_code == 403
    assert bearer.post("/test-results", content=b"x").status_code == 403
    assert bearer.get("/auth/me").status_code == 403


def test_who_has_logged_in_and_tokens_that_read_may_see_badges_by_their_header(
    project: Traceline, token: Token
) -> None:
    for caller in (project, project.with_token(token("read")), project.with_token(token("results"))):
        assert caller.get("/badges/coverage.svg").status_code == 200
