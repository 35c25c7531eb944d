"""The stream of events: what is told to whom, from where on, and until when."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import uuid4

import pytest

from chassis.core.identity import Identity, Role
from chassis.db.database import Database
from chassis.messaging.events import Actor
from chassis.messaging.payloads import Payload
from contracts import catalog, suggestion
from contracts.routes import NOTIFICATION
from notification_service import stream
from notification_service.stream import Stream, delete_old_events
from testing import factories
from testing.internal import token
from testing.streams import Following, following

from .conftest import ANA, BEN, World


def follow(
    world: World, who: Actor = ANA, *, after: int | None = None, query: str = ""
) -> AbstractAsyncContextManager[Following]:
    headers = {"authorization": f"Bearer {token(Identity(who.id, who.email, Role.VIEWER), NOTIFICATION.name)}"}
    if after is not None:
        headers["last-event-id"] = str(after)
    return following(world.app, "/api/v1/events", headers, query)


def updated(*states: catalog.RequirementState) -> list[Payload]:
    changes = {"title": catalog.Change(before="Lock", after="Lock the account")}
    return [catalog.RequirementUpdated(requirement=state, changes=changes) for state in states]


async def positions_of(world: World) -> list[int]:
    return [row["position"] for row in await world.rows("SELECT position FROM stream_events ORDER BY position")]


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that keeps no event in memory has to read each one again."""
    monkeypatch.setattr(stream, "_MOST_KEPT", 0)


async def test_a_stream_begins_now_with_what_the_caller_has_not_read(world: World) -> None:
    await world.tell(catalog.RequirementCreated(requirement=factories.requirement()), by=ANA)
    (position,) = await positions_of(world)
    async with follow(world, ANA) as of_ana, follow(world, BEN) as of_ben:
        assert (of_ana.status, of_ana.headers["content-type"]) == (200, "text/event-stream")
        assert await of_ana.next() == (position, "unread", {"unread_count": 1})
        assert await of_ben.next() == (position, "unread", {"unread_count": 0})
        assert of_ana.retry is not None
        assert 1000 <= of_ana.retry <= 5000


async def test_the_count_is_told_to_its_user_alone_whenever_it_changes(world: World) -> None:
    async with follow(world, ANA) as of_ana, follow(world, BEN) as of_ben:
        await of_ana.next()
        await of_ben.next()
        await world.tell(*(catalog.TestCaseCreated(test_case=factories.test_case()) for _ in range(3)), by=ANA)
        (created,) = await of_ana.events(1)
        unread = await of_ana.next()
        assert unread is not None
        assert (unread.name, unread.data, unread.id) == ("unread", {"unread_count": 3}, created.id)
        await world.ask("POST", "/notifications/mark-all-read")
        read = await of_ana.next()
        assert read is not None
        assert (read.name, read.data) == ("unread", {"unread_count": 0})
        await world.tell(*updated(factories.requirement()))
        told = await of_ben.next(), await of_ben.next()
        assert [event.name for event in told if event] == ["item.changed", "item.changed"]


async def test_items_that_changed_are_named_together(world: World) -> None:
    requirements = [factories.requirement() for _ in range(3)]
    link, relation = factories.link(), factories.relation()
    async with follow(world) as events:
        await world.tell(*(catalog.RequirementCreated(requirement=one) for one in requirements))
        await world.tell(
            *updated(requirements[0], requirements[0]),
            catalog.LinkCreated(link=link),
            catalog.LinkDeleted(link=link),
            catalog.RelationCreated(relation=relation),
        )
        told = await events.events(5)
    ids = [str(one.id) for one in requirements]
    assert [(event.name, event.data) for event in told] == [
        ("item.changed", {"resource_type": "requirement", "ids": ids, "change": "created"}),
        ("item.changed", {"resource_type": "requirement", "ids": ids[:1], "change": "updated"}),
        ("item.changed", {"resource_type": "link", "ids": [str(link.id)], "change": "created"}),
        ("item.changed", {"resource_type": "link", "ids": [str(link.id)], "change": "deleted"}),
        ("item.changed", {"resource_type": "relation", "ids": [str(relation.id)], "change": "created"}),
    ]


