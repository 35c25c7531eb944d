"""Cancelling tasks."""

import asyncio
from typing import Any

_AGAIN_AFTER = 0.5


async def cancel_and_wait(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until they have ended.

    Once is not enough: asyncio.wait_for swallows a cancellation that comes just when what it waits for is there
    (Python 3.11), and whoever waits in a loop then goes on.
    """
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=_AGAIN_AFTER)
