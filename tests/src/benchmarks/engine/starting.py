"""How long a worker takes at its start until all items are in memory."""

import asyncio
from pathlib import Path

from benchmarks.engine.measuring import TooSlow, Watch, measure
from benchmarks.engine.record import fill
from benchmarks.engine.sizes import Size
from benchmarks.engine.table import header, row, seconds
from benchmarks.engine.texts import make_items
from chassis.core import projects
from chassis.db.database import Database
from suggestion_service.scoring.corpus import LiveCorpus
from testing.postgres import PostgresServer, postgres_of_the_wheel

_GOAL = 10


def main(_: Path, sizes: list[Size], within: float) -> bool:
    """Print a table of the sizes."""
    header("Loading all items at a worker's start", "items", "s", "goal", "items/s", "peak MB")
    with postgres_of_the_wheel() as url:
        server = PostgresServer(url)
        for size in sizes:
            database_url = server.database("suggestion_service")
            asyncio.run(fill(make_items(size), suggestion_url=database_url))
            try:
                loaded = measure(_refresh, within, database_url)
            except TooSlow:
                row("LiveCorpus.refresh", f"{size.items:,}", f"over {within:,g}", f"{_GOAL}")
                continue
            took = loaded.median
            cells = (f"{size.items:,}", seconds(took), f"{_GOAL}", f"{size.items / took:,.0f}")
            row("LiveCorpus.refresh", *cells, f"{loaded.peak / 1e6:,.0f}")
    return True


def _refresh(watch: Watch, database_url: str) -> None:
    asyncio.run(_refreshed(watch, database_url))


async def _refreshed(watch: Watch, database_url: str) -> None:
    database = Database(database_url, project=projects.MAIN)
    await database.open()
    corpus = LiveCorpus(database)
    with watch():
        await corpus.refresh()
    await database.close()
