"""Pauses between tries that grow, so that what is down is not asked all the time."""

import asyncio

from chassis.core.signals import wait_with_timeout


class Backoff:
    """A pause of `seconds` that doubles with each try, from `first` to `longest`."""

    def __init__(self, *, first: float = 0.1, longest: float = 5.0) -> None:
        self.seconds = first
        self._first = first
        self._longest = longest

    def restart_after(self, worked: float) -> None:
        """Begin anew if the last try worked for longer than the longest pause, in seconds: it had recovered."""
        if worked > self._longest:
            self.seconds = self._first

    async def wait(self, unless: asyncio.Event | None = None) -> None:
        """Pause, at most until `unless` is set."""
        seconds, self.seconds = self.seconds, min(self.seconds * 2, self._longest)
        if unless is None:
            await asyncio.sleep(seconds)
        else:
            await wait_with_timeout(unless, seconds)
