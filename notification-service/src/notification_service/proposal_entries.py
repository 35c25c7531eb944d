"""The audit entries of what agents propose and people say to it: each names token, owner and program of the agent."""

from collections.abc import Iterable
from typing import Any

from chassis.messaging.events import Received
from contracts.suggestion import ProposalsMade, ProposalsReviewed, ToldProposal
from notification_service.entries import END_NAMES, Entry, entry_of
from notification_service.vocabulary import AuditAction, ResourceType
from notification_service.wording import given, titled, who

_TO_PAIRS = {
    "link": "to link",
    "unlink": "to delete the link of",
    "confirm_link": "to confirm the link of",
}
_OF_ITEMS = {
    "relation": "to relate two requirements",
    "requirement": "a new requirement",
    "test_case": "a new test case",
    "change": "a change",
}
_ENDED = {"expired": "expired", "outdated": "is outdated"}


def proposals_made(event: Received[ProposalsMade]) -> Iterable[Entry]:
    """Return one entry a proposal."""
    for one in event.data.proposals:
        by = f"The agent {one.agent_name} of {who(event.actor)}"
        yield _entry(event, AuditAction.PROPOSAL_MADE, one, f"{by} proposed {said(one)}.", None)


def proposals_reviewed(event: Received[ProposalsReviewed]) -> Iterable[Entry]:
    """Return one entry a proposal: reviewed, pending again, withdrawn, or at its end without a review."""
    for one in event.data.proposals:
        done = "reopened" if one.status == "pending" else one.status
        what = f"the proposal of {one.agent_name}, {said(one)}"
        if done in _ENDED:
            summary = f"The proposal of {one.agent_name}, {said(one)}, {_ENDED[done]}."
        else:
            summary = f"{who(event.actor)} {done} {what}."
        yield _entry(event, AuditAction(f"proposal.{done}"), one, summary, "pending" if done != "reopened" else None)


def said(one: ToldProposal) -> str:
    """Return what is proposed, in words."""
    ends = [
        titled(title, external_id)
        for title, external_id in (
            (one.requirement_title, one.requirement_external_id),
            (one.test_case_title, one.test_case_external_id),
        )
        if title is not None
    ]
    if one.kind in _TO_PAIRS:
        return f"{_TO_PAIRS[one.kind]} {' and '.join(ends) or 'a pair'}"
    return f"{_OF_ITEMS[one.kind]} of {ends[0]}" if one.kind == "change" and ends else _OF_ITEMS[one.kind]


def _entry(event: Received[Any], action: AuditAction, one: ToldProposal, summary: str, before: str | None) -> Entry:
    items = [str(item) for item in (one.requirement_id, one.test_case_id) if item is not None]
    return entry_of(
        event,
        action,
        ResourceType.PROPOSAL,
        str(one.id),
        said(one),
        summary,
        None if before is None else {"status": before},
        {"status": one.status},
        given(one, frozenset({"id", "status"}) | END_NAMES),
        item_ids=items or None,
    )
