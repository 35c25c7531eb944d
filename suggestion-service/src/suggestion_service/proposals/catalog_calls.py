"""The calls to catalog about proposals other than links: it checks them when they come, and applies accepted ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.core.problems import Conflict, FieldError, Invalid, NotFound, Problem, Unavailable
from chassis.web.peers import Peer
from suggestion_service.proposals.authors import Author
from suggestion_service.review.links import Refused
from suggestion_service.store.proposal_intents import ProposalIntent

OUTDATED = "outdated"
_UNDONE = "acceptance_undone"


@dataclass(frozen=True, slots=True)
class Checked:
    """A proposal that could be applied now: the ids of its target with versions, and what there is `before`."""

    target: dict[str, Any]
    before: dict[str, Any] | None


async def check(catalog: Peer, author: Author, proposed: Sequence[dict[str, Any]]) -> list[Checked | Problem]:
    """Have proposals checked; return for each, in order, what it is about, or why it cannot be applied.

    Raises Unavailable when catalog does not answer.
    """
    if not proposed:
        return []
    actor = {"id": author.owner_id, "email": author.owner_email}
    items = await _ask(catalog, "checked", {"proposed": list(proposed), "actor": actor})
    return [Checked(one["target"], one["before"]) if one["code"] is None else _problem(one) for one in items]


async def apply(catalog: Peer, intent: ProposalIntent) -> UUID | Refused | Problem:
    """Have an accepted proposal applied; return what it made or changed, the same when asked again, or why not."""
    accepted = {
        "proposal_id": intent.proposal_id,
        "kind": intent.kind,
        "target": intent.target,
        "body": intent.body,
        "before": intent.before,
        "actor": _actor(intent),
        "review_id": intent.review_id,
    }
    try:
        (item,) = await _ask(catalog, "applied", {"accepted": [accepted]})
    except Unavailable:
        return Unavailable(
            "catalog-service does not answer right now. The acceptance is kept and finished by itself when it does;"
            " read the proposal in a while.",
            retry_after=5,
        )
    if item["code"] is None:
        return UUID(item["made_id"])
    problem = _problem(item)
    return Refused(None if problem.code == _UNDONE else problem.detail, problem)


async def take_back(catalog: Peer, intent: ProposalIntent) -> dict[str, Any] | Problem:
    """Have taken back what a proposal did; return what of its target is another now, the same when asked again.

    Or why it stays as it is.
    """
    undone = {
        "proposal_id": intent.proposal_id,
        "kind": intent.kind,
        "review_id": intent.reviewed_as,
        "actor": _actor(intent),
    }
    try:
        (item,) = await _ask(catalog, "undone", {"undone": [undone]})
    except Unavailable:
        return Unavailable(
            "catalog-service does not answer right now. The undoing is kept and finished by itself when it does; read"
            " the proposal in a while.",
            retry_after=5,
        )
    if item["code"] is not None:
        return _problem(item)
    target: dict[str, Any] = item["target"]
    return target


def _actor(intent: ProposalIntent) -> dict[str, Any]:
    return {"id": intent.reviewer_id, "email": intent.reviewer_email}


async def _ask(catalog: Peer, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    response = await catalog.put(f"/internal/proposals/{path}", body)
    if response.status_code != 200:
        raise Unavailable(f"catalog-service answered {response.status_code}.")
    items: list[dict[str, Any]] = response.json()["items"]
    return items


def _problem(item: dict[str, Any]) -> Problem:
    errors = [FieldError(one["pointer"], one["message"], one["code"]) for one in item["errors"]]
    kinds = {404: NotFound, 422: Invalid}
    kind: type[Problem] = kinds.get(item["status"], Conflict)
    return kind(item["detail"], code=item["code"], errors=errors, members=item["members"])
