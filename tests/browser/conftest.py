"""A real browser, a Traceline that it visits, and what happens in a page."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from acceptance import chromium
from acceptance.callers import anyone, reviewer, viewer
from acceptance.client import Traceline
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from chassis.core.start_failure import StartFailure

from .session import PageOf, page_opener
from .trap import Trap
from .visit import Visit

__all__ = ["anyone", "reviewer", "viewer"]


@pytest.fixture(scope="package", params=["embedded", pytest.param("stack", marks=pytest.mark.long)])
def running(request: pytest.FixtureRequest) -> Iterator[RunningTraceline | RunningStack]:
    """In one process, and as many."""
    with (
        fresh_folder() as place,
        RunningTraceline(place) if request.param == "embedded" else RunningStack(place) as running,
    ):
        yield running


@pytest.fixture(scope="package")
def base_url(running: RunningTraceline | RunningStack) -> str:
    return running.base_url


@pytest.fixture(scope="package")
def admin(anyone: Traceline) -> Traceline:
    return anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    if find_spec("playwright") is None:
        pytest.fail("Playwright is not installed: `make browser` installs it and runs these tests.", pytrace=False)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
        try:
            program = chromium.program()
        except StartFailure as failure:
            pytest.fail(str(failure), pytrace=False)
        browser = playwright.chromium.launch(executable_path=program, args=[nowhere, *chromium.arguments()])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """A tab of somebody who was nowhere before."""
    context = browser.new_context()
    yield Visit(context)
    context.close()


@pytest.fixture
def page_of(
    browser: Any, base_url: str, anyone: Traceline, viewer: Traceline, reviewer: Traceline, admin: Traceline
) -> Iterator[PageOf]:
    """`page_of("reviewer", "/review", theme="dark", width=320)`: somebody's own browser, at a screen; see PageOf."""
    people = {"nobody": anyone, "viewer": viewer, "reviewer": reviewer, "admin": admin}
    with page_opener(browser, base_url, people) as page_of:
        yield page_of


@pytest.fixture(scope="package")
def trap() -> Iterator[Trap]:
    """A server of the attackers."""
    with Trap() as trap:
        yield trap
