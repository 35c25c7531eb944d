"""The total of a list is how many there are, though nobody counts them for it."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import psycopg
import pytest

from chassis.core.identity import Identity, Role

LISTS = {"requirements": "/requirements", "test_cases": "/test-cases", "links": "/links"}


async def totals(catalog: Any) -> dict[str, int]:
    """Return what the lists say."""
    return {table: (await catalog.read(path, limit=1))["total"] for table, path in LISTS.items()}


async def counted(catalog: Any) -> dict[str, int]:
    """Return what counting says."""
    found = {}
    async with catalog.database.connection() as connection:
        for table in LISTS:
            cursor = await connection.execute(f"SELECT count(*) AS rows FROM {table}")
            found[table] = (await cursor.fetchone())["rows"]
    return found


async def test_totals_follow_what_is_created_and_deleted(catalog: Any) -> None:
    before = await totals(catalog)
    requirement, test_case = await catalog.pair()
    other = await catalog.test_case()
    await catalog.link(requirement, test_case)
    await catalog.link(requirement, other)
    after = await totals(catalog)
    assert {table: after[table] - before[table] for table in LISTS} == {"requirements": 1, "test_cases": 2, "links": 2}
    # The links go with the requirement.
    await catalog.delete(f"/requirements/{requirement['id']}")
    after = await totals(catalog)
    assert {table: after[table] - before[table] for table in LISTS} == {"requirements": 0, "test_cases": 2, "links": 0}
    assert after == await counted(catalog)


async def test_links_that_go_with_an_item_are_counted_off_from_its_project(catalog: Any) -> None:
    await catalog.link(*await catalog.pair())
    before = await totals(catalog)
    other = catalog.being(Identity(id=1, email="reviewer@example.test", role=Role.REVIEWER, project="COUNTED"))
    (requirement, test_case), (linked, deleted) = await other.pair(), await other.pair()
    for pair in ((requirement, test_case), (requirement, deleted), (linked, deleted)):
        await other.link(*pair)
    await other.delete(f"/test-cases/{deleted['id']}")
    assert await totals(other) == {"requirements": 2, "test_cases": 1, "links": 1}
    await other.delete(f"/requirements/{requirement['id']}")
    assert await totals(other) == {"requirements": 1, "test_cases": 1, "links": 0}
    assert await totals(catalog) == before == await counted(catalog)
    gaps = await other.read("/reports/gaps")
    assert [gaps[kind]["total"] for kind in ("uncovered_requirements", "orphan_test_cases")] == [1, 1]


async def test_what_is_refused_counts_for_nothing(catalog: Any) -> None:
    taken = (await catalog.requirement(external_id=catalog.word()))["external_id"]
    before = await totals(catalog)
    assert (await catalog.post("/requirements", catalog.item(external_id=taken))).status_code == 409
    assert await totals(catalog) == before == await counted(catalog)


async def test_totals_are_right_after_many_writers_at_once(catalog: Any) -> None:
    made = await asyncio.gather(*(catalog.requirement() for _ in range(60)))
    await asyncio.gather(
        *(catalog.delete(f"/requirements/{item['id']}") for item in made[:30]),
        *(catalog.test_case() for _ in range(30)),
    )
    assert await totals(catalog) == await counted(catalog)


async def test_who_has_counted_holds_up_nobody(catalog: Any) -> None:
    before = await totals(catalog)
    insert = (
        "INSERT INTO requirements (id, title, description, type, priority, status, created_at, updated_at)"
        " VALUES (gen_random_uuid(), 'Title', 'Text', 'technical', 'low', 'draft', now(), now())"
    )
    async with AsyncExitStack() as open_transactions:
        for _ in range(40):
            connection = await psycopg.AsyncConnection.connect(catalog.database.url)
            await open_transactions.enter_async_context(connection)
            await connection.execute("SET lock_timeout = '10s'")
            await connection.execute(insert)
        assert await totals(catalog) == before
    assert await totals(catalog) == before | {"requirements": before["requirements"] + 40} == await counted(catalog)


async def test_a_reader_sees_the_rows_and_their_total_as_of_one_moment(catalog: Any) -> None:
    """Within a transaction that is not committed yet, nobody else sees either."""
    before = await totals(catalog)
    async with catalog.database.connection() as connection, connection.transaction(force_rollback=True):
        await connection.execute("DELETE FROM links")
        await connection.execute("DELETE FROM requirements")
        assert await totals(catalog) == before
        cursor = await connection.execute(
            "SELECT coalesce(sum(rows), 0)::bigint AS rows FROM row_counts WHERE table_name = 'requirements'"
        )
        assert (await cursor.fetchone())["rows"] == 0
    assert await totals(catalog) == before == await counted(catalog)


@pytest.mark.parametrize("table", LISTS)
async def test_an_emptied_table_has_none(catalog: Any, table: str) -> None:
    await catalog.link(*await catalog.pair())
    await catalog.rows(f"TRUNCATE {table} CASCADE")
    assert (await totals(catalog))[table] == 0
    await catalog.link(*await catalog.pair())
    assert await totals(catalog) == await counted(catalog)


async def assert_links_are_counted(catalog: Any) -> None:
    """What is kept of each item's links, and of how many items have any, is what counting says."""
    async with catalog.database.connection() as connection:
        for item in ("requirement", "test_case"):
            kept = await connection.execute(f"SELECT {item}_id AS id, links FROM linked_{item}s ORDER BY 1")
            counted = await connection.execute(
                f"SELECT {item}_id AS id, count(*) AS links FROM links GROUP BY 1 ORDER BY 1"
            )
            rows = await kept.fetchall()
            assert rows == await counted.fetchall()
            total = await connection.execute(
                f"SELECT sum(rows) AS rows FROM row_counts WHERE table_name = 'linked_{item}s'"
            )
            assert (await total.fetchone() or {})["rows"] == len(rows)


async def test_links_are_counted_rightly_while_many_make_and_delete_them(catalog: Any) -> None:
    requirements = [await catalog.requirement() for _ in range(6)]
    test_cases = [await catalog.test_case() for _ in range(6)]
    pairs = [(requirement, test_case) for requirement in requirements for test_case in test_cases]
    links = await asyncio.gather(*(catalog.link(*pair) for pair in pairs[::2]))
    await assert_links_are_counted(catalog)
    await asyncio.gather(
        *(catalog.link(*pair) for pair in pairs[1:12:2]),
        *(catalog.delete(f"/links/{link['id']}") for link in links[:6]),
        *(catalog.delete(f"/requirements/{item['id']}") for item in requirements[2:]),
        catalog.delete(f"/test-cases/{test_cases[4]['id']}"),
    )
    await assert_links_are_counted(catalog)
    await catalog.rows("TRUNCATE links")
    await assert_links_are_counted(catalog)
