"""Reads the file of a job from its chunks into import_rows, in a thread or, where it is large, in another process."""

import asyncio
import itertools
import logging
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Any, BinaryIO

import orjson

from catalog_service.authorship import author
from catalog_service.exchange import read
from catalog_service.exchange.jobs import repository, transitions
from catalog_service.exchange.jobs.job import Job
from catalog_service.exchange.jobs.options import Mode
from catalog_service.exchange.layout import LEVEL
from catalog_service.exchange.validation import COLUMNS
from catalog_service.fields import repository as project_fields
from catalog_service.fields.mappings import Fitted, fit
from catalog_service.levels import repository as project_levels
from chassis.core.problems import Problem, StorageFull
from chassis.core.tasks import cancel_and_wait
from chassis.db.database import Database
from chassis.files.archives import is_archive

_log = logging.getLogger(__name__)

_IN_A_THREAD = 1024 * 1024
"""Bytes; smaller files are read before another process would have begun."""
_ARCHIVE_IN_A_THREAD = 16 * 1024
"""Bytes; larger archives may unpack to so much that only a process of its own bounds what is made of it."""
_BLOCK = 1024 * 1024
_TELL_EVERY = 0.5
"""Seconds: a row of import_jobs is written and synced for each progress that is told."""
_SHARE = 0.5
"""How much of a job's progress the reading is."""
_MODULE = "catalog_service.exchange.read"
_NOT_KEPT = {
    "code": "file_not_kept",
    "detail": "Nothing was applied: the file would have to be read once more, and is not kept any more since a person"
    " was erased, whose name cannot be looked for in a file like this. Import it again.",
    "status": 409,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader may take."""

    rows: int
    memory_bytes: int
    cpu_seconds: int
    source_url_schemes: tuple[str, ...] = ()


class Refused(Exception):
    """The file cannot be read; `error` says why, as the job keeps it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["detail"])
        self.error = error


async def stage(database: Database, job: Job, limits: Limits) -> dict[str, Any]:
    """Store the rows of a claimed job's file, anew; return what the reader says of it. Raises Refused and JobLost."""
    async with database.transaction() as connection:
        await transitions.hold(connection, job)
        if await repository.chunk(connection, job.id, 0) is None:
            raise Refused(_NOT_KEPT)
        await connection.execute("DELETE FROM import_rows WHERE job_id = %s", (job.id,))
        present, _ = await project_fields.read(connection)
        levels = {level["key"]: level["name"] for level in await project_levels.read(connection)}
    fitted = fit(job.options.get("mapping"), present, may_make=bool(job.options.get("makes_fields")))
    rows, reported_at = 0, time.monotonic()

    async def store(read_rows: read.Rows) -> None:
        nonlocal rows, reported_at
        rows += read_rows.count
        async with database.transaction() as connection:
            # Nothing of it lasts longer than the server: no row waits for the disk.
            await connection.execute("SET LOCAL synchronous_commit = off")
            await transitions.hold(connection, job)
            # COPY knows no row-level security.
            names = f"job_id, position, {COLUMNS}"
            # Made once a connection: to make and drop it is a change of the catalog, which is written to disk.
            await connection.execute(
                f"CREATE TEMP TABLE IF NOT EXISTS arrived ON COMMIT DELETE ROWS AS SELECT {names} FROM import_rows"
                " WITH NO DATA"
            )
            async with connection.cursor().copy(f"COPY arrived ({names}) FROM STDIN") as copy:
                await copy.write(read_rows.lines)
            await connection.execute(f"INSERT INTO import_rows ({names}) SELECT {names} FROM arrived")
        if time.monotonic() - reported_at > _TELL_EVERY:
            reported_at = time.monotonic()
            async with database.transaction() as connection:
                share = _SHARE * min(1, read_rows.place / job.size)
                await transitions.progress(connection, job, share, "reading", rows)

    async with _found(database, job, _order(job, limits, fitted, levels)) as found:
        async for each in found:
            what, content = each[:1], each[1:]
            if what == read.ROWS:
                await store(read.Rows.decode(content))
            elif what == read.ERROR:
                error = orjson.loads(content)
                if error["status"] == StorageFull.status:
                    raise StorageFull(error["detail"])  # no fault of the file: it is read again
                raise Refused(error)
            else:
                summary: dict[str, Any] = orjson.loads(content)
                documents = summary.pop("documents")
                await _store_document(database, job, [one for one in documents if one["name"] != LEVEL])
                summary["levels"] = [one for document in documents for one in document["content"].get("levels", ())]
                summary["notices"] += fitted.notices()
                return summary
    raise Refused(
        {
            "code": "reader_ended",
            "detail": "The file could not be read to its end: it takes more memory or time than there is for one file."
            " Cut it up, or look whether it is damaged.",
            "status": 422,
        }
    )


