"""A consumer reads the feed itself when the bus brings nothing."""

import logging
from collections.abc import AsyncIterator

import httpx
import pytest
from happenings import Happened, apply, effects, record

from chassis.admin import positions
from chassis.core.problems import Unavailable
from chassis.db.database import Database
from chassis.messaging import outbox, pruning
from chassis.messaging.feed import Feed, OwnFeed
from chassis.messaging.inbox import Inbox
from chassis.server.app import create_app
from chassis.web.peers import Peer
from testing.internal import FOLLOWER, SIGNERS, trusting
from testing.postgres import as_owner


@pytest.fixture
async def peer(database: Database) -> AsyncIterator[Peer]:
    """The service of `database`."""
    source = create_app("source", [], database=database, verifier=trusting(), schema_version="0001")
    transport = httpx.ASGITransport(app=source)
    async with httpx.AsyncClient(transport=transport, base_url="http://source") as client:
        yield Peer("service", client, SIGNERS[FOLLOWER])


@pytest.fixture
async def feed(peer: Peer, other_database: Database) -> Feed:
    """The feed of `database`, entering `other_database`."""
    return Feed("test", peer, Inbox("test", other_database, {Happened: apply}))


async def test_what_the_bus_has_lost_is_read_from_the_feed(
    feed: Feed, database: Database, other_database: Database
) -> None:
    await record(database, "a", "b")
    await feed.catch_up_if_stalled()
    assert await effects(other_database) == [], "the bus gets its time"
    await record(database, "c")
    await feed.catch_up_if_stalled()
    assert await effects(other_database) == ["a", "b", "c"]


async def test_that_a_bus_has_lost_something_is_warned_of_but_not_that_a_source_told_before_it_was_followed(
    feed: Feed, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for what, level in (("told before, as before an upgrade", logging.INFO), ("lost", logging.WARNING)):
        caplog.clear()
        await record(database, what)
        await feed.catch_up_if_stalled()
        await feed.catch_up_if_stalled()
        (told,) = (record for record in caplog.records if "reading its feed" in record.getMessage())
        assert told.levelno == level, what


async def test_a_bus_that_brings_something_is_left_alone(
    feed: Feed, database: Database, other_database: Database
) -> None:
    await record(database, "a", "b")
    await feed.catch_up_if_stalled()
    [(_, first), _] = (await outbox.read(database, 0, 2)).events
    await Inbox("test", other_database, {Happened: apply}).receive([first])
    await feed.catch_up_if_stalled()
    assert await effects(other_database) == ["a"]


async def test_a_gap_is_filled_from_the_feed(feed: Feed, database: Database, other_database: Database) -> None:
    await record(database, "a", "b", "c")
    await outbox.number(database)
    [first, _, third] = [envelope for _, envelope in (await outbox.read(database, 0, 3)).events]
    await Inbox("test", other_database, {Happened: apply}).receive([first, third])
    await feed.catch_up_if_stalled()
    await feed.catch_up_if_stalled()
    assert sorted(await effects(other_database)) == ["a", "b", "c"]


async def set_back(database: Database, head: int) -> None:
    """What a restore of an older backup does to a feed."""
    async with database.transaction() as connection:
        await connection.execute("DELETE FROM outbox WHERE feed_seq > %s OR feed_seq IS NULL", (head,))
        await connection.execute("UPDATE feed_head SET head = %s", (head,))


@pytest.mark.parametrize("told_since", [["d"], ["d", "e", "f"]], ids=["still behind", "beyond again"])
async def test_a_source_that_was_restored_to_an_older_state_is_not_read_until_somebody_says_so(
    feed: Feed, database: Database, other_database: Database, caplog: pytest.LogCaptureFixture, told_since: list[str]
) -> None:
    await record(database, "a", "b", "c")
    await feed.catch_up()
    await set_back(database, 1)
    await record(database, *told_since)
    for _ in range(3):
        await feed.catch_up_if_stalled()
    assert await effects(other_database) == ["a", "b", "c"]
    assert "`python -m chassis.admin reread test` has it read again" in caplog.text
    async with other_database.connection() as connection:
        assert await positions.forget_position(connection, "test") == 3
    for _ in range(2):
        await feed.catch_up_if_stalled()
    assert await effects(other_database) == ["a", "b", "c", *told_since]


async def test_an_event_that_is_kept_with_its_error_was_received(
    feed: Feed, database: Database, other_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with as_owner(other_database) as connection:
        await connection.execute("ALTER TABLE effects ADD CONSTRAINT no_b CHECK (what <> 'b')")
    await record(database, "a", "b")
    await feed.catch_up()
    await feed.catch_up_if_stalled()
    assert "restored" not in caplog.text


async def test_an_event_counts_as_received_when_what_was_told_before_has_arrived(
    peer: Peer, database: Database, other_database: Database
) -> None:
    """`other_database` follows `database`, and is followed by `third`, which is away at first."""
    inbox = Inbox("copy", other_database, {Happened: apply})
    feed = Feed("test", peer, inbox, OwnFeed(other_database, ["third"]))

    async def told() -> list[int]:
        async with database.across() as connection:
            return [one["position"] for one in (await pruning.progress(connection))["consumers"]]

    await record(other_database, "from before")
    await record(database, "a")
    await feed.catch_up()
    await feed.catch_up_if_stalled()
    await record(other_database, "from after")
    await feed.catch_up_if_stalled()
    assert await told() == [0]
    async with other_database.across() as connection:
        await pruning.received(connection, "third", 1)
    await feed.catch_up_if_stalled()
    assert await told() == [1]


async def test_a_source_that_does_not_answer_is_unavailable(other_database: Database) -> None:
    async with httpx.AsyncClient(base_url="http://127.0.0.1:1") as client:
        inbox = Inbox("test", other_database, {Happened: apply})
        with pytest.raises(Unavailable):
            await Feed("test", Peer("service", client, SIGNERS[FOLLOWER]), inbox).catch_up()
