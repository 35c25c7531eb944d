"""What happens reaches every tab, whatever becomes of the gateways."""

import pytest
from playwright.sync_api import Page, expect

from acceptance import texts
from acceptance.client import Traceline
from acceptance.process import RunningTraceline
from acceptance.stack import RunningStack

from .session import PROJECT, PageOf

TABS = 6
"""As many connections as a browser has to one server: a stream a tab would leave none for anything else."""


def opened(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Requirements")
    expect(page.get_by_role("grid")).to_contain_text(title)


def test_six_tabs_answer_and_hear_of_everything(page_of: PageOf, reviewer: Traceline) -> None:
    module = texts.word()
    first = reviewer.create_requirement(title=f"First {texts.word()}", module=module)
    visit = page_of("reviewer", f"/requirements?module={module}")
    tabs = [visit.page, *(visit.context.new_page() for _ in range(TABS - 1))]
    for tab in tabs[1:]:
        tab.goto(f"{PROJECT}/requirements?module={module}")
    for tab in tabs:
        opened(tab, first["title"])
    second = reviewer.create_requirement(title=f"Second {texts.word()}", module=module)
    for tab in tabs:
        expect(tab.get_by_role("grid")).to_contain_text(second["title"])
    tabs[0].close()
    third = reviewer.create_requirement(title=f"Third {texts.word()}", module=module)
    for tab in tabs[1:]:
        expect(tab.get_by_role("grid")).to_contain_text(third["title"])


@pytest.mark.long
def test_a_gateway_that_dies_takes_no_session_and_no_event_along(
    page_of: PageOf, reviewer: Traceline, running: RunningTraceline | RunningStack
) -> None:
    if not isinstance(running, RunningStack):
        return  # there is no second gateway
    module = texts.word()
    made = [reviewer.create_requirement(title=f"Title {texts.word()}", module=module)]
    visit = page_of("reviewer", f"/requirements?module={module}")
    opened(visit.page, made[0]["title"])
    for number in range(4):
        running.kill(f"gateway-{number % 2}")
        session = visit.page.evaluate("async () => (await fetch('/session')).json()")
        assert session["user"]["email"] == reviewer.me()["email"]
        made.append(reviewer.create_requirement(title=f"Title {texts.word()}", module=module))
        expect(visit.page.get_by_role("grid")).to_contain_text(made[-1]["title"])
        running.wait_ready()
    for one in made:
        expect(visit.page.get_by_role("grid").get_by_text(one["title"])).to_have_count(1)
    visit.complaints.clear()
