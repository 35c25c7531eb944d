"""What is measured of each screen, with its goal; each function prints its rows and returns what was missed."""

import time
from collections.abc import Sequence

import numpy as np
from playwright.sync_api import expect

from benchmarks.engine.table import header, row
from benchmarks.page.tab import Tab

_DECISIONS = 100
_FIRST_DECISIONS = 300
"""As many as the browser needs to have compiled what they run."""
_MANY_DECISIONS = 1000
_SCREENS = ("/", "/requirements", "/review", "/matrix", "/suspect")
_FIRST_FRAME_MS = 8
"""What the browser does not tell of, since it took less than a frame."""


def of_review(tab: Tab) -> list[str]:
    """From the key to the next pair: with the whole machine, and with a quarter of it."""
    header("Review: a key until the next pair, ms", "p50", "p95", "goal p95")
    tab.open("/review")
    _review(tab, 20)
    tab.recorded("keys")
    before = tab.script_seconds()
    keys = _decide(tab, _DECISIONS)
    script = (tab.script_seconds() - before) / _DECISIONS * 1000
    with tab.slowed():
        slow = _decide(tab, _DECISIONS // 2)
    return [
        *_judged("review: key until the next pair", keys, 50),
        *_judged("review: the same, four times as slow", slow, 200),
        *_expected("review: script a key", script, 10),
    ]


def of_matrix(tab: Tab) -> list[str]:
    """Drawing while the heat map is moved and zoomed."""
    header("Matrix: a frame, ms", "p50", "p95", "goal p95")
    missed = []
    for name, zoom in (("cells that can be read", 20), ("cells of two pixels", 2), ("all cells", 0.1)):
        tab.open(f"/matrix?at=5000,5000&zoom={zoom}")
        expect(tab.page.locator("canvas")).to_be_visible()
        tab.page.mouse.move(1200, 700)
        tab.page.wait_for_timeout(1500)
        tab.recorded("frames")
        tab.page.mouse.down()
        for step in range(120):
            tab.page.mouse.move(1200 - 4 * step, 700 - 2 * step)
        tab.page.mouse.up()
        frames = tab.recorded("frames")
        rate = (len(frames) - 1) / (frames[-1]["at"] - frames[0]["at"]) * 1000
        missed += _judged(f"matrix: {name}", [one["took"] for one in frames], 12)
        missed += _at_least(f"matrix: {name}: frames a second", rate, 55)
    return missed


def of_memory(tab: Tab) -> list[str]:
    """What stays of many decisions and many changes of the screen.

    Before and after it is the same screen that is open, and each has been seen: programs are loaded once.
    """
    header("Memory, MB", "", "", "goal")
    tab.open("/review")
    _review(tab, _FIRST_DECISIONS)
    _see(tab, _SCREENS)
    before = tab.heap_megabytes()
    _see(tab, ("/review",))
    _review(tab, _MANY_DECISIONS)
    _see(tab, _SCREENS * 4)
    after = tab.heap_megabytes()
    return _expected("heap after it", after, 60) + _expected("its growth, %", 100 * (after / before - 1), 10)


def of_lists(tab: Tab) -> list[str]:
    """The first row, the end, and how many rows there are in the document."""
    header("Lists, ms", "", "", "goal")
    rows = tab.page.get_by_role("grid").get_by_role("row")

    def first_row() -> float:
        tab.open("/requirements")
        rows.nth(1).wait_for()
        return float(tab.page.evaluate("performance.now()"))

    first_row()
    fast = first_row()
    with tab.slowed():
        slow = first_row()
    rows.nth(1).click()
    tab.page.get_by_role("grid").focus()
    began = time.perf_counter()
    tab.page.keyboard.press("End")
    tab.page.wait_for_function(
        "() => { const grid = document.querySelector('[role=grid]');"
        " return [...grid.querySelectorAll('[aria-rowindex]')].some(row =>"
        " row.ariaRowIndex === grid.ariaRowCount && row.textContent.trim()) }"
    )
    end = (time.perf_counter() - began) * 1000
    return [
        *_expected("first useful row", fast, 1000),
        *_expected("first useful row, four times as slow and 9 Mbit/s", slow, 2500),
        *_expected("jump to the end", end, 300),
        *_expected("rows in the document", rows.count(), 60),
    ]


def _see(tab: Tab, paths: Sequence[str]) -> None:
    """Go to one screen after the other."""
    for path in paths:
        tab.page.locator(f'nav a[href="/p/MAIN{path}"]').first.click()
        tab.page.wait_for_timeout(500)


def _review(tab: Tab, decisions: int) -> None:
    """Decide on so many pairs once the first is there."""
    expect(tab.page.locator("mark").first).to_be_visible()
    _decide(tab, decisions)


def _decide(tab: Tab, times: int) -> list[float]:
    """Reject so many pairs, one after the other; return how long each key took."""
    tab.recorded("keys")
    for _ in range(times):
        tab.page.keyboard.press("x")
        tab.page.wait_for_timeout(60)
    keys = tab.recorded("keys")
    return [*keys, *[_FIRST_FRAME_MS] * (times - len(keys))]


def _judged(name: str, milliseconds: Sequence[float], goal: float) -> list[str]:
    p50, p95 = (float(np.percentile(milliseconds, share)) for share in (50, 95))
    row(name, f"{p50:.1f}", f"{p95:.1f}", f"{goal:.0f}")
    return [] if p95 <= goal else [f"{name}: p95 {p95:.0f}, not {goal:.0f}"]


def _at_least(name: str, value: float, goal: float) -> list[str]:
    row(name, f"{value:.0f}", "", f"{goal:.0f} or more")
    return [] if round(value) >= goal else [f"{name}: {value:.0f}, not {goal:.0f}"]


def _expected(name: str, value: float, goal: float) -> list[str]:
    row(name, "", f"{value:.1f}", f"{goal:.0f}")
    return [] if value <= goal else [f"{name}: {value:.0f}, not {goal:.0f}"]
