"""HTTP: look at a file before it is imported."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from catalog_service.exchange.inspection import service
from catalog_service.exchange.inspection.schemas import Inspected
from catalog_service.exchange.jobs.endpoints import FILE_BODY, settings_of
from catalog_service.exchange.jobs.options import ReadingQuery
from catalog_service.exchange.mappings import service as mappings
from catalog_service.fields import repository as project_fields
from catalog_service.fields.mappings import fit
from catalog_service.levels import repository as project_levels
from catalog_service.settings import Settings
from chassis.core.identity import Role
from chassis.db.database import Db
from chassis.web.callers import Reviewer
from chassis.web.listing import documented, read_query
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/imports", route_class=StrictRoute, tags=["Import"])

# Files looked at at once in this process: each may hold the memory of a workbook.
_places = asyncio.Semaphore(2)


@router.post(
    "/inspect",
    response_model=Inspected,
    responses=problem_responses(
        *(
            400,
            "400 malformed_form",
            413,
            "415 unknown_format",
            422,
            "422 empty_file",
            "422 unreadable_file",
            "422 reader_ended",
        )
    ),
    summary="Look at a file before it is imported",
    openapi_extra={**documented(ReadingQuery), **FILE_BODY},
)
async def inspect_import(
    request: Request, reviewer: Reviewer, database: Db, settings: Annotated[Settings, Depends(settings_of)]
) -> Response:
    """Return its format, its columns with what each is taken for, a mapping, and its first rows as they would be read.

    Nothing is stored. The first MiB of a file is enough, unless it is an archive or a workbook.
    """
    query = read_query(request, ReadingQuery)
    query.check()
    mapping = None
    async with database.connection() as connection:
        present = await project_fields.of(connection)
        levels = {level["key"]: level["name"] for level in await project_levels.read(connection)}
        if query.mapping is not None:
            mapping = await mappings.named(connection, query.mapping)
    async with _places:
        file, received = await service.beginning(request)
        if received.mapping is not None:
            mapping = mappings.checked(received.mapping)
        fitted = fit(mapping, present, may_make=reviewer.role is Role.ADMIN)
        return answer(await service.inspect(file, service.look_at(file, received, query, fitted, levels, settings)))
