"""HTTP: the review queue."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from chassis.database import Db
from chassis.http.app import problem_responses
from chassis.http.paging import Limit, Page, Skip, page, parse_sort
from chassis.http.responses import answer, item
from chassis.http.strict_route import StrictRoute
from chassis.identity import Reviewer, Viewer
from chassis.peers import Peer
from suggestion_service.metrics import count_reviews
from suggestion_service.review import repository, service
from suggestion_service.review.filters import NEWEST_FIRST, SORTS, Filters
from suggestion_service.review.schemas import Accept, BulkResult, BulkReview, Reject, Suggestion

router = APIRouter(prefix="/api/v1/suggestions", route_class=StrictRoute, tags=["Suggestions"])


async def _catalog(request: Request) -> Peer:
    catalog: Peer = request.app.state.catalog
    return catalog


Catalog = Annotated[Peer, Depends(_catalog)]
Score = Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)]


@router.get("", response_model=Page[Suggestion], summary="List suggestions")
async def list_suggestions(
    request: Request,
    _: Viewer,
    database: Db,
    status: Annotated[str | None, Query(description="Like `pending,accepted` or `!rejected`.")] = None,
    method: Annotated[str | None, Query(description="Like `keyword_match,hybrid`.")] = None,
    requirement_id: Annotated[str | None, Query(description="One id, or several with commas.")] = None,
    test_case_id: Annotated[str | None, Query(description="One id, or several with commas.")] = None,
    min_score: Score = None,
    max_score: Score = None,
    search: Annotated[str | None, Query(description="Part of a title or an external id of the pair.")] = None,
    sort: Annotated[
        str | None,
        Query(
            description="`score`, `relevance` (the score and what reviews of like pairs say, together) or `created_at`,"
            " with `:asc` or `:desc`."
        ),
    ] = None,
    skip: Skip = 0,
    limit: Limit = 50,
) -> Response:
    """Give one page, newest first unless sorted otherwise. Expired ones are left out unless `status` asks for them."""
    filters = Filters.read(
        status=status,
        method=method,
        requirement_id=requirement_id,
        test_case_id=test_case_id,
        min_score=min_score,
        max_score=max_score,
        search=search,
    )
    order = NEWEST_FIRST if sort is None else parse_sort(sort, list(SORTS))
    async with database.connection() as connection:
        rows, total = await repository.page(connection, filters, order, skip, limit)
    return page(request, rows, total, skip, limit)


@router.post("/bulk-review", response_model=BulkResult, summary="Accept or reject many suggestions")
async def bulk_review_suggestions(review: BulkReview, reviewer: Reviewer, database: Db, catalog: Catalog) -> Response:
    """Review each by itself: one that cannot be reviewed holds up no other."""
    results = await service.review_in_bulk(database, catalog, reviewer, review)
    failed = sum(result["status"] == "error" for result in results)
    return answer({"items": results, "total": len(results), "reviewed": len(results) - failed, "failed": failed})


@router.get(
    "/{suggestion_id}",
    response_model=Suggestion,
    responses=problem_responses(404),
    summary="Read a suggestion",
)
async def read_suggestion(request: Request, suggestion_id: UUID, _: Viewer, database: Db) -> Response:
    """Give the suggestion with its reason."""
    return item(request, await service.get(database, suggestion_id))


@router.post(
    "/{suggestion_id}/accept",
    response_model=Suggestion,
    responses=problem_responses(400, 404, 409, 415),
    summary="Accept a suggestion: its link is made",
)
async def accept_suggestion(
    request: Request,
    suggestion_id: UUID,
    reviewer: Reviewer,
    database: Db,
    catalog: Catalog,
    review: Accept | None = None,
) -> Response:
    """Make the link and give the suggestion with its `link_id`; the link can be read when the answer arrives."""
    await service.accept(database, catalog, suggestion_id, reviewer, review or Accept())
    return item(request, await service.get(database, suggestion_id))


@router.post(
    "/{suggestion_id}/reject",
    response_model=Suggestion,
    responses=problem_responses(400, 404, 409, 415),
    summary="Reject a suggestion",
)
async def reject_suggestion(
    request: Request, suggestion_id: UUID, reviewer: Reviewer, database: Db, review: Reject | None = None
) -> Response:
    """Take it out of the queue; the pair is suggested again only when a text of the two changes."""
    async with database.transaction() as connection:
        rejected = await service.reject(connection, suggestion_id, reviewer, review or Reject())
    count_reviews([rejected])
    return item(request, await service.get(database, suggestion_id))
