"""Requirements and test cases: lists, what is done with one and with many, and everything about one."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from acceptance import texts
from acceptance.client import Json, Traceline, ok
from acceptance.waiting import eventually

from . import axe
from .attacks import ATTACKS, HARMLESS, TRAP
from .session import PageOf
from .trap import Trap
from .visit import Visit

KINDS = [("requirement", "/requirements"), ("test_case", "/test-cases")]
STALE = "412 (Precondition Failed)"
"""What the console says of a change that came too late: a browser tells of every refusal."""


def many(reviewer: Traceline, count: int, **fields: Any) -> tuple[str, list[Json]]:
    """Make requirements of a module that nothing else is of; return the module and them, the newest first."""
    module = texts.word()
    made = [reviewer.create_requirement(module=module, title=f"{module} {n:03}", **fields) for n in range(count)]
    return module, made[::-1]


def rows(page: Page) -> Any:
    return page.get_by_role("grid").locator("[data-index]")


def titles(page: Page) -> list[str]:
    found: list[str] = page.locator("[data-index] [data-column=title]").all_inner_texts()
    return found


def taken(visit: Visit, part: str) -> None:
    """Take what the console said of a refusal that was meant to happen."""
    assert any(part in said for said in visit.complaints), visit.complaints
    visit.complaints[:] = [said for said in visit.complaints if part not in said]


def test_a_requirement_is_found_renamed_and_opened_by_keyboard(page_of: PageOf, reviewer: Traceline) -> None:
    module, made = many(reviewer, 3)
    page = page_of("reviewer", f"/requirements?module={module}").page
    expect(page.get_by_text(re.compile(r"3 of [\d,]+ requirements"))).to_be_visible()
    expect(rows(page)).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.keyboard.press("End")
    page.keyboard.type(" renamed")
    title = page.get_by_role("textbox", name="Title")
    title.dispatch_event("keydown", {"key": "Enter", "isComposing": True})  # which takes what an input method proposes
    expect(title).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=f"{module} 001 renamed")).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{module} 001 renamed")
    expect(page).to_have_title(f"{module} 001 renamed · Traceline")
    assert reviewer.read(f"/requirements/{made[1]['id']}")["title"] == f"{module} 001 renamed"
    page.go_back()
    expect(rows(page)).to_have_count(3)
    expect(page.locator("[data-active]")).to_contain_text("001 renamed")


def test_a_requirement_is_put_below_another_and_stands_in_the_tree(page_of: PageOf, reviewer: Traceline) -> None:
    module, (child, parent) = many(reviewer, 2)
    page = page_of("reviewer", f"/requirements/{child['id']}?tab=trace").page
    page.get_by_role("button", name="Add a parent").click()
    page.keyboard.type(parent["title"])
    page.get_by_role("option", name=parent["title"]).click()
    above = page.get_by_role("region", name="Above")
    expect(above.get_by_role("link", name=parent["title"])).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^Edit")).click()
    page.get_by_role("textbox", name="Title").fill(f"{module} otherwise")
    expect(page.get_by_text("Saving this makes 1 relation suspect.")).to_be_visible()
    assert axe.violations(page) == []
    page = page_of("reviewer", "/tree").page
    expect(page.get_by_role("treegrid", name="Requirement tree").get_by_role("row").nth(1)).to_be_visible()
    assert axe.violations(page) == []


@pytest.mark.long
class TestList:
    def test_filters_are_in_the_address_and_survive_reload_and_back(self, page_of: PageOf, reviewer: Traceline) -> None:
        module = f'{texts.word()}, "left" & right'
        for status in ("draft", "draft", "approved", "closed"):
            reviewer.create_requirement(module=module, status=status)
        page = page_of("reviewer", "/requirements").page
        expect(rows(page).first).to_be_visible()
        page.keyboard.press("f")
        page.get_by_role("checkbox", name=module).check()
        page.keyboard.press("Escape")
        expect(rows(page)).to_have_count(4)
        page.get_by_role("button", name="Status").click()
        expect(page.get_by_role("dialog").get_by_role("listitem")).to_have_count(3)
        page.get_by_role("checkbox", name="Draft").check()
        expect(rows(page)).to_have_count(2)
        page.get_by_role("button", name="not Draft").click()
        expect(rows(page)).to_have_count(2)
        expect(page).to_have_url(re.compile(r"status=!draft"))
        page.keyboard.press("Escape")
        page.reload()
        expect(rows(page)).to_have_count(2)
        expect(page.get_by_role("button", name="Status: not Draft")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("button", name="Status: Draft")).to_be_visible()
        expect(rows(page)).to_have_count(2)
        page.go_back()
        expect(rows(page)).to_have_count(4)
        page.get_by_role("button", name="Clear filters").click()
        expect(page).to_have_url(re.compile(r"/requirements$"))

    def test_search_follows_what_is_typed_and_says_what_may_have_been_meant(
        self, page_of: PageOf, reviewer: Traceline
    ) -> None:
        word = f"{texts.word()}locking"
        reviewer.create_requirement(title=f"The {word} of doors")
        page = page_of("viewer", "/requirements").page
        field = page.get_by_role("searchbox", name="Search requirements")
        field.fill(word[:-2])
        expect(rows(page)).to_have_count(1)
        field.fill(word[:3] + word[4] + word[3] + word[5:])
        expect(page.get_by_role("heading", name="No requirement matches")).to_be_visible()
        assert axe.violations(page) == []
        page.get_by_role("button", name=re.compile("^Search for")).click()
        expect(rows(page)).to_have_count(1)
        assert f"search={word}" in page.url

    def test_a_long_list_has_few_rows_in_the_document_and_keeps_place_and_selection(
        self, page_of: PageOf, reviewer: Traceline
    ) -> None:
        module, made = many(reviewer, 320)
        page = page_of("reviewer", f"/requirements?module={module}").page
        expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "321")
        page.keyboard.press("x")
        page.get_by_role("grid").focus()
        page.keyboard.press("End")
        expect(page.get_by_role("link", name=made[-1]["title"])).to_be_visible()
        assert rows(page).count() <= 60
        page.keyboard.press("x")
        page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("Shift+ArrowUp")
        expect(page.get_by_role("region", name="Change what is selected")).to_contain_text("4 selected")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(made[-3]["title"])
        page.get_by_role("navigation", name="Back to the list").get_by_role("link").click()
        expect(page.get_by_role("link", name=made[-3]["title"])).to_be_visible()
        expect(page.get_by_role("region", name="Change what is selected")).to_contain_text("4 selected")
        assert page.locator("[data-index][aria-selected=true]").count() == 3
        for up in range(0, 320, 40):  # nothing is left out, and nothing comes twice
            page.get_by_role("grid").evaluate("(grid, top) => grid.scrollTo(0, top)", up * 36)
            expect(page.get_by_role("link", name=made[up]["title"])).to_be_visible()
            expect(page.get_by_role("link", name=made[up + 10]["title"])).to_have_count(1)

    def test_the_order_is_that_of_the_server(self, page_of: PageOf, reviewer: Traceline) -> None:
        module, made = many(reviewer, 3)
        page = page_of("viewer", f"/requirements?module={module}").page
        expect(rows(page)).to_have_count(3)
        page.get_by_role("columnheader", name="Title").get_by_role("button").click()
        expect(page.get_by_role("columnheader", name="Title")).to_have_attribute("aria-sort", "ascending")
        expect(rows(page).first).to_contain_text(made[-1]["title"])
        page.get_by_role("columnheader", name="Title").get_by_role("button").click()
        expect(rows(page).first).to_contain_text(made[0]["title"])
        assert titles(page) == [one["title"] for one in made]

    def test_a_view_is_kept_and_found_again(self, page_of: PageOf) -> None:
        page = page_of("viewer", "/test-cases?status=passed").page
        page.get_by_role("button", name="Views").click()
        page.get_by_role("button", name="Save this view").click()
        page.get_by_role("textbox", name="Name of the view").fill("Done")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Clear filters").first.click()
        page.get_by_role("button", name="Views").click()
        page.get_by_role("button", name="Done").click()
        expect(page).to_have_url(re.compile(r"status=passed$"))

    def test_a_viewer_is_shown_nothing_that_would_be_refused(self, page_of: PageOf, reviewer: Traceline) -> None:
        module, made = many(reviewer, 1)
        page = page_of("viewer", f"/requirements?module={module}").page
        expect(rows(page)).to_have_count(1)
        page.keyboard.press("x")
        page.keyboard.press("e")
        page.keyboard.press("c")
        assert page.get_by_role("checkbox").count() == 0
        assert page.get_by_role("dialog").count() == 0
        assert page.get_by_role("button", name="New requirement").count() == 0
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(made[0]["title"])
        expect(page.get_by_role("region", name="Links")).to_be_visible()
        for name in ("Edit", "Delete", "Link a test case"):
            assert page.get_by_role("button", name=name).count() == 0
        assert page.get_by_role("combobox").count() == 0


@pytest.mark.long
class TestMany:
    def test_what_fails_says_why_and_stays_selected(self, page_of: PageOf, reviewer: Traceline) -> None:
        module, made = many(reviewer, 3)
        visit = page_of("reviewer", f"/requirements?module={module}")
        page = visit.page
        expect(rows(page)).to_have_count(3)
        for _ in made:
            page.keyboard.press("x")
            page.keyboard.press("j")
        ok(reviewer.patch(f"/requirements/{made[1]['id']}", json={"title": "Taken meanwhile"}))
        bar = page.get_by_role("region", name="Change what is selected")
        bar.get_by_role("button", name="Status").click()
        dialog = page.get_by_role("dialog", name="Set status")
        assert axe.violations(page) == []
        dialog.get_by_role("button", name=re.compile("^Draft")).click()
        page.get_by_role("option", name="Approved").click()
        dialog.get_by_role("button", name="Change 3 requirements").click()
        failures = page.get_by_role("dialog", name="1 could not be changed, and stay selected")
        expect(failures.get_by_role("listitem")).to_have_count(1)
        assert axe.violations(page) == []
        page.keyboard.press("Escape")
        expect(bar).to_contain_text("1 selected")
        states = [reviewer.read(f"/requirements/{one['id']}")["status"] for one in made]
        assert states == ["approved", "draft", "approved"]

    def test_all_that_match_are_deleted_only_by_who_types_how_many(self, page_of: PageOf, reviewer: Traceline) -> None:
        module, _ = many(reviewer, 4)
        page = page_of("reviewer", f"/requirements?module={module}").page
        expect(rows(page)).to_have_count(4)
        page.get_by_role("checkbox", name="Select all that match").check()
        bar = page.get_by_role("region", name="Change what is selected")
        expect(bar).to_contain_text("All that match: 4")
        bar.get_by_role("button", name="Delete").click()
        delete = page.get_by_role("dialog").get_by_role("button", name="Delete 4 requirements")
        expect(delete).to_be_disabled()
        page.get_by_role("textbox", name="Type 4 to delete").fill("3")
        expect(delete).to_be_disabled()
        page.get_by_role("textbox", name="Type 4 to delete").fill("4")
        assert reviewer.read("/requirements", module=module)["total"] == 4
        delete.click()
        expect(page.get_by_role("heading", name="No requirement matches")).to_be_visible()
        assert reviewer.read("/requirements", module=module)["total"] == 0

    def test_nothing_is_changed_when_another_number_matches_by_now(self, page_of: PageOf, reviewer: Traceline) -> None:
        module, _ = many(reviewer, 2)
        visit = page_of("reviewer", f"/requirements?module={module}")
        page = visit.page
        expect(rows(page)).to_have_count(2)
        page.get_by_role("checkbox", name="Select all that match").check()
        page.get_by_role("button", name="Tags", exact=True).click()
        page.get_by_role("textbox", name="Tags to add").fill("urgent, night")
        reviewer.create_requirement(module=module)
        page.get_by_role("button", name="Change 2 requirements").click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("Meanwhile another number matches")
        taken(visit, "409 (Conflict)")
        assert all(one["tags"] == [] for one in reviewer.items("/requirements", module=module, tag='""'))


@pytest.mark.long
class TestOne:
    def test_a_test_case_with_steps_is_created_and_its_steps_changed(
        self, page_of: PageOf, reviewer: Traceline
    ) -> None:
        visit = page_of("reviewer", "/test-cases")
        page = visit.page
        expect(page.get_by_role("button", name="New test case").first).to_be_visible()
        page.keyboard.press("c")
        dialog = page.get_by_role("dialog", name="New test case")
        title = texts.words(3)
        expect(dialog.get_by_role("textbox", name="Title")).to_be_focused()
        page.keyboard.type(title)
        dialog.get_by_role("button", name="New test case").click()
        expect(dialog.get_by_text("must not be blank")).to_be_visible()
        taken(visit, "422")
        assert axe.violations(page) == []
        expect(dialog.get_by_role("textbox", name="Description")).to_be_focused()
        dialog.get_by_role("textbox", name="Description").fill("With one door held open.")
        dialog.get_by_role("button", name="Add a step").click()
        page.keyboard.type("Open\nWait\nClose")
        dialog.get_by_role("button", name="New test case").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        (made,) = reviewer.items("/test-cases", search=f'"{title}"')
        assert made["steps"] == {"1": "Open", "2": "Wait", "3": "Close"}
        page.keyboard.press("e")
        page.get_by_role("textbox", name="Step 3").focus()
        page.keyboard.press("Alt+ArrowUp")
        page.get_by_role("button", name="Remove step 1").click()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("button", name="Edit")).to_be_visible()
        assert reviewer.read(f"/test-cases/{made['id']}")["steps"] == {"1": "Close", "2": "Wait"}

    def test_who_was_slower_chooses_field_by_field(self, page_of: PageOf, reviewer: Traceline) -> None:
        made = reviewer.create_requirement(title="Doors close", description="All doors close.", status="draft")
        visit = page_of("reviewer", f"/requirements/{made['id']}")
        page = visit.page
        page.get_by_role("button", name="Edit").click()
        page.get_by_role("textbox", name="Title").fill("Doors shut")
        page.get_by_role("textbox", name="Description").fill("All doors shut.")
        page.get_by_role("textbox", name="Module").fill("doors")
        theirs = {"title": "Doors are closed", "description": "Doors are closed.", "status": "approved"}
        ok(reviewer.patch(f"/requirements/{made['id']}", json=theirs))
        page.get_by_role("button", name="Save").click()
        dialog = page.get_by_role("dialog", name="Changed meanwhile")
        expect(dialog.get_by_role("group")).to_have_count(2)
        expect(dialog).to_contain_text("Also changed meanwhile: Status")
        taken(visit, STALE)
        assert axe.violations(page) == []
        dialog.get_by_role("group", name="Description").get_by_role("radio", name="Theirs").check()
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Doors shut")
        now = reviewer.read(f"/requirements/{made['id']}")
        assert {name: now[name] for name in ("title", "description", "status", "module")} == {
            "title": "Doors shut",
            "description": "Doors are closed.",
            "status": "approved",
            "module": "doors",
        }

    def test_links_are_made_found_changed_and_taken_back(self, page_of: PageOf, reviewer: Traceline) -> None:
        requirement, test_case = reviewer.create_pair()
        page = page_of("reviewer", f"/requirements/{requirement['id']}").page
        links = f"/requirements/{requirement['id']}/test-cases"
        expect(page.get_by_text("No test case is linked")).to_be_visible()
        page.keyboard.press("l")
        page.keyboard.type(test_case["title"])
        expect(page.get_by_role("option").first).to_contain_text(test_case["title"])
        assert axe.violations(page) == []
        page.keyboard.press("Enter")
        row = page.get_by_role("region", name="Links").get_by_role("listitem")
        expect(row).to_have_count(1)
        page.keyboard.press("Escape")
        row.get_by_role("combobox", name=re.compile("^Type of the link")).select_option("verifies")
        eventually(lambda: reviewer.items(links)[0]["link_type"], "the new type of the link", equals="verifies")
        (link,) = reviewer.items(links)
        row.get_by_role("button", name=re.compile("^Unlink")).click()
        expect(row).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(row).to_have_count(1)
        assert reviewer.items(links) == [link]
        row.get_by_role("button", name=re.compile("^Unlink")).click()
        expect(row).to_have_count(0)
        page.goto("about:blank")
        eventually(lambda: reviewer.items(links), "the end of the link: who leaves the page has meant it", equals=[])

    def test_a_suggestion_is_accepted_and_taken_back(self, page_of: PageOf, reviewer: Traceline) -> None:
        suggestion = reviewer.suggested_pair()
        page = page_of("reviewer", f"/test-cases/{suggestion['test_case_id']}?tab=suggestions").page
        page.get_by_role("button", name="Accept link").click()
        expect(page.get_by_text("No suggestion waits")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Accept link")).to_be_visible()
        eventually(
            lambda: (
                {"suggestion.accepted", "suggestion.reopened"}
                <= {one["action"] for one in reviewer.items("/activity", resource_id=suggestion["id"])}
            ),
            "the record of both",
        )
        assert reviewer.read(f"/suggestions/{suggestion['id']}")["status"] == "pending"

    def test_history_shows_each_change_and_what_versions_differ_in(self, page_of: PageOf, reviewer: Traceline) -> None:
        made = reviewer.create_requirement(title="Doors close")
        for change in ({"title": "All doors close"}, {"title": "All doors close early", "status": "approved"}):
            ok(reviewer.patch(f"/requirements/{made['id']}", json=change))
        page = page_of("viewer", f"/requirements/{made['id']}").page
        page.get_by_role("button", name="Compare versions").click()
        versions = page.get_by_role("region", name="Compare versions")
        expect(versions.locator("ins")).to_contain_text("early")
        versions.get_by_role("combobox", name="From").select_option("1")
        expect(versions.locator("del, ins").first).to_contain_text("Doors")
        entries = page.get_by_role("list", name="What happened").locator("> li")
        expect(entries).to_have_count(3)
        expect(entries.first).to_contain_text("Status")
        expect(entries.first.locator("del")).to_contain_text(["Draft"])
        assert axe.violations(page) == []

    def test_deleting_says_what_goes_along(self, page_of: PageOf, reviewer: Traceline) -> None:
        requirement, test_case = reviewer.create_pair()
        reviewer.create_link(requirement["id"], test_case["id"])
        page = page_of("reviewer", f"/requirements/{requirement['id']}").page
        expect(page.get_by_role("region", name="Links").get_by_role("heading", level=2)).to_have_text("Links 1")
        page.get_by_role("button", name="Delete").click()
        dialog = page.get_by_role("alertdialog")
        expect(dialog).to_contain_text("With it go 1 links")
        assert axe.violations(page) == []
        dialog.get_by_role("button", name="Delete").click()
        expect(page).to_have_url(re.compile(r"/requirements$"))
        assert reviewer.get(f"/requirements/{requirement['id']}").status_code == 404


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1366, 320])
@pytest.mark.parametrize(("kind", "path"), KINDS)
def test_every_state_can_be_used_by_everybody(
    page_of: PageOf, reviewer: Traceline, kind: str, path: str, width: int, theme: str
) -> None:
    requirement, test_case = reviewer.create_pair(module=texts.word(), tags=["night"])
    reviewer.create_link(requirement["id"], test_case["id"])
    ok(reviewer.patch(f"/requirements/{requirement['id']}", json={"title": "Changed since"}))
    item = requirement if kind == "requirement" else test_case
    page = page_of("reviewer", f"{path}?module={quote(item['module'])}", theme=theme, width=width).page
    expect(rows(page)).to_have_count(1)
    states = {"list": axe.violations(page)}
    held: list[Route] = []
    page.route("**search=*", lambda route: held.append(route))
    page.get_by_role("searchbox").fill(item["description"])
    expect(page.locator("[role=grid][aria-busy]")).to_be_visible()
    page.evaluate("Promise.all(document.getAnimations().map(one => one.finished))")
    states["rows of before"] = axe.violations(page)
    for one in held:
        one.continue_()
    page.unroute_all()
    expect(page.locator("[role=grid][aria-busy]")).to_have_count(0)
    page.get_by_role("grid").focus()
    page.keyboard.press("x")
    page.keyboard.press("Space")
    expect(page.get_by_role("complementary")).to_contain_text(item["description"])
    states["peek"] = axe.violations(page)
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_role("dialog").get_by_role("listitem").first).to_be_visible()
    states["filter"] = axe.violations(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("search").get_by_role("button", name=re.compile("^Module"))).to_be_focused()
    page.get_by_role("grid").focus()
    page.keyboard.press("e")
    states["edit in place"] = axe.violations(page)
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.get_by_role("dialog")).to_be_visible()
    states["create"] = axe.violations(page)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("grid").focus()
    page.keyboard.press("Enter")
    for tab in ("Suggestions", "Timeline"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel").get_by_role("status", name="Loading")).to_have_count(0)
        states[tab] = axe.violations(page)
    page.keyboard.press("e")
    states["form"] = axe.violations(page)
    assert {name: found for name, found in states.items() if found} == {}
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def hostile(reviewer: Traceline, trap: Trap) -> tuple[str, list[Json]]:
    """A module with requirements whose every text is an attack, in two versions."""
    module, made = texts.word(), []
    for text in [*ATTACKS, *HARMLESS]:
        aimed = text.replace(TRAP, trap.address).replace(TRAP.removeprefix("http:"), trap.address.removeprefix("http:"))
        fields = {"title": aimed, "description": aimed, "external_id": aimed[:90] + texts.word(), "tags": [aimed]}
        requirement = reviewer.create_requirement(module=module, **fields, custom_metadata={"x": aimed})
        test_case = reviewer.create_test_case(
            module=module,
            title=aimed,
            description=aimed,
            preconditions=aimed,
            steps={"1": aimed},
            test_data={"x": aimed},
        )
        reviewer.create_link(requirement["id"], test_case["id"], notes=aimed)
        ok(reviewer.patch(f"/requirements/{requirement['id']}", json={"title": f"{aimed[:400]} once more"}))
        made.append(requirement | {"test_case": test_case["id"]})
    return module, made


@pytest.mark.long
def test_whatever_the_texts_say_nothing_of_it_runs_or_is_fetched(
    page_of: PageOf, trap: Trap, hostile: tuple[str, list[Json]]
) -> None:
    module, made = hostile
    visit = page_of("reviewer", f"/requirements?module={module}")
    page = visit.page
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", str(len(made) + 1))
    page.keyboard.press("Space")
    for _ in range(len(made)):
        page.keyboard.press("j")
    visit.settle()
    for one in made[::4]:
        visit.open(f"/p/MAIN/requirements/{one['id']}")
        expect(page.get_by_role("heading", level=1)).to_have_text(f"{one['title'][:400]} once more".strip())
        expect(page.get_by_role("list", name="What happened").locator("ins").first).to_be_visible()
    for one in made[1::8]:
        visit.open(f"/p/MAIN/test-cases/{one['test_case']}")
        expect(page.get_by_role("region", name="Links").get_by_role("listitem")).to_have_count(1)
        page.keyboard.press("e")
        expect(page.get_by_role("textbox", name="Step 1")).to_have_value(one["title"])
    assert (visit.dialogs, visit.downloads, trap.caught()) == ([], [], [])
    assert [page.url.split("/p/")[0] for page in visit.context.pages] == [page.url.split("/p/")[0]]


@pytest.mark.long
def test_the_address_of_a_source_is_followed_only_where_it_leads_to_the_web(
    page_of: PageOf, reviewer: Traceline
) -> None:
    web = reviewer.create_requirement(source_url="https://tracker.example/browse/REQ-42")
    text = reviewer.create_requirement(source_url="Folder 7, page 12")
    page = page_of("viewer", f"/requirements/{web['id']}").page
    link = page.get_by_role("link", name="https://tracker.example/browse/REQ-42")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    page.goto(f"/p/MAIN/requirements/{text['id']}")
    expect(page.get_by_text("Folder 7, page 12")).to_be_visible()
    assert page.get_by_role("link", name="Folder 7").count() == 0


def test_an_item_says_who_accepted_its_links_why_and_what_happened_since_by_one_request(
    page_of: PageOf, reviewer: Traceline
) -> None:
    requirement, test_case = reviewer.create_pair()
    reviewer.generate()
    (suggestion,) = reviewer.suggestions_for(requirement["id"], test_case["id"])
    ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept", json={"feedback": "Same words"}))
    ok(reviewer.patch(f"/test-cases/{test_case['id']}", json={"title": f"{test_case['title']} again"}))
    visit = page_of("viewer", f"/requirements/{requirement['id']}")
    page = visit.page
    link = page.get_by_role("region", name="Links").get_by_role("listitem")
    expect(link).to_contain_text(f"Accepted by {reviewer.me()['email']}")
    expect(link).to_contain_text("Same words")
    expect(page.get_by_role("region", name="Trace").get_by_role("listitem")).to_contain_text("Suspect")
    for what in ("accepted the suggested link to", "so the link became suspect", "created it"):
        expect(page.get_by_role("tabpanel").get_by_text(what).first).to_be_visible()
    assert len([url for url in visit.requests if f"/{requirement['id']}" in url and "/api/" in url]) == 1
    page.get_by_role("button", name="Suggestions").click()
    expect(page.get_by_text("Nothing of this kind has happened.")).to_be_visible()
    assert axe.violations(page) == []


def test_escape_leaves_what_is_edited_and_asks_for_what_was_written(page_of: PageOf, reviewer: Traceline) -> None:
    item = reviewer.create_requirement()
    page = page_of("reviewer", f"/requirements/{item['id']}").page
    edit = page.get_by_role("button", name="Edit")
    edit.click()
    page.keyboard.press("Escape")
    expect(edit).to_be_visible()
    edit.click()
    page.get_by_label("Title").fill("Another title")
    page.keyboard.press("Escape")
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("not saved")
    page.get_by_role("button", name="Keep editing").click()
    expect(page.get_by_label("Title")).to_have_value("Another title")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("heading", name=item["title"], level=1)).to_be_visible()
