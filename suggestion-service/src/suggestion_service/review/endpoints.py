"""HTTP: the review queue."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from chassis.db.database import Db
from chassis.web.callers import Reviewer, Viewer
from chassis.web.facets import FacetCounts, documented_facets, read_facets
from chassis.web.listing import documented, page, read_query
from chassis.web.peers import Peer
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, item
from chassis.web.strict_route import StrictRoute
from suggestion_service.review import bulk, service
from suggestion_service.review.bodies import Accept, BulkPreview, BulkResult, BulkReview, Reject, UndoResult
from suggestion_service.review.filters import FACETS, Expand, ListQuery, order_by, read_sort
from suggestion_service.review.reasons import Reasons
from suggestion_service.review.schemas import QueuePage, Suggestion
from suggestion_service.review.undoing import Undoing

router = APIRouter(prefix="/api/v1/suggestions", route_class=StrictRoute, tags=["Suggestions"])


async def _catalog(request: Request) -> Peer:
    catalog: Peer = request.app.state.catalog
    return catalog


async def _undoing(request: Request) -> Undoing:
    undoing: Undoing = request.app.state.undoing
    return undoing


async def _reasons(request: Request) -> Reasons:
    reasons: Reasons = request.app.state.reasons
    return reasons


Catalog = Annotated[Peer, Depends(_catalog)]
Undoer = Annotated[Undoing, Depends(_undoing)]
Reasoned = Annotated[Reasons, Depends(_reasons)]


_NOT_REOPENED = tuple(
    f"409 {code}" for code in ("suggestion_not_reviewed", "too_late", "suggested_again", "link_changed", "link_exists")
)


@router.get("", response_model=QueuePage, summary="List suggestions", openapi_extra=documented(ListQuery))
async def list_suggestions(request: Request, _: Viewer, database: Db, reasons: Reasoned) -> Response:
    """Return one page, newest first unless sorted otherwise. Expired ones are there when `status` asks for them."""
    query = read_query(request, ListQuery)
    wanted = query.page(request, order_by(read_sort(query.sort)))
    found, of_all = await service.page(database, reasons, query, wanted)
    return page(request, wanted, found, extra={"total_of_all": of_all})


@router.get(
    "/facets",
    response_model=FacetCounts,
    summary="Count suggestions by the values of their fields",
    openapi_extra=documented_facets(ListQuery, FACETS),
)
async def count_suggestions(request: Request, _: Viewer, database: Db) -> Response:
    """Under the filters of the list; the counts of a facet leave out its own filter.

    A suggestion counts for the module of its requirement and for that of its test case.
    """
    wanted = read_facets(request.query_params.get("facets"), FACETS)
    return answer(await service.facets(database, read_query(request, ListQuery), wanted))


@router.post(
    "/bulk-review",
    response_model=BulkResult | BulkPreview,
    responses=problem_responses("409 count_changed"),
    summary="Accept or reject many suggestions",
)
async def bulk_review_suggestions(
    review: BulkReview, reviewer: Reviewer, database: Db, catalog: Catalog, reasons: Reasoned
) -> Response:
    """Review each by itself: one that cannot be reviewed holds up no other.

    With a filter, exactly the `expected_count` that were counted before are reviewed, or none (409 `count_changed`).
    Without that number, or with `dry_run`, nothing is reviewed: the answer is how many there are, and the first.
    """
    return answer(await bulk.review(database, catalog, reasons, reviewer, review))


@router.get(
    "/{suggestion_id}",
    response_model=Suggestion,
    responses=problem_responses("404 suggestion_not_found"),
    summary="Read a suggestion",
)
async def read_suggestion(
    request: Request,
    suggestion_id: UUID,
    _: Viewer,
    database: Db,
    reasons: Reasoned,
    expand: Annotated[Expand, Query()] = None,
) -> Response:
    """Return the suggestion with its reason."""
    return item(request, await service.get(database, reasons, suggestion_id, expand))


@router.post(
    "/{suggestion_id}/accept",
    response_model=Suggestion,
    responses=problem_responses(
        "404 suggestion_not_found", "409 suggestion_not_pending", "409 link_exists", "409 acceptance_undone"
    ),
    summary="Accept a suggestion: its link is made",
)
async def accept_suggestion(
    request: Request,
    suggestion_id: UUID,
    reviewer: Reviewer,
    database: Db,
    catalog: Catalog,
    reasons: Reasoned,
    review: Accept | None = None,
) -> Response:
    """Make the link and return the suggestion with its `link_id`; the link can be read when the answer arrives.

    409 `suggestion_not_pending` tells who was first: `reviewed_by`, `reviewed_at`, `suggestion_status` and `link_id`.
    """
    await service.accept(database, catalog, suggestion_id, reviewer, review or Accept())
    return item(request, await service.get(database, reasons, suggestion_id))


@router.post(
    "/{suggestion_id}/reject",
    response_model=Suggestion,
    responses=problem_responses("404 suggestion_not_found", "409 suggestion_not_pending"),
    summary="Reject a suggestion",
)
async def reject_suggestion(
    request: Request,
    suggestion_id: UUID,
    reviewer: Reviewer,
    database: Db,
    reasons: Reasoned,
    review: Reject | None = None,
) -> Response:
    """Take it out of the queue; the pair is suggested again only when a text of the two changes."""
    await service.reject(database, suggestion_id, reviewer, review or Reject())
    return item(request, await service.get(database, reasons, suggestion_id))


@router.post(
    "/{suggestion_id}/reopen",
    response_model=Suggestion,
    responses=problem_responses("404 suggestion_not_found", *_NOT_REOPENED),
    summary="Undo the review of a suggestion",
)
async def reopen_suggestion(
    request: Request, suggestion_id: UUID, reviewer: Reviewer, database: Db, reasons: Reasoned, undoing: Undoer
) -> Response:
    """Have it pending again, as if it had not been reviewed, by whomever; for 30 days.

    The link that accepting made goes with it, unless somebody has touched it since (409 `link_changed`).
    """
    await undoing.reopen(suggestion_id, reviewer)
    return item(request, await service.get(database, reasons, suggestion_id))


@router.post(
    "/reviews/{review_id}/undo",
    response_model=UndoResult,
    responses=problem_responses(
        "404 review_not_found", "404 suggestion_not_found", "409 review_undone", *_NOT_REOPENED
    ),
    summary="Undo a review, of one suggestion or of many",
)
async def undo_review(review_id: UUID, reviewer: Reviewer, undoing: Undoer) -> Response:
    """Have pending again what still stands of the review, as `reopen` does; one that cannot be holds up no other.

    Of a review of a single suggestion, what cannot be undone is refused as there.
    """
    return answer(await undoing.undo(review_id, reviewer))
