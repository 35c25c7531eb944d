"""What a stranger may do so many times an hour from one address: each time is counted, in PostgreSQL."""

from datetime import timedelta
from math import ceil

from auth_service.throttle import repository
from chassis.core.addresses import network_of
from chassis.core.problems import TooManyRequests
from chassis.db.database import Database

_HOUR = timedelta(hours=1)


async def take(database: Database, action: str, address: str, limit: int) -> None:
    """Count one `action` from an address; raise TooManyRequests when there were `limit` within an hour already."""
    network = network_of(address)
    async with database.transaction() as connection:
        seconds = await repository.seconds_until_free(connection, action, network, limit, _HOUR)
        if seconds is None:
            await repository.insert_action(connection, action, network)
            return
    wait = max(1, ceil(seconds))
    raise TooManyRequests(
        f"There were {limit} such requests from your address within an hour; try again in {ceil(wait / 60)} min.",
        retry_after=wait,
    )


async def forget_old(database: Database) -> None:
    """Delete what counts no more."""
    async with database.connection() as connection:
        await repository.prune_actions(connection, _HOUR)
