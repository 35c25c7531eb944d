"""How much activity there is, and how long the audit log is, is what counting says, though little is counted."""

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from chassis.core.identity import Role
from chassis.web.listing import PageRequest
from contracts import auth, catalog
from notification_service import repository
from notification_service.queries import ActivityQuery
from testing import factories

if TYPE_CHECKING:
    from conftest import World

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))


async def execute(world: "World", statement: str, *values: Any) -> None:
    async with world.database.statement() as connection:
        await connection.execute(statement, values)


async def keep(world: "World", *minutes: int, resource_type: str = "requirement") -> None:
    """Store one entry each of `minutes` after noon, in one statement."""
    await execute(
        world,
        "INSERT INTO audit_entries (occurred_at, actor, action, resource_type, summary, request_id)"
        " SELECT occurred_at, 'ana@example.com', 'requirement.updated', %s, 'Text', 'request-1'"
        " FROM unnest(%s::timestamptz[]) AS occurred_at",
        resource_type,
        [NOON + timedelta(minutes=minute) for minute in minutes],
    )


async def counts(world: "World") -> dict[int, tuple[int, int]]:
    """Return what is kept of each hour of the day, total and activity: what counting says."""
    kept = await world.rows(
        "SELECT hour, total, activity FROM audit_entry_counts WHERE total <> 0 OR activity <> 0 ORDER BY hour"
    )
    assert kept == await world.rows(
        "SELECT date_bin('1 hour', occurred_at, '2000-01-01') AS hour, count(*) AS total,"
        " count(*) FILTER (WHERE resource_type <> 'user') AS activity FROM audit_entries GROUP BY 1 ORDER BY 1"
    )
    return {row["hour"].hour: (row["total"], row["activity"]) for row in kept}


async def test_what_is_kept_is_counted_with_and_without_accounts(world: "World") -> None:
    await world.tell(catalog.RequirementCreated(requirement=factories.requirement()), at=NOON)
    await world.tell(auth.UserCreated(user=factories.user(world.ben)), at=NOON + timedelta(minutes=59, seconds=59))
    await world.tell(factories.coverage_dropped(), factories.coverage_dropped(), at=NOON + timedelta(hours=1))
    assert await counts(world) == {12: (2, 1), 13: (2, 2)}
    page = await world.read("/audit-log", role=Role.ADMIN, limit=1)
    assert (len(page["items"]), page["total"]) == (1, 4)


async def test_what_is_deleted_or_changed_is_counted(world: "World") -> None:
    await keep(world, 0, 30, 60, 60, 120)
    await keep(world, 130, resource_type="user")
    await world.rows("UPDATE audit_entries SET occurred_at = occurred_at + interval '45 minutes'")
    assert await counts(world) == {12: (1, 1), 13: (3, 3), 14: (2, 1)}
    await world.rows("UPDATE audit_entries SET resource_type = 'user' WHERE occurred_at < %s", NOON.replace(hour=13))
    await world.rows("DELETE FROM audit_entries WHERE occurred_at >= %s", NOON.replace(hour=14))
    assert await counts(world) == {12: (1, 0), 13: (3, 3)}


async def test_an_emptied_audit_log_has_none(world: "World") -> None:
    await keep(world, 0)
    await world.rows("TRUNCATE audit_entries")
    assert await counts(world) == {}
    assert (await world.read("/audit-log", role=Role.ADMIN))["total"] == 0
    await keep(world, 60)
    assert await counts(world) == {13: (1, 1)}


@pytest.mark.parametrize(("since", "total"), [(-1, 6), (0, 6), (1, 5), (29, 5), (30, 5), (31, 4), (60, 3), (121, 0)])
@pytest.mark.parametrize("zone", [UTC, INDIA])
async def test_activity_counts_from_the_very_moment_on(world: "World", zone: timezone, since: int, total: int) -> None:
    """Whole hours are known, what is left of the first is counted, and none is counted twice."""
    await keep(world, 0, 30, 59, 60, 90, 120)
    await keep(world, 45, 75, resource_type="user")
    moment = (NOON + timedelta(minutes=since)).astimezone(zone)
    async with world.database.connection() as connection:
        wanted, conditions = PageRequest(repository.NEWEST_ENTRY, 100), ActivityQuery().conditions(moment, [])
        found = await repository.find_activity(connection, moment, conditions, wanted)
    assert (found.total, len(found.rows)) == (total, total)


async def test_a_filtered_audit_log_counts_what_it_lists(world: "World") -> None:
    await keep(world, 0, 30, 60)
    await keep(world, 0, resource_type="user")
    filters: tuple[tuple[dict[str, Any], int], ...] = (
        ({"resource_type": "user"}, 1),
        ({"since": "2026-01-31T12:30:00Z"}, 2),
        ({"actor": "!ana@example.com"}, 0),
    )
    for query, total in filters:
        assert (await world.read("/audit-log", role=Role.ADMIN, **query))["total"] == total
