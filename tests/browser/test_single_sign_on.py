"""Single sign-on in a real browser, at a provider of another site: which cookies come along is its decision."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from acceptance.process import RunningTraceline, fresh_folder
from testing.identity_provider import IdentityProvider

from . import axe
from .visit import Visit

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def with_provider(identity_provider: IdentityProvider) -> Iterator[str]:
    """The address of a Traceline at which people sign in by a provider."""
    with fresh_folder() as place:
        running = RunningTraceline(place)
        client_id, secret = identity_provider.client(running.base_url)
        running.settings |= {
            "PUBLIC_URL": running.base_url,
            "OIDC_ISSUER": identity_provider.issuer,
            "OIDC_CLIENT_ID": client_id,
            "OIDC_CLIENT_SECRET": secret,
        }
        with running:
            yield running.base_url


def at_the_provider(page: Page, person: str) -> None:
    """Sign in at the page of the provider, and let Traceline know who it is."""
    page.get_by_placeholder("Enter any login").fill(person)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_a_person_signs_in_and_is_where_they_wanted_to_be(
    visit: Visit, with_provider: str, identity_provider: IdentityProvider
) -> None:
    identity_provider.person("kim", email="kim@example.com", email_verified=True, name="Kim Person")
    visit.open(f"{with_provider}/p/MAIN/requirements")
    page = visit.page
    page.get_by_role("button", name="Sign in with single sign-on").click()
    at_the_provider(page, "kim")
    expect(page).to_have_url(f"{with_provider}/p/MAIN/requirements")
    expect(page.get_by_role("heading", name="Requirements", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Requirements", exact=True)).to_be_visible()
    # When the session ends they sign in in another tab, and this one goes on when they are back.
    visit.context.clear_cookies()
    page.get_by_role("link", name="Test cases").click()
    again = page.get_by_role("dialog", name="Your session has ended")
    with visit.context.expect_page() as opened:
        again.get_by_role("button", name="Sign in with single sign-on").click()
    other = opened.value
    at_the_provider(other, "kim")
    expect(other).to_have_url(f"{with_provider}/p/MAIN")
    other.close()
    page.bring_to_front()
    page.evaluate("dispatchEvent(new Event('focus'))")  # which a browser without a window does not send
    expect(again).to_be_hidden()
    expect(page.get_by_role("heading", name="Test cases", exact=True)).to_be_visible()


def test_who_is_invited_may_sign_in_there_instead_of_choosing_a_password(
    visit: Visit, with_provider: str, identity_provider: IdentityProvider
) -> None:
    identity_provider.person("ada", email="ada@example.com", email_verified=True, name="Ada Invited")
    visit.open(f"{with_provider}/accept-invitation#secret")
    page = visit.page
    expect(page.get_by_label("Password")).to_be_visible()
    assert axe.violations(page) == []
    page.get_by_role("button", name="Sign in with single sign-on").click()
    at_the_provider(page, "ada")
    expect(page.get_by_role("button", name="Ada Invited")).to_be_visible()


def test_whoever_refuses_sees_what_to_do(visit: Visit, with_provider: str) -> None:
    visit.open(f"{with_provider}/sign-in")
    page = visit.page
    page.get_by_role("button", name="Sign in with single sign-on").click()
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_text("access_denied")).to_be_visible()
    page.get_by_role("link", name="Back to signing in").click()
    expect(page).to_have_url(f"{with_provider}/sign-in")
