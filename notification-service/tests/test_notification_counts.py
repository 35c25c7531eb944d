"""How many notifications a user has, and how many unread, is what counting says, though nobody counts them."""

import asyncio
from typing import TYPE_CHECKING, Any

from chassis.messaging.events import Actor
from contracts import catalog
from testing import factories

if TYPE_CHECKING:
    from conftest import World

INSERT = (
    "INSERT INTO notifications (event_id, user_id, type, title, message, data, created_at)"
    " SELECT gen_random_uuid(), user_id, 'system', 'Title', 'Text', '{}', now()"
    " FROM unnest(%s::bigint[]) AS user_id"
)


async def execute(world: "World", statement: str, *values: Any) -> None:
    async with world.database.statement() as connection:
        await connection.execute(statement, values)


async def counts(world: "World") -> dict[int, tuple[int, int]]:
    """Return what is kept of each user, total and unread: what counting says."""
    kept = await world.rows(
        "SELECT user_id, total, unread FROM notification_counts WHERE total <> 0 OR unread <> 0 ORDER BY user_id"
    )
    assert kept == await world.rows(
        "SELECT user_id, count(*) AS total, count(*) FILTER (WHERE read_at IS NULL) AS unread"
        " FROM notifications GROUP BY user_id ORDER BY user_id"
    )
    return {row["user_id"]: (row["total"], row["unread"]) for row in kept}


async def test_what_is_told_and_read_is_counted(world: "World") -> None:
    await world.tell_users([factories.user(world.ben, "reviewer")])
    await world.tell(
        *(catalog.RequirementCreated(requirement=factories.requirement()) for _ in range(3)),
        factories.coverage_dropped(),
    )
    assert await counts(world) == {1: (3, 3), 2: (1, 1)}
    first = (await world.notifications())[0]["id"]
    for _ in range(2):
        await world.ask("POST", f"/notifications/{first}/read")
    assert await counts(world) == {1: (3, 2), 2: (1, 1)}
    assert (await world.ask("POST", "/notifications/mark-all-read")).json() == {"marked": 2}
    assert await counts(world) == {1: (3, 0), 2: (1, 1)}
    assert (await world.read("/notifications/unread-count", world.ben))["unread_count"] == 1


async def test_who_was_told_nothing_has_none(world: "World") -> None:
    await world.tell(catalog.RequirementCreated(requirement=factories.requirement()))
    page = await world.read("/notifications", world.ben)
    assert (page["items"], page["total"], page["unread_count"]) == ([], 0, 0)


async def test_what_comes_again_counts_once(world: "World") -> None:
    event = world.envelope(catalog.RequirementCreated(requirement=factories.requirement()))
    await world.inbox.receive([event, event])
    await world.inbox.receive([event])
    assert await counts(world) == {1: (1, 1)}


async def test_what_is_deleted_or_given_to_another_user_is_counted(world: "World") -> None:
    await execute(world, INSERT, [1, 1, 1, 2, 3])
    await execute(world, "UPDATE notifications SET read_at = now() WHERE user_id = 2")
    await execute(world, "UPDATE notifications SET user_id = 4 WHERE user_id > 1")
    assert await counts(world) == {1: (3, 3), 4: (2, 1)}
    await execute(world, "DELETE FROM notifications WHERE user_id = 4")
    assert await counts(world) == {1: (3, 3)}


async def test_an_emptied_table_has_none(world: "World") -> None:
    await execute(world, INSERT, [1, 2])
    await world.rows("TRUNCATE notifications")
    assert await counts(world) == {}
    await execute(world, INSERT, [2])
    assert await counts(world) == {2: (1, 1)}


async def test_many_writers_at_once_neither_miscount_nor_wait_in_a_circle(world: "World") -> None:
    """Each names the users in an order of its own; a circle would end one of them with an error."""
    users = list(range(1, 21))

    async def tell_and_read(turn: int) -> None:
        await execute(world, INSERT, users[turn % 20 :] + users[: turn % 20])
        reader = Actor(users[turn % 20], "reader@example.com")
        response = await world.ask("POST", "/notifications/mark-all-read", reader)
        assert response.status_code == 200

    async with asyncio.timeout(120):
        await asyncio.gather(
            *(tell_and_read(turn) for turn in range(60)),
            *(world.tell(catalog.RequirementCreated(requirement=factories.requirement())) for _ in range(20)),
        )
    totals = {user: total for user, (total, _) in (await counts(world)).items()}
    assert totals == dict.fromkeys(users, 60) | {world.ana.id: 80}


async def test_a_reader_sees_the_counts_as_of_one_moment(world: "World") -> None:
    """What a transaction changes nobody else sees until it is committed."""
    await execute(world, INSERT, [1, 1])
    async with world.database.connection() as connection, connection.transaction(force_rollback=True):
        await connection.execute("DELETE FROM notifications")
        page = await world.read("/notifications")
        assert (len(page["items"]), page["total"], page["unread_count"]) == (2, 2, 2)
    assert await counts(world) == {1: (2, 2)}
