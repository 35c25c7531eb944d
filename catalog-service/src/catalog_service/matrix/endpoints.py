"""GET /reports/traceability-matrix/compact and /axes, GET /reports/module-matrix: what draws the matrix as a map."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from catalog_service.executions.endpoints import SettingsOf
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE
from catalog_service.matrix import service
from catalog_service.matrix.encoding import MEDIA_TYPE
from catalog_service.matrix.schemas import Axis, MatrixAxis, ModuleMatrix
from chassis.core.problems import Invalid
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import MAX_SKIP
from chassis.web.parameters import FREE_ALTERNATIVES
from chassis.web.problem_documents import with_headers
from chassis.web.responses import answer, is_known, not_modified
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Reports"])

_KINDS = {Axis.ROW: REQUIREMENT, Axis.COLUMN: TEST_CASE}
_MOST_ITEMS = 2000

Modules = Annotated[
    str | None,
    Query(
        description="Modules of the rows. Columns are then the test cases of these modules, and those of others that a"
        f" row has a cell with. {FREE_ALTERNATIVES}.",
        examples=["doors"],
    ),
]
Results = Annotated[
    bool, Query(description="Instead of its links, what results on the default branch say of each: see the states.")
]


@router.get(
    "/traceability-matrix/compact",
    response_class=Response,
    summary="The whole matrix in binary form, to draw it",
    responses={
        200: {
            "description": "The cells of each row.",
            **with_headers("ETag")[200],
            "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def get_compact_matrix(
    request: Request,
    viewer: Viewer,
    database: Db,
    settings: SettingsOf,
    *,
    module: Modules = None,
    results: Results = False,
) -> Response:
    """Return every cell that is not empty; their labels are in GET /reports/traceability-matrix/axes.

    Rows are requirements, columns are test cases, both by module, external_id and id; what has no module, or no
    external_id, comes last. All numbers are little-endian:

    | Bytes | What |
    |---|---|
    | 4 | `TLM1` |
    | 4 | u32: how many rows |
    | 4 | u32: how many columns |
    | 4 | u32: how many cells |
    | 4 x (rows + 1) | u32: the first cell of each row, and the end of the last |
    | 4 x cells | u32: the column of each cell, ascending in each row |
    | cells | u8: its state: 1 covered, 2 suspect, 3 pending |

    A cell is pending where a suggestion waits for a review and there is no link. The ETag changes with every change of
    the record and of what is pending, and to ask whether it is still right costs next to nothing.

    With `results`, cells are links alone, and a state is the verdict of the link's test case for the requirement: 1
    passed, 2 stale, 3 flaky, 4 failed, 5 skipped, 6 not run. The ETag then begins as that of the matrix does.
    """
    basis = settings.basis(datetime.now(UTC)) if results else None
    tag, document = await service.compact(database, module, basis, partial(is_known, request))
    return not_modified(tag) if document is None else Response(document, 200, {"ETag": tag}, MEDIA_TYPE)


@router.get(
    "/traceability-matrix/axes",
    response_model=MatrixAxis,
    summary="Labels of a part of the matrix",
)
async def get_matrix_axis(
    viewer: Viewer,
    database: Db,
    axis: Annotated[Axis, Query(description="row: requirements; column: test cases.")],
    begin: Annotated[int, Query(alias="from", ge=0, le=MAX_SKIP, description="The index of the first item.")] = 0,
    end: Annotated[
        int | None,
        Query(
            alias="to",
            ge=0,
            le=2 * MAX_SKIP,
            description=f"The index behind the last item, at most {_MOST_ITEMS} after `from`, which is the default.",
        ),
    ] = None,
    module: Modules = None,
) -> Response:
    """Return the items from index `from` to before `to`, in the order of the compact matrix with the same `module`.

    When `matrix` is not the ETag of the compact matrix that was read, the record has changed: read that again, too.
    """
    part = await service.axis(database, _KINDS[axis], module, begin, _end_of(begin, end))
    return answer({"axis": axis, **part})


def _end_of(begin: int, end: int | None) -> int:
    if end is None:
        return begin + _MOST_ITEMS
    if end < begin:
        raise Invalid.field("/query/to", f"{end} is before `from`, which is {begin}.", "invalid_range")
    if end - begin > _MOST_ITEMS:
        message = f"From {begin} to {end} are {end - begin} items; at most {_MOST_ITEMS} are given at once."
        raise Invalid.field("/query/to", message, "range_too_long")
    return end


@router.get("/module-matrix", response_model=ModuleMatrix, summary="The matrix in sums, module by module")
async def get_module_matrix(viewer: Viewer, database: Db) -> Response:
    """Return how many links and pending suggestions are between the requirements and the test cases of each module.

    Modules are in the order of the matrix; null are the items in none.
    """
    return answer(await service.by_module(database))
