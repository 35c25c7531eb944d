"""What is told of coverage: drops, once a true crossing, whatever stops or runs beside the projector; and changes."""

import asyncio
import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from catalog_service.coverage import projector, repository
from catalog_service.coverage.projector import CoverageProjector
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, NewEvent
from chassis.messaging.payloads import Payload
from contracts.catalog import (
    ImportApplied,
    LinkCreated,
    LinkDeleted,
    RequirementCreated,
    RequirementDeleted,
    TestCaseCreated,
)
from testing import factories


def created(requirement: UUID) -> RequirementCreated:
    return RequirementCreated(requirement=factories.requirement(id=requirement))


def deleted(requirement: UUID) -> RequirementDeleted:
    return RequirementDeleted(requirement=factories.requirement(id=requirement))


def linked(requirement: UUID) -> LinkCreated:
    return LinkCreated(link=factories.link(requirement_id=requirement))


def unlinked(requirement: UUID) -> LinkDeleted:
    return LinkDeleted(link=factories.link(requirement_id=requirement))


def irrelevant() -> TestCaseCreated:
    return TestCaseCreated(test_case=factories.test_case())


async def tell(database: Database, events: Iterable[Payload]) -> None:
    """Record events and number them, as service and relay do."""
    async with database.transaction() as connection:
        await outbox.record(connection, [NewEvent(event, "an item", SYSTEM) for event in events])
    await outbox.number(database)


async def catch_up(database: Database, threshold: float = 0.8, rest: float = 0) -> None:
    """What a projector does that starts now; with a rest of 0 each change is judged by itself."""
    follower = CoverageProjector(database, threshold, rest)
    while await follower.project():
        pass


