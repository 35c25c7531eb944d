"""Every screen for everybody: long words, from right to left, on a phone, in colours of the reader's own."""

import pytest
from playwright.sync_api import Page, expect

from acceptance import texts
from acceptance.client import Traceline

from . import axe
from .session import PageOf

SCREENS = (
    "/",
    "/review",
    "/matrix",
    "/requirements",
    "/requirements/{id}",
    "/test-cases",
    "/requirements/{id}?tab=trace",
    "/requirements/{id}?tab=results",
    "/tree",
    "/results",
    "/results?tab=verdicts",
    "/results?tab=tests",
    "/results?tab=gate",
    "/suspect",
    "/imports",
    "/exports",
    "/notifications",
    "/admin/users",
    "/admin/audit",
    "/account",
    "/settings",
    "~/accept-invitation",
    "~/forgot-password",
    "~/reset-password",
)
CUT = """() => [...document.querySelectorAll("main *, nav *, header *, dialog *")].filter(one => {
    const style = getComputedStyle(one);
    const isCut = one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 2;
    const hides = style.overflowX === "hidden" || style.overflowX === "clip";
    const isSaid = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none" || one.closest("[title]");
    const isSeen = one.clientWidth > 1 && one.clientHeight > 1 && one.checkVisibility({ visibilityProperty: true });
    const isText = [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    return isSeen && isText && hides && isCut && !isSaid && !one.closest("canvas, [inert]");
}).map(one => one.textContent.slice(0, 80))"""
"""The texts that end where their box does, without a sign that they go on."""
UNMESSAGED = """() => [...document.querySelectorAll("label, legend, [role=columnheader], nav a")]
    .flatMap(one => [...one.childNodes].filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.data.trim()))
    .filter(text => /[aeiou]/.test(text))"""
"""Texts in letters that the pseudo-locale leaves nowhere: they do not come from the messages."""


@pytest.fixture(scope="module")
def requirement_id(admin: Traceline) -> str:
    requirement, test_case = admin.create_pair()
    admin.create_link(requirement["id"], test_case["id"])
    other = admin.create_requirement(title=f"The {texts.word()} of it", module=texts.word())
    admin.patch(f"/requirements/{requirement['id']}", json={"title": "It means something else now"})
    admin.generate(algorithm="keyword", threshold=0.1)
    identifier: str = other["id"]
    return identifier


def opened(page_of: PageOf, path: str, requirement_id: str, **how: object) -> Page:
    page: Page = page_of("admin", path.replace("{id}", requirement_id), **how).page  # type: ignore[arg-type]
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    page.wait_for_timeout(300)
    return page


def sideways(page: Page) -> int:
    """Return by how many pixels the page, or what a screen shows in it, is wider than its place."""
    wider: int = page.evaluate(
        "Math.max(...[document.documentElement, document.querySelector('main')]"
        ".map(one => one.scrollWidth - one.clientWidth))"
    )
    return wider


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 1366])
@pytest.mark.parametrize("locale", ["pseudo", "pseudo-rtl"])
@pytest.mark.parametrize("path", SCREENS)
def test_no_text_is_cut_in_longer_words_or_from_right_to_left(
    page_of: PageOf, requirement_id: str, path: str, locale: str, width: int
) -> None:
    page = opened(page_of, path, requirement_id, width=width, settings={"traceline.locale": locale})
    assert page.evaluate(CUT) == []
    assert sideways(page) <= 0
    assert page.evaluate(UNMESSAGED) == []
    if locale == "pseudo-rtl" and width > 320 and not path.startswith("~"):
        navigation = page.get_by_role("navigation").first.bounding_box()
        assert navigation is not None
        assert navigation["x"] > width / 2


@pytest.mark.long
@pytest.mark.parametrize("path", SCREENS)
def test_a_screen_is_usable_in_colours_of_the_readers_own(page_of: PageOf, requirement_id: str, path: str) -> None:
    page = opened(page_of, path, requirement_id, forced_colors="active")
    assert axe.violations(page) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


@pytest.mark.long
@pytest.mark.parametrize("path", SCREENS)
def test_what_a_screen_is_about_can_be_seen_at_the_largest_zoom(
    page_of: PageOf, requirement_id: str, path: str
) -> None:
    page = opened(page_of, path, requirement_id, width=320)
    page.set_viewport_size({"width": 320, "height": 256})  # 1280 by 1024 at 400 %
    page.wait_for_timeout(300)
    for about in (page.get_by_role("row").nth(1), page.get_by_role("article").first):
        if about.count():
            about.scroll_into_view_if_needed()
            expect(about).to_be_in_viewport()
    assert axe.violations(page) == []
    assert sideways(page) <= 0


@pytest.mark.long
@pytest.mark.parametrize("path", SCREENS)
def test_nothing_moves_for_who_wants_no_motion(page_of: PageOf, requirement_id: str, path: str) -> None:
    page = opened(page_of, path, requirement_id, reduced_motion="reduce")
    assert page.evaluate("document.getAnimations().filter(one => one.playState === 'running').length") == 0
