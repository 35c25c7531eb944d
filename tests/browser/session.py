"""People at the page: each with a browser of their own, signed in, and with the mouse or the keyboard at hand."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from acceptance.client import PASSWORD, Traceline
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually

from .visit import Visit

PROJECT = "/p/MAIN"
HEIGHT = 768


class PageOf(Protocol):
    """Opens a screen in the browser of somebody who is signed in."""

    def __call__(
        self,
        who: str | Traceline,
        path: str = "/",
        *,
        theme: str = "light",
        width: int = 1366,
        settings: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Visit:
        """Return what somebody sees.

        `who` is a role (its user is shared by all tests; "nobody" is signed out) or a user of the test's own.
        `path` stands below the project, unless it begins with "~", which stands for the whole address.
        `settings` are put into the browser's local storage first; `options` are those of Playwright's new_context.

        At its end a test fails if the console told an error that it did not take from `complaints`, or if anything was
        asked of another address.
        """


@contextmanager
def page_opener(browser: Any, base_url: str, people: Mapping[str, Traceline]) -> Iterator[PageOf]:
    """Yield a PageOf; at the end, close what it has opened, and assert that nothing went wrong there."""
    visits: list[Visit] = []

    def page_of(
        who: str | Traceline,
        path: str = "/",
        *,
        theme: str = "light",
        width: int = 1366,
        settings: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Visit:
        context = browser.new_context(
            color_scheme=theme, viewport={"width": width, "height": HEIGHT}, base_url=base_url, **options
        )
        user = people[who] if isinstance(who, str) else who
        if user.token is not None:
            sign_in(context, user)
        for name, value in (settings or {}).items():
            context.add_init_script(f"origin === 'null' || localStorage.setItem({name!r}, {value!r})")
        visits.append(Visit(context))
        visits[-1].open(path.removeprefix("~") if path.startswith("~") else PROJECT + path.removesuffix("/"))
        return visits[-1]

    try:
        yield page_of
        for visit in visits:
            assert visit.complaints == [], visit.complaints
            elsewhere = [one for one in visit.requests if not one.startswith((f"{base_url}/", "data:", "blob:"))]
            assert elsewhere == [], elsewhere
    finally:
        for visit in visits:
            visit.context.close()


def in_new_project(admin: Traceline, **fields: Any) -> Traceline:
    """Make a project, with what `new_project` takes; return its admin there, once it is known everywhere."""
    within = admin.within(admin.new_project(**fields))
    wait_until_known(within)
    return within


def wait_until_known(within: Traceline) -> None:
    """Wait until each service, by each gateway, has heard of a project."""
    paths = ("/requirements", "/suggestions", "/notifications") * 3
    leaving = {"Connection": "close"}  # the next is over a new connection, which any of the gateways may take
    eventually(lambda: all(within.get(path, headers=leaving).is_success for path in paths), "the project")


def sign_in(context: Any, user: Traceline) -> None:
    """Begin a session of `user` in a browser, as the sign-in screen does."""
    email = user.me()["email"]
    body = {"email": email, "password": ADMIN_PASSWORD if email == ADMIN_EMAIL else PASSWORD}
    answered = context.request.post("/session", data=body, headers={"Origin": user.base_url})
    assert answered.ok, answered.text()
