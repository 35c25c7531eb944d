"""Takes result files: reads them outside of any transaction, then stores each in one."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, BinaryIO
from uuid import UUID, uuid4

import orjson
from fastapi import Request, Response
from psycopg.types.json import Json

from catalog_service.authorship import author
from catalog_service.exchange.jobs.service import problem_of
from catalog_service.exchange.jobs.upload import receive
from catalog_service.executions import completion, filling, runs, storing
from catalog_service.executions.read import Order, Read, Refusal, decoded, read
from catalog_service.executions.runs import RunSpec, StoredRun
from chassis.core.problems import Invalid
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_value
from chassis.files.archives import is_archive
from chassis.files.spools import open_spool
from chassis.messaging.events import Actor
from chassis.web.listing import Row

_MODULE = "catalog_service.executions.read"
_IN_A_THREAD = 1024 * 1024
_ARCHIVE_IN_A_THREAD = 16 * 1024
"""Bytes; larger files are read by a process of their own, which a file may kill without harm."""
_BLOCK = 1024 * 1024
_MOST_WARNED = 20
_places = asyncio.Semaphore(2)
"""Files that are read at once for this process."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take."""

    memory_bytes: int
    cpu_seconds: int
    results: int


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is taken, beside the run that it belongs to."""

    format: str = "auto"
    file_name: str | None = None
    shard: int | None = None
    shards: int | None = None
    attempt: int = 1
    unknown: str = "keep"
    duplicates: str = "worst"
    undefined_fails: bool = True
    link: bool = False


@dataclass(slots=True)
class Results:
    """A file of results that has been read: its rows, as COPY takes them, in `rows`."""

    file_name: str | None
    size: int
    sha256: str
    rows: BinaryIO
    read: Read = field(default_factory=lambda: Read("", {}, []))


async def receive_and_read(request: Request, options: Options, limits: Limits, meanwhile: ExitStack) -> Results:
    """Read the file of a request; raise what it is refused for. What it takes on disk goes with `meanwhile`."""
    file = meanwhile.enter_context(open_spool())

    async def store(number: int, data: bytes) -> None:
        await asyncio.to_thread(file.write, data)

    received = await receive(request, store)
    results = Results(
        options.file_name or received.file_name,
        received.size,
        received.sha256,
        meanwhile.enter_context(open_spool()),
    )
    order = Order(
        options.format,
        results.file_name,
        limits.results,
        options.undefined_fails,
        limits.memory_bytes,
        limits.cpu_seconds,
    )
    async with _places:
        found = await _read(file, results, order)
    if isinstance(found, Refusal):
        raise problem_of({"code": found.code, "detail": found.detail, "status": found.status, **found.members}, {})
    results.read = found
    return results


async def _read(file: BinaryIO, results: Results, order: Order) -> Read | Refusal:
    await asyncio.to_thread(file.flush)
    file.seek(0)
    most = _ARCHIVE_IN_A_THREAD if is_archive(file.read(512)) else _IN_A_THREAD
    file.seek(0)
    if results.size < most or isinstance(file, BytesIO) or isinstance(results.rows, BytesIO):
        return await asyncio.to_thread(read, file, results.rows, order)
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", _MODULE, orjson.dumps(asdict(order)).decode()),
        stdin=file,
        stdout=results.rows,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, said = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode == 0 and said:
        return decoded(said.splitlines()[-1])
    told = (
        "The file could not be read to its end: it takes more memory or time than there is for one file."
        " Send it in parts, or look whether it is damaged."
    )
    return Refusal("reader_ended", told, 422, {})


async def _blocks(rows: BinaryIO) -> AsyncIterator[bytes]:
    rows.seek(0)
    while block := await asyncio.to_thread(rows.read, _BLOCK):
        yield block


async def store(
    connection: Connection, results: Results, spec: RunSpec, options: Options, actor: Actor, *, default_branch: str
) -> Row:
    """Store a file in its run, in the caller's transaction; return the answer. Raise Conflict and Invalid."""
    now = datetime.now(UTC)
    if options.unknown == "create":
        await filling.lock_creations(connection)
    run, _ = await runs.open_run(connection, spec, author(actor), now)
    again = await fetch_value(
        connection,
        "SELECT id FROM run_uploads WHERE run_id = %s AND sha256 = %s",
        (run["id"], results.sha256),
    )
    if again is not None:
        return await _answered(connection, run["id"], again, _nothing_new())
    await storing.receive(connection, _blocks(results.rows))
    if results.read.has_attempts or options.duplicates == "last":
        await storing.keep_last_attempts(connection, every=options.duplicates == "last")
    await storing.gather(connection)
    unknown_ids = await storing.match(connection)
    await storing.find_tests(connection)
    matched = await storing.count_matches(connection)
    created = await _take_unknown(connection, options, run, actor)
    if options.unknown == "create":
        matched = replace(matched, matched=matched.matched + matched.unknown, unknown=0)
    warnings = [*results.read.warnings, *_warnings(matched, unknown_ids, options)]
    upload_id = uuid4()
    upload = {
        "id": upload_id,
        "run_id": run["id"],
        "sha256": results.sha256,
        "shard": options.shard,
        "shards": options.shards,
        "attempt": options.attempt,
        "format": results.read.format,
        "file_name": results.file_name,
        "size": results.size,
        "counts": Json(results.read.counts),
        "warnings": Json(warnings),
        "created_by": author(actor),
        "created_at": now,
    }
    await connection.execute(
        f"INSERT INTO run_uploads ({', '.join(upload)}) VALUES ({', '.join(f'%({name})s' for name in upload)})", upload
    )
    await storing.store(connection, storing.Run(run["id"], run["context_id"], run["at"]), options.attempt)
    if options.link:
        links, unknown_requirements = await filling.link(connection, actor)
        if unknown_requirements:
            warnings.append(_unknown("requirement", unknown_requirements))
            await connection.execute("UPDATE run_uploads SET warnings = %s WHERE id = %s", (Json(warnings), upload_id))
    else:
        links = 0
    ends = spec.key is None or await runs.has_all_shards(connection, run["id"])
    if ends or run["status"] == "completed":
        await completion.complete(connection, run["id"], actor, now, default_branch)
    return await _answered(
        connection,
        run["id"],
        upload_id,
        {
            "duplicate": False,
            "tests": matched.tests,
            "matched": matched.matched,
            "created": created,
            "links_created": links,
            "unknown": matched.unknown,
            "ambiguous": matched.ambiguous,
        },
    )


