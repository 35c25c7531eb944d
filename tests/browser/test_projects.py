"""Projects at the page: from one to another, what belongs to each, and what their admins change."""

import re

import pytest
from playwright.sync_api import expect

from acceptance import texts
from acceptance.client import Traceline, ok
from acceptance.waiting import eventually

from . import axe
from .session import PageOf, in_new_project, wait_until_known


@pytest.fixture
def door(admin: Traceline) -> Traceline:
    """A project of members alone, with a requirement."""
    within = in_new_project(admin)
    within.create_requirement(title=f"Of {within.project}")
    return within


def test_a_project_is_made_filled_and_left_for_another(page_of: PageOf, admin: Traceline) -> None:
    visit = page_of("admin", "/projects")
    page = visit.page
    key = texts.project_key()
    expect(page.get_by_role("button", name="New project")).to_be_visible()
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Doors of trains")
    dialog.get_by_label("Key").fill("main")
    dialog.get_by_role("button", name="Create project").click()
    expect(dialog.get_by_role("alert")).to_contain_text("MAIN")
    assert axe.violations(page) == []
    dialog.get_by_label("Key").fill(key.lower())
    dialog.get_by_role("button", name="Create project").click()
    expect(page).to_have_url(re.compile(f"/p/{key}"))
    within = admin.within(key)
    wait_until_known(within)
    within.create_requirement(title="A door that closes")
    page.get_by_role("link", name="Requirements").click()
    expect(page.get_by_role("gridcell", name="A door that closes", exact=True)).to_be_visible()
    page.get_by_role("button", name="Doors of trains").click()
    page.get_by_role("list", name="Projects").get_by_role("link", name="Main project").click()
    expect(page).to_have_url(re.compile("/p/MAIN"))
    page.get_by_role("link", name="Requirements").click()
    expect(page.get_by_role("heading", name="Requirements", exact=True)).to_be_visible()
    expect(page.get_by_role("gridcell", name="A door that closes", exact=True)).to_have_count(0)
    visit.complaints = []  # Chromium tells of the 409


def test_members_see_a_project_with_their_role_in_it(page_of: PageOf, admin: Traceline, door: Traceline) -> None:
    kim = admin.new_user("reviewer")
    email = kim.me()["email"]
    page = page_of("admin", f"~/p/{door.project}/settings").page
    page.get_by_role("button", name="Add a member").click()
    page.get_by_role("combobox", name="Add a member").fill(email)
    page.get_by_role("option", name=email).click()
    expect(page.get_by_role("status").get_by_text("is Viewer of this project now")).to_be_visible()
    assert axe.violations(page) == []
    eventually(lambda: kim.within(door.project).get("/requirements").status_code, "access", equals=200)
    theirs = page_of(kim, f"~/p/{door.project}/requirements").page
    expect(theirs.get_by_role("gridcell", name=f"Of {door.project}")).to_be_visible()
    expect(theirs.get_by_role("link", name="Import")).to_have_count(0)
    row = page.get_by_role("listitem").filter(has_text=email)
    row.get_by_role("combobox").select_option("reviewer")
    expect(page.get_by_role("status").get_by_text("is Reviewer of this project now")).to_be_visible()
    eventually(lambda: ok(kim.get(f"/projects/{door.project}"))["role"], "the role", equals="reviewer")
    theirs.reload()
    expect(theirs.get_by_role("link", name="Import")).to_be_visible()


def test_admins_define_the_levels_of_a_project(page_of: PageOf, door: Traceline) -> None:
    page = page_of("admin", f"~/p/{door.project}/settings").page
    section = page.locator("section").filter(has=page.get_by_role("heading", name="Levels of requirements"))
    for name, need in (("Software", "Needs one above"), ("System", "Needs one below")):
        section.get_by_role("button", name="Add a level").click()
        level = section.get_by_role("listitem").last
        level.get_by_label("Name").fill(name)
        level.get_by_label(need).check()
    section.get_by_role("button", name="Move System up").click()
    section.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").get_by_text("Saved")).to_be_visible()
    assert [(one["key"], one["needs"]) for one in door.read("/levels")["levels"]] == [
        ("system", ["child"]),
        ("software", ["parent"]),
    ]
    assert axe.violations(page) == []


