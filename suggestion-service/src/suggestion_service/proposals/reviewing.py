"""Reviews of proposals, by people: a link that is attached to a suggestion is reviewed as that suggestion is.

Accepting goes in three steps, as of suggestions (`review/acceptance.py`): the intent is stored, catalog does it, the
result is stored. Undoing likewise. Whoever ends between the steps is finished by `reconcile`.
"""

from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Literal
from uuid import UUID, uuid4

from chassis.core import projects, request_context
from chassis.core.identity import Identity
from chassis.core.problems import Conflict, Forbidden, Problem, Unavailable
from chassis.db.database import Database
from chassis.messaging.events import actor_of
from chassis.web.peers import Peer
from suggestion_service.proposals import applying, making, repository
from suggestion_service.proposals.authors import agent_id, is_token
from suggestion_service.proposals.catalog_calls import OUTDATED
from suggestion_service.proposals.refusals import not_found, not_pending
from suggestion_service.proposals.repository import State
from suggestion_service.review import following
from suggestion_service.review import service as suggestion_review
from suggestion_service.review.bodies import Accept, Reject
from suggestion_service.review.links import Refused
from suggestion_service.review.refusals import moment
from suggestion_service.review.schemas import LinkType
from suggestion_service.review.undoing import Undoing
from suggestion_service.store import proposal_intents, proposals
from suggestion_service.store.proposal_intents import ProposalIntent, Review
from suggestion_service.store.suggestions import Rejection

_PATIENCE = timedelta(seconds=5)
_UNDOABLE = timedelta(days=30)
_RECONCILED_AT_ONCE = 50


async def accept(
    database: Database,
    catalog: Peer,
    proposal_id: UUID,
    reviewer: Identity,
    feedback: str | None,
    review_id: UUID | None = None,
) -> None:
    """Accept a proposal: what it asks for is done, as the reviewer, when this returns.

    Raises NotFound; Forbidden to the agent that proposed it; Conflict when it is not pending, or catalog refuses it;
    Unavailable when catalog does not answer: then it is finished later.
    """
    state = await _reviewable(database, proposal_id, reviewer)
    if state.suggestion_id is not None:
        link_type = LinkType(str(state.body["link_type"]))
        await suggestion_review.accept(
            database, catalog, state.suggestion_id, reviewer, Accept(feedback=feedback, link_type=link_type)
        )
        return
    review = _review("accept", reviewer, feedback, review_id)
    async with database.statement() as connection:
        intents = await proposal_intents.begin(connection, [proposal_id], review)
    if not intents:
        raise not_pending(await _state(database, proposal_id))
    outcome = await _go_on(database, catalog, intents[0])
    if isinstance(outcome, Problem):
        raise outcome


async def reject(
    database: Database, proposal_id: UUID, reviewer: Identity, feedback: str | None, review_id: UUID | None = None
) -> None:
    """Reject a proposal; raise NotFound, Forbidden to the agent that proposed it, Conflict when it is not pending."""
    state = await _reviewable(database, proposal_id, reviewer)
    if state.suggestion_id is not None:
        await suggestion_review.reject(database, state.suggestion_id, reviewer, Reject(feedback=feedback))
        return
    rejection = Rejection(review_id or uuid4(), reviewer.email, feedback, datetime.now(UTC))
    async with database.transaction() as connection:
        rejected = await proposals.reject(connection, [proposal_id], rejection)
        await following.tell_reviewed(connection, rejected, actor_of(reviewer))
    if not rejected:
        raise not_pending(await _state(database, proposal_id))


async def withdraw(database: Database, proposal_id: UUID, caller: Identity) -> None:
    """Take back a proposal, by the agent that made it; raise NotFound, Forbidden to others, Conflict when reviewed."""
    state = await _state(database, proposal_id)
    if state.agent_id != agent_id(caller):
        raise Forbidden(
            "Only the agent that made this proposal can withdraw it; a person can reject it.", code="not_your_proposal"
        )
    if state.status == "withdrawn":
        return
    async with database.transaction() as connection:
        withdrawn = await proposals.end(connection, [proposal_id], "withdrawn", None)
        await following.tell_reviewed(connection, withdrawn, actor_of(caller))
    if not withdrawn:
        raise not_pending(await _state(database, proposal_id))


