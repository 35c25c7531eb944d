"""The review queue in a real browser: what is decided there is what the record says, whatever happens on the way."""

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from acceptance import texts
from acceptance.client import PASSWORD, Json, Traceline, ok, requirement, test_case
from acceptance.waiting import eventually, settled

from . import axe
from .session import PROJECT, PageOf, in_new_project, sign_in
from .slow_server import SlowServer
from .visit import Visit

REVIEWED_BY = {"a": "accepted", "x": "rejected"}


@dataclass
class Queue:
    """The pairs of a module that nobody else has, and what the record says of them."""

    traceline: Traceline
    module: str
    ids: dict[str, str] = field(default_factory=dict)
    """The id of each pair, by the titles of both sides."""

    @property
    def path(self) -> str:
        return f"/review?module={quote(self.module)}"

    def record(self) -> dict[str, Json]:
        """Return what the record says now of each pair, by its titles."""
        return {_titles(one): one for one in self.traceline.items("/suggestions", module=f'"{self.module}"')}

    def statuses(self) -> dict[str, str]:
        return {titles: one["status"] for titles, one in self.record().items()}

    def links(self) -> int:
        mine = {one["link_id"] for one in self.record().values()}
        return len(mine & {link["id"] for link in self.traceline.items("/links")})


def _titles(suggestion: Json) -> str:
    return f"{suggestion['requirement']['title']}\n{suggestion['test_case']['title']}"


def queue_of(reviewer: Traceline, requirements: int, test_cases: int) -> Queue:
    """Return a new module in which every requirement is suggested for every test case."""
    module, said = texts.word(), texts.words(6)
    _add_others(reviewer, 2 * (requirements + test_cases))
    for _ in range(requirements):
        reviewer.create_requirement(title=f"Requirement {texts.word()}", description=said, module=module)
    for _ in range(test_cases):
        reviewer.create_test_case(title=f"Test case {texts.word()}", description=said, module=module)
    reviewer.generate(algorithm="keyword", threshold=0.2)
    queue = Queue(reviewer, module)
    queue.ids = {titles: one["id"] for titles, one in queue.record().items()}
    assert len(queue.ids) == requirements * test_cases
    return queue


def _add_others(reviewer: Traceline, count: int) -> None:
    """Add items that fit nothing, unless there are as many: words that all items have would say nothing of a pair."""
    kinds = {"requirement": ("/requirements", requirement), "test_case": ("/test-cases", test_case)}
    if any(reviewer.read(path, limit=1)["total"] < count for path, _ in kinds.values()):
        others = [
            {"kind": kind, "external_id": texts.word(), **make()}
            for kind, (_, make) in kinds.items()
            for _ in range(count)
        ]
        assert reviewer.plan_import(others, apply="always")["status"] == "applied"


def current(page: Page) -> str:
    """Return the titles of the pair that is read; there is one."""
    titles = page.get_by_role("article").get_by_role("heading", level=2)
    expect(titles).to_have_count(2)
    return "\n".join(titles.all_inner_texts())


def take_conflicts(visit: Visit) -> None:
    """Take from what the console told that somebody else was first."""
    visit.complaints[:] = [one for one in visit.complaints if "409 (Conflict)" not in one]


def press(page: Page, key: str) -> str:
    """Press a key on the pair that is read; return its titles."""
    titles = current(page)
    page.keyboard.press(key)
    return titles


