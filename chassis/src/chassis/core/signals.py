"""Waking up whoever waits for something to have happened."""

import asyncio


class Signal:
    """Wakes everybody who listens. Each has an event of their own, and clears it before they look."""

    def __init__(self) -> None:
        self._events: list[asyncio.Event] = []

    def listener(self) -> asyncio.Event:
        """Return an event that is set each time from now on; it is set at first, since its owner has not looked yet."""
        event = asyncio.Event()
        event.set()
        self._events.append(event)
        return event

    def set(self) -> None:
        """Wake all listeners."""
        for event in self._events:
            event.set()


async def wait_with_timeout(event: asyncio.Event, seconds: float) -> bool:
    """Wait until `event` is set, for so many seconds at most; return whether it was."""
    # Not asyncio.wait_for: it swallows a cancellation that comes just when the event is set (Python 3.11).
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
