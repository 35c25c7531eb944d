"""What a caller may do with imports: send a file, look, apply, cancel."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import orjson
from fastapi import Request

from catalog_service.exchange.jobs import repository, transitions
from catalog_service.exchange.jobs.job import Job
from catalog_service.exchange.jobs.options import ImportQuery
from catalog_service.exchange.jobs.schemas import ApplyImport, ImportSummary
from catalog_service.exchange.jobs.upload import receive
from catalog_service.exchange.mappings import service as mappings
from catalog_service.fields.mappings import makes_fields
from chassis.core.identity import Identity, Role
from chassis.core.problems import (
    Conflict,
    Gone,
    Invalid,
    NotFound,
    Problem,
    StorageFull,
    TooManyRequests,
    UnsupportedMediaType,
)
from chassis.core.request_context import gateway_request_id, request_id
from chassis.db.database import Connection, Database
from chassis.db.leased_jobs import wait_for_end
from chassis.web.conditions import Conditions
from chassis.web.idempotency import answer_once
from chassis.web.listing import Fetched, PageRequest, Row
from chassis.web.responses import answer

_MAKES_LEVELS = "makes_levels"
"""The option of an import by an admin, which may make levels that the file has and the project has not."""
_OVER = frozenset({"applied", "failed", "cancelled", "expired"})
ENDED = _OVER | {"planned"}
_RETRY_AFTER = 10
_MEMBERS = ("line", "column", "offset", "formats")


async def upload(
    request: Request, database: Database, caller: Identity, query: ImportQuery, *, most_own: int, most: int
) -> UUID:
    """Store the file of a request as a job and return its id, or that of an earlier request of the same key.

    Raises TooManyRequests, and what the file, the form or the mapping are refused for.
    """
    job_id = uuid4()
    options = query.stored()
    if query.mapping is not None:
        async with database.connection() as connection:
            options |= {"mapping_name": query.mapping, "mapping": await mappings.named(connection, query.mapping)}
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('receiving imports'))")
        await check_waiting(connection, caller, most_own, most)
        await repository.begin(
            connection,
            job_id=job_id,
            kind=query.kind.value,
            options=options,
            created_by=caller.email,
            created_by_id=caller.id,
            correlation_id=request_id.get(),
            gateway_request_id=gateway_request_id.get() or None,
        )
    stored = False
    try:

        async def store(number: int, data: bytes) -> None:
            async with database.transaction() as connection:
                await repository.add_chunk(connection, job_id, number, data)

        received = await receive(request, store)
        if received.mapping is not None:
            options["mapping"] = mappings.checked(received.mapping)
        options["media_type"] = received.media_type
        if makes_fields(options.get("mapping") or {}):
            options["makes_fields"] = caller.role is Role.ADMIN
        if caller.role is Role.ADMIN:
            options[_MAKES_LEVELS] = True
        file = {
            "file_name": query.file_name or received.file_name,
            "size": received.size,
            "sha256": received.sha256,
            "options": options,
        }

        async def begin(connection: Connection) -> Any:
            await repository.receive(connection, job_id, file)
            return answer({"id": job_id}, 202)

        sent = orjson.dumps([received.sha256, file["file_name"], received.mapping], option=orjson.OPT_SORT_KEYS)
        queued = await answer_once(request, database, caller, begin, body=sent)
        first = UUID(orjson.loads(queued.body)["id"])
        stored = first == job_id
        return first
    finally:
        if not stored:
            async with database.transaction() as connection:
                await repository.forget(connection, job_id)


async def check_waiting(connection: Connection, caller: Identity, most_own: int, most: int) -> None:
    """Raise TooManyRequests where too many imports wait, of the caller or of all."""
    own, every = await repository.waiting(connection, caller.id)
    if own >= most_own:
        detail = f"{own} of your imports wait or are worked on already; wait until one is done, or cancel it."
        raise TooManyRequests(detail, retry_after=_RETRY_AFTER, code="too_many_imports")
    if every >= most:
        detail = f"{every} imports wait or are worked on already; try again later."
        raise TooManyRequests(detail, retry_after=_RETRY_AFTER, code="too_many_imports")


async def ended(database: Database, job_id: UUID, within: float) -> Job | None:
    """Return the job when it waits for nothing any more within so many seconds, else None."""
    return await wait_for_end(lambda: get(database, job_id), lambda job: job.status in ENDED, within)


async def get(database: Database, job_id: UUID) -> Job:
    """Return a job; raises NotFound."""
    async with database.connection() as connection:
        job = await repository.find(connection, job_id)
    if job is None:
        raise not_found()
    return job


async def get_with_rows(database: Database, job_id: UUID) -> Job:
    """Return a job whose rows are there, unless it has none yet; raises NotFound, and Gone."""
    job = await get(database, job_id)
    if job.status in _OVER and job.rows_read:
        async with database.connection() as connection:
            if not await repository.has_rows(connection, job_id):
                raise gone()
    return job


async def page(database: Database, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the jobs."""
    async with database.connection() as connection:
        return await repository.page(connection, conditions, wanted)


