"""Jobs say that items wait: enough of them, no more than needed, and again when they were lost."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chassis.messaging.bus.in_process import InProcessBus
from suggestion_service.scoring.jobs import QUEUE, ScoringJobs
from suggestion_service.store import scoring_queue

PUMP = "the pump stops when the tank is full"


class Jobs:
    """What another worker gets to do."""

    def __init__(self, service: Any) -> None:
        self.received: list[bytes] = []
        self.bus = InProcessBus()
        self.bus.take_part(QUEUE, self._receive)
        self.sender = ScoringJobs(service.database, self.bus)

    async def _receive(self, job: bytes) -> None:
        self.received.append(job)


@pytest.fixture
async def jobs(service: Any) -> AsyncIterator[Jobs]:
    taking_part = Jobs(service)
    await taking_part.bus.start()
    yield taking_part
    await taking_part.bus.stop()


async def wait(service: Any, number: int) -> None:
    """Let so many more items wait."""
    await service.rows(
        "WITH new AS (INSERT INTO items (id, side, title, tags, priority, text, terms, text_sequence, sequence, change,"
        " deleted) SELECT gen_random_uuid(), 'requirement', '', '{}', '', '{}', '{}', 1, 1, 1, false"
        " FROM generate_series(1, %s) RETURNING id)"
        " INSERT INTO scoring_queue (item_id, sequence, actor_email, correlation_id) SELECT id, 1, '', '' FROM new",
        number,
    )


async def test_there_is_a_job_for_each_200_items_and_none_twice(service: Any, jobs: Jobs, eventually: Any) -> None:
    await wait(service, 401)
    assert await jobs.sender.send() == 401
    assert await jobs.sender.send() == 0
    await wait(service, 1)
    assert await jobs.sender.send() == 1

    async def sent() -> bool:
        return len(jobs.received) >= 4

    await eventually(sent)
    assert len(jobs.received) == 4


async def test_two_senders_at_once_send_for_different_items(service: Any, jobs: Jobs) -> None:
    await wait(service, 300)
    assert sum(await asyncio.gather(*(jobs.sender.send() for _ in range(4)))) == 300


async def test_of_very_many_items_only_so_many_are_announced_at_a_time(service: Any, jobs: Jobs) -> None:
    await wait(service, 4500)
    assert await jobs.sender.send() == 4000
    assert await jobs.sender.send() == 0
    async with service.database.connection() as connection:
        assert len(await scoring_queue.claim(connection, 200)) == 200
    assert await jobs.sender.send() == 200


@pytest.mark.parametrize(
    "meanwhile",
    [
        "UPDATE scoring_queue SET announced_until = now() - interval '1 second'",
        "UPDATE scoring_queue SET announced_until = NULL, claimed_until = now() - interval '1 second'",
    ],
    ids=["the job was lost", "who did it died"],
)
async def test_a_job_comes_again_when_nothing_came_of_it(service: Any, jobs: Jobs, meanwhile: str) -> None:
    await wait(service, 1)
    assert await jobs.sender.send() == 1
    await service.rows(meanwhile)
    assert await jobs.sender.send() == 1


async def test_nothing_is_sent_for_what_is_claimed_or_not_due(service: Any, jobs: Jobs) -> None:
    await wait(service, 2)
    async with service.database.connection() as connection:
        await scoring_queue.claim(connection, 1)
    await service.rows("UPDATE scoring_queue SET due_at = now() + interval '5 seconds' WHERE claim IS NULL")
    assert await jobs.sender.send() == 0


async def test_jobs_are_sent_once_what_was_queued_is_committed(
    service: Any, catalog: Any, jobs: Jobs, eventually: Any
) -> None:
    sending = asyncio.create_task(jobs.sender.run())
    await wait(service, 1)

    async def one() -> bool:
        return len(jobs.received) == 1

    async def two() -> bool:
        return len(jobs.received) == 2

    jobs.sender.queued()
    await eventually(one)  # listening began before anybody had looked
    async with service.database.transaction() as connection:
        jobs.sender.queued()
        await connection.execute(
            "INSERT INTO scoring_queue (item_id, sequence, actor_email, correlation_id)"
            " VALUES (gen_random_uuid(), 1, '', '')"
        )
    await eventually(two)
    sending.cancel()


async def test_what_waits_without_a_job_is_found_by_the_sweep(service: Any, catalog: Any, eventually: Any) -> None:
    catalog.requirement(PUMP)
    catalog.test_case(PUMP)
    await service.follow()
    async with service.working():
        assert len(await eventually(service.suggestions)) == 1