def test_a_pair_is_accepted_by_keyboard_alone_and_undone(page_of: PageOf, reviewer: Traceline) -> None:
    queue = queue_of(reviewer, 1, 2)
    page = page_of("nobody", queue.path).page
    expect(page.get_by_label("Email")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.type(reviewer.me()["email"])
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("2")
    titles = press(page, "a")
    expect(page.get_by_role("status").filter(has_text="Accepted:")).to_be_visible()
    assert current(page) != titles
    link_id = eventually(lambda: queue.record()[titles]["link_id"], "the link")
    assert reviewer.read(f"/links/{link_id}")["link_type"] == "verifies"
    page.keyboard.press("u")
    assert current(page) == titles
    eventually(lambda: queue.statuses()[titles], "the undoing", equals="pending")
    assert reviewer.get(f"/links/{link_id}").status_code == 404


@pytest.mark.long
def test_each_pair_is_read_from_its_beginning(page_of: PageOf, reviewer: Traceline) -> None:
    page = page_of("reviewer", queue_of(reviewer, 1, 2).path, width=320).page
    titles = page.get_by_role("article").get_by_role("heading", level=2)
    page.set_viewport_size({"width": 320, "height": 480})
    expect(page.locator("mark").first).to_be_visible()
    page.get_by_text("Reason", exact=True).scroll_into_view_if_needed()
    expect(titles.first).not_to_be_in_viewport()
    page.keyboard.press("s")
    expect(titles.first).to_be_in_viewport()


def test_who_may_not_review_reads(page_of: PageOf, reviewer: Traceline) -> None:
    queue = queue_of(reviewer, 1, 1)
    page = page_of("viewer", queue.path, theme="dark", width=320).page
    expect(page.locator("mark").first).to_be_visible()
    for key in ("a", "x", "u", "Shift+A"):
        page.keyboard.press(key)
    for name in ("Accept", "Reject", "Undo", "Generate"):
        expect(page.get_by_role("button", name=re.compile(name))).to_have_count(0)
    assert axe.violations(page) == []
    assert set(queue.statuses().values()) == {"pending"}


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1366])
def test_everybody_can_use_it_in_each_state(page_of: PageOf, reviewer: Traceline, theme: str, width: int) -> None:
    queue = queue_of(reviewer, 1, 3)
    page = page_of("reviewer", queue.path, theme=theme, width=width).page
    expect(page.locator("mark").first).to_be_visible()
    page.evaluate("document.documentElement.style.setProperty('--quick', '20s')")  # to see what is on the way, too
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for open_it in ("Shift+A", "o"):
        page.keyboard.press(open_it)
        expect(page.get_by_role("dialog")).to_be_visible()
        if open_it == "Shift+A":
            expect(page.get_by_role("button", name="Accept 3")).to_be_enabled()
        assert axe.violations(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("n")
    page.keyboard.type("As agreed.")
    assert axe.violations(page) == []
    page.keyboard.press("Enter")
    press(page, "h")
    assert axe.violations(page) == []
    noted = press(page, "x")
    press(page, "s")
    press(page, "x")
    expect(page.get_by_role("button", name="Review skipped pairs")).to_be_visible()
    assert axe.violations(page) == []
    eventually(lambda: list(queue.statuses().values()).count("rejected"), "the rejections", equals=2)
    assert queue.record()[noted]["feedback"] == "As agreed."


@pytest.mark.long
def test_the_best_three_of_a_requirement_are_shown_and_the_rest_can_be_opened(
    page_of: PageOf, reviewer: Traceline
) -> None:
    queue = queue_of(reviewer, 1, 5)
    page = page_of("reviewer", queue.path).page
    pairs = page.get_by_role("list", name="Pairs to review").get_by_role("listitem")
    expect(pairs).to_have_count(3)
    page.get_by_role("link", name="and 2 more").click()
    expect(pairs).to_have_count(5)


def variants_of(reviewer: Traceline) -> Queue:
    """Return a new module of one requirement with four variants of a test case, and another test case."""
    queue, said, door = Queue(reviewer, texts.word()), texts.words(6), texts.word()
    reviewer.create_requirement(title=f"Requirement {texts.word()}", description=said, module=queue.module)
    for browser in ("Chrome", "Firefox", "Safari", "Edge"):
        reviewer.create_test_case(title=f"Hatch {door} ({browser})", description=said, module=queue.module)
    reviewer.create_test_case(title=f"Test case {texts.word()}", description=said, module=queue.module)
    for _ in range(12):  # words that all items have are no evidence
        reviewer.create_requirement(title=texts.words(4), description=texts.words(6))
    reviewer.generate(algorithm="keyword", threshold=0.2)
    queue.ids = {titles: one["id"] for titles, one in queue.record().items()}
    assert len(queue.ids) == 5
    return queue


def test_variants_are_one_entry_that_is_decided_on_as_one_and_taken_apart_at_will(
    page_of: PageOf, reviewer: Traceline
) -> None:
    queue = variants_of(reviewer)
    page = page_of("reviewer", queue.path).page
    pairs = page.get_by_role("list", name="Pairs to review").get_by_role("listitem")
    expect(pairs).to_have_count(2)
    expect(page.get_by_text("2 left of 5 pairs")).to_be_visible()
    if "Hatch" not in current(page):
        page.keyboard.press("j")
    expect(pairs.filter(has_text="and 3 variants")).to_have_count(1)
    variants = page.get_by_role("region", name="Variants")
    variants.get_by_role("button", name="and 3 variants").focus()
    page.keyboard.press("v")
    expect(variants.get_by_role("listitem")).to_have_count(3)
    assert axe.violations(page) == []
    variants.get_by_role("button", name="Take out").first.click()
    expect(page.get_by_text("3 left of 5 pairs")).to_be_visible()
    expect(page.get_by_role("button", name="Accept 3 links")).to_be_visible()

    def decided(status: str) -> int:
        return list(queue.statuses().values()).count(status)

    group = press(page, "a")
    expect(page.get_by_role("status").filter(has_text="and 2 variants").last).to_be_visible()
    eventually(lambda: decided("accepted"), "three links", equals=3)
    assert queue.links() == 3
    assert len({one["review_id"] for one in queue.record().values() if one["status"] == "accepted"}) == 1
    assert current(page) != group
    page.keyboard.press("u")
    assert current(page) == group
    eventually(lambda: decided("pending"), "the undoing of all", equals=5)
    assert queue.links() == 0
    press(page, "x")
    eventually(lambda: decided("rejected"), "three rejections", equals=3)
    expect(page.get_by_text("2 left")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1366])
