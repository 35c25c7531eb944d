"""HTTP: what agents propose, and what people say to it."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Query, Request, Response

from chassis.db.database import Connection, Db
from chassis.web.callers import Reviewer, Viewer
from chassis.web.idempotency import answer_once
from chassis.web.listing import documented, documented_body, page, read_query
from chassis.web.parameters import parse_sort
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, created, item
from chassis.web.strict_route import StrictRoute
from suggestion_service.proposals import bulk, making, reviewing, service
from suggestion_service.proposals.authors import author_of
from suggestion_service.proposals.filters import Expand, ProposalFilters, order_by, sort_fields
from suggestion_service.proposals.schemas import (
    ONE,
    AcceptProposal,
    BulkProposalResult,
    BulkProposalReview,
    Proposal,
    ProposalBatch,
    ProposalPage,
    ProposedBatch,
    RejectProposal,
)
from suggestion_service.review.endpoints import Catalog, Undoer

PATH = "/api/v1/proposals"
router = APIRouter(prefix=PATH, route_class=StrictRoute, tags=["Proposals"])

_NOT_PENDING = ("404 proposal_not_found", "409 proposal_not_pending")
_BODIES = documented_body(ProposalBatch, *ONE)


@router.post(
    "",
    status_code=201,
    response_model=Proposal,
    responses={
        200: {"model": ProposedBatch},
        **problem_responses(
            "404 requirement_not_found",
            "404 test_case_not_found",
            "409 link_exists",
            "404 link_not_found",
            "409 pair_rejected",
            "409 proposal_rejected",
            "409 similar_exists",
            "409 outdated",
            "409 no_change",
            "409 link_not_suspect",
            "429 too_many_pending",
        ),
    },
    summary="Propose a change of the record",
    openapi_extra=_BODIES,
)
async def propose(
    request: Request,
    body: Annotated[dict[str, Any], Body(max_length=20)],
    caller: Reviewer,
    database: Db,
    catalog: Catalog,
) -> Response:
    """Propose one, or up to 100 as `proposals`, each answered by itself. Nothing changes until a person accepts it.

    200 with one proposal is the same one of this agent that is pending. A pair that people rejected is refused until
    one of its texts changes (409 `pair_rejected`, with who, when and the feedback).
    """
    author, are_many = author_of(request, caller), "proposals" in body
    # What is wrong with one is told behind the look at the idempotency key: it was right when it was sent first.
    prepared = await making.prepare(catalog, author, making.read_batch(body) if are_many else [body])

    async def make(connection: Connection) -> Response:
        if are_many:
            return answer(await service.propose_many(connection, author, caller, prepared))
        made = await service.propose(connection, author, caller, prepared[0])
        if made.changed is None:
            return item(request, made.answer)
        return created(request, made.answer, f"{PATH}/{made.answer['id']}")

    return await answer_once(request, database, caller, make, whose=author.id)


@router.get("", response_model=ProposalPage, summary="List proposals", openapi_extra=documented(ProposalFilters))
async def list_proposals(request: Request, caller: Viewer, database: Db) -> Response:
    """Return one page, newest first unless sorted otherwise; `agent=me` are those of the caller's token."""
    query = read_query(request, ProposalFilters)
    wanted = query.page(request, order_by(parse_sort(query.sort, sort_fields())))
    return page(request, wanted, await service.page(database, query, caller, wanted))


@router.post(
    "/bulk-review",
    response_model=BulkProposalResult,
    responses=problem_responses("409 count_changed"),
    summary="Accept or reject many proposals",
)
async def bulk_review_proposals(
    review: BulkProposalReview, reviewer: Reviewer, database: Db, catalog: Catalog
) -> Response:
    """Review each by itself, at most 100: one that cannot be reviewed holds up no other.

    With a filter, exactly the `expected_count` that were counted before are reviewed, or none (409 `count_changed`).
    Without that number, or with `dry_run`, nothing is reviewed: the answer is how many there are.
    """
    return answer(await bulk.review(database, catalog, reviewer, review))


@router.get(
    "/{proposal_id}",
    response_model=Proposal,
    responses=problem_responses("404 proposal_not_found"),
    summary="Read a proposal",
)
async def read_proposal(
    request: Request, proposal_id: UUID, _: Viewer, database: Db, expand: Annotated[Expand, Query()] = None
) -> Response:
    """Return the proposal with what became of it."""
    return item(request, await service.get(database, proposal_id, expand))


@router.post(
    "/{proposal_id}/accept",
    response_model=Proposal,
    responses=problem_responses(
        *_NOT_PENDING, "403 own_proposal", "409 link_exists", "409 acceptance_undone", "409 outdated"
    ),
    summary="Accept a proposal: what it asks for is done",
)
async def accept_proposal(
    request: Request,
    proposal_id: UUID,
    reviewer: Reviewer,
    database: Db,
    catalog: Catalog,
    review: AcceptProposal | None = None,
) -> Response:
    """Do what it proposes, as the reviewer, and return it; the change can be read when the answer arrives.

    One that is attached to our own suggestion of its pair is accepted with it, and with all others of the pair.
    """
    await reviewing.accept(database, catalog, proposal_id, reviewer, None if review is None else review.feedback)
    return item(request, await service.get(database, proposal_id))


@router.post(
    "/{proposal_id}/reject",
    response_model=Proposal,
    responses=problem_responses(*_NOT_PENDING, "403 own_proposal"),
    summary="Reject a proposal",
)
async def reject_proposal(
    request: Request, proposal_id: UUID, reviewer: Reviewer, database: Db, review: RejectProposal | None = None
) -> Response:
    """Take it out of the queue; the agent reads the feedback, and may propose the same again once a text changes."""
    await reviewing.reject(database, proposal_id, reviewer, None if review is None else review.feedback)
    return item(request, await service.get(database, proposal_id))


@router.post(
    "/{proposal_id}/reopen",
    response_model=Proposal,
    responses=problem_responses(
        "404 proposal_not_found",
        *(
            f"409 {code}"
            for code in (
                *("proposal_not_reviewed", "too_late", "not_undoable"),
                *("changed_since", "link_changed", "link_exists"),
            )
        ),
    ),
    summary="Undo the review of a proposal",
)
async def reopen_proposal(
    request: Request, proposal_id: UUID, reviewer: Reviewer, database: Db, catalog: Catalog, undoing: Undoer
) -> Response:
    """Have it pending again, as if it had not been reviewed, by whomever; for 30 days.

    What accepting it made goes with it, unless somebody has touched that since.
    """
    await reviewing.reopen(database, catalog, undoing, proposal_id, reviewer)
    return item(request, await service.get(database, proposal_id))


@router.post(
    "/{proposal_id}/withdraw",
    response_model=Proposal,
    responses=problem_responses(*_NOT_PENDING, "403 not_your_proposal"),
    summary="Withdraw a proposal of one's own",
)
async def withdraw_proposal(request: Request, proposal_id: UUID, caller: Reviewer, database: Db) -> Response:
    """Take it back, by the token that made it; one that is withdrawn already stays so."""
    await reviewing.withdraw(database, proposal_id, caller)
    return item(request, await service.get(database, proposal_id))
