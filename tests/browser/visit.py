"""A browser's tab, and everything that happens in it and in what it opens."""

import time
from collections.abc import Callable
from typing import Any


class Visit:
    """What a page says and asks for, from its first moment. Dialogs are answered, as a person would to go on."""

    def __init__(self, context: Any) -> None:
        """`context`: of Playwright, used by nobody else."""
        self.context = context
        self.dialogs: list[str] = []
        self.console: list[str] = []
        self.complaints: list[str] = []
        """Errors and warnings of the console: of scripts, of the policy, of requests that failed."""
        self.requests: list[str] = []
        self.downloads: list[str] = []
        context.on("dialog", self._answer)
        context.on("console", lambda message: self._hear(message.type, message.text))
        context.on("weberror", lambda error: self._hear("error", str(error.error)))
        context.on("request", lambda request: self.requests.append(request.url))
        context.set_default_timeout(60_000)
        self.page = context.new_page()
        self.page.on("download", lambda download: self.downloads.append(download.url))

    def open(self, address: str) -> Any:
        """Go there, wait until everything is loaded and what that started has had its turn; return the response."""
        response = self.page.goto(address, wait_until="load")
        self.settle()
        return response

    def settle(self) -> None:
        """Let the page do what it has begun: a picture that fails, a dialog, a frame."""
        self.page.wait_for_timeout(100)

    def wait_for(self, look: Callable[[], object], seconds: float = 60.0) -> None:
        """Let the page go on until `look` finds something, or the time is over."""
        end = time.monotonic() + seconds
        while not look() and time.monotonic() < end:
            self.settle()

    def click_everything(self) -> None:
        """Click, where somebody would, what asks for it, until the page is another."""
        here = self.page.url
        for place in self.page.get_by_text("click").all() + self.page.locator("[value=click], [onclick]").all():
            if self.page.url == here and place.is_visible():
                place.click(force=True, timeout=2000, no_wait_after=True)
                self.settle()

    def _hear(self, kind: str, text: str) -> None:
        self.console.append(text)
        if kind in {"error", "warning"}:
            self.complaints.append(text)

    def _answer(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()
