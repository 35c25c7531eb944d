"""Sessions in a real browser: what no script can read, and what no page of another address can do with them."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from acceptance import texts
from acceptance.client import Traceline
from acceptance.waiting import eventually

from .session import PageOf, sign_in
from .trap import Trap
from .visit import Visit

pytestmark = pytest.mark.long

FORM = """([address, fields]) => {
    const form = document.body.appendChild(document.createElement("form"));
    form.method = "POST";
    form.action = address;
    for (const [name, value] of Object.entries(fields)) {
        const input = form.appendChild(document.createElement("input"));
        input.name = name;
        input.value = value;
    }
    form.submit();
}"""
FETCHED = """async ([address, options]) => {
    try {
        const answer = await fetch(address, {credentials: "include", ...options});
        return answer.type === "opaque" ? "nothing" : await answer.text();
    } catch (error) {
        return "nothing";
    }
}"""
PICTURE = """address => new Promise(resolve => {
    const picture = new Image();
    picture.onload = () => resolve("something");
    picture.onerror = () => resolve("nothing");
    picture.src = address;
})"""
SCRIPT = """address => new Promise(resolve => {
    const script = document.createElement("script");
    script.onload = () => resolve("something");
    script.onerror = () => resolve("nothing");
    script.src = address;
    document.head.append(script);
})"""
STREAM = """address => new Promise(resolve => {
    const stream = new EventSource(address, {withCredentials: true});
    stream.onopen = () => resolve("something");
    stream.onmessage = () => resolve("something");
    stream.onerror = () => { stream.close(); resolve("nothing"); };
})"""
KEPT = """() => JSON.stringify(
    [document.cookie, {...localStorage}, {...sessionStorage}, document.documentElement.outerHTML]
)"""


@pytest.fixture
def person(admin: Traceline) -> Traceline:
    """Somebody whose session no other test needs."""
    return admin.new_user("reviewer")


@pytest.fixture(params=["another port", "another site"])
def attacker(
    request: pytest.FixtureRequest, browser: Any, base_url: str, person: Traceline, trap: Trap
) -> Iterator[Visit]:
    """A page of somebody else, in the browser of a person who is signed in."""
    # To a browser localhost and 127.0.0.1 are two sites, and two ports of one host are one.
    here = trap.address if request.param == "another port" else trap.address.replace("127.0.0.1", "localhost")
    context = browser.new_context(base_url=base_url)
    sign_in(context, person)
    visit = Visit(context)
    visit.open(f"{here}/attack")
    yield visit
    context.close()


def test_the_token_is_where_no_script_can_read_it(page_of: PageOf, base_url: str, person: Traceline) -> None:
    visit = page_of(person, "/requirements")
    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    (cookie,) = visit.context.cookies()
    assert cookie["name"] == f"traceline-{urlsplit(base_url).port}"
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert cookie["domain"] == "127.0.0.1", "of this host alone"
    kept = visit.page.evaluate(KEPT)
    assert visit.page.evaluate("document.cookie") == ""
    for part in cookie["value"].split("."):
        assert part not in kept


def test_who_signs_out_is_signed_out_in_every_tab(page_of: PageOf, person: Traceline) -> None:
    visit = page_of(person, "/requirements")
    other = visit.context.new_page()
    other.goto("/p/MAIN/requirements")
    expect(other.get_by_role("heading", level=1)).to_be_visible()
    (cookie,) = visit.context.cookies()
    visit.page.get_by_role("button", name=person.me()["full_name"]).click()
    visit.page.get_by_role("button", name="Sign out", exact=True).click()
    for tab in (visit.page, other):
        expect(tab).to_have_url(re.compile("/sign-in"))
    assert visit.context.cookies() == []
    who_copied_it = person.with_token(cookie["value"])
    eventually(lambda: who_copied_it.get("/auth/me").status_code, "the end of the token", equals=401)


def test_a_page_of_another_address_reads_nothing(attacker: Visit, base_url: str) -> None:
    page = attacker.page
    told: dict[str, int] = {}
    attacker.context.on("response", lambda answer: told.setdefault(answer.url.removeprefix(base_url), answer.status))
    unseen = ("/api/v1/auth/me", "/api/v1/requirements", "/api/v1/reports/traceability-matrix?format=csv", "/session")
    read = [page.evaluate(FETCHED, [base_url + path, {"mode": "no-cors"}]) for path in unseen]
    attacker.wait_for(lambda: len(told) == len(unseen))
    # From another port the cookie comes along; from another site it does not, and a session is nobody's business there.
    refused = 403 if "127.0.0.1" in page.url else 401
    assert told == dict.fromkeys(unseen, refused) | {"/session": 403}
    read += [page.evaluate(FETCHED, [base_url + path, {"mode": "cors"}]) for path in unseen]
    read += [page.evaluate(way, base_url + path) for way in (PICTURE, SCRIPT) for path in unseen]
    read += [page.evaluate(STREAM, f"{base_url}/api/v1/events")]
    assert set(read) == {"nothing"}


def test_a_page_of_another_address_changes_nothing(attacker: Visit, base_url: str, person: Traceline) -> None:
    mark = texts.word()
    item = {"title": mark, "description": "x", "type": "functional", "priority": "low"}
    text = {"mode": "no-cors", "method": "POST", "headers": {"Content-Type": "text/plain"}, "body": json.dumps(item)}
    page = attacker.page
    for path in ("/api/v1/requirements", "/session", "/session/renew", "/api/v1/notifications/mark-all-read"):
        assert page.evaluate(FETCHED, [base_url + path, text]) == "nothing", path
    for method in ("DELETE", "PATCH"):
        options = {"method": method, "headers": {"Content-Type": "application/json"}, "body": "{}"}
        assert page.evaluate(FETCHED, [f"{base_url}/session", options]) == "nothing", method
    here = page.url
    for path, fields in (
        ("/session/renew", {}),
        ("/api/v1/requirements", item),
        ("/api/v1/auth/logout", {}),
        ("/api/v1/suggestions/generate", {}),
    ):
        with page.expect_response(base_url + path) as answered:
            page.evaluate(FORM, [base_url + path, fields])
        assert answered.value.status in {401, 403}, path
        page.wait_for_url(base_url + path)
        page.goto(here)
    assert person.read("/requirements", search=mark)["total"] == 0
    session = attacker.context.request.get("/session").json()
    assert session["user"]["email"] == person.me()["email"], "nor is the person signed out, or somebody else"


def test_a_page_of_another_address_cannot_show_ours(attacker: Visit, base_url: str) -> None:
    attacker.page.evaluate(
        "address => { document.body.appendChild(document.createElement('iframe')).src = address }",
        f"{base_url}/sign-in",
    )
    attacker.wait_for(lambda: any("frame-ancestors" in said for said in attacker.console))
    assert any("frame-ancestors" in said for said in attacker.console)
    with attacker.context.expect_page() as opened:
        attacker.page.evaluate("address => { window.other = window.open(address) }", f"{base_url}/sign-in")
    opened.value.wait_for_load_state()
    attacker.settle()
    assert attacker.page.evaluate("window.other.closed"), "the opener has no hold of it"
