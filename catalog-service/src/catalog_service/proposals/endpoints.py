"""HTTP, for suggestion-service alone: proposals are checked, and applied once people have accepted them."""

from typing import Any

from fastapi import APIRouter, Request, Response

from catalog_service.proposals import undoing
from catalog_service.proposals.applying import Applying
from catalog_service.proposals.schemas import AcceptedProposals, ProposedChanges, UndoneProposals
from chassis.core.problems import Problem
from chassis.db.database import Db
from chassis.web.callers import ServiceCaller
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/internal/proposals", route_class=StrictRoute, include_in_schema=False)


@router.put("/checked")
async def check_proposals(request: Request, body: ProposedChanges, caller: ServiceCaller) -> Response:
    """Say of each proposal, in order, whether it could be applied now, with `target` and `before`; nothing changes."""
    applying: Applying = request.app.state.applying
    items = []
    for proposed in body.proposed:
        outcome = await applying.check(proposed, body.actor.as_actor())
        if isinstance(outcome, Problem):
            items.append({"target": None, "before": None, **_told(outcome)})
        else:
            items.append({"target": outcome.target, "before": outcome.before, **_FINE})
    return answer({"items": items})


@router.put("/applied")
async def apply_proposals(request: Request, body: AcceptedProposals, caller: ServiceCaller) -> Response:
    """Apply accepted proposals, each once, however often it is asked for; `items` has `made_id` of each, or why not."""
    applying: Applying = request.app.state.applying
    items = []
    for accepted in body.accepted:
        outcome = await applying.apply(accepted)
        is_problem = isinstance(outcome, Problem)
        items.append({"made_id": None if is_problem else outcome, **(_told(outcome) if is_problem else _FINE)})
    return answer({"items": items})


@router.put("/undone")
async def take_proposals_back(request: Request, body: UndoneProposals, caller: ServiceCaller, database: Db) -> Response:
    """Take back what accepted proposals did, each once: `items` has what of `target` is another now, or why not."""
    items = []
    for undone in body.undone:
        outcome = await undoing.take_back(database, undone)
        is_problem = isinstance(outcome, Problem)
        items.append({"target": None if is_problem else outcome, **(_told(outcome) if is_problem else _FINE)})
    return answer({"items": items})


_FINE: dict[str, Any] = {"code": None, "detail": None, "status": None, "errors": [], "members": {}}


def _told(problem: Any) -> dict[str, Any]:
    errors = [{"pointer": one.pointer, "message": one.message, "code": one.code} for one in problem.errors]
    return {
        "code": problem.code,
        "detail": problem.detail,
        "status": problem.status,
        "errors": errors,
        "members": problem.members,
    }
