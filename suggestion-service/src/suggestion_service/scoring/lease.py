"""Holding a claim: extended while the work goes on, and given back at once by a worker that is stopped."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from chassis.db.database import AWAY, Connection, Database

_log = logging.getLogger(__name__)

_HEARTBEAT = 4
"""Seconds between two extensions: some of them may fail before a claim of 15 seconds is over."""
_PATIENCE = 3
"""Seconds that a worker which is stopped spends on giving back."""

Claim = Callable[[Connection], Awaitable[None]]
"""Does one thing with a claim, by one statement."""


@asynccontextmanager
async def held(database: Database, extend: Claim, release: Claim) -> AsyncIterator[None]:
    """Keep a claim for the time of the block.

    Cancelled, it gives the claim back; a worker that fails or dies leaves it to run out.
    """
    holding = asyncio.create_task(_hold(database, extend))
    try:
        yield
    except asyncio.CancelledError:
        try:
            async with asyncio.timeout(_PATIENCE), database.statement() as connection:
                await release(connection)
        except (*AWAY, TimeoutError) as error:
            _log.warning("A claim could not be given back and has to run out: %s", error)
        raise
    finally:
        holding.cancel()


async def _hold(database: Database, extend: Claim) -> None:
    while True:
        await asyncio.sleep(_HEARTBEAT)
        with suppress(*AWAY):
            async with database.connection() as connection:
                await extend(connection)
