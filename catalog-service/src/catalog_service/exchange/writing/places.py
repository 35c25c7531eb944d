"""How many exports are made at once."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# In this process: each holds a connection and a thread while it is made.
_places = asyncio.Semaphore(2)


@asynccontextmanager
async def take_place() -> AsyncIterator[str]:
    """Wait until one more export may be made; its folder is gone at the end."""
    async with _places:
        with tempfile.TemporaryDirectory(prefix="export-") as folder:
            yield folder