def test_everybody_can_see_variants(page_of: PageOf, reviewer: Traceline, theme: str, width: int) -> None:
    queue = variants_of(reviewer)
    page = page_of("viewer", queue.path, theme=theme, width=width).page
    if "Hatch" not in current(page):
        page.keyboard.press("j")
    variants = page.get_by_role("region", name="Variants")
    variants.get_by_role("button", name="and 3 variants").click()
    expect(variants.get_by_role("link")).to_have_count(3)
    expect(variants.get_by_role("button", name="Take out")).to_have_count(0)
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.long
def test_variants_that_somebody_else_took_leave_the_others(
    page_of: PageOf, reviewer: Traceline, admin: Traceline
) -> None:
    queue, other = variants_of(reviewer), admin.new_user("reviewer")
    page = page_of("reviewer", queue.path).page
    if "Hatch" not in current(page):
        page.keyboard.press("j")
    expect(page.get_by_role("button", name="Accept 4 links")).to_be_visible()
    read = current(page)
    taken = next(one for titles, one in queue.ids.items() if "Hatch" in titles and titles != read)
    ok(other.post(f"/suggestions/{taken}/reject"))
    expect(page.get_by_role("button", name="Accept 3 links")).to_be_visible()
    page.keyboard.press("a")
    eventually(lambda: list(queue.statuses().values()).count("accepted"), "three links", equals=3)
    assert queue.record()[next(titles for titles, one in queue.ids.items() if one == taken)]["status"] == "rejected"


@pytest.mark.long
def test_a_key_that_is_held_decides_once(page_of: PageOf, reviewer: Traceline) -> None:
    queue = queue_of(reviewer, 5, 1)
    page = page_of("reviewer", queue.path).page
    titles = current(page)
    for _ in range(20):
        page.keyboard.down("x")
    page.keyboard.up("x")
    eventually(lambda: queue.statuses()[titles], "the rejection", equals="rejected")
    assert list(queue.statuses().values()).count("pending") == 4


@pytest.mark.long
def test_each_kind_of_decision_is_undone_by_each_key(page_of: PageOf, reviewer: Traceline) -> None:
    queue = queue_of(reviewer, 6, 1)
    page = page_of("reviewer", queue.path).page
    decided = [press(page, key) for key in ("a", "x", "s", "a", "x")]
    expected = ["accepted", "rejected", "pending", "accepted", "rejected"]
    eventually(lambda: [queue.statuses()[titles] for titles in decided], "the decisions", equals=expected)
    for key, titles in zip(("u", "Control+z", "Backspace", "u", "u"), reversed(decided), strict=True):
        page.keyboard.press(key)
        assert current(page) == titles
    eventually(lambda: set(queue.statuses().values()), "the undoing", equals={"pending"})
    assert queue.links() == 0
    page.keyboard.press("u")
    expect(page.get_by_text("There is nothing to undo.")).to_be_visible()