async def _store_document(database: Database, job: Job, documents: list[dict[str, Any]]) -> None:
    """Store what the file holds beside its rows; no format has more than one such document."""
    async with database.transaction() as connection:
        await connection.execute("DELETE FROM import_documents WHERE job_id = %s", (job.id,))
        for document in documents:
            await connection.execute(
                "INSERT INTO import_documents (job_id, document) VALUES (%s, %s)",
                (job.id, orjson.dumps(document["content"]).decode()),
            )


def _order(job: Job, limits: Limits, fitted: Fitted, levels: dict[str, str]) -> read.Order:
    options = job.options
    restoring = options["mode"] == Mode.RESTORE
    return read.Order(
        format=options["format"],
        kind=options["kind"],
        author=author(job.creator),
        job=str(job.id),
        encoding=options.get("encoding"),
        file_name=job.file_name,
        media_type=options.get("media_type"),
        source_system=options.get("source_system"),
        mapping=fitted.mapping,
        sheet=options.get("sheet"),
        header_row=options.get("header_row"),
        delimiter=options.get("delimiter"),
        source_url_schemes=limits.source_url_schemes,
        fields=tuple(field.model_dump(mode="json") for field in fitted.fields.defined),
        former_fields=tuple(sorted(fitted.fields.former)),
        levels=levels,
        replacing=options["mode"] == Mode.REPLACE,
        restoring=restoring,
        most_rows=None if restoring else limits.rows,
        memory_bytes=limits.memory_bytes,
        cpu_seconds=limits.cpu_seconds,
    )


@asynccontextmanager
async def _found(database: Database, job: Job, order: read.Order) -> AsyncIterator[AsyncIterator[bytes]]:
    if job.size < _ARCHIVE_IN_A_THREAD or (job.size < _IN_A_THREAD and not await _is_archive(database, job)):
        file = BytesIO(b"".join([chunk async for chunk in _chunks(database, job)]))
        yield _in_a_thread(file, order)
    else:
        async with _process(database, job, order) as found:
            yield found


async def _is_archive(database: Database, job: Job) -> bool:
    async with database.connection() as connection:
        first = await repository.chunk(connection, job.id, 0)
    return first is not None and is_archive(first)


async def _in_a_thread(file: BinaryIO, order: read.Order) -> AsyncIterator[bytes]:
    found: Iterator[bytes] = read.found(file, order)
    while (each := await asyncio.to_thread(next, found, None)) is not None:
        yield each


@asynccontextmanager
async def _process(database: Database, job: Job, order: read.Order) -> AsyncIterator[AsyncIterator[bytes]]:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", _MODULE),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        limit=_BLOCK,
    )
    assert child.stdin is not None, "it has pipes"
    assert child.stdout is not None, "it has pipes"
    assert child.stderr is not None, "it has pipes"
    feeding = asyncio.create_task(_feed(child.stdin, database, job, order))
    complaining = asyncio.create_task(_tail(child.stderr))
    try:
        yield _taken(child.stdout)
        with suppress(BrokenPipeError, ConnectionResetError):
            await feeding
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
        code = await child.wait()
        await cancel_and_wait(feeding)
        said = await complaining
        if said:
            _log.warning("The reader of import %s ended with %d: %s", job.id, code, said)


async def _feed(pipe: asyncio.StreamWriter, database: Database, job: Job, order: read.Order) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(orjson.dumps(asdict(order), option=orjson.OPT_APPEND_NEWLINE))
        async for data in _chunks(database, job):
            pipe.write(data)
            await pipe.drain()
        pipe.close()
        await pipe.wait_closed()


async def _tail(pipe: asyncio.StreamReader) -> str:
    tail = b""
    while data := await pipe.read(4096):
        tail = (tail + data)[-2000:]
    return tail.decode(errors="replace").strip()


async def _taken(pipe: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield what a reader writes to its pipe; half of something at the end is nothing."""
    with suppress(asyncio.IncompleteReadError):
        while True:
            (length,) = read.LENGTH.unpack(await pipe.readexactly(read.LENGTH.size))
            yield await pipe.readexactly(length)


async def _chunks(database: Database, job: Job) -> AsyncIterator[bytes]:
    for number in itertools.count():
        async with database.connection() as connection:
            data = await repository.chunk(connection, job.id, number)
        if data is None:
            return
        yield data


def as_error(problem: Problem) -> dict[str, Any]:
    """Return a problem as a job keeps it."""
    return {"code": problem.code, "detail": problem.detail, "status": problem.status}