def test_requirements_are_read_in_chapters_and_moved_there(page_of: PageOf, door: Traceline) -> None:
    for key, section in (("A-1", []), ("D-1", ["3 Doors"]), ("D-2", ["3 Doors"])):
        door.create_requirement(external_id=key, title=f"Title of {key}", section=section)
    page = page_of("admin", f"~/p/{door.project}/outline").page
    entries = page.get_by_role("article")
    expect(entries.nth(3)).to_contain_text("D-2")
    expect(page.get_by_role("heading", name="3 Doors")).to_be_visible()
    page.get_by_role("button", name="Move D-2 up").click()
    expect(entries.nth(2)).to_contain_text("D-2")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(entries.nth(2)).to_contain_text("D-1")
    page.get_by_role("button", name="Put A-1 into a chapter").click()
    page.get_by_label("Titles of the chapter").fill("4 Brakes")
    page.get_by_role("button", name="Put it there").click()
    expect(page.get_by_role("heading", name="4 Brakes")).to_be_visible()
    expect(entries.nth(3)).to_contain_text("A-1")
    assert axe.violations(page) == []


def test_a_project_without_access_is_none(page_of: PageOf, door: Traceline) -> None:
    visit = page_of("viewer", f"~/p/{door.project}")
    expect(visit.page.get_by_role("heading", name="There is no such project")).to_be_visible()
    expect(visit.page.get_by_role("button", name="Sign out")).to_be_visible()
    assert axe.violations(visit.page) == []
    visit.complaints = []  # Chromium tells of the 404
    visit.page.get_by_role("link", name="Main project").click()
    expect(visit.page.get_by_role("heading", name="Dashboard")).to_be_visible()


@pytest.mark.long
def test_settings_are_kept_and_an_archived_project_is_read_only_until_it_is_deleted(
    page_of: PageOf, door: Traceline
) -> None:
    visit = page_of("admin", f"~/p/{door.project}/settings", theme="dark", width=320)
    page = visit.page
    page.get_by_label("Name", exact=True).fill("Ours")
    ok(door.patch(f"/projects/{door.project}", json={"description": "Theirs."}))
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_text("Somebody has changed the project meanwhile")).to_be_visible()
    page.reload()
    page.get_by_label("Lowest score of a suggestion").fill("2")
    page.get_by_role("button", name="Save").nth(1).click()
    expect(page.get_by_text("at most 1.0")).to_be_visible()
    page.get_by_label("Lowest score of a suggestion").fill("0,4")
    page.get_by_label("Algorithm").select_option("hybrid")
    page.get_by_role("button", name="Save").nth(1).click()
    expect(page.get_by_role("status").get_by_text("Saved")).to_be_visible()
    settings = ok(door.get(f"/projects/{door.project}"))["settings"]
    assert (settings["threshold"], settings["algorithm"]) == (0.4, "hybrid")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert axe.violations(page) == []
    page.get_by_role("button", name="Archive the project").click()
    page.get_by_role("alertdialog").or_(page.get_by_role("dialog")).get_by_role("button", name="Archive").click()
    expect(page.get_by_text("This project is archived")).to_be_visible()
    visit.open(f"/p/{door.project}/imports")
    expect(page.get_by_text("This project is archived")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Delete the project").click()
    page.get_by_label(f"Type {door.project} to confirm").fill(str(door.project))
    expect(page.get_by_text("can restore it for 7 days")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page).to_have_url(re.compile("/p/MAIN/projects"))
    deleted = page.get_by_role("list", name="Deleted").get_by_role("listitem").filter(has_text=str(door.project))
    expect(deleted).to_contain_text("Gone forever after")
    again = page.get_by_role("link", name=f"Project {door.project}")
    expect(again).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert axe.violations(page) == []
    deleted.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status").get_by_text(f"Project {door.project} is there again")).to_be_visible()
    expect(deleted).to_have_count(0)
    again.click()
    expect(page.get_by_role("heading", name="Dashboard")).to_be_visible()
    visit.complaints = []  # Chromium tells of the 422
