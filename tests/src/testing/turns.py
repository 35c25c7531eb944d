"""Others in the same process, who go on while something takes long."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Others:
    """Everybody else on the event loop: `turns` counts how often they were let in."""

    def __init__(self) -> None:
        self.turns = 0

    async def go_on(self) -> None:
        """Take turns for ever."""
        while True:
            self.turns += 1
            await asyncio.sleep(0)


@asynccontextmanager
async def others_at_work() -> AsyncIterator[Others]:
    """Have others go on meanwhile."""
    others = Others()
    going_on = asyncio.create_task(others.go_on())
    try:
        yield others
    finally:
        going_on.cancel()
