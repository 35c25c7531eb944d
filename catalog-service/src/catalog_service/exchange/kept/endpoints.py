"""POST /relations/from-metadata: relations of what earlier imports have kept as further data."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from catalog_service.exchange.jobs.endpoints import answer_import, settings_of
from catalog_service.exchange.jobs.schemas import Import
from catalog_service.exchange.kept import service
from catalog_service.settings import Settings
from chassis.db.database import Db
from chassis.web.callers import Reviewer
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/relations", route_class=StrictRoute, tags=["Relations"])


@router.post(
    "/from-metadata",
    response_model=Import,
    responses={
        202: {"model": Import, "description": "The import goes on"},
        **problem_responses("409 project_archived", "429 too_many_imports"),
    },
    summary="Make relations of what imports have kept",
)
async def make_relations_from_metadata(
    request: Request,
    reviewer: Reviewer,
    database: Db,
    settings: Annotated[Settings, Depends(settings_of)],
    dry_run: Annotated[
        bool, Query(description="Only plan them: look at the rows of the import, and apply it then.")
    ] = False,
) -> Response:
    """What requirements keep of Doorstop, StrictDoc, sphinx-needs, OpenFastTrace and of columns called as a parent.

    Answers with an import, as `POST /imports` does: `counts.relations` says how many are made (`create`), are there
    already (`unchanged`) or wait for their parent. Rows of a circle are refused. The further data stays as it is.
    """
    job_id = await service.begin(
        database,
        reviewer,
        dry_run=dry_run,
        most_own=settings.imports_waiting_per_user,
        most=settings.imports_waiting,
    )
    return await answer_import(request, database, job_id)