async def test_reviews_and_what_undid_them_are_told_with_who_and_when(world: World) -> None:
    one, many = factories.reviewed("rejected"), [factories.reviewed() for _ in range(501)]
    again = factories.reopened()
    bulk = suggestion.SuggestionsBulkReviewed(action="accept", suggestions=many)
    expired = suggestion.SuggestionsExpired(suggestion_ids=[one.id], reason="Nobody looked.")
    async with follow(world, BEN) as events:
        await world.tell(suggestion.SuggestionReviewed(suggestion=one), bulk, by=ANA)
        await world.tell(suggestion.SuggestionsReopened(suggestions=[again]), by=BEN)
        await world.tell(expired, by=world.system)
        told = await events.events(5)
    assert {event.name for event in told} == {"suggestion.reviewed"}
    assert [(event.data["status"], len(event.data["suggestion_ids"]), event.data["by"]) for event in told] == [
        ("rejected", 1, "ana@example.com"),
        ("accepted", 500, "ana@example.com"),
        ("accepted", 1, "ana@example.com"),
        ("pending", 1, "ben@example.com"),
        ("expired", 1, "system"),
    ]
    assert told[0].data["suggestion_ids"] == [str(one.id)]
    assert told[0].data["at"].endswith("Z")
    assert told[3].data["suggestion_ids"] == [str(again.id)]


async def test_how_far_a_run_is_and_its_end_are_told(world: World) -> None:
    finished = factories.run_finished(progress=1)
    figures = finished.model_dump(exclude={"status", "error", "progress"})
    going_on = [suggestion.RunProgressed(**figures, progress=progress) for progress in (0.25, 0.5)]
    async with follow(world) as events:
        await world.tell(*going_on)
        await world.tell(finished)
        told = await events.events(2)
    assert {event.name for event in told} == {"run.progress"}
    assert {event.data["run_id"] for event in told} == {str(finished.run_id)}
    assert [(event.data["status"], event.data["progress"]) for event in told] == [("running", 0.5), ("completed", 1)]
    assert set(told[0].data) == set(told[1].data)


async def test_how_far_an_import_is_is_told(world: World) -> None:
    import_id = uuid4()
    going_on = [
        catalog.ImportProgressed(import_id=import_id, status="applying", progress=progress) for progress in (0.7, 0.8)
    ]
    async with follow(world) as events:
        await world.tell(*going_on)
        (told,) = await events.events(1)
    assert told.name == "import.progress"
    assert told.data == {"import_id": str(import_id), "status": "applying", "progress": 0.8}


async def test_the_end_of_a_run_of_tests_is_told(world: World) -> None:
    counts = {"tests": 2, "passed": 1, "failed": 1, "flaky": 0, "skipped": 0}
    ended = catalog.TestRunCompleted(
        run_id=uuid4(), key="ci:1", name=None, branch="main", commit=None, environment=None, build_url=None,
        is_default_branch=True, counts=counts, newly_failed=[], newly_passed=[],
    )  # fmt: skip
    async with follow(world) as events:
        await world.tell(ended)
        (told,) = await events.events(1)
    assert told.name == "test_run.completed"
    assert told.data == {
        "run_id": str(ended.run_id),
        "branch": "main",
        "is_default_branch": True,
        "counts": counts,
    }


async def test_the_figures_of_coverage_are_told(world: World) -> None:
    async with follow(world) as events:
        await world.tell(
            *(catalog.CoverageChanged(coverage=n / 4, covered_requirements=n, total_requirements=4) for n in (1, 2)),
            by=world.system,
        )
        (told,) = await events.events(1)
    assert told.name == "coverage"
    assert told.data == {"coverage": 0.5, "covered_requirements": 2, "total_requirements": 4}


async def test_nothing_is_told_of_accounts(world: World) -> None:
    await world.tell_users([factories.user(ANA), factories.user(BEN)])
    assert await positions_of(world) == []


@pytest.mark.parametrize("how", ["header", "query", "header wins"])
async def test_who_comes_back_gets_what_was_missed_and_nothing_twice(world: World, how: str) -> None:
    async with follow(world) as events:
        await world.tell(*updated(factories.requirement()))
        (seen,) = await events.events(1)
    missed = [factories.requirement() for _ in range(3)]
    for one in missed:
        await world.tell(*updated(one))
    asked: dict[str, Any] = {
        "header": {"after": seen.id},
        "query": {"query": f"last_event_id={seen.id}"},
        "header wins": {"after": seen.id, "query": "last_event_id=0"},
    }[how]
    async with follow(world, **asked) as events:
        later = factories.requirement()
        await world.tell(*updated(later))
        told = await events.events(4)
    assert [event.data["ids"] for event in told] == [[str(one.id)] for one in (*missed, later)]
    assert [event.id for event in told] == (await positions_of(world))[1:]


