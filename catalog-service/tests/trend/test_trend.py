"""Coverage day by day: what is kept of each day, and what is told of it."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from catalog_service.trend import service
from testing.service import problem

NOON = datetime.now(UTC).replace(hour=12, minute=0)


@pytest.fixture
async def trend(catalog: Any) -> Any:
    """Gives the trend of what is asked for, from a record without anything."""
    for path in ("/requirements", "/test-cases"):
        for item in (await catalog.read(path, limit=500))["items"]:
            await catalog.delete(f"{path}/{item['id']}")
    await catalog.rows("DELETE FROM coverage_days")

    async def read(**query: Any) -> list[tuple[date, str | None, int, int, int]]:
        return [
            (
                date.fromisoformat(day["date"]),
                "overall" if day["overall"] else day["module"],
                day["total_requirements"],
                day["covered_requirements"],
                day["suspect_links"],
            )
            for day in (await catalog.read("/reports/coverage-trend", **query))["items"]
        ]

    return read


def days_ago(number: int) -> datetime:
    return NOON - timedelta(days=number)


async def test_a_day_is_as_it_was_last_and_today_is_as_it_is_now(catalog: Any, trend: Any) -> None:
    today = datetime.now(UTC).date()
    requirement = await catalog.requirement(module="doors")
    await service.keep_today(catalog.database, days_ago(2))
    link = await catalog.link(requirement, await catalog.test_case())
    await service.keep_today(catalog.database, days_ago(2))
    await catalog.requirement()
    await service.keep_today(catalog.database, days_ago(1))
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Doors stay closed"})

    assert await trend() == [
        (today - timedelta(days=2), "overall", 1, 1, 0),
        (today - timedelta(days=1), "overall", 2, 1, 0),
        (today, "overall", 2, 1, 1),
    ]
    assert await trend(days=1) == [(today, "overall", 2, 1, 1)]
    await catalog.delete(f"/links/{link['id']}")
    assert await trend(days=2) == [(today - timedelta(days=1), "overall", 2, 1, 0), (today, "overall", 2, 0, 0)]
    assert (await catalog.read("/reports/coverage-trend"))["items"][0]["coverage"] == 1.0


async def test_modules_have_their_own_days_and_keep_them_when_they_vanish(catalog: Any, trend: Any) -> None:
    today = datetime.now(UTC).date()
    doors = await catalog.requirement(module="doors")
    gates = await catalog.requirement(module="gates")
    await catalog.requirement()
    await service.keep_today(catalog.database, days_ago(4))
    await catalog.patch(f"/requirements/{doors['id']}", {"module": "gates"})

    before = today - timedelta(days=4)
    assert await trend(module="doors,gates") == [
        (before, "doors", 1, 0, 0),
        (before, "gates", 1, 0, 0),
        (today, "gates", 2, 0, 0),
    ], "of the days between nothing is known"
    assert await trend(module='""') == [(before, None, 1, 0, 0), (today, None, 1, 0, 0)]
    assert await trend(module="!gates", days=1) == [(today, None, 1, 0, 0)]

    await service.keep_today(catalog.database, days_ago(1))
    for item in (doors, gates):
        await catalog.delete(f"/requirements/{item['id']}")
    await service.keep_today(catalog.database, days_ago(1))
    assert await trend(module="gates") == [(before, "gates", 1, 0, 0)], "it was gone at the end of that day"


async def test_a_record_of_nothing_has_days_too(catalog: Any, trend: Any) -> None:
    await service.keep_today(catalog.database, days_ago(1))
    assert [day[1:] for day in await trend()] == [("overall", 0, 0, 0)] * 2


@pytest.mark.parametrize("query", [{"days": 0}, {"days": 3651}, {"module": "doors,"}])
async def test_days_and_modules_that_are_none_are_refused(catalog: Any, query: dict[str, Any]) -> None:
    problem(await catalog.get("/reports/coverage-trend", **query), 422, field=f"/query/{next(iter(query))}")


@pytest.mark.parametrize(
    ("now", "wait"),
    [("08:00:00", 600), ("23:55:58", 240), ("23:59:58", 600), ("23:59:59", 600), ("00:00:00", 600)],
)
def test_the_last_look_at_a_day_is_just_before_its_end(now: str, wait: int) -> None:
    assert service.until_next(datetime.fromisoformat(f"2026-03-02T{now}Z")) == timedelta(seconds=wait)