async def reopen(database: Database, catalog: Peer, undoing: Undoing, proposal_id: UUID, reviewer: Identity) -> None:
    """Undo the review of a proposal, whoever made it: what accepting it did is taken back, and it is pending again.

    Raises NotFound; Conflict when there is no review to undo, it is too old, or what it made was touched; Unavailable
    when catalog does not answer: then it is finished later.
    """
    state = await _state(database, proposal_id)
    if state.status not in {"accepted", "rejected"} or state.at is None:
        raise Conflict(f"There is no review to undo: the proposal is {state.status}.", code="proposal_not_reviewed")
    if state.at < datetime.now(UTC) - _UNDOABLE:
        raise Conflict(
            f"Reviews can be undone for {_UNDOABLE.days} days, and this one is of {moment(state.at)}.", code="too_late"
        )
    if state.suggestion_id is not None:
        await undoing.reopen(state.suggestion_id, reviewer)
        return
    async with database.statement() as connection:
        intents = await proposal_intents.begin(connection, [proposal_id], _review("undo", reviewer, None, None))
    if not intents:
        raise not_pending(await _state(database, proposal_id))
    problem = await _go_back(database, catalog, intents[0])
    if problem is not None:
        raise problem


async def reconcile(database: Database, catalog: Peer) -> None:
    """Finish what was begun and not finished: a crash, a time-out, catalog away."""
    async with database.across() as connection:
        overdue = await proposal_intents.claim_overdue(connection, _RECONCILED_AT_ONCE)
    by_project = attrgetter("project_id")
    for project, intents in groupby(sorted(overdue, key=by_project), key=by_project):
        with projects.within(project):
            for intent in intents:
                await (_go_on if intent.action == "accept" else _go_back)(database, catalog, intent)


async def _go_on(database: Database, catalog: Peer, intent: ProposalIntent) -> Problem | None:
    """Have done what an accepted proposal asks for, and store the result; return why it could not be done."""
    outcome = await applying.apply(catalog, intent)
    if isinstance(outcome, Problem):
        return outcome
    async with database.transaction() as connection:
        changed = []
        if not isinstance(outcome, Refused):
            changed = await proposals.accept(connection, intent.proposal_id, outcome)
        elif outcome.reason is None:
            await proposal_intents.drop(connection, [intent.proposal_id])
        else:
            status = "outdated" if outcome.problem.code == OUTDATED else "expired"
            changed = await proposals.end_refused(connection, intent.proposal_id, status, outcome.reason)
        await following.tell_reviewed(connection, changed, intent.reviewer)
    return outcome.problem if isinstance(outcome, Refused) else None


async def _go_back(database: Database, catalog: Peer, intent: ProposalIntent) -> Problem | None:
    """Have taken back what accepting a proposal did, and store the result; return why that could not be."""
    outcome = await applying.take_back(catalog, intent)
    if isinstance(outcome, Unavailable):
        return outcome
    async with database.transaction() as connection:
        if isinstance(outcome, Problem):
            await proposal_intents.drop(connection, [intent.proposal_id])
        else:
            if outcome:
                target = {**intent.target, **outcome}
                digest = making.digest_of(intent.kind, target, intent.body)
                await proposals.retarget(connection, intent.proposal_id, target, digest)
            reopened = await proposals.reopen(connection, [intent.proposal_id], datetime.now(UTC))
            await following.tell_reviewed(connection, reopened, intent.reviewer)
    return outcome if isinstance(outcome, Problem) else None


def _review(
    action: Literal["accept", "undo"], reviewer: Identity, feedback: str | None, review_id: UUID | None
) -> Review:
    now = datetime.now(UTC)
    return Review(
        action=action,
        review_id=review_id or uuid4(),
        reviewer_id=reviewer.id,
        email=reviewer.email,
        feedback=feedback,
        correlation_id=request_context.request_id.get(),
        now=now,
        due_at=now + _PATIENCE,
        at_page=reviewer.at_page,
    )


async def _reviewable(database: Database, proposal_id: UUID, reviewer: Identity) -> State:
    """Return a proposal that this caller may review now; raise NotFound, Forbidden, or Conflict."""
    state = await _state(database, proposal_id)
    if is_token(reviewer) and state.agent_id == agent_id(reviewer):
        raise Forbidden(
            "An agent does not review what it has proposed itself: a person does, who has logged in.",
            code="own_proposal",
        )
    if state.status != "pending":
        raise not_pending(state)
    return state


async def _state(database: Database, proposal_id: UUID) -> State:
    async with database.connection() as connection:
        found = await repository.states(connection, [proposal_id])
    if proposal_id not in found:
        raise not_found()
    return found[proposal_id]