@contextmanager
def slow_page(
    browser: Any, reviewer: Traceline, queue: Queue, seconds: float, *, fails: bool = True
) -> Iterator[tuple[Visit, SlowServer]]:
    """Open the queue in the browser of a reviewer who reaches Traceline through a SlowServer."""
    with SlowServer(reviewer.base_url, seconds, fails=fails) as server:
        context = browser.new_context(base_url=server.address)
        try:
            with Traceline(server.address, token=reviewer.token) as client:
                sign_in(context, client)
            visit = Visit(context)
            visit.open(PROJECT + queue.path)
            yield visit, server
        finally:
            context.close()


@pytest.mark.long
def test_what_is_decided_is_shown_before_the_server_answers(browser: Any, reviewer: Traceline) -> None:
    queue = queue_of(reviewer, 8, 3)
    with slow_page(browser, reviewer, queue, seconds=0, fails=False) as (visit, server):
        server.is_open.clear()
        decided = [press(visit.page, "a") for _ in range(20)]
        assert len(set(decided)) == 20
        expect(visit.page.get_by_text("20 done")).to_be_visible()
        assert "accepted" not in queue.statuses().values()
        server.is_open.set()
        eventually(lambda: all(queue.statuses()[titles] == "accepted" for titles in decided), "all of them")
        assert server.reviews == 20
    assert queue.links() == 20


