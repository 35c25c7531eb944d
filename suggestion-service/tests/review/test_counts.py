"""The total of the queue is how many there are, though nobody counts them for it."""

import asyncio
from typing import Any

import pytest

PUMP = "the pump stops when the tank is full"
STATUSES = ("pending", "accepted", "rejected", "expired")


@pytest.fixture
async def queue(service: Any, catalog: Any) -> list[dict[str, Any]]:
    """Twelve pending suggestions, of three requirements and four test cases."""
    for number in range(3):
        catalog.requirement(f"{PUMP} {number}")
    for number in range(4):
        catalog.test_case(f"{PUMP} {number}")
    await service.follow()
    assert (await service.generate())["suggestions_created"] == 12
    return list(await service.suggestions())


async def assert_totals_are_what_counting_says(service: Any) -> dict[str, int]:
    """Return how many there are of each status."""
    rows = await service.rows("SELECT status, count(*) AS number FROM suggestions GROUP BY status")
    counted = dict.fromkeys(STATUSES, 0) | {row["status"]: row["number"] for row in rows}

    async def total(**filters: str) -> int:
        return int((await service.read("/suggestions", limit=1, **filters))["total"])

    assert {status: await total(status=status) for status in STATUSES} == counted
    assert await total() == sum(counted.values()) - counted["expired"]
    assert await total(status="pending,expired") == counted["pending"] + counted["expired"]
    assert await total(status="!pending") == sum(counted.values()) - counted["pending"]
    return counted


async def test_totals_follow_runs_reviews_expiry_and_deletion(service: Any, catalog: Any, queue: Any) -> None:
    ids = [suggestion["id"] for suggestion in queue]
    assert (await assert_totals_are_what_counting_says(service))["pending"] == 12
    await service.post(f"/suggestions/{ids[0]}/accept")
    await service.post(f"/suggestions/{ids[1]}/reject")
    await service.post("/suggestions/bulk-review", {"action": "reject", "ids": ids[2:4]})
    await service.rows("UPDATE suggestions SET created_at = now() - interval '31 days' WHERE id = %s", ids[4])
    await service.withdraw_old()
    after = {"pending": 7, "accepted": 1, "rejected": 3, "expired": 1}
    assert await assert_totals_are_what_counting_says(service) == after
    # Neither a review that comes too late nor a run that finds nothing new counts for anything.
    await service.post(f"/suggestions/{ids[0]}/reject", status=409)
    await service.generate()
    assert await assert_totals_are_what_counting_says(service) == after
    catalog.delete(next(iter(catalog.items)))
    await service.follow()
    assert sum((await assert_totals_are_what_counting_says(service)).values()) == 8


@pytest.mark.usefixtures("queue")
async def test_an_emptied_queue_has_none(service: Any, catalog: Any) -> None:
    await service.rows("TRUNCATE suggestions CASCADE")
    assert sum((await assert_totals_are_what_counting_says(service)).values()) == 0
    await service.generate()
    assert (await assert_totals_are_what_counting_says(service))["pending"] == 12


async def test_a_filter_that_narrows_further_counts_what_it_finds(service: Any, queue: Any) -> None:
    async def total(**filters: Any) -> int:
        return int((await service.read("/suggestions", status="pending", **filters))["total"])

    assert await total(requirement_id=queue[0]["requirement_id"]) == 4
    assert await total(test_case_id=f"!{queue[0]['test_case_id']}") == 9
    assert await total(search=f"{PUMP} 0") == 6
    assert await total(method="hybrid") == await total(max_score=0.1) == 0


async def test_a_reader_sees_the_rows_and_their_total_as_of_one_moment(service: Any, queue: Any) -> None:
    """Within a transaction that is not committed, and never will be, nobody else sees either."""
    async with service.database.connection() as connection, connection.transaction(force_rollback=True):
        await connection.execute("DELETE FROM suggestions")
        cursor = await connection.execute("SELECT sum(rows) AS rows FROM suggestion_counts")
        assert (await cursor.fetchone())["rows"] == 0
        assert (await assert_totals_are_what_counting_says(service))["pending"] == 12
    assert (await assert_totals_are_what_counting_says(service))["pending"] == 12


async def test_totals_are_right_after_many_writers_at_once(service: Any, queue: Any) -> None:
    async def review(suggestion: dict[str, Any], action: str) -> None:
        await service.post(f"/suggestions/{suggestion['id']}/{action}")

    async def move(status: str) -> None:
        await service.rows(
            "UPDATE suggestions SET status = %s WHERE id IN"
            " (SELECT id FROM suggestions WHERE run_id IS NULL ORDER BY id FOR UPDATE)",
            status,
        )

    async def copy() -> None:
        await service.rows(
            "INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method, status,"
            " created_at, requirement_text_sequence, test_case_text_sequence)"
            " SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0.5, 'hybrid', 'pending', now(), 1, 1"
            " FROM generate_series(1, 500)"
        )

    async with asyncio.timeout(120):
        await asyncio.gather(
            *(review(suggestion, "reject") for suggestion in queue[::2]),
            *(review(suggestion, "accept") for suggestion in queue[1::2]),
            *(copy() for _ in range(10)),
            *(move(status) for status in STATUSES * 2),
        )
    after = await assert_totals_are_what_counting_says(service)
    assert sum(after.values()) == 5012
    # A slot for each of the ten connections at the most, however many transactions there were.
    (slots,) = await service.rows(
        "SELECT max(number) AS most FROM (SELECT count(*) AS number FROM suggestion_counts GROUP BY status) s"
    )
    assert 1 <= slots["most"] <= 10


async def test_who_has_changed_suggestions_holds_up_nobody_who_changes_others(service: Any, queue: Any) -> None:
    """Each has changed one and then wants that of the other: only the suggestions themselves are waited for."""
    first, second, *others = [suggestion["id"] for suggestion in queue]
    change = "UPDATE suggestions SET status = 'expired' WHERE id = %s"
    async with service.database.transaction() as held:
        await held.execute(change, (first,))
        async with asyncio.timeout(120):
            await asyncio.gather(*(service.rows(change, other) for other in others))
        async with service.database.transaction() as another:
            await another.execute(change, (second,))
            await held.execute("SET LOCAL lock_timeout = '10s'")
            await held.execute(change, (others[0],))
    assert await assert_totals_are_what_counting_says(service) == dict.fromkeys(STATUSES, 0) | {"expired": 12}
