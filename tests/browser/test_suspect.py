"""Suspect links: what changed is seen beside the buttons that decide."""

from typing import Any

import pytest
from playwright.sync_api import expect

from acceptance.client import Traceline

from . import axe
from .session import PageOf

HELD_MS = 5000
"""How long the page waits before a confirmation can no longer be taken back."""


@pytest.fixture
def suspect_links(reviewer: Traceline) -> list[dict[str, Any]]:
    """Two links that one change of their requirement has made suspect, and no others."""
    for link in reviewer.get("/links", params={"suspect": "true", "limit": 500}).json()["items"]:
        reviewer.post(f"/links/{link['id']}/confirm")
    requirement = reviewer.create_requirement(title="Doors close", description="Doors close when the train moves.")
    made = []
    for title in ("A door that is held", "The last wagon"):
        test_case = reviewer.create_test_case(title=title)
        made.append(reviewer.create_link(requirement["id"], test_case["id"]))
    changed = {"description": "Doors close before the train moves."}
    reviewer.patch(f"/requirements/{requirement['id']}", json=changed)
    return made


def is_suspect(reviewer: Traceline, link: dict[str, Any]) -> bool:
    return bool(reviewer.get(f"/links/{link['id']}").json()["suspect"])


def test_a_link_is_confirmed_with_its_change_in_sight(
    page_of: PageOf, reviewer: Traceline, suspect_links: list[dict[str, Any]]
) -> None:
    page = page_of("reviewer", "/suspect").page
    expect(page.get_by_text("2 suspect", exact=True)).to_be_visible()
    expect(page.locator("del")).to_contain_text("when")
    expect(page.locator("ins")).to_contain_text("before")
    assert axe.violations(page) == []
    page.keyboard.press("c")
    expect(page.get_by_text("1 suspect", exact=True)).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_text("2 suspect", exact=True)).to_be_visible()
    page.wait_for_timeout(HELD_MS + 500)
    assert all(is_suspect(reviewer, link) for link in suspect_links)
    expect(page.locator("del")).to_contain_text("when")
    page.keyboard.press("c")
    expect(page.get_by_text("1 suspect", exact=True)).to_be_visible()
    page.goto("about:blank")  # what was decided is not lost with the page
    page.wait_for_timeout(500)
    assert sum(is_suspect(reviewer, link) for link in suspect_links) == 1


@pytest.mark.long
def test_who_unlinks_is_asked_and_can_link_again(
    page_of: PageOf, reviewer: Traceline, suspect_links: list[dict[str, Any]]
) -> None:
    page = page_of("reviewer", "/suspect", theme="dark", width=320).page
    expect(page.locator("del")).to_contain_text("when")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.keyboard.press("d")
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_be_visible()
    assert axe.violations(page) == []
    dialog.get_by_role("button", name="Unlink").click()
    expect(page.get_by_text("1 suspect", exact=True)).to_be_visible()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    ids = {link["requirement_id"] for link in suspect_links}
    page.wait_for_timeout(500)
    assert reviewer.get("/links", params={"requirement_id": ids.pop()}).json()["total"] == 2


def test_what_changes_once_more_is_not_confirmed_unseen(
    page_of: PageOf, reviewer: Traceline, suspect_links: list[dict[str, Any]]
) -> None:
    visit = page_of("reviewer", "/suspect")
    page = visit.page
    expect(page.locator("del")).to_contain_text("when")
    reviewer.patch(f"/requirements/{suspect_links[0]['requirement_id']}", json={"title": "Doors stay shut"})
    page.keyboard.press("c")
    expect(page.get_by_role("alert")).to_contain_text("changed again")
    expect(page.get_by_text("2 suspect", exact=True)).to_be_visible()
    assert all(is_suspect(reviewer, link) for link in suspect_links)
    visit.complaints = []  # Chromium tells of the 412


@pytest.mark.long
def test_a_change_is_confirmed_whole_after_a_question(
    page_of: PageOf, reviewer: Traceline, suspect_links: list[dict[str, Any]]
) -> None:
    page = page_of("reviewer", "/suspect").page
    page.get_by_role("button", name="Confirm all 2").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Confirm all 2").click()
    expect(page.get_by_role("heading", name="All confirmed")).to_be_visible()
    assert not any(is_suspect(reviewer, link) for link in suspect_links)


@pytest.mark.long
def test_a_viewer_reads_and_decides_nothing(page_of: PageOf, suspect_links: list[dict[str, Any]]) -> None:
    page = page_of("viewer", "/suspect").page
    expect(page.locator("del")).to_contain_text("when")
    expect(page.get_by_role("button", name="Confirm")).to_have_count(0)
    page.keyboard.press("c")
    expect(page.get_by_text("2 suspect", exact=True)).to_be_visible()
