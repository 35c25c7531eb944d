"""Measures the page with a record of the size that its goals are for, and prints a table; ends by itself.

Figures of a browser say something on a machine that does nothing else. Each is measured in the page itself: a key until
the next picture by the browser's Event Timing, drawing by the time that its animation frames take.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvloop
from playwright.sync_api import sync_playwright

from acceptance import chromium
from acceptance.client import PASSWORD, Traceline
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from benchmarks.page import measures, screens
from benchmarks.page.tab import Tab
from benchmarks.scale.session import Session
from benchmarks.scale.sizes import Scale

MATRIX = Scale(10_000, 107_000)
LIST = Scale(100_000, 300_000)


def main() -> int:
    """Run it; return 1 when a goal was missed, and say which."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("--large", action="store_true", help=f"the lists and all screens with {LIST}")
    given = parser.parse_args()
    with fresh_folder() as place, RunningStack(place) as stack, Traceline(stack.base_url) as anyone:
        session = Session(stack, LIST if given.large else MATRIX, connections=1, rate=1)
        uvloop.run(session.grow(MATRIX))
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        reviewer = admin.new_user("reviewer")
        with _signed_in(stack.base_url, reviewer) as tab:
            missed = measures.of_review(tab) + measures.of_matrix(tab) + measures.of_memory(tab)
        if given.large:
            uvloop.run(session.grow(LIST))
        with _signed_in(stack.base_url, reviewer) as tab:
            missed += measures.of_lists(tab)
        ids = screens.fill(admin)
        with _signed_in(stack.base_url, admin, ADMIN_PASSWORD) as tab:
            missed += screens.of_screens(tab, ids)
    for one in missed:
        print(f"Missed: {one}.")
    return 1 if missed else 0


@contextmanager
def _signed_in(base_url: str, user: Traceline, password: str = PASSWORD) -> Iterator[Tab]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.program(), args=chromium.arguments())
        yield Tab(browser, base_url, {"email": user.me()["email"], "password": password})
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
