"""How many items lack embeddings, for those who run Traceline."""

from prometheus_client import Metric

from chassis.db.database import Database
from chassis.observability.collectors import GaugeCollector, gauge
from suggestion_service.store import embeddings

_FRESH_FOR = 300.0
"""Seconds. It reads the texts of all items: a second for 200,000 of them."""


def of_embeddings(database: Database) -> GaugeCollector:
    """Return the collector of a service that wants embeddings: without pgvector or a model, all items lack them."""

    async def read() -> list[Metric]:
        async with database.across() as connection:
            missing = await embeddings.missing(connection)
        meaning = "Items without vectors of their present text, when there are to be any."
        return [gauge("traceline_embeddings_missing", meaning, (), [((), missing)])]

    return GaugeCollector(read, _FRESH_FOR)
