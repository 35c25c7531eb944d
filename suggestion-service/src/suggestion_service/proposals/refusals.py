"""Why a proposal cannot be reviewed or withdrawn: who was there before, when, and what they did."""

from chassis.core.problems import Conflict, NotFound
from suggestion_service.proposals.repository import State
from suggestion_service.review.refusals import review_in_words


def not_pending(state: State) -> Conflict:
    """Return the problem of what came too late: its members say who was first, when, and what came of it."""
    if state.status in {"accepting", "reopening"}:
        doing = "accepting it" if state.status == "accepting" else "undoing its review"
        happened = f"{state.by} is {doing} right now"
    elif state.status in {"accepted", "rejected"}:
        happened = review_in_words(state.status, state.by, state.at)
    elif state.status == "pending":
        happened = "it was being reviewed a moment ago. Try again"
    else:
        happened = f"it is {state.status}" + (f": {state.feedback}" if state.feedback else "")
    members = {
        "proposal_status": state.status,
        "reviewed_by": state.by,
        "reviewed_at": state.at,
        "made_id": state.made_id,
    }
    sentence = f"This proposal is not pending any more: {happened.rstrip('.')}."
    return Conflict(sentence, code="proposal_not_pending", members=members)


def not_found() -> NotFound:
    """Return the problem of an id that no proposal has."""
    return NotFound("There is no proposal with this id.", code="proposal_not_found")
