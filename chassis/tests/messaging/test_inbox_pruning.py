"""An inbox forgets the ids of events of long ago, and applies each event once all the same."""

from datetime import UTC, datetime, timedelta

import pytest
from happenings import POISON, Happened, apply, apply_all, effects

from chassis.admin import positions
from chassis.db.database import Database
from chassis.db.rows import fetch_column
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox


@pytest.fixture
def inbox(database: Database) -> Inbox:
    """The inbox of `database`."""
    return Inbox("test", database, {Happened: apply})


def told(first: int, *whats: str, long_ago: bool = True) -> list[bytes]:
    """Return events from a place of a feed on."""
    time = datetime.now(UTC) - timedelta(days=40 if long_ago else 0)
    events = [NewEvent(Happened(what=what), "1", SYSTEM, time=time) for what in whats]
    return [sequenced(place, event.envelope()) for place, event in enumerate(events, first)]


async def known_by_id(database: Database) -> list[int | None]:
    async with database.across() as connection:
        return await fetch_column(connection, "SELECT place FROM inbox ORDER BY place")


async def let_time_pass(database: Database) -> None:
    """Have everything been applied 40 days ago."""
    async with database.across() as connection:
        await connection.execute("UPDATE inbox SET applied_at = applied_at - interval '40 days'")


async def read_anew(database: Database) -> None:
    async with database.across() as connection:
        await positions.forget_position(connection, "test")


async def test_an_event_that_comes_again_after_it_was_forgotten_does_nothing(inbox: Inbox, database: Database) -> None:
    events = told(1, "a", "b", "c")
    await inbox.receive(events)
    await let_time_pass(database)
    await inbox.forget_old()
    assert await known_by_id(database) == [3]
    assert [await inbox.knows(event) for event in events] == [True, True, True]
    await inbox.receive(list(reversed(events)))
    await read_anew(database)
    await inbox.receive(events, after=0)
    assert await effects(database) == ["a", "b", "c"]
    assert await inbox.position("test") == 3


async def test_what_was_applied_lately_or_lies_behind_a_gap_is_not_forgotten(inbox: Inbox, database: Database) -> None:
    first, second, third, fourth = told(1, "a", "b", "c", "d")
    await inbox.receive([first, second, fourth])
    await inbox.forget_old()
    assert await known_by_id(database) == [1, 2, 4]
    await let_time_pass(database)
    await inbox.forget_old()
    assert await known_by_id(database) == [2, 4]
    await inbox.receive([third, fourth, first])
    assert await effects(database) == ["a", "b", "d", "c"]


async def test_what_a_source_tells_anew_after_it_was_restored_is_applied(inbox: Inbox, database: Database) -> None:
    await inbox.receive(told(1, "a", "b", "c", "d"))
    await let_time_pass(database)
    await inbox.forget_old()
    anew = told(2, "e", "f", long_ago=False)
    assert not await inbox.knows(anew[0])
    await inbox.receive(anew)
    await read_anew(database)
    await inbox.forget_old()
    await inbox.receive(anew)
    assert await effects(database) == ["a", "b", "c", "d", "e", "f"]


async def test_an_event_that_failed_long_ago_is_applied_when_it_can_be(inbox: Inbox, database: Database) -> None:
    events = told(1, "a", POISON, "b")
    await inbox.receive(events)
    await let_time_pass(database)
    await inbox.forget_old()
    await Inbox("test", database, {Happened: apply_all}).receive(events)
    assert await effects(database) == ["a", "b", POISON]


async def test_ids_of_before_places_were_noted_go_once_nothing_can_lie_behind_a_gap(
    inbox: Inbox, database: Database
) -> None:
    events = told(1, "a", "b", "c", "d", "e")
    await inbox.receive(events[:3])
    async with database.across() as connection:
        await connection.execute("UPDATE inbox SET place = NULL")
    await inbox.receive(events[4:])
    await let_time_pass(database)
    await inbox.forget_old()
    assert await known_by_id(database) == [5, None, None, None]
    await inbox.receive(events[3:])
    await let_time_pass(database)
    await inbox.forget_old()
    assert await known_by_id(database) == [5]
    await inbox.receive(events)
    assert await effects(database) == ["a", "b", "c", "e", "d"]
