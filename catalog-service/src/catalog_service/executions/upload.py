"""Takes result files: reads them outside of any transaction, then stores each in one."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from io import SEEK_END, BytesIO
from typing import Any, BinaryIO
from uuid import UUID, uuid4

import orjson
from fastapi import Request, Response
from psycopg.errors import DeadlockDetected
from psycopg.types.json import Json

from catalog_service.authorship import author
from catalog_service.exchange.jobs.service import problem_of
from catalog_service.exchange.jobs.upload import Store, receive_all
from catalog_service.executions import completion, filling, identities, incoming, lanes, remarks, runs, storing
from catalog_service.executions.read import NO_RESULTS, TRIES, Order, Read, Refusal, decoded, health_of, read
from catalog_service.executions.runs import RunSpec, StoredRun
from chassis.core.problems import Invalid
from chassis.core.wording import counted
from chassis.db.database import Connection, Database
from chassis.files.archives import is_archive
from chassis.files.spools import open_spool
from chassis.messaging.events import Actor
from chassis.web.listing import Row

_MODULE = "catalog_service.executions.read"
_IN_A_THREAD = 1024 * 1024
_ARCHIVE_IN_A_THREAD = 16 * 1024
"""Bytes; larger files are read by a process of their own, which a file may kill without harm."""
_BLOCK = 1024 * 1024
_COUNTED = ("tests", "matched", "created", "links_created", "unknown", "ambiguous")
_TRIES = 4
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
    attempt: int | None = None
    job: str | None = None
    job_try: str | None = None
    unknown: str = "keep"
    duplicates: str = "worst"
    undefined_fails: bool = True
    link: bool = False
    name_patterns: list[dict[str, str]] | None = None
    result_properties: dict[str, list[str] | None] | None = None
    allow_empty: bool = False
    workspace: str = ""


@dataclass(slots=True)
class Results:
    """A file of results that has been read: its rows, as COPY takes them, in `rows`."""

    file_name: str | None
    size: int
    sha256: str
    rows: BinaryIO
    read: Read = field(default_factory=lambda: Read("", {}, []))


@dataclass(slots=True)
class Received:
    """A file as it came."""

    file: BinaryIO
    file_name: str | None
    size: int
    sha256: str


async def receive(request: Request, options: Options, meanwhile: ExitStack) -> list[Received]:
    """Return the files of a request; raise Problem. What they take on disk goes with `meanwhile`."""
    files: list[BinaryIO] = []

    def begin() -> Store:
        file = meanwhile.enter_context(open_spool())
        files.append(file)

        async def store(number: int, data: bytes) -> None:
            await asyncio.to_thread(file.write, data)

        return store

    received = await receive_all(request, begin)
    if options.file_name is not None and len(received) != 1:
        detail = "Several files cannot have one name; name each in the form, by `filename`."
        raise Invalid.field("/query/file_name", detail, "contradiction")
    return [
        Received(file, options.file_name or one.file_name, one.size, one.sha256)
        for file, one in zip(files, received, strict=True)
    ]


async def read_all(received: list[Received], options: Options, limits: Limits, meanwhile: ExitStack) -> list[Results]:
    """Read files that have been received; raise what one is refused for. Their rows go with `meanwhile`."""
    found = []
    for one in received:
        rows = meanwhile.enter_context(open_spool())
        results = Results(one.file_name, one.size, one.sha256, rows)
        told_of = "" if len(received) == 1 else f"{one.file_name or 'A file'}: "
        await _fill(results, one.file, options, limits, told_of=told_of)
        one.file.close()
        found.append(results)
    return found


async def _fill(results: Results, file: BinaryIO, options: Options, limits: Limits, *, told_of: str) -> None:
    order = Order(
        options.format,
        results.file_name,
        limits.results,
        options.undefined_fails,
        limits.memory_bytes,
        limits.cpu_seconds,
        options.name_patterns,
        options.result_properties,
        options.workspace,
    )
    async with _places:
        found = await _read(file, results, order)
    if isinstance(found, Refusal):
        detail = f"{told_of}{found.detail}"
        raise problem_of({"code": found.code, "detail": detail, "status": found.status, **found.members}, {})
    results.read = found


async def _read(file: BinaryIO, results: Results, order: Order) -> Read | Refusal:
    await asyncio.to_thread(file.flush)
    file.seek(0)
    most = _ARCHIVE_IN_A_THREAD if is_archive(file.read(512)) else _IN_A_THREAD
    # From the end to the beginning: nothing is left in our buffer, whose place the reader's process would move.
    file.seek(0, SEEK_END)
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
    detail = (
        "The file could not be read to its end: it takes more memory or time than there is for one file."
        " Send it in parts, or look whether it is damaged."
    )
    return Refusal("reader_ended", detail, 422, {})


async def _blocks(rows: BinaryIO) -> AsyncIterator[bytes]:
    rows.seek(0)
    while block := await asyncio.to_thread(rows.read, _BLOCK):
        yield block


async def store(
    connection: Connection, files: list[Results], spec: RunSpec, options: Options, actor: Actor, *, default_branch: str
) -> Row:
    """Store files in their run, in the caller's transaction; return the answer. Raise Conflict and Invalid."""
    now = datetime.now(UTC)
    if options.unknown == "create":
        await filling.lock_creations(connection)
    if len(files) > 1:
        await storing.lock_forms(connection)
    await identities.bring_up(connection)
    run, _ = await runs.open_run(connection, spec, author(actor), now)
    is_aside = spec.is_partial or run["branch"] != default_branch
    stored = [await _store(connection, file, run, spec, options, actor, now, is_aside=is_aside) for file in files]
    if not all(one["duplicate"] for one in stored):
        has_all_shards = await runs.has_all_shards(connection, run["id"])
        is_over = run["status"] == "completed"
        is_ended = spec.key is None or (is_over and not (run["ended_by_shards"] or run["is_forgotten"]))
        if is_ended or has_all_shards:
            await completion.complete(
                connection, run["id"], actor, now, default_branch, by_shards=has_all_shards and not is_ended
            )
        else:
            if is_over:
                await runs.go_on(connection, run["id"])
            await lanes.judge(connection, run["id"])
    return await _answered(connection, run["id"], stored)


