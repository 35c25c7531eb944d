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
    gaps = page.get_by_role("region", name="Not covered, critical first")
    expect(gaps).to_contain_text(gap)
    modules = page.get_by_role("region", name="Modules, least covered first")
    expect(modules.get_by_role("row", name=re.compile("brakes"))).to_contain_text("of")
    expect(page.get_by_role("region", name="Activity")).to_contain_text(gap)
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    gaps.get_by_role("link", name=re.compile("^All")).click()
    expect(page).to_have_url(re.compile(r"/p/MAIN/requirements\?coverage=none"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Requirements")
    expect(page.get_by_role("link", name=gap, exact=True).first).to_be_visible()
