"""The synchronous calls: catalog makes the links of accepted suggestions, and deletes them, each exactly once."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from chassis.core.problems import Conflict, NotFound, Problem, Unavailable
from chassis.web.peers import Peer
from suggestion_service.store.accept_intents import AcceptIntent
from suggestion_service.store.undo_intents import UndoIntent

Intent = TypeVar("Intent")
Outcome = TypeVar("Outcome")

_log = logging.getLogger(__name__)

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Refused:
    """catalog will never make this link: `reason` is for the suggestion's feedback, `problem` for the caller.

    Without a reason the acceptance alone is at its end, and the suggestion what it was.
    """

    reason: str | None
    problem: Problem


_LINK_EXISTS = Refused(
    "A link between this requirement and this test case already exists.",
    Conflict("A link between this requirement and this test case already exists.", code="link_exists"),
)
_GONE = Refused(
    "The requirement or the test case does not exist any more.",
    NotFound(
        "The requirement or the test case of this suggestion does not exist any more.", code="suggestion_not_found"
    ),
)
_UNDONE = Refused(None, Conflict("This acceptance has been undone.", code="acceptance_undone"))
_REFUSALS = {
    "link_exists": _LINK_EXISTS,
    "requirement_not_found": _GONE,
    "test_case_not_found": _GONE,
    "acceptance_undone": _UNDONE,
}


async def ask(
    call: Callable[[Peer, Sequence[Intent]], Awaitable[list[Outcome]]], catalog: Peer, intents: Sequence[Intent]
) -> list[tuple[Intent, Outcome]]:
    """Make a call for many intents at a time; return the outcomes of those that catalog has answered about."""
    answered: list[tuple[Intent, Outcome]] = []
    while some := intents[len(answered) : len(answered) + _AT_ONCE]:
        try:
            answered += zip(some, await call(catalog, some), strict=True)
        except Unavailable as problem:
            _log.warning("The links of %d suggestions have to wait: %s", len(intents) - len(answered), problem)
            break
    return answered


async def make(catalog: Peer, intents: Sequence[AcceptIntent]) -> list[UUID | Refused | None]:
    """Have the links of intents made; return the id of each. The same intent again gives the same link.

    Refused stands for what catalog will never make, None for what it does not understand. Raises Unavailable when it
    does not answer: the links may then have been made or not.
    """
    response = await catalog.put("/internal/links/by-suggestion", {"accepted": [_accepted(one) for one in intents]})
    if response.status_code == 200:
        return [_outcome(item) for item in response.json()["items"]]
    if len(intents) > 1:
        # What is not understood may be one of them; the others are not to wait for it.
        middle = len(intents) // 2
        return [*await make(catalog, intents[:middle]), *await make(catalog, intents[middle:])]
    return [None]


def _accepted(intent: AcceptIntent) -> dict[str, Any]:
    return {
        "suggestion_id": intent.suggestion_id,
        "requirement_id": intent.requirement_id,
        "test_case_id": intent.test_case_id,
        "link_type": intent.link_type,
        "confidence_score": intent.similarity_score,
        "notes": intent.feedback,
        "actor": {"id": intent.reviewer_id, "email": intent.reviewer_email},
        "review_id": intent.review_id,
        "link_id": intent.link_id,
    }


def _outcome(item: dict[str, Any]) -> UUID | Refused | None:
    if item["link_id"] is not None:
        return UUID(item["link_id"])
    return _REFUSALS.get(item["code"])


async def unmake(catalog: Peer, intents: Sequence[UndoIntent]) -> list[Problem | None]:
    """Have the links of undone reviews deleted; return why one cannot be undone. Asked again, it is the same.

    Raises Unavailable when catalog does not answer, or does not understand: the links may then be deleted or not.
    """
    response = await catalog.put(
        "/internal/links/undone-by-suggestion", {"undone": [_undone(intent) for intent in intents]}
    )
    if response.status_code != 200:
        raise Unavailable(f"catalog-service answered {response.status_code}.")
    return [_why_not(item) for item in response.json()["items"]]


def _undone(intent: UndoIntent) -> dict[str, Any]:
    same = ("suggestion_id", "requirement_id", "test_case_id", "link_id", "review_id")
    actor = {"id": intent.actor_id, "email": intent.actor_email}
    return {**{name: getattr(intent, name) for name in same}, "actor": actor}


def _why_not(item: dict[str, Any]) -> Problem | None:
    code, link_id = item["code"], item["link_id"]
    if code is None:
        return None
    if code == "link_changed":
        return Conflict(
            f"The link that accepting it made ({link_id}) has been changed, confirmed or made anew since: the"
            " suggestion stays accepted. Delete the link first when it is to go.",
            code=code,
            members={"link_id": link_id},
        )
    if code == "link_exists":
        return Conflict(
            f"The requirement and the test case have been linked meanwhile (link {link_id}): the suggestion stays"
            " rejected.",
            code=code,
            members={"link_id": link_id},
        )
    return _GONE.problem