async def _store(
    connection: Connection,
    results: Results,
    run: StoredRun,
    spec: RunSpec,
    options: Options,
    actor: Actor,
    now: datetime,
    *,
    is_aside: bool,
) -> Row:
    """Store a file; return what it came to."""
    context_id = await lanes.find_context(
        connection, run["branch"], spec.environment or "", spec.lane or results.read.format, run["at"]
    )
    attempt = options.attempt or await runs.find_attempt(
        connection, run["id"], context_id, options.job, options.job_try
    )
    cursor = await connection.execute(
        "SELECT sha256, id, shard, shards, attempt, job FROM run_uploads WHERE run_id = %s AND context_id = %s"
        " ORDER BY created_at, id",
        (run["id"], context_id),
    )
    uploads = await cursor.fetchall()
    known = {(row["sha256"], row["shard"], row["shards"], row["attempt"]): row["id"] for row in uploads}
    # Another shard or attempt may have the same bytes, and says by them how it ended.
    if before := known.get((results.sha256, options.shard, options.shards, attempt)):
        if not spec.is_selection:
            await runs.take_for_whole(connection, run["id"], before)
        return {"upload_id": before, "duplicate": True, **dict.fromkeys(_COUNTED, 0)}
    await incoming.receive(connection, _blocks(results.rows))
    if results.read.has_attempts or options.duplicates == "last":
        await incoming.keep_last_attempts(connection, every=options.duplicates == "last")
        # Who read it did not know that whatever comes again is another attempt.
        results.read.counts = await incoming.count(connection)
    if results.read.has_former_names:
        await identities.adopt(connection)
    await incoming.gather(connection, runs.name_other_job(options.job, uploads[0]["job"] if uploads else None))
    unknown_ids = await incoming.match(connection)
    await incoming.find_tests(connection)
    matched = await incoming.count_matches(connection)
    created = await _take_unknown(connection, options, run, actor)
    if options.unknown == "create":
        matched = replace(matched, matched=matched.matched + matched.unknown, unknown=0)
    first = await incoming.first_unmatched(connection) if matched.unknown else []
    unless = {TRIES: options.duplicates == "last", NO_RESULTS: options.allow_empty}
    noticed = [one for one in results.read.warnings if not unless.get(one["code"])]
    warnings = [*noticed, *remarks.tell_unmatched(matched, unknown_ids, first, keeps=options.unknown == "keep")]
    if options.shard is not None and await runs.has_same_part(
        connection, run["id"], context_id, options.shard, options.shards, attempt, results.file_name
    ):
        warnings.append(remarks.tell_same_part(options.shard, options.shards, attempt))
    upload_id = uuid4()
    upload = {
        "id": upload_id,
        "run_id": run["id"],
        "sha256": results.sha256,
        "shard": options.shard,
        "shards": options.shards,
        "attempt": attempt,
        "job": options.job,
        "job_try": options.job_try,
        "format": results.read.format,
        "file_name": results.file_name,
        "size": results.size,
        "counts": Json(results.read.counts),
        "warnings": Json(warnings),
        "context_id": context_id,
        "is_partial": spec.is_selection,
        "health": health_of(one["code"] for one in noticed),
        "created_by": author(actor),
        "created_at": now,
    }
    await connection.execute(
        f"INSERT INTO run_uploads ({', '.join(upload)}) VALUES ({', '.join(f'%({name})s' for name in upload)})", upload
    )
    into = storing.Run(run["id"], context_id, run["at"])
    await storing.store(connection, into, attempt, is_first=not known, is_aside=is_aside)
    links, linked = await _link(connection, options, actor)
    if linked:
        await connection.execute(
            "UPDATE run_uploads SET warnings = %s WHERE id = %s", (Json([*warnings, *linked]), upload_id)
        )
    await incoming.forget(connection)
    return {
        "upload_id": upload_id,
        "duplicate": False,
        "tests": matched.tests,
        "matched": matched.matched,
        "created": created,
        "links_created": links,
        "unknown": matched.unknown,
        "ambiguous": matched.ambiguous,
    }


