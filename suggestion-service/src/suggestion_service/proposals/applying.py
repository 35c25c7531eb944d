"""What catalog does for accepted proposals, as the reviewer, and takes back; each exactly once."""

from typing import Any

from chassis.core.problems import Problem
from chassis.web.peers import Peer
from suggestion_service.proposals import catalog_calls
from suggestion_service.review import acceptance, undoing
from suggestion_service.review.acceptance import Outcome
from suggestion_service.store.accept_intents import AcceptIntent
from suggestion_service.store.proposal_intents import ProposalIntent
from suggestion_service.store.undo_intents import UndoIntent


async def apply(catalog: Peer, intent: ProposalIntent) -> Outcome:
    """Have done what an accepted proposal asks for; return the outcome, the same when asked again."""
    if intent.kind != "link":
        return await catalog_calls.apply(catalog, intent)
    return (await acceptance.link(catalog, [_make_acceptance(intent)]))[intent.proposal_id]


async def take_back(catalog: Peer, intent: ProposalIntent) -> dict[str, Any] | Problem:
    """Have taken back what accepting a proposal did; return what of its target is another now, or why it cannot be."""
    if intent.kind == "link":
        return (await undoing.unlink(catalog, [_make_undoing(intent)])).get(intent.proposal_id) or {}
    if intent.made_id is None:  # it was rejected
        return {}
    return await catalog_calls.take_back(catalog, intent)


def _make_acceptance(intent: ProposalIntent) -> AcceptIntent:
    """Return the intent as that of a suggestion: catalog knows what it made for each by the id."""
    assert intent.requirement_id is not None
    assert intent.test_case_id is not None
    score = intent.engine_score if intent.engine_score is not None else intent.confidence
    return AcceptIntent(
        suggestion_id=intent.proposal_id,
        reviewer_id=intent.reviewer_id,
        reviewer_email=intent.reviewer_email,
        feedback=intent.feedback,
        link_type=intent.body["link_type"],
        correlation_id=intent.correlation_id,
        created_at=intent.created_at,
        due_at=intent.due_at,
        review_id=intent.review_id,
        link_id=intent.link_id,
        requirement_id=intent.requirement_id,
        test_case_id=intent.test_case_id,
        similarity_score=1.0 if score is None else score,
        project_id=intent.project_id,
        at_page=intent.at_page,
    )


def _make_undoing(intent: ProposalIntent) -> UndoIntent:
    assert intent.requirement_id is not None
    assert intent.test_case_id is not None
    return UndoIntent(
        suggestion_id=intent.proposal_id,
        actor_id=intent.reviewer_id,
        actor_email=intent.reviewer_email,
        correlation_id=intent.correlation_id,
        created_at=intent.created_at,
        due_at=intent.due_at,
        requirement_id=intent.requirement_id,
        test_case_id=intent.test_case_id,
        link_id=intent.made_id,
        review_id=intent.reviewed_as,
        project_id=intent.project_id,
        at_page=intent.at_page,
    )
