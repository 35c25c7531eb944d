"""The copy of auth's users is rebuilt from auth's feed; what people were told and the audit log stay."""

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from chassis.core.problems import Unavailable
from chassis.messaging.events import Actor
from chassis.messaging.rebuild import Rebuilt, rebuild
from contracts import auth
from notification_service.read_model import new_read_model
from testing import factories
from testing.feeds import page, pruned

if TYPE_CHECKING:
    from conftest import World

CLEO = Actor(3, "cleo@example.com")


async def rebuild_copy(world: "World", feed: list[bytes]) -> Rebuilt:
    async def read_feed(after: int, limit: int) -> bytes:
        return page(feed, after, limit)

    async with await psycopg.AsyncConnection.connect(
        world.database.url, autocommit=True, row_factory=dict_row, prepare_threshold=None
    ) as connection:
        return await rebuild(connection, new_read_model(), read_feed)


async def users(world: "World") -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in await world.rows("SELECT * FROM recipients ORDER BY user_id")]


async def execute(world: "World", statement: str) -> None:
    async with world.database.connection() as connection:
        await connection.execute(statement)


def a_feed(world: "World") -> list[bytes]:
    def of_user(told: Any) -> bytes:
        return world.envelope(told, subject=str(told.user.id))

    return [
        of_user(auth.UserCreated(user=factories.user(world.ana, "admin"))),
        of_user(auth.UserCreated(user=factories.user(world.ben))),
        world.envelope(auth.LoginFailed(email="x@example.com", address="::1", reason="wrong_password")),
        of_user(auth.UserCreated(user=factories.user(CLEO, "reviewer"))),
        of_user(auth.UserUpdated(user=factories.user(world.ben, "reviewer"), changes={})),
        of_user(auth.PasswordChanged(user=factories.user(world.ben, "reviewer"))),
    ]


async def test_wrong_missing_and_invented_users_are_put_right_and_nobody_is_told_again(world: "World") -> None:
    feed = a_feed(world)
    await world.inbox.receive(feed)
    right = await users(world)
    told = await world.rows("TABLE notifications"), await world.rows("TABLE audit_entries")
    await execute(world, "UPDATE recipients SET role = 'viewer', sequence = 1000 WHERE user_id = 2")
    await execute(world, "DELETE FROM recipients WHERE user_id = 3")
    await execute(world, "INSERT INTO recipients VALUES (99, 'phantom@example.com', 'Phantom', 'admin', true, 2)")

    rebuilt = await rebuild_copy(world, feed)

    assert rebuilt.corrected == {"recipients": 3, "projects": 0, "members": 0}
    assert await users(world) == right
    assert (await world.rows("TABLE notifications"), await world.rows("TABLE audit_entries")) == told
    assert (await rebuild_copy(world, feed)).corrected == {"recipients": 0, "projects": 0, "members": 0}


async def test_a_pruned_feed_gives_the_copy_and_adds_nothing_to_the_audit_log(world: "World") -> None:
    feed = a_feed(world)
    await world.inbox.receive(feed)
    right, audited = await users(world), await world.rows("TABLE audit_entries")
    left = pruned(feed, auth.EVENTS)
    assert len(left) == 3
    await execute(world, "DELETE FROM recipients")
    assert (await rebuild_copy(world, left)).corrected["recipients"] == 3
    assert await users(world) == right
    assert await world.rows("TABLE audit_entries") == audited


async def test_what_is_pruned_and_was_not_received_comes_before_the_rebuild(world: "World") -> None:
    feed = a_feed(world)
    await world.inbox.receive(feed[:2])
    right = await users(world)
    with pytest.raises(Unavailable, match="pruned up to event 5 and was received up to 2"):
        await rebuild_copy(world, pruned(feed, auth.EVENTS))
    assert await users(world) == right


async def test_an_event_that_comes_after_the_rebuild_takes_its_effects_once(world: "World") -> None:
    feed = a_feed(world)
    await world.inbox.receive(feed[:4])

    rebuilt = await rebuild_copy(world, feed)

    assert (rebuilt.reach.position, rebuilt.reach.head) == (4, 6)
    await world.inbox.receive(feed)
    assert [user[3] for user in await users(world)] == ["admin", "reviewer", "reviewer"]
    assert len(await world.rows("TABLE audit_entries")) == 6


async def test_a_source_that_was_set_back_is_followed_again(world: "World") -> None:
    feed = a_feed(world)
    await world.inbox.receive(feed)
    shorter = feed[:4]

    await rebuild_copy(world, shorter)

    assert [user[3] for user in await users(world)] == ["admin", "viewer", "reviewer"]
    assert await world.inbox.position("auth") == 4
    await world.inbox.receive(
        [world.envelope(auth.UserUpdated(user=factories.user(world.ben, "admin"), changes={}), sequence=5)]
    )
    assert [user[3] for user in await users(world)] == ["admin", "admin", "reviewer"]
    assert await world.inbox.position("auth") == 5
