"""What the trend tells, and what is kept for it."""

from datetime import UTC, datetime, timedelta

from catalog_service.coverage.repository import known_projects
from catalog_service.reports.repository import by_module
from catalog_service.snapshot import snapshot
from catalog_service.trend import repository
from catalog_service.trend.repository import Day
from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.web.listing import Row
from chassis.web.parameters import Choice, parse_words

_EVERY = timedelta(minutes=10)
_BEFORE_THE_END = timedelta(seconds=2)


async def trend(database: Database, days: int, module: str | None, now: datetime) -> list[Row]:
    """Return the figures of the last days, those of today as they are now; raise Invalid for `module`.

    They are of the whole record where no module is asked for. Days on which nothing was kept are left out.
    """
    modules, today = parse_words("module", module), now.date()
    async with snapshot(database) as connection:
        stored = await repository.between(connection, today - timedelta(days=days), today, modules)
        figures = await _figures(connection, now)
    return [_shown(day) for day in (*stored, *(day for day in figures if _is_chosen(day, modules)))]


async def keep_today(database: Database, now: datetime) -> None:
    """Store the figures of the day in each project, in place of those that were stored of it before."""
    for project in await known_projects(database):
        with projects.within(project):
            await _keep_today(database, now)


async def _keep_today(database: Database, now: datetime) -> None:
    async with snapshot(database) as connection:
        figures = await _figures(connection, now)
    async with database.transaction() as connection:
        await repository.keep(connection, now.date(), figures)


def until_next(now: datetime) -> timedelta:
    """Return how long to wait before today's figures are stored again: the last time just before the day ends."""
    end = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
    left = end - now - _BEFORE_THE_END
    return min(left, _EVERY) if left > timedelta() else _EVERY


async def _figures(connection: Connection, now: datetime) -> list[Day]:
    modules = [counts for counts in await by_module(connection) if counts["total_requirements"]]
    rows: list[Day] = [
        {
            "day": now.date(),
            "overall": False,
            "module": counts["module"] or "",
            "total_requirements": counts["total_requirements"],
            "covered_requirements": counts["covered_requirements"],
            "suspect_links": counts["suspect_links"],
        }
        for counts in modules
    ]
    overall: Day = {
        "day": now.date(),
        "overall": True,
        "module": "",
        "total_requirements": sum(row["total_requirements"] for row in rows),
        "covered_requirements": sum(row["covered_requirements"] for row in rows),
        "suspect_links": sum(row["suspect_links"] for row in rows),
    }
    return [overall, *rows]


def _is_chosen(day: Day, modules: Choice[str] | None) -> bool:
    if modules is None or day["overall"]:
        return modules is None and day["overall"]
    return (not modules.included or day["module"] in modules.included) and day["module"] not in modules.excluded


def _shown(day: Day) -> Row:
    total, covered = day["total_requirements"], day["covered_requirements"]
    return {
        "date": day["day"],
        "module": day["module"] or None,
        "overall": day["overall"],
        "total_requirements": total,
        "covered_requirements": covered,
        "suspect_links": day["suspect_links"],
        "coverage": covered / total if total else 0.0,
    }
