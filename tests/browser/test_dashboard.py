"""The dashboard: how the record stands, each number with a way to what makes it."""

import re

import pytest
from playwright.sync_api import expect

from acceptance.client import Traceline

from . import axe
from .session import PageOf


@pytest.fixture
def gap(reviewer: Traceline) -> str:
    """The title of a critical requirement that nothing covers, beside a covered one of its module."""
    covered = reviewer.create_requirement(title="Brakes hold", module="brakes")
    reviewer.create_link(covered["id"], reviewer.create_test_case(title="Brakes hold at 80 km/h")["id"])
    title = "Brakes release"
    reviewer.create_requirement(title=title, module="brakes", priority="critical")
    return title


@pytest.mark.parametrize(("theme", "width"), [("light", 1366), pytest.param("dark", 320, marks=pytest.mark.long)])
def test_every_number_leads_to_the_list_that_makes_it(page_of: PageOf, gap: str, theme: str, width: int) -> None:
    page = page_of("viewer", theme=theme, width=width).page
    expect(page.get_by_role("heading", level=1)).to_have_text("Dashboard")
    summary = page.get_by_role("region", name="Requirements by what their tests say")
    expect(summary).to_contain_text(re.compile("[0-9]+ requirements: "))
    expect(page.get_by_role("region", name="Risk")).to_contain_text(gap)
    expect(page.get_by_role("region", name="Activity").get_by_role("listitem").first).to_be_visible()
    expect(page.get_by_role("region", name="Over time")).to_be_visible()
    modules = page.get_by_role("region", name="Modules")
    # A stop for the keyboard, and arrows from one module to the next.
    tiles = modules.get_by_role("link")
    tiles.first.focus()
    page.keyboard.press("End")
    expect(tiles.last).to_be_focused()
    assert axe.violations(page) == []
    modules.get_by_text("Table", exact=True).click()
    expect(modules.get_by_role("row", name=re.compile("brakes"))).to_be_visible()
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    summary.get_by_role("link", name=re.compile("Without a test")).click()
    expect(page).to_have_url(re.compile(r"/p/MAIN/requirements\?verdict=uncovered"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Requirements")
    expect(page.get_by_role("link", name=gap, exact=True).first).to_be_visible()
