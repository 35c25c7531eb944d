"""Notifications: by day and by what caused them, followed to what they speak of, and read."""

import re

import pytest
from playwright.sync_api import expect

from acceptance.client import Traceline

from . import axe
from .session import PageOf


@pytest.fixture
def somebody(admin: Traceline) -> Traceline:
    """A reviewer who has just created four requirements, and has been told of each."""
    somebody = admin.new_user("reviewer")
    for number in range(4):
        somebody.create_requirement(title=f"Qyrlm vontz {number}", description="Zulpe wargent histo.")
    return somebody


def test_what_one_has_caused_is_followed_by_the_keyboard_and_read(page_of: PageOf, somebody: Traceline) -> None:
    page = page_of(somebody, "/notifications").page
    expect(page.get_by_text("4 in all, 4 unread")).to_be_visible()
    expect(page.get_by_role("heading", name="today")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")  # four in a row are one line at first
    expect(page.get_by_role("link", name="Requirement created")).to_have_count(4)
    assert axe.violations(page) == []
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Qyrlm vontz 3", level=1)).to_be_visible()
    page.go_back()
    expect(page.get_by_text("4 in all, 3 unread")).to_be_visible()
    page.get_by_role("button", name="Mark all read").click()
    expect(page.get_by_role("status").get_by_text("3 marked read")).to_be_visible()
    expect(page.get_by_role("button", name="Mark all read")).to_be_disabled()
    assert somebody.unread_count() == 0


@pytest.mark.long
def test_they_are_narrowed_by_type_and_whether_they_are_read(page_of: PageOf, somebody: Traceline) -> None:
    page = page_of(somebody, "/notifications", theme="dark", width=320).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("button", name="About").click()
    page.get_by_label("New test cases", exact=True).check()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="No notification matches")).to_be_visible()
    expect(page).to_have_url(re.compile(r"type=test_case_created"))
    assert axe.violations(page) == []
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_text("Unread", exact=True).first.click()
    expect(page).to_have_url(re.compile(r"unread=true"))
    page.get_by_role("button", name="Mark all read").click()
    expect(page.get_by_role("heading", name="Everything is read")).to_be_visible()


@pytest.mark.long
def test_one_is_deleted_and_the_others_stay(page_of: PageOf, somebody: Traceline) -> None:
    page = page_of(somebody, "/notifications").page
    page.get_by_role("button", name="New requirements: 4").click()
    page.get_by_role("button", name="Delete").first.click()
    expect(page.get_by_text("3 in all, 3 unread")).to_be_visible()
    assert somebody.get("/notifications").json()["total"] == 3


@pytest.mark.long
def test_what_comes_meanwhile_shows_up_by_itself(page_of: PageOf, somebody: Traceline) -> None:
    page = page_of(somebody, "/notifications").page
    expect(page.get_by_text("4 in all, 4 unread")).to_be_visible()
    somebody.create_test_case(title="A door that is held")
    expect(page.get_by_text("5 in all, 5 unread")).to_be_visible()
