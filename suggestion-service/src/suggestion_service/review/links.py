"""The one synchronous call: catalog makes the links of accepted suggestions, each exactly once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.peers import Peer
from chassis.problems import Conflict, NotFound, Problem


@dataclass(frozen=True, slots=True)
class Refused:
    """catalog will never make this link: `reason` is for the suggestion's feedback, `problem` for the caller."""

    reason: str
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
_REFUSALS = {"link_exists": _LINK_EXISTS, "requirement_not_found": _GONE, "test_case_not_found": _GONE}


async def make(catalog: Peer, intents: Sequence[dict[str, Any]]) -> list[UUID | Refused | None]:
    """Have the links of intents made; give, in order, the id of each. The same intent again gives the same link.

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


def _accepted(intent: dict[str, Any]) -> dict[str, Any]:
    return {
        "suggestion_id": intent["suggestion_id"],
        "requirement_id": intent["requirement_id"],
        "test_case_id": intent["test_case_id"],
        "link_type": intent["link_type"],
        "confidence_score": intent["similarity_score"],
        "actor": {"id": intent["reviewer_id"], "email": intent["reviewer_email"]},
    }


def _outcome(item: dict[str, Any]) -> UUID | Refused | None:
    if item["link_id"] is not None:
        return UUID(item["link_id"])
    return _REFUSALS.get(item["code"])