def _nothing_new() -> Row:
    return {"duplicate": True, "tests": 0, "matched": 0, "created": 0, "links_created": 0, "unknown": 0, "ambiguous": 0}


async def _answered(connection: Connection, run_id: UUID, upload_id: UUID, more: Row) -> Row:
    run = await runs.read(connection, run_id)
    upload = next(upload for upload in run.pop("uploads") if upload["id"] == upload_id)
    return {
        "run": run,
        "upload_id": upload_id,
        "format": upload["format"],
        "counts": upload["counts"],
        **more,
        "warnings": upload["warnings"],
    }


async def _take_unknown(connection: Connection, options: Options, run: StoredRun, actor: Actor) -> int:
    """Do with tests that no test case was found for what the caller wants; return how many test cases were made."""
    if options.unknown == "create":
        return await filling.create_test_cases(connection, run, actor)
    if options.unknown == "ignore":
        await storing.drop_unmatched(connection)
    elif options.unknown == "fail":
        unmatched = await storing.unmatched(connection)
        if unmatched:
            names = [".".join(filter(None, (test["class_name"], test["name"]))) for test in unmatched]
            raise Invalid(
                f"{len(names)} tests have no test case, the first is {names[0]!r}; nothing was stored."
                " Name the test case in the result, or send unknown=keep.",
                code="unknown_test",
                members={"tests": names[:100], "total": len(names)},
            )
    return 0


def _warnings(matched: storing.Matched, unknown_ids: list[str], options: Options) -> list[dict[str, Any]]:
    told = []
    if unknown_ids:
        told.append(_unknown("test case", unknown_ids))
    if matched.unknown and options.unknown == "keep":
        message = "Tests have no test case; GET /automated-tests?linked=false lists them."
        told.append({"code": "unknown_test", "message": message, "count": matched.unknown})
    if matched.ambiguous:
        message = "Several test cases have the automation id of a test; they count for none of them."
        told.append({"code": "ambiguous_automation_id", "message": message, "count": matched.ambiguous})
    return told


def _unknown(kind: str, ids: list[str]) -> dict[str, Any]:
    return {
        "code": f"unknown_{kind.replace(' ', '_')}",
        "message": f"Results name {kind}s that do not exist: {', '.join(ids[:_MOST_WARNED])}.",
        "count": len(ids),
        "ids": ids,
    }


async def transact(database: Database, work: Callable[[Connection], Awaitable[Response]], *, dry_run: bool) -> Response:
    """Do work in a transaction; a dry run leaves nothing behind."""
    if not dry_run:
        async with database.transaction() as connection:
            return await work(connection)
    async with database.connection() as connection, connection.transaction(force_rollback=True):
        return await work(connection)