@pytest.mark.long
def test_the_record_holds_what_was_shown_on_a_bad_day(browser: Any, reviewer: Traceline, admin: Traceline) -> None:
    """A slow server that fails every tenth time, a second reviewer at the same pairs, a reload and a closed tab."""
    queue, other = queue_of(reviewer, 112, 2), admin.new_user("reviewer")
    me, meant = reviewer.me()["email"], dict[str, str]()
    with slow_page(browser, reviewer, queue, seconds=0.3) as (visit, _):
        page = visit.page
        for number in range(1, 201):
            if number % 5 == 0:
                ok(other.post(f"/suggestions/{queue.ids[current(page)]}/reject"))
            key = "ax"[number % 2]
            meant[press(page, key)] = REVIEWED_BY[key]
            if number % 20 == 0:
                page.keyboard.press(("u", "Control+z", "Backspace")[number // 20 % 3])
                meant[current(page)] = "pending"
            if number == 70:
                page.reload()
            if number == 140:
                page.close(run_before_unload=False)
                page = visit.context.new_page()
                page.goto(PROJECT + queue.path)

        def is_as_shown() -> bool:
            by_me = {titles: one for titles, one in queue.record().items() if one["reviewed_by"] == me}
            return by_me == {} or all(one["status"] == meant.get(titles) for titles, one in by_me.items())

        eventually(lambda: is_as_shown() and _is_settled(queue, meant, me), "what was shown")
        left = list(queue.statuses().values()).count("pending")
        expect(page.get_by_text(f"{left} left")).to_be_visible()
        page.reload()
        expect(page.get_by_text(f"{left} left")).to_be_visible()
    record = queue.record()
    assert queue.links() == sum(one["status"] == "accepted" for one in record.values())
    assert sum(one["reviewed_by"] == other.me()["email"] for one in record.values()) >= 30


def _is_settled(queue: Queue, meant: dict[str, str], me: str) -> bool:
    """Check whether each pair is as it was meant, or as the other reviewer, who came first, has it."""
    return all(
        one["status"] == meant.get(titles, "pending") or one["reviewed_by"] not in {me, None}
        for titles, one in queue.record().items()
    )


@pytest.mark.long
def test_accepting_above_a_score_makes_the_links_that_were_counted(page_of: PageOf, reviewer: Traceline) -> None:
    queue = queue_of(reviewer, 4, 3)
    visit = page_of("reviewer", queue.path)
    page = visit.page
    current(page)
    page.keyboard.press("Shift+A")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("slider").press("Home")
    expect(dialog.get_by_text("12 pairs score 0.00 or more.")).to_be_visible()
    expect(dialog.get_by_role("listitem")).to_have_count(10)
    assert set(queue.statuses().values()) == {"pending"}
    # Somebody decides between the count and the click: nothing is accepted.
    taken = next(iter(queue.ids.values()))
    ok(reviewer.post(f"/suggestions/{taken}/reject"))
    dialog.get_by_role("button", name="Accept 12").click()
    expect(dialog.get_by_role("alert")).to_contain_text("there were 12 pairs, now there are 11")
    assert list(queue.statuses().values()).count("accepted") == 0
    take_conflicts(visit)
    dialog.get_by_role("button", name="Accept 11").click()
    expect(page.get_by_role("status").filter(has_text="Accepted: 11 pairs")).to_be_visible()
    assert queue.links() == 11
    page.keyboard.press("u")
    expect(page.get_by_text("11 left")).to_be_visible()
    assert queue.links() == 0
    assert list(queue.statuses().values()).count("pending") == 11


@pytest.mark.long
def test_what_others_decide_goes_without_moving_what_is_read(
    page_of: PageOf, reviewer: Traceline, admin: Traceline
) -> None:
    queue, other = queue_of(reviewer, 5, 2), admin.new_user("reviewer")
    page = page_of("reviewer", queue.path).page
    order = [titles for titles in queue.ids if titles != current(page)]
    read = current(page)
    ok(other.post(f"/suggestions/{queue.ids[order[0]]}/accept"))
    expect(page.get_by_text("9 left")).to_be_visible()
    assert current(page) == read
    ok(other.post(f"/suggestions/{queue.ids[read]}/reject"))
    expect(page.get_by_text(re.compile(f"{re.escape(other.me()['email'])} rejected this pair"))).to_be_visible()
    assert press(page, "a") == read
    assert current(page) != read
    assert queue.statuses()[read] == "rejected"


@pytest.mark.long
def test_two_reviewers_empty_a_queue_and_each_pair_is_decided_once(
    page_of: PageOf, reviewer: Traceline, admin: Traceline
) -> None:
    queue, other = queue_of(reviewer, 64, 2), admin.new_user("reviewer")
    visits = [page_of("reviewer", queue.path), page_of(other, queue.path)]
    pages = [visit.page for visit in visits]
    shown: list[set[str]] = [set(), set()]
    nothing = "Nothing is left to review with these filters"
    turns = itertools.cycle(zip(pages, shown, strict=True))
    while not all(page.get_by_text(nothing).is_visible() for page in pages):
        page, seen = next(turns)
        if page.get_by_role("article").count() == 0:
            continue
        titles = current(page)
        assert titles not in seen
        seen.add(titles)
        page.keyboard.press("x")
    eventually(lambda: set(queue.statuses().values()), "an empty queue", equals={"rejected"})
    assert shown[0] | shown[1] == set(queue.ids)
    for visit in visits:
        expect(visit.page.get_by_text(nothing)).to_be_visible()
        take_conflicts(visit)


@pytest.mark.long
def test_a_run_shows_how_far_it_is_and_what_came_of_it(page_of: PageOf, reviewer: Traceline) -> None:
    queue = queue_of(reviewer, 1, 1)
    page = page_of("reviewer", queue.path).page
    page.get_by_role("button", name="Generate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Key words").click()
    dialog.get_by_role("button", name="Generate").click()
    expect(page.get_by_role("status").filter(has_text=re.compile("^Generated: .* new"))).to_be_visible()
    assert reviewer.read("/suggestions/runs", limit=1)["items"][0]["algorithm"] == "keyword"


@pytest.mark.parametrize("bar", ["no connection", pytest.param("none", marks=pytest.mark.long)])
def test_in_a_low_window_all_that_decides_is_in_sight(page_of: PageOf, reviewer: Traceline, bar: str) -> None:
    visit = page_of("reviewer", queue_of(reviewer, 2, 2).path)
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 720})
    current(page)
    if bar != "none":
        visit.context.set_offline(True)
        expect(page.get_by_text("No connection.")).to_be_in_viewport(ratio=1)
    page.keyboard.press("s")
    for name in ("Undo", "Skip", "Reject", "Accept link", "Note", "Accept above", "Generate"):
        expect(page.get_by_role("button", name=name, exact=False).first).to_be_in_viewport(ratio=1)
    toast = page.get_by_role("status").filter(has_text="Skipped").last.bounding_box()
    below = page.get_by_role("button", name="Note").bounding_box()
    assert toast
    assert below
    assert toast["y"] + toast["height"] <= below["y"], "what was done is said above them"
    assert [one for one in visit.complaints if "Failed to load resource" not in one] == []
    visit.context.set_offline(False)
    visit.complaints.clear()


