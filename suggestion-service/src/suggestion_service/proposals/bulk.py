"""Reviews of many proposals by one request: each by itself."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from chassis.core.identity import Identity
from chassis.core.problems import Invalid, Problem
from chassis.core.wording import counted
from chassis.db.database import Database
from chassis.web.bulk import check_count, check_narrowed, pointing_into
from chassis.web.peers import Peer
from suggestion_service.proposals import repository, reviewing
from suggestion_service.proposals.filters import ProposalFilters
from suggestion_service.proposals.schemas import MOST_AT_ONCE, BulkProposalReview
from suggestion_service.review.schemas import Action

_DONE = {Action.ACCEPT: "accepted", Action.REJECT: "rejected"}


async def review(database: Database, catalog: Peer, reviewer: Identity, asked: BulkProposalReview) -> dict[str, Any]:
    """Review the proposals; return the answer. Raises Invalid, and Conflict `count_changed`."""
    chosen, count = await _choose(database, reviewer, asked)
    if asked.dry_run or (asked.filter is not None and asked.expected_count is None):
        items = [{"id": one, "status": "pending", "code": None, "detail": None} for one in chosen]
        would = f"Nothing was reviewed: {counted(count, 'proposal')} would be {_DONE[asked.action]}."
        return _answer(items, count, dry_run=True, message=would)
    if asked.expected_count is not None:
        check_count(asked.expected_count, count, f"{counted(count, 'proposal')} can be reviewed", "reviewed")
    if count > MOST_AT_ONCE:
        raise Invalid.field(
            "/filter",
            f"The filter finds {count} proposals, and one request reviews at most {MOST_AT_ONCE}: narrow it.",
            "too_many_proposals",
        )
    items = [await _one(database, catalog, reviewer, asked, one) for one in chosen]
    failed = sum(one["status"] == "error" for one in items)
    not_done = f", {failed} {'was' if failed == 1 else 'were'} not: `items` tells why" if failed else ""
    reviewed = counted(len(items) - failed, "proposal")
    were = "was" if len(items) - failed == 1 else "were"
    return _answer(items, count, dry_run=False, message=f"{reviewed} {were} {_DONE[asked.action]}{not_done}.")


async def _choose(database: Database, reviewer: Identity, asked: BulkProposalReview) -> tuple[list[UUID], int]:
    """Return which proposals are asked for, and how many of them are pending."""
    async with database.connection() as connection:
        if asked.filter is None:
            ids = list(dict.fromkeys(asked.ids or []))
            states = await repository.states(connection, ids)
            return ids, sum(states[one].status == "pending" for one in ids if one in states)
        with pointing_into("filter", instead_of="/query"):
            written = ProposalFilters(**asked.filter.model_dump(exclude_none=True))
            conditions = written.conditions(reviewer)
        check_narrowed(conditions, 'Say what to review, for example {"agent": "tlp_7"}.')
        return await repository.reviewable(connection, conditions, MOST_AT_ONCE)


async def _one(
    database: Database, catalog: Peer, reviewer: Identity, asked: BulkProposalReview, proposal_id: UUID
) -> dict[str, Any]:
    result: dict[str, Any] = {"id": proposal_id, "status": _DONE[asked.action], "code": None, "detail": None}
    try:
        if asked.action is Action.ACCEPT:
            await reviewing.accept(database, catalog, proposal_id, reviewer, asked.feedback)
        else:
            await reviewing.reject(database, proposal_id, reviewer, asked.feedback)
    except Problem as problem:
        if await _is_done(database, proposal_id, _DONE[asked.action], reviewer):
            return result  # with another of its pair, a moment ago
        result |= {"status": "error", "code": problem.code, "detail": problem.detail}
    return result


async def _is_done(database: Database, proposal_id: UUID, status: str, reviewer: Identity) -> bool:
    async with database.connection() as connection:
        state = (await repository.states(connection, [proposal_id])).get(proposal_id)
    return state is not None and state.status == status and state.by == reviewer.email


def _answer(items: Sequence[dict[str, Any]], count: int, *, dry_run: bool, message: str) -> dict[str, Any]:
    failed = sum(one["status"] == "error" for one in items)
    return {
        "items": items,
        "total": max(count, len(items)),
        "count": count,
        "reviewed": 0 if dry_run else len(items) - failed,
        "failed": failed,
        "dry_run": dry_run,
        "message": message,
    }
