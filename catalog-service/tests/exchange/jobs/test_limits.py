"""What many imports, large files and hostile ones may take, and what is left of an import after its time."""

import asyncio
import random
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import orjson
import pytest

from catalog_service.exchange.import_loop import ImportLoop, clear_up
from catalog_service.exchange.planning.staging import Limits
from chassis.core.tasks import cancel_and_wait
from testing.service import ok, problem

LIMITS = Limits(rows=20, memory_bytes=1024**3, cpu_seconds=60)


@pytest.fixture
def sent(catalog: Any) -> Any:
    """Sends a file for which nobody waits."""

    async def send(*records: Any, content: bytes = b"") -> Any:
        body = content or b"".join(orjson.dumps(record) + b"\n" for record in records or [requirement(catalog)])
        headers = {"content-type": "application/x-ndjson", "prefer": "respond-async"}
        return await catalog.request("POST", "/imports", content=body, headers=headers)

    return send


def requirement(catalog: Any) -> Any:
    return {"kind": "requirement", "external_id": catalog.word(), **catalog.item()}


@pytest.fixture
async def working(catalog: Any) -> AsyncIterator[Any]:
    """Begins workers with other limits, and ends them."""
    tasks: list[asyncio.Task[None]] = []

    def begin(**limits: Any) -> list[asyncio.Task[None]]:
        loop = ImportLoop(catalog.database, replace(LIMITS, **limits))
        begun = [asyncio.create_task(work()) for work in (loop.read, loop.apply)]
        tasks.extend(begun)
        return begun

    yield begin
    await cancel_and_wait(*tasks)
    await catalog.rows("DELETE FROM import_jobs")


async def ended(catalog: Any, job: Any, *statuses: str) -> Any:
    """Return a job when it has one of these states."""
    for _ in range(400):
        job = await catalog.read(f"/imports/{job['id']}")
        if job["status"] in statuses:
            return job
        await asyncio.sleep(0.05)
    raise AssertionError(job)


async def test_five_imports_of_a_user_may_wait(catalog: Any, sent: Any, working: Any) -> None:
    waiting = [ok(await sent(), 202) for _ in range(5)]
    refused = await sent()
    problem(refused, 429, "too_many_imports")
    assert int(refused.headers["retry-after"]) > 0
    assert ok(await catalog.post(f"/imports/{waiting[0]['id']}/cancel"))["status"] == "cancelled"
    ok(await sent(), 202)


async def test_a_file_of_too_many_rows_is_refused(catalog: Any, sent: Any, working: Any) -> None:
    working()
    job = await ended(catalog, ok(await sent(*(requirement(catalog) for _ in range(21))), 202), "failed")
    assert job["error"]["code"] == "too_many_rows"


async def test_a_reader_that_needs_too_much_memory_fails_its_import_alone(
    catalog: Any, sent: Any, working: Any
) -> None:
    working(memory_bytes=64 * 1024**2)
    large = {**requirement(catalog), "description": "x" * 1024**2}
    failed = await ended(catalog, ok(await sent(large), 202), "failed")
    assert failed["error"]["code"] in {"reader_ended", "too_large"}
    await ended(catalog, ok(await sent(), 202), "planned")


async def test_a_small_archive_is_bounded_as_a_large_file_is(catalog: Any, sent: Any, working: Any) -> None:
    """It may hold much: in the worker itself it would get a MiB read at its ease, whatever it unpacks to."""
    working(memory_bytes=64 * 1024**2)
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.bin", random.Random(1).randbytes(20_000))
        archive.writestr("a.feature", "Feature: a\n" + ("  " + "b" * 90 + "\n") * 9_000)
    failed = await ended(catalog, ok(await sent(content=packed.getvalue()), 202), "failed")
    assert failed["error"]["code"] in {"reader_ended", "too_large"}


async def test_a_reader_that_takes_too_long_fails_its_import_alone(catalog: Any, sent: Any, working: Any) -> None:
    working(cpu_seconds=1, rows=10**6)
    line = orjson.dumps(requirement(catalog)) + b"\n"
    failed = await ended(catalog, ok(await sent(content=line * 200_000), 202), "failed")
    assert failed["error"]["code"] == "reader_ended"


async def test_an_import_whose_worker_died_is_read_again(catalog: Any, sent: Any, working: Any) -> None:
    job = ok(await sent(), 202)
    await catalog.rows(
        "UPDATE import_jobs SET status = 'reading', claim = gen_random_uuid(), attempts = 1,"
        " claimed_until = now() - interval '1 second' WHERE id = %s",
        job["id"],
    )
    await catalog.rows(
        "INSERT INTO import_rows (job_id, position, kind, row) VALUES (%s, 1, 'requirement', 1)", job["id"]
    )
    working()
    planned = await ended(catalog, job, "planned")
    assert planned["counts"]["requirements"]["create"] == 1