async def apply(database: Database, job_id: UUID, asked: ApplyImport, caller: Identity) -> Job:
    """Have a planned job applied and return it; raises NotFound and Conflict."""
    job = await get(database, job_id)
    if job.status == "applying":
        return job
    if job.status != "planned":
        raise not_planned(job)
    if asked.expect is not None and asked.expect != job.plan_hash:
        raise record_changed(job, "The plan is not the one that was seen; look at it again.")
    options = {
        "on_change": asked.on_change.value,
        "atomic": job.options["atomic"] if asked.atomic is None else asked.atomic,
        "suggest": job.options["suggest"] if asked.suggest is None else asked.suggest,
        "by": caller.email,
        "by_id": caller.id,
        "correlation_id": request_id.get(),
        "gateway_request_id": gateway_request_id.get() or None,
    }
    async with database.transaction() as connection:
        applying = await transitions.apply(connection, job_id, options)
    if applying is None:  # somebody else was faster
        return await get(database, job_id)
    return applying


async def cancel(database: Database, job_id: UUID) -> Job:
    """Cancel a job and return it; raises NotFound, and Conflict when it has ended."""
    async with database.transaction() as connection:
        job = await transitions.cancel(connection, job_id)
    if job is None:
        over = await get(database, job_id)
        raise Conflict(f"This import cannot be cancelled any more: it is {over.status}.", code="import_not_cancellable")
    return job


def answered(job: Job) -> Row:
    """Return a job as it is answered."""
    return shown({name: getattr(job, name) for name in repository.ANSWERED})


def shown(row: Row) -> Row:
    """Return a job, read with the columns ANSWERED, as it is answered."""
    summary = row["summary"]
    shown_summary = None if summary is None else {name: summary[name] for name in ImportSummary.model_fields}
    return {**row, "options": shown_options(row["options"]), "summary": shown_summary}


def shown_options(options: Mapping[str, Any]) -> Row:
    """Return the options of a job as they are answered: those that were asked for."""
    return {name: value for name, value in options.items() if value is not None and name != _MAKES_LEVELS}


def check_read(job: Job) -> None:
    """Raise the problem of a job whose file could not be read."""
    if job.status != "failed" or job.error is None:
        return
    raise problem_of(job.error, {"import_id": job.id})


def check_applied(job: Job) -> None:
    """Raise the problem of a job that could not be applied."""
    if job.status == "planned" and job.error is not None:
        raise record_changed(job, job.error["detail"])
    check_read(job)


def problem_of(error: Mapping[str, Any], members: Mapping[str, Any]) -> Problem:
    """Return the error of a job as a problem."""
    if error.get("status") == StorageFull.status:
        return StorageFull(error["detail"])
    kind: type[Problem] = {415: UnsupportedMediaType, 422: Invalid, 409: Conflict}.get(
        error.get("status", 500), Problem
    )
    more = {name: error[name] for name in _MEMBERS if name in error}
    return kind(error["detail"], code=error["code"], members={**more, **members})


def record_changed(job: Job, detail: str) -> Conflict:
    """Return the problem of a plan that does not hold any more, with the counts of the one that does."""
    return Conflict(
        detail, code="record_changed", members={"import_id": job.id, "plan_hash": job.plan_hash, "counts": job.counts}
    )


def not_planned(job: Job) -> Conflict:
    """Return the problem of a job that cannot be applied."""
    return Conflict(f"Only a planned import can be applied; this one is {job.status}.", code="import_not_planned")


def gone() -> Gone:
    """Return the problem of rows that are not kept any more."""
    return Gone("The rows of this import are not kept any more; its counts are.", code="import_rows_gone")


def not_found() -> NotFound:
    """Return the problem of an id that no import has."""
    return NotFound("There is no import with this id.", code="import_not_found")
