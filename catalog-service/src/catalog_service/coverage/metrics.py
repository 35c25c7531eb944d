"""How many requirements there are and how many of them are covered, for those who run Traceline."""

from prometheus_client import Metric

from catalog_service.coverage import repository
from chassis.db.database import Database
from chassis.observability.collectors import GaugeCollector, gauge

_MOST_MODULES = 50
_FRESH_FOR = 60.0
"""Seconds. It reads all requirements: a tenth of a second for 100,000 of them."""


def of_modules(database: Database) -> GaugeCollector:
    """Return the collector of the largest modules; the others are together `other`, requirements in none `none`."""

    async def read() -> list[Metric]:
        async with database.across() as connection:
            rows = await repository.by_module(connection, _MOST_MODULES)
        return [
            gauge(
                "traceline_requirements",
                "Requirements of a module.",
                ("module",),
                [((row["module"],), row["total"]) for row in rows],
            ),
            gauge(
                "traceline_coverage_ratio",
                "Share of them with at least one link, 0..1.",
                ("module",),
                [((row["module"],), row["covered"] / row["total"]) for row in rows],
            ),
        ]

    return GaugeCollector(read, _FRESH_FOR)