async def _link(connection: Connection, options: Options, actor: Actor) -> tuple[int, list[dict[str, Any]]]:
    """Link what the caller wants to be linked; return how many links are new, and what was not linked."""
    if options.link or options.unknown == "create":
        links = await filling.link(connection, actor, made_alone=not options.link)
    else:
        links = 0
    unknown, left = await filling.read_not_linked(connection)
    warnings = [remarks.tell_unknown("requirement", unknown)] if unknown else []
    return links, [*warnings, *([remarks.tell_not_linked(left)] if left else [])]


async def _answered(connection: Connection, run_id: UUID, stored: list[Row]) -> Row:
    run = await runs.read(connection, run_id)
    uploads = {upload["id"]: upload for upload in run.pop("uploads")}
    files = [
        {
            **one,
            **{name: uploads[one["upload_id"]][name] for name in ("file_name", "format", "counts")},
            "warnings": uploads[one["upload_id"]]["warnings"],
        }
        for one in stored
    ]
    first = {"run": run, **{name: value for name, value in files[0].items() if name != "file_name"}}
    if len(files) == 1:
        return first
    return {
        **first,
        "counts": {name: sum(one["counts"][name] for one in files) for name in first["counts"]},
        "duplicate": all(one["duplicate"] for one in files),
        **{name: sum(one[name] for one in files) for name in _COUNTED},
        "warnings": [warning for one in files for warning in one["warnings"]],
        "files": files,
    }


async def _take_unknown(connection: Connection, options: Options, run: StoredRun, actor: Actor) -> int:
    """Do with tests that no test case was found for what the caller wants; return how many test cases were made."""
    if options.unknown == "create":
        return await filling.create_test_cases(connection, run, actor)
    if options.unknown == "ignore":
        await incoming.drop_unmatched(connection)
    elif options.unknown == "fail":
        unmatched = await incoming.unmatched(connection)
        if unmatched:
            names = [".".join(filter(None, (test["class_name"], test["name"]))) for test in unmatched]
            raise Invalid(
                f"{counted(len(names), 'test has', 'tests have')} no test case, the first is {names[0]!r}; nothing was"
                " stored. Name the test case in the result, or send unknown=keep.",
                code="unknown_test",
                members={"tests": names[:100], "total": len(names)},
            )
    return 0


async def unless_deadlocked(do: Callable[[], Awaitable[Response]]) -> Response:
    """Do what is one transaction anew when it was ended for the sake of another.

    A file locks what it shares with others in one order, but those of a form each in their turn.
    """
    for _ in range(_TRIES - 1):
        try:
            return await do()
        except DeadlockDetected:
            continue
    return await do()


async def transact(database: Database, work: Callable[[Connection], Awaitable[Response]], *, dry_run: bool) -> Response:
    """Do work in a transaction; a dry run leaves nothing behind."""
    if not dry_run:
        async with database.transaction() as connection:
            return await work(connection)
    async with database.connection() as connection, connection.transaction(force_rollback=True):
        return await work(connection)
