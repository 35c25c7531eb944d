"""GET /reports/...: the matrix in four formats, coverage by module, gaps."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.accept import preferred
from catalog_service.documents import DocumentResponse, Making
from catalog_service.executions.endpoints import SettingsOf
from catalog_service.executions.queries import BasisQuery, basis_of
from catalog_service.reports import export, service
from catalog_service.reports.formats import MatrixDocument
from catalog_service.reports.formats.csv_format import CsvMatrix
from catalog_service.reports.formats.html_format import HtmlMatrix
from catalog_service.reports.formats.xlsx_format import XlsxMatrix
from catalog_service.reports.front import CsvHeader, FiledQuery, Front, front_of
from catalog_service.reports.paging import paged_together
from catalog_service.reports.schemas import (
    CoverageByModule,
    Gaps,
    MatrixFormat,
    TraceabilityMatrix,
    VerdictsByModule,
)
from catalog_service.reports.scope import NOT_OF_REPORTS, scope_of
from catalog_service.reports.verdicts_by_module import verdicts_by_module
from catalog_service.requirements.endpoints import RequirementFilters
from chassis.core.identity import Identity
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import documented, envelope, link_header, page, read_query
from chassis.web.problem_documents import problem_responses, with_headers
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Reports"])

_DOCUMENTS: dict[MatrixFormat, type[MatrixDocument]] = {
    MatrixFormat.CSV: CsvMatrix,
    MatrixFormat.XLSX: XlsxMatrix,
    MatrixFormat.HTML: HtmlMatrix,
}

_MEDIA_TYPES = {
    "application/json": MatrixFormat.JSON,
    **{document.media_type.partition(";")[0]: name for name, document in _DOCUMENTS.items()},
}


class MatrixQuery(RequirementFilters, BasisQuery, FiledQuery):
    """What the matrix is of, and in which form."""

    results: Annotated[
        bool,
        Field(
            description="Add the `verdict` of requirements, and of test cases their `last_result` and `last_run_at`."
        ),
    ] = False
    rolled: Annotated[
        bool, Field(description="Add the `parents` of requirements, and their `rolled_verdict` with all below them.")
    ] = False
    format: Annotated[
        MatrixFormat | None, Field(description="Default: what `Accept` prefers, and json where it does not say.")
    ] = None


@router.get(
    "/traceability-matrix",
    response_model=TraceabilityMatrix,
    summary="Requirements with their test cases",
    openapi_extra=documented(MatrixQuery, NOT_OF_REPORTS),
    responses={
        **problem_responses("429 document_under_way", "429 rate_limited"),
        200: {
            "description": "The matrix; `format`, or else `Accept`, says in which form.",
            **with_headers("Content-Disposition", "Vary")[200],
            "content": {
                document.media_type.partition(";")[0]: {"schema": {"type": "string"}}
                for document in _DOCUMENTS.values()
            },
        },
    },
)
async def get_traceability_matrix(request: Request, viewer: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return the matrix of the requirements that the filters find, by module and external_id.

    `summary` counts these requirements and their links, whatever the page, and the test cases of the same modules and
    tags, orphans among them. Links tell who made, accepted and confirmed them, when and with which note. `skip` and
    `limit` page the JSON form; the other formats hold every row: one a pair of requirement and test case, one for a
    requirement without any, and at the end the test cases without a requirement. Every document says of what it is, who
    made it and when, and what the gate says; CSV does with `header=filters` alone.
    """
    query = read_query(request, MatrixQuery)
    scope = replace(await scope_of(database, query), rows=query.rows)
    of = basis_of(query, settings, datetime.now(UTC))
    front = front_of(query, scope.filters, of, viewer, query.rows)
    basis, rolled = (of if query.results else None), (of if query.rolled else None)
    has_people = query.shows_people
    matrix_format = preferred(request.headers.get("accept"), _MEDIA_TYPES) if query.format is None else query.format
    if matrix_format is not MatrixFormat.JSON:
        making = partial(export.make, database, scope, _DOCUMENTS[matrix_format], front)
        # A table without a line for it needs no gate.
        has_gate = matrix_format is not MatrixFormat.CSV or query.header is CsvHeader.FILTERS
        making = partial(making, basis=basis, has_people=has_people, rolled=rolled, gate=of if has_gate else None)
        response = _document(making, front, matrix_format, viewer)
    else:
        wanted = paged_together(request, query, service.MATRIX_ORDERS)
        found, matrix = await service.matrix(
            database, scope, front, wanted, basis, has_people=has_people, rolled=rolled
        )
        response = page(request, wanted.whole, found, extra=matrix)
    response.headers["Vary"] = "Accept"
    return response


def _document(making: Making, front: Front, matrix_format: MatrixFormat, reader: Identity) -> Response:
    document = _DOCUMENTS[matrix_format]
    # A page is for looking at, a table for taking away.
    disposition = "inline" if matrix_format is MatrixFormat.HTML else "attachment"
    name = f"traceability-matrix-{front.made_at:%Y-%m-%d}.{matrix_format}"
    return DocumentResponse(
        making,
        document.media_type,
        {"Content-Disposition": f'{disposition}; filename="{name}"', **document.headers},
        reader=reader.id,
    )


@router.get("/coverage-by-module", response_model=CoverageByModule, summary="Coverage of each module")
async def get_coverage_by_module(viewer: Viewer, database: Db) -> Response:
    """Return the figures of each module that a requirement or a test case names, and of those in none.

    Links count for the module of their requirement, test cases for their own, so that every figure adds up to
    that of `overall`.
    """
    return answer(await service.coverage_by_module(database))


@router.get("/verdicts-by-module", response_model=VerdictsByModule, summary="What results say of each module")
async def get_verdicts_by_module(viewer: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return how many requirements of each module have which verdict on the default branch, and how many are covered.

    The figures are those of `GET /reports/verification` and `GET /reports/coverage-by-module`.
    """
    return answer(await verdicts_by_module(database, settings.basis(datetime.now(UTC))))


@router.get(
    "/gaps",
    response_model=Gaps,
    summary="What is missing or in doubt",
    openapi_extra=documented(RequirementFilters, {*NOT_OF_REPORTS, "fields"}),
)
async def get_gaps(request: Request, viewer: Viewer, database: Db) -> Response:
    """Return requirements without a test case, test cases without a requirement, and suspect links.

    Each is a list with its own `total`; `skip`, `after` and `limit` page all three alike. Filters choose requirements,
    a link by its own, and test cases by `module` and `tag`; `notes` names a module that nothing is in.
    `waiting_references` counts what `GET /references` lists.
    """
    query = read_query(request, RequirementFilters)
    scope = await scope_of(database, query)
    wanted = paged_together(request, query, service.GAPS_ORDERS)
    found, gaps = await service.gaps(database, scope, datetime.now(UTC), wanted)
    return answer({**gaps, **envelope(wanted.whole, found)}, headers=link_header(request, wanted.whole, found))