def test_sixty_reviews_by_keys_leave_the_badge_of_notifications_as_it_is(page_of: PageOf, admin: Traceline) -> None:
    reviewer = admin.new_user("reviewer")
    queue = queue_of(reviewer, 32, 2)
    eventually(lambda: reviewer.unread_count() > 16, "what the items caused")
    eventually(lambda: reviewer.read("/suggestions/progress")["is_complete"], "the end of the search")
    settled(reviewer.unread_count, "notifications")
    reviewer.post("/notifications/mark-all-read")
    page = page_of(reviewer, queue.path).page
    badge = page.get_by_role("navigation").get_by_role("link", name="Notifications")
    decided = 0
    for key in itertools.islice(itertools.cycle("axa"), 60):
        press(page, key)
        decided += 1
    # Not all that there are: what a busy machine tells of the items may still come. And before the undoing: a review
    # that is undone before it has left the page is never told.
    reviews = {"type": "suggestion_reviewed"}
    eventually(lambda: reviewer.read("/notifications", **reviews)["total"], "all notifications", equals=decided)
    press(page, "u")
    left = len(queue.ids) - decided + 1
    eventually(lambda: list(queue.statuses().values()).count("pending"), "the undoing", equals=left)
    assert reviewer.read("/notifications", unread_only="true", **reviews)["total"] == 0
    reviewer.post("/notifications/mark-all-read")
    expect(badge).to_have_accessible_name("Notifications")
    badge.click()
    expect(page.get_by_role("button", name=re.compile("Reviews: "))).not_to_have_count(0)
    expect(page.get_by_text("at once")).to_have_count(0)


def test_what_is_looked_for_is_not_called_reviewed(page_of: PageOf, admin: Traceline) -> None:
    project = in_new_project(admin)
    visit = page_of("admin", f"~/p/{project.project}/review")
    page = visit.page
    expect(page.get_by_role("heading", name="Nothing to review yet")).to_be_visible()
    visit.wait_for(lambda: any("/api/v1/events" in url for url in visit.requests))
    page.evaluate(
        """() => {
            window.said = new Set()
            const note = () => document.querySelectorAll("h2, [role=status]").forEach((one) => said.add(one.innerText))
            new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true })
        }"""
    )
    said_of = [texts.words(6) for _ in range(100)]
    items = [
        {"kind": kind, "external_id": f"{kind}-{n}", **make(title=f"Door {n}", description=description)}
        for kind, make in (("requirement", requirement), ("test_case", test_case))
        for n, description in enumerate(said_of)
    ]
    assert project.plan_import(items, apply="always")["status"] == "applied"
    expect(page.get_by_role("article").first).to_be_visible(timeout=60_000)
    said = page.evaluate("[...said]")
    assert [one for one in said if "All reviewed" in one] == []
    eventually(lambda: project.read("/suggestions/progress")["is_complete"], "the end of the search")
    expect(page.get_by_text("Looking for links")).to_have_count(0)
    pending = project.read("/suggestions", status="pending", limit=1)["total"]
    expect(page.get_by_text(f"{pending:,} left")).to_be_visible()
    project.post(
        "/suggestions/bulk-review", json={"action": "reject", "filter": {"min_score": 0}, "expected_count": pending}
    )
    page.reload()  # what is shown stays, with who was first
    expect(page.get_by_role("heading", name="All reviewed")).to_be_visible()