@pytest.mark.usefixtures("small_memory")
async def test_what_is_not_in_memory_is_read_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_PAGE", 2)
    states = [factories.requirement() for _ in range(7)]
    for one in states[:5]:
        await world.tell(*updated(one))
    async with follow(world, after=0) as events:
        for one in states[5:]:
            await world.tell(*updated(one))
        told = await events.events(7)
    assert [event.data["ids"] for event in told] == [[str(one.id)] for one in states]


async def test_a_position_that_is_not_kept_is_reset(world: World) -> None:
    for _ in range(4):
        await world.tell(*updated(factories.requirement()))
    await world.rows("UPDATE stream_events SET stored_at = now() - interval '25 hours' WHERE position <= 3")
    await delete_old_events(world.database)
    assert await positions_of(world) == [4]
    for position, name in ((1, "reset"), (9, "reset"), (3, "item.changed"), (4, None)):
        async with follow(world, after=position) as events:
            told = await events.next()
            assert told is not None
            assert (told.name, told.id) == (name or "unread", 4), position
            # From there on it is a stream as any other.
            state = factories.requirement()
            await world.tell(*updated(state))
            (later,) = await events.events(1)
            assert later.data["ids"] == [str(state.id)]
        await world.rows("DELETE FROM stream_events WHERE position > 4")
        await world.rows("SELECT setval(pg_get_serial_sequence('stream_events', 'position'), 4)")


async def test_the_last_event_is_kept_however_old_and_not_too_many_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_KEPT_EVENTS", 2)
    for _ in range(4):
        await world.tell(*updated(factories.requirement()))
    await delete_old_events(world.database)
    assert await positions_of(world) == [3, 4]
    await world.rows("UPDATE stream_events SET stored_at = now() - interval '1 year'")
    await delete_old_events(world.database)
    assert await positions_of(world) == [4]


async def test_two_processes_tell_the_same(world: World) -> None:
    elsewhere = Database(world.database.url, pool_size=2)
    await elsewhere.open()
    async with follow(world) as here, follow(World(elsewhere)) as there:
        for _ in range(3):
            await world.tell(*updated(factories.requirement()))
        assert await here.events(3) == await there.events(3)
    await elsewhere.close()


async def test_a_stream_ends_when_the_server_stops_and_when_the_client_leaves(world: World) -> None:
    async with follow(world) as stays, follow(world) as leaves:
        leaves.has_left.set()
        await leaves.rest()
        await world.tell(*updated(factories.requirement()))
        assert len(await stays.events(1)) == 1
        stays.server_stops.set()
        await stays.rest()
        assert stays.is_over
    of_process: Stream = world.app.state.stream
    assert of_process._reading is None  # nothing is read for nobody


async def test_who_comes_while_the_server_stops_is_sent_away_with_a_hint(world: World) -> None:
    async with follow(world, after=0) as events:
        events.server_stops.set()
        await events.rest()
        assert events.retry is not None


async def test_a_waiting_stream_shows_that_it_is_there(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)
    async with follow(world) as events:
        await events.next()
        await events.comment()
        await events.comment()


async def test_of_batches_that_commit_at_the_same_time_none_is_missed(world: World) -> None:
    async def tell(some: World) -> None:
        for _ in range(10):
            await some.tell(*updated(factories.requirement()))

    async with follow(world) as events:
        await asyncio.gather(tell(world), tell(World(world.database)), tell(World(world.database)))
        told = await events.events(30)
    assert [event.id for event in told] == await positions_of(world)


@pytest.mark.parametrize("wrong", ["-1", "x", "1.5", "9223372036854775808"])
async def test_what_is_no_position_is_refused(world: World, wrong: str) -> None:
    for options in ({"headers": {"Last-Event-ID": wrong}}, {"params": {"last_event_id": wrong}}):
        answered = await world.ask("GET", "/events", **options)
        assert answered.status_code == 422, answered.text
        (error,) = answered.json()["errors"]
        assert error["pointer"].lower().replace("-", "_").endswith("last_event_id")