async def test_an_import_that_kills_its_workers_is_given_up(catalog: Any, sent: Any, working: Any) -> None:
    job = ok(await sent(), 202)
    await catalog.rows(
        "UPDATE import_jobs SET status = 'reading', attempts = 4, claimed_until = now() - interval '1 second'"
        " WHERE id = %s",
        job["id"],
    )
    working()
    failed = await ended(catalog, job, "failed")
    assert failed["error"]["code"] == "import_failed"


async def test_rows_that_a_crash_has_taken_are_read_again(catalog: Any, sent: Any, working: Any) -> None:
    working()
    record = requirement(catalog)
    job = await ended(catalog, ok(await sent(record), 202), "planned")
    await catalog.rows("DELETE FROM import_rows WHERE job_id = %s", job["id"])
    applied = ok(await catalog.post(f"/imports/{job['id']}/apply", {"expect": job["plan_hash"]}))
    assert applied["status"] == "applied"
    assert await catalog.read(f"/requirements/by-external-id/{record['external_id']}")


async def test_a_worker_that_is_stopped_gives_its_import_back(catalog: Any, sent: Any, working: Any) -> None:
    tasks = working(rows=10**6)
    line = orjson.dumps(requirement(catalog)) + b"\n"
    job = await ended(catalog, ok(await sent(content=line * 30_000), 202), "reading")
    await cancel_and_wait(*tasks)
    assert (await catalog.rows("SELECT attempts FROM import_jobs WHERE id = %s", job["id"])) == [{"attempts": 0}]
    working(rows=10**6)
    planned = await ended(catalog, job, "planned")
    assert planned["counts"]["requirements"]["error"] == 29_999


async def test_an_import_is_cancelled_while_it_is_read(catalog: Any, sent: Any, working: Any) -> None:
    working(rows=10**6)
    line = orjson.dumps(requirement(catalog)) + b"\n"
    job = await ended(catalog, ok(await sent(content=line * 30_000), 202), "reading")
    assert ok(await catalog.post(f"/imports/{job['id']}/cancel"))["status"] == "cancelled"
    # The worker goes on to the next one.
    await ended(catalog, ok(await sent(), 202), "planned")
    assert (await catalog.read(f"/imports/{job['id']}"))["status"] == "cancelled"


async def test_a_plan_expires_and_its_file_is_deleted(catalog: Any, sent: Any, working: Any) -> None:
    working()
    job = await ended(catalog, ok(await sent(), 202), "planned")
    await clear_up(catalog.database)
    assert await catalog.rows("SELECT FROM import_chunks WHERE job_id = %s", job["id"])
    await catalog.rows("UPDATE import_jobs SET expires_at = now() - interval '1 second' WHERE id = %s", job["id"])
    await clear_up(catalog.database)
    over = await catalog.read(f"/imports/{job['id']}")
    assert (over["status"], over["counts"]) == ("expired", job["counts"])
    for table in ("import_chunks", "import_rows"):
        assert await catalog.rows(f"SELECT FROM {table} WHERE job_id = %s", job["id"]) == []
    problem(await catalog.get(f"/imports/{job['id']}/rows"), 410, "import_rows_gone")
    problem(await catalog.post(f"/imports/{job['id']}/apply", {}), 409, "import_not_planned")


async def test_the_file_of_an_import_goes_once_it_is_applied_and_its_rows_stay_a_while(
    catalog: Any, sent: Any, working: Any
) -> None:
    working()
    job = await ended(catalog, ok(await sent(), 202), "planned")
    await catalog.post(f"/imports/{job['id']}/apply", {})
    await ended(catalog, job, "applied")
    await clear_up(catalog.database)
    assert await catalog.rows("SELECT FROM import_chunks WHERE job_id = %s", job["id"]) == []
    assert (await catalog.read(f"/imports/{job['id']}/rows"))["total"] > 0


async def test_an_upload_that_broke_off_is_seen_by_nobody_and_deleted(catalog: Any) -> None:
    await catalog.rows(
        "INSERT INTO import_jobs (id, status, kind, options, created_by, correlation_id, created_at)"
        " VALUES (gen_random_uuid(), 'received', 'all', '{}', 'kim', 'c', now() - interval '2 hours')"
    )
    assert (await catalog.read("/imports", created_by="kim"))["total"] == 0
    await clear_up(catalog.database)
    assert await catalog.rows("SELECT FROM import_jobs WHERE created_by = 'kim'") == []


async def test_two_imports_of_one_file_at_once_make_nothing_twice(catalog: Any, sent: Any, working: Any) -> None:
    working()
    records = [requirement(catalog) for _ in range(10)]
    jobs = [await ended(catalog, ok(await sent(*records), 202), "planned") for _ in range(2)]
    answers = await asyncio.gather(*(catalog.post(f"/imports/{job['id']}/apply", {}) for job in jobs))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    refused = next(answer.json() for answer in answers if answer.status_code == 409)
    assert (refused["code"], refused["counts"]["requirements"]["unchanged"]) == ("record_changed", 10)
