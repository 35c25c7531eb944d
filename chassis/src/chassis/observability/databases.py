"""Whether a service's database answers, and how much of its connections is in use."""

import asyncio

from prometheus_client import Metric

from chassis.db.database import AWAY, Database
from chassis.observability.collectors import GaugeCollector, gauge

_PATIENCE = 1.0
_LABELS = ("database",)


def of_pool(database: Database) -> GaugeCollector:
    """Return the collector of this process's connections; it makes no query."""

    async def read() -> list[Metric]:
        name, use = (database.name,), database.use()
        return [
            gauge("traceline_database_pool_size", "Connections there may be.", _LABELS, [(name, use.size)]),
            gauge("traceline_database_pool_available", "Connections that are idle.", _LABELS, [(name, use.available)]),
            gauge("traceline_database_pool_waiting", "Who waits for a connection.", _LABELS, [(name, use.waiting)]),
        ]

    return GaugeCollector(read, fresh_for=0)


def of_storage(database: Database) -> GaugeCollector:
    """Return the collector of whether this process can store something; it makes a query only while it could not."""

    async def read() -> list[Metric]:
        meaning = "1 while nothing is stored, since the volume of the database is full."
        is_full = not await _has_room(database)
        return [gauge("traceline_database_storage_full", meaning, _LABELS, [((database.name,), is_full)])]

    return GaugeCollector(read)


def of_database(database: Database) -> GaugeCollector:
    """Return the collector of whether the database answers."""

    async def read() -> list[Metric]:
        meaning = "1 when the database answers within a second."
        return [gauge("traceline_database_up", meaning, _LABELS, [((database.name,), await _answers(database))])]

    return GaugeCollector(read)


async def _answers(database: Database) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE), database.connection() as connection:
            await connection.execute("SELECT")
    except (*AWAY, TimeoutError):
        return False
    return True


async def _has_room(database: Database) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await database.has_room()
    except (*AWAY, TimeoutError):
        return not database.storage.is_full
