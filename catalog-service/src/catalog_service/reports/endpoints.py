"""GET /reports/...: the matrix in four formats, coverage by module, gaps."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from catalog_service.listing import Conditions
from catalog_service.reports import export, repository, service
from catalog_service.reports.formats import MatrixDocument
from catalog_service.reports.formats.csv_format import CsvMatrix
from catalog_service.reports.formats.html_format import HtmlMatrix
from catalog_service.reports.formats.xlsx_format import XlsxMatrix
from catalog_service.reports.schemas import (
    CoverageByModule,
    Gaps,
    MatrixFormat,
    TraceabilityMatrix,
)
from catalog_service.requirements.schemas import RequirementStatus
from catalog_service.snapshot import snapshot
from chassis.database import Db
from chassis.http import paging
from chassis.http.paging import FREE_ALTERNATIVES, Limit, Skip, parse_choice, parse_words
from chassis.http.responses import answer
from chassis.http.strict_route import StrictRoute
from chassis.identity import Viewer

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Reports"])

_DOCUMENTS: dict[MatrixFormat, type[MatrixDocument]] = {
    MatrixFormat.CSV: CsvMatrix,
    MatrixFormat.XLSX: XlsxMatrix,
    MatrixFormat.HTML: HtmlMatrix,
}

Modules = Annotated[str | None, Query(description=f"Modules: {FREE_ALTERNATIVES}.", examples=["accounts"])]


@router.get(
    "/traceability-matrix",
    response_model=TraceabilityMatrix,
    summary="Requirements with their test cases",
    responses={
        200: {
            "description": "The matrix; `format` says in which form.",
            "content": {
                document.media_type.partition(";")[0]: {"schema": {"type": "string"}}
                for document in _DOCUMENTS.values()
            },
        }
    },
)
async def get_traceability_matrix(
    request: Request,
    viewer: Viewer,
    database: Db,
    module: Modules = None,
    status: Annotated[
        str | None,
        Query(
            description="Statuses of requirements, separated by commas; a leading ! excludes.",
            examples=["!draft"],
        ),
    ] = None,
    matrix_format: Annotated[MatrixFormat, Query(alias="format")] = MatrixFormat.JSON,
    skip: Skip = 0,
    limit: Limit = 50,
) -> Response:
    """Give the matrix of the requirements in `module` and `status`, by module and external_id.

    `summary` counts these requirements and their links, whatever the page; test cases, orphans among them, are
    counted over the whole record. `skip` and `limit` page the JSON form; the other formats hold every row, one a
    pair of requirement and test case, and one for a requirement without any.
    """
    scope = repository.requirements_in(parse_words("module", module), parse_choice("status", status, RequirementStatus))
    if matrix_format is not MatrixFormat.JSON:
        return _document(database, scope, matrix_format)
    async with snapshot(database) as connection:
        summary = await service.summary(connection, scope)
        items = await service.matrix_page(connection, scope, skip, limit)
    return paging.page(request, items, summary["total_requirements"], skip, limit, {"summary": summary})


def _document(database: Db, scope: Conditions, matrix_format: MatrixFormat) -> Response:
    document = _DOCUMENTS[matrix_format]
    made_at = datetime.now(UTC)
    # A page is for looking at, a table for taking away.
    disposition = "inline" if matrix_format is MatrixFormat.HTML else "attachment"
    name = f"traceability-matrix-{made_at:%Y-%m-%d}.{matrix_format}"
    return export.DocumentResponse(
        database,
        scope,
        document,
        made_at,
        {"Content-Disposition": f'{disposition}; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )


@router.get("/coverage-by-module", response_model=CoverageByModule, summary="Coverage of each module")
async def get_coverage_by_module(viewer: Viewer, database: Db) -> Response:
    """Give the figures of each module that a requirement or a test case names, and of those in none.

    Links count for the module of their requirement, test cases for their own, so that every figure adds up to
    that of `overall`.
    """
    async with snapshot(database) as connection:
        body = await service.coverage_by_module(connection)
    return answer(body)


@router.get("/gaps", response_model=Gaps, summary="What is missing or in doubt")
async def get_gaps(viewer: Viewer, database: Db, module: Modules = None, skip: Skip = 0, limit: Limit = 50) -> Response:
    """Give requirements without a test case, test cases without a requirement, and suspect links.

    Each is a list with its own `total`; `skip` and `limit` page all three alike. `module` is that of the
    requirement, of the test case, and of a link's requirement.
    """
    async with snapshot(database) as connection:
        gaps = await service.gaps(connection, parse_words("module", module), skip, limit)
    return answer({**gaps, "skip": skip, "limit": limit})