async def drops(database: Database) -> list[dict[str, Any]]:
    """Return the data of the events that tell of a drop, in order."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT envelope FROM outbox WHERE wire_name = 'catalog.coverage.dropped' ORDER BY id"
        )
        return [orjson.loads(row["envelope"])["data"] for row in await cursor.fetchall()]


async def state(database: Database) -> repository.State:
    async with database.transaction() as connection:
        return await repository.lock_state(connection)


def expected_drops(events: Sequence[Payload], threshold: float) -> list[tuple[int, int]]:
    """Return (covered, total) of each crossing, by counting everything anew after each event."""
    links: dict[UUID, int] = {}
    reached, found = False, []
    for event in events:
        if isinstance(event, RequirementCreated):
            links[event.requirement.id] = 0
        elif isinstance(event, RequirementDeleted):
            del links[event.requirement.id]
        elif isinstance(event, LinkCreated | LinkDeleted) and event.link.requirement_id in links:
            links[event.link.requirement_id] += 1 if isinstance(event, LinkCreated) else -1
        if links:
            covered = sum(count > 0 for count in links.values())
            was_reached, reached = reached, covered / len(links) >= threshold
            if was_reached and not reached:
                found.append((covered, len(links)))
    return found


def random_history(seed: int, length: int) -> list[Payload]:
    """Return events such as the service tells them: links of what is there, deletions with their links."""
    chance = random.Random(seed)
    links: dict[UUID, int] = {}
    history: list[Payload] = []
    while len(history) < length:
        what = chance.random()
        if not links or what < 0.08:
            requirement = UUID(int=chance.getrandbits(128), version=4)
            links[requirement] = 0
            history.append(created(requirement))
            continue
        requirement = chance.choice(list(links))
        if what < 0.15:
            gone = [unlinked(requirement) for _ in range(links.pop(requirement))]
            history += [deleted(requirement), *gone] if chance.random() < 0.5 else [*gone, deleted(requirement)]
        elif what < 0.65:
            links[requirement] += 1
            history.append(linked(requirement))
        elif what < 0.95 and links[requirement]:
            links[requirement] -= 1
            history.append(unlinked(requirement))
        else:
            history.append(irrelevant())
    return history


async def test_a_drop_is_told_when_coverage_goes_below_the_threshold(database: Database) -> None:
    requirements = [uuid4() for _ in range(5)]
    await tell(database, map(created, requirements))
    await tell(database, map(linked, requirements[:4]))
    await catch_up(database)
    assert await drops(database) == []

    await tell(database, [unlinked(requirements[0])])
    await catch_up(database)

    assert await drops(database) == [
        {"coverage": 0.6, "threshold": 0.8, "covered_requirements": 3, "total_requirements": 5}
    ]


async def test_a_drop_tells_by_what_request_it_was_caused(database: Database) -> None:
    requirement = uuid4()
    await tell(database, [created(requirement), linked(requirement)])
    cause = NewEvent(unlinked(requirement), "a link", SYSTEM, correlation_id="request-7")
    async with database.transaction() as connection:
        await outbox.record(connection, [cause])
    await outbox.number(database)
    await catch_up(database)

    async with database.connection() as connection:
        cursor = await connection.execute("SELECT envelope FROM outbox WHERE wire_name = 'catalog.coverage.dropped'")
        [row] = await cursor.fetchall()
    event = orjson.loads(row["envelope"])
    assert (event["correlationid"], event["causationid"]) == ("request-7", str(cause.id))


async def test_coverage_that_was_never_reached_does_not_drop(database: Database) -> None:
    requirements = [uuid4() for _ in range(5)]
    await tell(database, map(created, requirements))
    await tell(database, [linked(requirements[0]), unlinked(requirements[0])])
    await catch_up(database)
    assert await drops(database) == []


async def test_further_losses_below_the_threshold_are_no_further_drops(database: Database) -> None:
    requirements = [uuid4() for _ in range(5)]
    first, *others = requirements
    await tell(database, [created(first), linked(first)])
    await tell(database, map(created, others))
    await tell(database, [unlinked(first)])
    await catch_up(database)
    assert [(drop["covered_requirements"], drop["total_requirements"]) for drop in await drops(database)] == [(1, 2)]

    await tell(database, [linked(requirement) for requirement in requirements])
    await tell(database, [unlinked(others[0]), unlinked(others[1])])
    await catch_up(database)
    assert [(drop["covered_requirements"], drop["total_requirements"]) for drop in await drops(database)] == [
        (1, 2),
        (3, 5),
    ]


async def test_nothing_is_decided_while_there_is_no_requirement(database: Database) -> None:
    first, second = uuid4(), uuid4()
    await tell(database, [created(first), linked(first), deleted(first), unlinked(first)])
    await catch_up(database)
    assert await drops(database) == []
    assert (await state(database)).reached

    await tell(database, [created(second)])
    await catch_up(database)
    assert [drop["coverage"] for drop in await drops(database)] == [0]


@pytest.mark.parametrize("requirement_first", [True, False])
async def test_a_deleted_requirement_takes_its_links_along_in_whatever_order_that_is_told(
    database: Database, requirement_first: bool
) -> None:
    kept, gone = uuid4(), uuid4()
    await tell(database, [created(kept), created(gone), linked(gone), linked(gone), linked(kept)])
    links = [unlinked(gone), unlinked(gone)]
    await tell(database, [deleted(gone), *links] if requirement_first else [*links, deleted(gone)])
    # A link whose transaction had begun before the deletion's.
    await tell(database, [linked(gone), unlinked(gone)])
    await catch_up(database, threshold=0.5)

    after = await state(database)
    assert (after.total_requirements, after.covered_requirements) == (1, 1)
    assert await drops(database) == []
    async with database.connection() as connection:
        assert await repository.link_counts(connection, [kept, gone]) == {kept: 1}


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_long_history_gives_exactly_its_true_crossings_in_whatever_portions(
    database: Database, seed: int, threshold: float
) -> None:
    history = random_history(seed, 1500)
    chance = random.Random(seed)
    begin = 0
    while begin < len(history):
        end = begin + chance.choice([1, 7, 60, 700])
        await tell(database, history[begin:end])
        begin = end
        if chance.random() < 0.7:
            await CoverageProjector(database, threshold, 0).project()
    await catch_up(database, threshold)

    crossings = expected_drops(history, threshold)
    assert len(crossings) > 5 or threshold == 0
    assert [(drop["covered_requirements"], drop["total_requirements"]) for drop in await drops(database)] == crossings
    await catch_up(database, threshold)
    assert len(await drops(database)) == len(crossings)


async def test_several_projectors_at_once_tell_each_crossing_once(database: Database) -> None:
    history = random_history(3, 2500)
    await tell(database, history)
    await asyncio.gather(*(catch_up(database) for _ in range(4)))
    assert len(await drops(database)) == len(expected_drops(history, 0.8))


@pytest.mark.parametrize("step", ["save_link_counts", "delete_link_counts", "save_state", "record"])
async def test_a_projector_that_dies_at_any_step_leaves_all_to_the_next(
    database: Database, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    history = random_history(4, 1200)
    await tell(database, history)
    room: Any = outbox if step == "record" else repository
    real = getattr(room, step)

    async def die(connection: Connection, *arguments: Any) -> None:
        await real(connection, *arguments)
        raise asyncio.CancelledError

    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr(room, step, die)
            with suppress(asyncio.CancelledError):
                await CoverageProjector(database, 0.8, 0).project()
        await CoverageProjector(database, 0.8, 0).project()
    await catch_up(database)

    assert len(await drops(database)) == len(expected_drops(history, 0.8)) > 0


async def test_running_it_follows_what_is_told(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projector, "_POLL", 0.01)
    running = asyncio.create_task(CoverageProjector(database, 0.8, 0).run())
    requirement = uuid4()
    for number in range(1, 4):
        await tell(database, [linked(requirement)] if number > 1 else [created(requirement), linked(requirement)])
        await tell(database, [unlinked(requirement)])
        for _ in range(1000):
            if len(await drops(database)) == number:
                break
            await asyncio.sleep(0.01)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert len(await drops(database)) == 3


async def test_what_happens_through_the_api_is_judged_as_it_is(catalog: Any) -> None:
    async def judged() -> list[tuple[int, int]]:
        await outbox.number(catalog.database)
        await catch_up(catalog.database)
        told = await drops(catalog.database)
        return [(drop["covered_requirements"], drop["total_requirements"]) for drop in told]

    test_case = await catalog.test_case()
    for _ in range(3):
        requirement = await catalog.requirement()
        await catalog.link(requirement, test_case)
    assert await judged() == [(1, 2), (2, 3)]

    await catalog.delete(f"/requirements/{requirement['id']}")
    uncovered = await catalog.requirement()
    await catalog.delete(f"/requirements/{uncovered['id']}")
    assert await judged() == [(1, 2), (2, 3), (2, 3)]
    assert (await state(catalog.database)).reached

    await catalog.delete(f"/test-cases/{test_case['id']}")
    assert await judged() == [(1, 2), (2, 3), (2, 3), (1, 2)]
    summary = (await catalog.read("/reports/traceability-matrix"))["summary"]
    after = await state(catalog.database)
    assert after.total_requirements == summary["total_requirements"] == 2
    assert after.covered_requirements == summary["covered_requirements"] == 0


async def at_times(database: Database, history: Sequence[tuple[float, Payload]]) -> None:
    """Tell events as if they had been recorded at these seconds of the past."""
    began = datetime.now(UTC) - timedelta(days=1)
    for second, event in history:
        await tell(database, [event])
        async with database.transaction() as connection:
            await connection.execute(
                "UPDATE outbox SET envelope = jsonb_set(envelope::jsonb, '{time}', to_jsonb(%s::text))::text"
                " WHERE feed_seq = (SELECT max(feed_seq) FROM outbox)",
                ((began + timedelta(seconds=second)).isoformat(),),
            )


async def test_requirements_that_are_linked_one_by_one_as_they_are_entered_drop_nothing(database: Database) -> None:
    requirements = [uuid4() for _ in range(5)]
    for number, requirement in enumerate(requirements):
        await tell(database, [created(requirement)] if number % 2 else [created(requirement), linked(requirement)])
        await catch_up(database, rest=10)
    await tell(database, [linked(requirement) for requirement in requirements[1::2]])
    await catch_up(database, rest=10)
    assert await drops(database) == []
    assert (await state(database)).unjudged_since is not None

    await catch_up(database)
    assert await drops(database) == []
    assert (await state(database)).unjudged_since is None
    assert (await state(database)).reached


async def test_what_is_below_the_threshold_at_rest_is_told_once(database: Database) -> None:
    first, second = uuid4(), uuid4()
    history = [
        (0, created(first)),
        (1, linked(first)),
        (30, created(second)),
        (45, irrelevant()),
        (46, linked(second)),
        (60, unlinked(second)),
        (62, linked(second)),
    ]
    await at_times(database, history)
    await catch_up(database, rest=10)
    assert [(drop["covered_requirements"], drop["total_requirements"]) for drop in await drops(database)] == [(1, 2)]
    await catch_up(database, rest=10)
    assert len(await drops(database)) == 1


async def test_a_record_that_never_rests_is_judged_every_five_minutes(database: Database) -> None:
    first, second = uuid4(), uuid4()
    await at_times(database, [(0, created(first)), (1, linked(first)), (20, created(second))])
    await at_times(database, [(20 + second, created(uuid4())) for second in range(9, 320, 9)])
    await catch_up(database, rest=10)
    [drop, *_] = await drops(database)
    assert 1 < drop["total_requirements"] < 36


async def test_a_change_of_coverage_is_told_once_everything_is_read(database: Database) -> None:
    follower = CoverageProjector(database, 0.8)
    requirements = [uuid4() for _ in range(4)]

    async def told_after(*events: Payload) -> list[tuple[float, int, int]]:
        await tell(database, events)
        while await follower.project():
            pass
        rows = await _changes(database)
        return [(row["coverage"], row["covered_requirements"], row["total_requirements"]) for row in rows]

    assert await told_after() == []
    assert await told_after(*map(created, requirements), linked(requirements[0])) == [(0.25, 1, 4)]
    # A second link of the same, one link for another, and what does not count: the figures are what they were.
    assert len(await told_after(linked(requirements[0]), irrelevant())) == 1
    assert len(await told_after(linked(requirements[1]), unlinked(requirements[1]))) == 1
    assert (await told_after(*map(deleted, requirements)))[1:] == [(0, 0, 0)]
    # Who begins tells nothing that was told.
    await catch_up(database)
    assert len(await _changes(database)) == 2


async def _changes(database: Database) -> list[dict[str, Any]]:
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT envelope FROM outbox WHERE wire_name = 'catalog.coverage.changed' ORDER BY id"
        )
        return [orjson.loads(row["envelope"])["data"] for row in await cursor.fetchall()]


async def tell_of_import(database: Database, import_id: UUID, *events: Payload, at: datetime) -> None:
    """Record events of an import, and number them."""
    async with database.transaction() as connection:
        await outbox.record(
            connection, [NewEvent(event, "an item", SYSTEM, time=at, batch_id=import_id) for event in events]
        )
    await outbox.number(database)


def end_of(import_id: UUID) -> ImportApplied:
    return ImportApplied(import_id=import_id, format="csv", file_name=None, sha256=None, counts={})


async def test_an_import_is_judged_at_its_end(database: Database) -> None:
    covered, new = uuid4(), uuid4()
    await tell(database, [created(covered), linked(covered)])
    await catch_up(database)
    import_id, began = uuid4(), datetime.now(UTC) - timedelta(minutes=1)
    await tell_of_import(database, import_id, created(new), at=began)
    await catch_up(database)
    await tell(database, [irrelevant()])
    await catch_up(database)
    assert await drops(database) == []
    await tell_of_import(database, import_id, linked(new), end_of(import_id), at=began + timedelta(seconds=30))
    await catch_up(database)
    assert await drops(database) == []
    assert (await state(database)).open_imports == []
    another = uuid4()
    await tell_of_import(database, another, created(uuid4()), end_of(another), at=datetime.now(UTC))
    await catch_up(database)
    assert len(await drops(database)) == 1


async def test_an_import_that_dies_is_judged_in_the_end(database: Database) -> None:
    covered = uuid4()
    await tell(database, [created(covered), linked(covered)])
    await catch_up(database)
    began = datetime.now(UTC) - timedelta(minutes=6)
    await tell_of_import(database, uuid4(), created(uuid4()), at=began)
    await catch_up(database)
    assert len(await drops(database)) == 1
