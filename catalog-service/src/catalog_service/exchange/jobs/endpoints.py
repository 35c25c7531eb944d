"""HTTP: send a file to import, look at what it would do, apply it."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from catalog_service.exchange.jobs import report, repository, service
from catalog_service.exchange.jobs.job import Job
from catalog_service.exchange.jobs.options import ImportQuery, Mode
from catalog_service.exchange.jobs.schemas import (
    ApplyImport,
    Import,
    ImportAction,
    ImportRow,
    ImportRowKind,
    ImportStatus,
    ListedImport,
)
from catalog_service.exchange.jobs.upload import MOST_MAPPING
from catalog_service.settings import Settings
from chassis.core.identity import Role
from chassis.core.problems import Forbidden
from chassis.db.database import Db
from chassis.web.callers import Reviewer, Viewer
from chassis.web.conditions import Conditions
from chassis.web.listing import Ids, Page, PageQuery, documented, page, read_query
from chassis.web.parameters import FREE_ALTERNATIVES, alternatives, parse_choice, parse_own_ids, parse_words
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import item, tagged, wants_no_wait
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/imports", route_class=StrictRoute, tags=["Import"])

_WAIT = 20
"""Seconds that a caller waits for a plan, or for its application."""
_BINARY = {"schema": {"type": "string", "format": "binary"}}
FILE_BODY = {
    "requestBody": {
        "required": True,
        "description": "The file itself, or a form with it and perhaps a mapping.",
        "content": {
            "application/octet-stream": _BINARY,
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "mapping": {"type": "string", "maxLength": MOST_MAPPING, "description": "A mapping, as JSON."},
                    },
                }
            },
        },
    }
}
_CSV = {"text/csv": {"schema": {"type": "string"}}}


class RowsFormat(StrEnum):
    """How the rows of a report are given."""

    JSON = "json"
    CSV = "csv"


class ImportsQuery(PageQuery):
    """What narrows the list of imports."""

    status: Annotated[str | None, alternatives(ImportStatus)] = None
    created_by: Annotated[str | None, Field(description=f"Who sent the file: {FREE_ALTERNATIVES}.")] = None
    ids: Ids = None

    def conditions(self) -> Conditions:
        """Return what the imports must fulfil; raises Invalid."""
        conditions = Conditions(f"j.{repository.IS_RECEIVED}")
        conditions.choose("j.status", parse_choice("status", self.status, ImportStatus))
        conditions.choose("j.created_by", parse_words("created_by", self.created_by))
        conditions.choose("j.id", parse_own_ids(self.ids))
        return conditions


class RowsQuery(PageQuery):
    """What narrows the rows of an import."""

    action: Annotated[str | None, alternatives(ImportAction)] = None
    kind: Annotated[str | None, alternatives(ImportRowKind)] = None
    code: Annotated[
        str | None, Field(description=f"Why it is a conflict, an error or skipped: {FREE_ALTERNATIVES}.")
    ] = None
    format: Annotated[
        RowsFormat,
        Field(
            description="`csv`: the rows that were refused, as they were sent, with a last column `problem`: mend them"
            " and send them again. Filters do not count there.",
        ),
    ] = RowsFormat.JSON

    def conditions(self, job: Job) -> Conditions:
        """Return what the rows must fulfil; raises Invalid."""
        conditions = Conditions("r.job_id = %(job)s", job=job.id)
        conditions.choose("r.action", parse_choice("action", self.action, ImportAction))
        conditions.choose("r.kind", parse_choice("kind", self.kind, ImportRowKind))
        conditions.choose("r.code", parse_words("code", self.code))
        return conditions


async def settings_of(request: Request) -> Settings:
    """Return the settings of the service."""
    settings: Settings = request.app.state.settings
    return settings


@router.post(
    "",
    response_model=Import,
    responses={
        202: {"model": Import, "description": "The import goes on"},
        **problem_responses(
            *(400, "400 malformed_form", "409 project_archived", 413, "415 unknown_format"),
            *(422, "422 empty_file", "422 unreadable_file", "422 reader_ended", "429 too_many_imports"),
        ),
    },
    summary="Import a file",
    openapi_extra={**documented(ImportQuery), **FILE_BODY},
)
async def create_import(
    request: Request, reviewer: Reviewer, database: Db, settings: Annotated[Settings, Depends(settings_of)]
) -> Response:
    """Read a file and plan what it does to the record; nothing changes until the plan is applied.

    Answers with the import, planned or applied, or after 20 s, or at once with `Prefer: respond-async`, 202 and its
    Location. A file that is none of what it says is answered with 422 and the place. `Idempotency-Key` is honoured.
    """
    query = read_query(request, ImportQuery)
    query.check()
    if query.mode is Mode.RESTORE and reviewer.role is not Role.ADMIN:
        raise Forbidden("Only an admin restores: the file decides about ids, versions and times.", code="role_too_low")
    job_id = await service.upload(
        request, database, reviewer, query, most_own=settings.imports_waiting_per_user, most=settings.imports_waiting
    )
    return await answer_import(request, database, job_id)


async def answer_import(request: Request, database: Db, job_id: UUID) -> Response:
    """Return the answer of a request that waits for a job, unless it does not want to."""
    if not wants_no_wait(request):
        job = await service.ended(database, job_id, _WAIT)
        if job is not None:
            service.check_read(job)
            return item(request, service.answered(job))
    location = {"Location": f"/api/v1/imports/{job_id}"}
    return item(request, service.answered(await service.get(database, job_id)), 202, location)


@router.get(
    "",
    response_model=Page[ListedImport],
    summary="List imports, the newest first",
    openapi_extra=documented(ImportsQuery),
)
async def list_imports(request: Request, _: Viewer, database: Db) -> Response:
    """Return one page of the imports."""
    query = read_query(request, ImportsQuery)
    wanted = query.page(request, repository.NEWEST_FIRST)
    found = await service.page(database, query.conditions(), wanted)
    rows = [tagged(service.shown(row), {}, wanted.fields) for row in found.rows]
    return page(request, wanted, found, rows)


@router.get(
    "/{import_id}",
    response_model=Import,
    responses=problem_responses("404 import_not_found"),
    summary="Read an import",
)
async def read_import(request: Request, import_id: UUID, _: Viewer, database: Db) -> Response:
    """Return how far it is, and the counts of its plan."""
    return item(request, service.answered(await service.get(database, import_id)))


@router.get(
    "/{import_id}/rows",
    response_model=Page[ImportRow],
    responses={
        200: {"description": "The rows, in the order of the file", "content": _CSV},
        **problem_responses("404 import_not_found", "410 import_rows_gone"),
    },
    summary="List what an import does, row by row",
    openapi_extra=documented(RowsQuery),
)
async def list_import_rows(request: Request, import_id: UUID, _: Viewer, database: Db) -> Response:
    """Return one page of the rows: what each does to the record, field by field, and why some are refused.

    Rows are kept for 24 hours, an hour once they are applied. Values are cut at 200 characters.
    """
    query = read_query(request, RowsQuery)
    job = await service.get_with_rows(database, import_id)
    if query.format is RowsFormat.CSV:
        name = f"import-{import_id}-refused.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return StreamingResponse(report.refused_rows(database, job), 200, headers, "text/csv; charset=utf-8")
    wanted = query.page(request, report.IN_ORDER)
    found = await report.page(database, job, query.conditions(job), wanted)
    return page(request, wanted, found)


@router.post(
    "/{import_id}/apply",
    response_model=Import,
    responses={
        202: {"model": Import, "description": "The import goes on"},
        **problem_responses(
            *("404 import_not_found", "409 import_not_planned", "409 record_changed", "409 file_not_kept"),
            "409 project_archived",
        ),
    },
    summary="Apply a planned import",
)
async def apply_import(
    request: Request, import_id: UUID, body: ApplyImport, reviewer: Reviewer, database: Db
) -> Response:
    """Change the record as planned: all or nothing, unless `atomic` is false.

    409 `record_changed` with the new counts when the plan is not what was seen, or the record not what was planned for.
    One that is being applied is waited for; one that was applied is 409 `import_not_planned`.
    """
    before = await service.get(database, import_id)
    if before.options["mode"] == Mode.RESTORE and reviewer.role is not Role.ADMIN:
        raise Forbidden("Only an admin restores: the file decides about ids, versions and times.", code="role_too_low")
    await service.apply(database, import_id, body, reviewer)
    if not wants_no_wait(request):
        job = await service.ended(database, import_id, _WAIT)
        if job is not None:
            service.check_applied(job)
            return item(request, service.answered(job))
    location = {"Location": f"/api/v1/imports/{import_id}"}
    return item(request, service.answered(await service.get(database, import_id)), 202, location)


@router.post(
    "/{import_id}/cancel",
    response_model=Import,
    responses=problem_responses("404 import_not_found", "409 import_not_cancellable"),
    summary="Cancel an import",
)
async def cancel_import(request: Request, import_id: UUID, _: Reviewer, database: Db) -> Response:
    """Give an import up that is not applied. One that is being applied ends as soon as it can: look at its status."""
    return item(request, service.answered(await service.cancel(database, import_id)))
