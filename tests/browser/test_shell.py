"""What surrounds every screen: signing in, navigation, overlays."""

import re

from playwright.sync_api import expect

from acceptance.client import PASSWORD, Traceline

from . import axe
from .session import PageOf


def test_who_signs_in_by_keyboard_comes_to_what_was_asked_for(page_of: PageOf, viewer: Traceline) -> None:
    page = page_of("nobody", "/requirements").page
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))
    assert axe.violations(page) == []
    page.keyboard.press("Tab")
    page.keyboard.type(viewer.me()["email"])
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/p/MAIN/requirements$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Requirements")


def test_a_screen_is_there_at_once_for_who_is_signed_in(page_of: PageOf) -> None:
    page = page_of("reviewer", "/requirements", theme="dark", width=320).page
    expect(page.get_by_role("heading", level=1)).to_have_text("Requirements")
    assert axe.violations(page) == []
