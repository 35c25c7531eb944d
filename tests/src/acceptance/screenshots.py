"""Pictures of the demo for the README: `python -m acceptance.screenshots FOLDER`."""

import sys
from pathlib import Path

from playwright.sync_api import ViewportSize, expect, sync_playwright

from acceptance import chromium
from acceptance.client import Traceline
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually
from contracts.projects import DEMO

SCREENS = {"dashboard": "", "review": "/review", "matrix": "/matrix"}
SIZE: ViewportSize = {"width": 1280, "height": 800}
STEADY_MS = 1500
"""What a screen needs until nothing on it moves any more."""


def main(folder: Path) -> None:
    """Start a demo, look at each screen, and put a picture of it into `folder`."""
    folder.mkdir(exist_ok=True)
    with (
        fresh_folder() as place,
        RunningTraceline(place, ("embedded", "--demo")) as running,
        Traceline(running.base_url) as anyone,
        sync_playwright() as playwright,
    ):
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).within(DEMO)
        eventually(lambda: admin.read("/suggestions")["total"] > 0, "suggestions of the demo")
        browser = playwright.chromium.launch(executable_path=chromium.program(), args=chromium.arguments())
        context = browser.new_context(base_url=running.base_url, viewport=SIZE)
        who = {"email": ADMIN_EMAIL, "password": ADMIN_PASSWORD}
        assert context.request.post("/session", data=who, headers={"Origin": running.base_url}).ok
        page = context.new_page()
        for name, path in SCREENS.items():
            page.goto(f"/p/DEMO{path}")
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            page.wait_for_timeout(STEADY_MS)
            page.screenshot(path=folder / f"{name}.png")
            print(folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
