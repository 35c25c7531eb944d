"""What admins see: who may do what, changed in the row, and the audit log with what each change was."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from acceptance.client import Traceline

from . import axe
from .session import PageOf


def row_of(page: Any, user: Traceline) -> Any:
    """Return the row of a user, once it is the only one."""
    email = user.me()["email"]
    page.get_by_role("searchbox").fill(email)
    expect(page.get_by_text("1 user")).to_be_visible()
    return page.get_by_role("row").filter(has_text=email)


def test_a_role_is_changed_in_the_row_and_stands_in_the_audit_log(page_of: PageOf, admin: Traceline) -> None:
    somebody = admin.new_user("viewer")
    page = page_of("admin", "/admin/users").page
    row = row_of(page, somebody)
    row.get_by_role("combobox").select_option("reviewer")
    expect(page.get_by_role("status").get_by_text("takes effect within 2 s")).to_be_visible()
    assert somebody.me()["role"] == "reviewer"
    row.get_by_role("switch").click()
    assert axe.violations(page) == []
    page.get_by_role("alertdialog").get_by_role("button", name="Deactivate").click()
    expect(row.get_by_role("switch")).not_to_be_checked()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(row.get_by_role("switch")).to_be_checked()

    page.get_by_role("link", name="Audit log").click()
    page.get_by_role("button", name="What").click()
    page.get_by_label("User changed", exact=True).check()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"action=user\.updated"))
    page.get_by_role("gridcell", name="changed role of the account").first.click()
    entry = page.get_by_role("complementary", name="Entry")
    expect(entry.locator("del")).to_contain_text("viewer")
    expect(entry.locator("ins")).to_contain_text("reviewer")
    assert axe.violations(page) == []
    expect(page.get_by_text(re.compile(r"entr(y|ies), unbroken; last sealed"))).to_be_visible()
    with page.expect_download() as export:
        page.get_by_role("link", name="Export as NDJSON").click()
    lines = export.value.path().read_text().splitlines()
    assert {json.loads(line)["action"] for line in lines} == {"user.updated"}


def test_a_person_is_erased_once_their_name_is_typed(page_of: PageOf, admin: Traceline) -> None:
    person = admin.new_user("viewer").me()
    page = page_of("admin", f"/admin/users?search={person['email']}").page
    page.get_by_role("button", name=f"Actions for {person['full_name']}").click()
    page.get_by_role("button", name="Erase the person").click()
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text(f"What they did stays as it is, by erased-{person['id']}@erased.invalid")
    erase = dialog.get_by_role("button", name="Erase for good")
    dialog.get_by_role("textbox").fill(person["full_name"][:-1])
    expect(erase).to_be_disabled()
    dialog.get_by_role("textbox").fill(person["full_name"])
    assert axe.violations(page) == []
    erase.click()
    expect(page.get_by_text("No user matches")).to_be_visible()
    (kept,) = admin.items("/users", ids=person["id"])
    assert (kept["email"], kept["is_active"]) == (f"erased-{person['id']}@erased.invalid", False)
    page.get_by_role("searchbox").fill("")
    erased = page.get_by_role("row").filter(has_text=f"Erased person {person['id']}")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect(erased).to_have_count(0)
    page.get_by_role("button", name=re.compile(r"Erased \(\d+\)")).click()
    expect(erased).to_be_visible()
    expect(erased.locator("button, input, select, a")).to_have_count(0)
    assert axe.violations(page) == []
    page.goto(f"{page.url.partition('/admin')[0]}/admin/audit")
    expect(page.get_by_role("gridcell", name="erased-").first).to_have_count(0)


@pytest.mark.long
def test_what_somebody_else_changed_meanwhile_is_not_overwritten(page_of: PageOf, admin: Traceline) -> None:
    somebody = admin.new_user("viewer")
    visit = page_of("admin", "/admin/users")
    row = row_of(visit.page, somebody)
    admin.patch(f"/users/{somebody.me()['id']}", json={"full_name": "Another Name"})
    row.get_by_role("combobox").select_option("admin")
    expect(visit.page.get_by_role("alert")).to_contain_text("Somebody else changed this account")
    expect(row).to_contain_text("Another Name")
    expect(row.get_by_role("combobox")).to_have_value("viewer")
    visit.complaints = []  # Chromium tells of the 412


@pytest.mark.long
def test_the_last_admin_stays_one(page_of: PageOf, admin: Traceline) -> None:
    visit = page_of("admin", "/admin/users?role=admin&active=true", theme="dark", width=320)
    page = visit.page
    expect(page.get_by_text("1 user")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("combobox").select_option("viewer")
    page.get_by_role("alertdialog").get_by_role("button", name="Give it up").click()
    expect(page.get_by_role("alert")).to_contain_text("the last active admin")
    expect(page.get_by_role("combobox")).to_have_value("admin")
    visit.complaints = []  # Chromium tells of the 409


@pytest.mark.long
def test_a_user_is_made_and_told_what_is_wrong(page_of: PageOf, admin: Traceline) -> None:
    visit = page_of("admin", "/admin/users", theme="dark")
    page = visit.page
    expect(page.get_by_role("grid")).to_be_visible()
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Kim Person")
    dialog.get_by_label("Email").fill(admin.me()["email"])
    dialog.get_by_label("Password").fill("correct horse battery")
    dialog.get_by_role("button", name="Create user").click()
    expect(dialog.get_by_text("There is an account with this email already.")).to_be_visible()
    assert axe.violations(page) == []
    dialog.get_by_label("Email").fill("kim.person@example.com")
    dialog.get_by_role("button", name="Create user").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("gridcell", name="kim.person@example.com")).to_be_visible()
    visit.complaints = []  # Chromium tells of the 409


@pytest.mark.long
def test_failed_log_ins_are_one_click_away(page_of: PageOf, anyone: Traceline, reviewer: Traceline) -> None:
    email = reviewer.me()["email"]
    anyone.login(email, "a wrong password")
    page = page_of("admin", "/admin/audit", theme="dark", width=320).page
    page.get_by_role("button", name="Failed log-ins").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("gridcell", name=f"A log-in as {email}").first.click()
    entry = page.get_by_role("complementary", name="Entry")
    expect(entry.get_by_text("127.0.0.1", exact=True)).to_be_visible()
    assert axe.violations(page) == []
    entry.get_by_role("button", name="Only by them").click()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("actor="))
    expect(page.get_by_role("row", name=email).first).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("path", ["/admin/users", "/admin/audit"])
def test_others_read_why_they_see_nothing(page_of: PageOf, path: str) -> None:
    page = page_of("reviewer", path).page
    expect(page.get_by_role("heading", name="This is for admins")).to_be_visible()
    assert axe.violations(page) == []
