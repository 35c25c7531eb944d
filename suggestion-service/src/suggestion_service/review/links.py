"""The one synchronous call: catalog makes the link of an accepted suggestion, exactly once."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chassis.peers import Peer
from chassis.problems import Conflict, NotFound, Problem, Unavailable


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


async def make(catalog: Peer, intent: dict[str, Any]) -> UUID | Refused:
    """Have the link of an intent made; give its id. The same intent again gives the same link.

    Raises Unavailable when catalog does not answer: the link may then have been made or not.
    """
    response = await catalog.put(
        f"/internal/links/by-suggestion/{intent['suggestion_id']}",
        {
            "requirement_id": intent["requirement_id"],
            "test_case_id": intent["test_case_id"],
            "link_type": intent["link_type"],
            "confidence_score": intent["similarity_score"],
            "actor": {"id": intent["reviewer_id"], "email": intent["reviewer_email"]},
        },
    )
    if response.status_code in {200, 201}:
        return UUID(response.json()["id"])
    if response.status_code == 409:
        return _LINK_EXISTS
    if response.status_code == 404:
        return _GONE
    raise Unavailable(f"catalog-service did not understand the link to make ({response.status_code}).")
