"""Why a suggestion cannot be reviewed: who was there before, when, and what they did."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from chassis.core.problems import Conflict, NotFound, Problem
from chassis.db.database import Connection
from suggestion_service.review import repository
from suggestion_service.review.repository import State


async def why_not(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, Problem]:
    """Return for suggestions that could not be reviewed the problem of each."""
    found = await repository.states(connection, ids) if ids else {}
    return {
        suggestion_id: not_pending(found[suggestion_id]) if suggestion_id in found else not_found()
        for suggestion_id in ids
    }


def not_pending(state: State) -> Conflict:
    """Return the problem of a review that came too late: its members say who was first, when, and what came of it."""
    if state.status == "accepting":
        happened = f"{state.by} is accepting it right now"
    elif state.status == "expired":
        happened = "it is expired" + (f": {state.feedback}" if state.feedback else ".")
    elif state.status == "pending":
        happened = "it was being accepted a moment ago. Try again"
    else:
        happened = f"{review_in_words(state.status, state.by, state.at)}"
    sentence = f"This suggestion is not pending any more: {happened.rstrip('.')}."
    # `status` is that of HTTP in every problem.
    members = {
        "suggestion_status": state.status,
        "reviewed_by": state.by,
        "reviewed_at": state.at,
        "link_id": state.link_id,
    }
    return Conflict(sentence, code="suggestion_not_pending", members=members)


def review_in_words(status: str, by: str | None, at: datetime | None) -> str:
    """Return who did what to it and when: `ana@example.com rejected it on 2026-01-31 at 12:00 UTC`."""
    when = f" on {moment(at)}" if at is not None else ""
    return f"{by or 'somebody'} {status} it{when}"


def moment(at: datetime) -> str:
    """Return a moment as people read it."""
    return f"{at:%Y-%m-%d} at {at:%H:%M} UTC"


def not_found() -> NotFound:
    """Return the problem of an id that no suggestion has."""
    return NotFound("There is no suggestion with this id.", code="suggestion_not_found")
