"""What surrounds every screen: signing in, navigation, overlays, the account."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from acceptance import texts
from acceptance.client import PASSWORD, Traceline
from acceptance.waiting import eventually

from . import axe
from .session import PageOf

BOTH_THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
BOTH_WIDTHS = pytest.mark.parametrize("width", [1366, 320])


def assert_is_for_everybody(page: Any) -> None:
    """Assert that axe finds nothing, and that nothing has to be scrolled sideways for."""
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def has_focus(locator: Any) -> None:
    expect(locator).to_be_focused()


def test_who_signs_in_by_keyboard_comes_to_what_was_asked_for(page_of: PageOf, viewer: Traceline) -> None:
    page = page_of("nobody", "/requirements").page
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))
    expect(page.get_by_label("Email")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.type(viewer.me()["email"])
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/p/MAIN/requirements$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Requirements")


def test_a_select_is_used_by_keyboard_and_leaves_its_dialog_open(page_of: PageOf) -> None:
    page = page_of("reviewer", "/requirements").page
    page.get_by_role("button", name="New requirement").first.click()  # an empty list has one, too
    dialog = page.get_by_role("dialog", name="New requirement")
    select = dialog.get_by_role("button", name="Medium Priority")
    select.focus()
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("option", name="Medium", selected=True)).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    select = dialog.get_by_role("button", name="Low Priority")
    has_focus(select)
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("option", name="Low", selected=True)).to_be_visible()  # else Escape is the dialog's
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    has_focus(select)
    expect(dialog).to_be_visible()


def test_navigation_palette_and_sheet_work_by_keyboard_and_give_the_focus_back(
    page_of: PageOf, reviewer: Traceline
) -> None:
    word = texts.word()
    requirement = reviewer.create_requirement(title=f"The {word} is found")
    page = page_of("reviewer", "/account").page
    expect(page.get_by_role("heading", level=1)).to_have_text("Account")
    page.keyboard.press("g")
    page.keyboard.press("r")
    has_focus(page.get_by_role("heading", level=1, name="Requirements"))
    link = page.get_by_role("navigation").get_by_role("link", name="Matrix")
    link.focus()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet.get_by_text("Search or go to")).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    has_focus(link)
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search or go to")
    has_focus(palette.get_by_role("combobox"))
    page.keyboard.type(word)
    expect(palette.get_by_role("option", name=requirement["title"])).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    has_focus(link)
    page.keyboard.press("Control+k")
    has_focus(palette.get_by_role("combobox"))
    page.keyboard.type("accou")
    expect(palette.get_by_role("option", name="Account")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/p/MAIN/account$"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"/p/MAIN/requirements$"))


def test_the_navigation_counts_what_waits_and_follows_what_others_do(page_of: PageOf, reviewer: Traceline) -> None:
    page = page_of("viewer", "/account").page
    expect(page.get_by_role("heading", level=1)).to_have_text("Account")
    entry = page.get_by_role("navigation").get_by_role("link", name="Suspect links")
    before = suspect(reviewer)
    requirement, test_case = reviewer.create_pair()
    reviewer.create_link(requirement["id"], test_case["id"])
    answered = reviewer.patch(f"/requirements/{requirement['id']}", json={"title": "It means something else now"})
    assert answered.status_code == 200
    expect(entry).to_contain_text(f"{before + 1} suspect")


def suspect(client: Traceline) -> int:
    total: int = client.read("/links", suspect="true", limit=1)["total"]
    return total


@pytest.mark.long
@BOTH_THEMES
@BOTH_WIDTHS
def test_the_ways_in_are_for_everybody(page_of: PageOf, theme: str, width: int) -> None:
    page = page_of("nobody", "~/sign-in", theme=theme, width=width).page
    page.get_by_label("Email").fill("nobody@traceline.test")
    assert_is_for_everybody(page)
    page.get_by_role("link", name="Register").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Register")
    assert_is_for_everybody(page)


@pytest.mark.long
@BOTH_THEMES
@BOTH_WIDTHS
def test_the_account_and_each_overlay_are_for_everybody(page_of: PageOf, theme: str, width: int) -> None:
    page = page_of("admin", "/account", theme=theme, width=width).page
    expect(page.get_by_role("heading", level=1)).to_have_text("Account")
    assert_is_for_everybody(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_is_for_everybody(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    has_focus(page.get_by_role("dialog").get_by_role("combobox"))
    page.keyboard.type("re")
    expect(page.get_by_role("option").first).to_be_visible()
    assert_is_for_everybody(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    if width < 900:
        page.get_by_role("button", name="Menu").click()
    account = page.get_by_role("navigation").get_by_role("button", name="admin")
    account.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out").last).to_be_visible()
    assert_is_for_everybody(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    has_focus(account)


@pytest.mark.long
@pytest.mark.parametrize("locale", ["pseudo", "pseudo-rtl"])
def test_longer_texts_and_the_other_direction_fit(page_of: PageOf, locale: str) -> None:
    page = page_of("admin", "/account", width=320, settings={"traceline.locale": locale}).page
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^\\[Áççóúñt~"))
    assert page.locator("html").get_attribute("dir") == ("rtl" if locale == "pseudo-rtl" else "ltr")
    assert_is_for_everybody(page)


@pytest.mark.long
def test_who_registers_is_signed_in_as_a_viewer(page_of: PageOf) -> None:
    page = page_of("nobody", "~/register").page
    page.get_by_label("Name").fill("Kim Newcomer")
    page.get_by_label("Email").fill(texts.email())
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Kim Newcomer")).to_contain_text("viewer")
    expect(page.get_by_role("link", name="Users")).to_be_hidden()


@pytest.mark.long
def test_a_taken_email_and_a_wrong_password_are_said_where_they_are(page_of: PageOf, viewer: Traceline) -> None:
    visit = page_of("nobody", "~/register")
    page, email = visit.page, viewer.me()["email"]
    page.get_by_label("Name").fill("Kim Again")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Email")).to_have_accessible_description("There is an account with this email already.")
    page.get_by_role("link", name="I have an account").click()
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill("not the password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main").get_by_role("alert")).to_have_text("Email or password is wrong.")
    assert all("409" in said or "401" in said for said in visit.complaints)
    visit.complaints.clear()


@pytest.mark.long
def test_a_new_password_signs_out_everything_but_this_browser(page_of: PageOf, admin: Traceline) -> None:
    somebody = admin.new_user("viewer")
    visit = page_of(somebody, "/account")
    page = visit.page
    page.get_by_label("Current password").fill("not the password")
    page.get_by_label("New password").fill("another good password")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_label("Current password")).to_have_accessible_description("The current password is wrong.")
    visit.complaints.clear()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Password changed.")).to_be_visible()
    eventually(lambda: somebody.get("/auth/me").status_code, "the end of the other session", equals=401)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Account")


@pytest.mark.long
def test_theme_density_and_single_keys_are_kept(page_of: PageOf) -> None:
    page = page_of("viewer", "/account").page
    page.get_by_text("Dark", exact=True).click()
    page.get_by_text("Compact", exact=True).click()
    page.get_by_label("Single-key shortcuts").uncheck()
    page.reload()
    expect(page.get_by_label("Dark")).to_be_checked()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.locator("html").get_attribute("data-density") == "compact"
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("?")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_have_accessible_name("Search or go to")


@pytest.mark.long
def test_without_a_connection_a_bar_says_so_until_it_is_back_and_what_was_done_is_sent(page_of: PageOf) -> None:
    visit = page_of("viewer", "/account")
    page = visit.page
    expect(page.get_by_text("This browser")).to_be_visible()
    visit.context.set_offline(True)
    expect(page.get_by_text("No connection.")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("alert").get_by_text("cannot be reached")).to_be_visible()
    page.get_by_role("button", name="New token").click()
    page.get_by_label("Name").fill("of a train in a tunnel")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("button", name="Create token")).to_be_disabled()
    visit.context.set_offline(False)
    expect(page.get_by_role("dialog", name="Copy the token now")).to_be_visible()
    expect(page.get_by_text("No connection.")).to_be_hidden()
    visit.complaints.clear()


def test_a_dialog_that_is_empty_closes_and_one_that_was_written_in_asks_once(page_of: PageOf) -> None:
    page = page_of("admin", "/admin/users").page
    dialog = page.get_by_role("dialog")

    def beside() -> None:
        page.mouse.click(4, 4)

    def opened(key: str = "c") -> None:
        page.keyboard.press(key)
        expect(dialog).to_be_visible()

    expect(page.get_by_role("grid")).to_be_visible()
    for leave in (lambda: page.keyboard.press("Escape"), beside):
        opened()
        leave()
        expect(dialog).to_have_count(0)
        opened()
        dialog.get_by_label("Name").fill("Kim")
        leave()
        expect(dialog.get_by_role("alert").filter(has_text="not saved")).to_be_visible()
        assert axe.violations(page) == []
        dialog.get_by_role("button", name="Keep editing").click()
        expect(dialog.get_by_label("Name")).to_be_focused()
        expect(dialog.get_by_label("Name")).to_have_value("Kim")
        leave()
        leave()
        expect(dialog).to_have_count(0)
