"""The audit entries of events about suggestions: their runs, and who reviewed them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from chassis.core.wording import counted
from chassis.messaging.events import Received
from contracts import suggestion
from notification_service.entries import END_NAMES, Entry, entry_of, items_of
from notification_service.vocabulary import AuditAction, ResourceType
from notification_service.wording import (
    given,
    joined,
    named,
    pair,
    run_outcome,
    who,
)


def item_suggestions_generated(event: Received[suggestion.ItemSuggestionsGenerated]) -> Iterable[Entry]:
    """Return one entry for all new suggestions of an item, which itself did not change; none when there are none."""
    found = event.data
    if found.suggestions_created == 0:
        return
    yield entry_of(
        event,
        AuditAction.SUGGESTION_GENERATED,
        ResourceType.SUGGESTION,
        None,
        found.item_title,
        f"{counted(found.suggestions_created, 'new suggestion')} for"
        f" {named(found.item_type, found.item_title, found.item_external_id)}.",
        details={
            f"{found.item_type}_id": found.item_id,
            **given(found, frozenset({"item_type", "item_id", "item_title", "item_external_id"})),
        },
        item_ids=[str(found.item_id)],
    )


def run_finished(event: Received[suggestion.RunFinished]) -> Iterable[Entry]:
    """Return one entry for the run."""
    run = event.data
    created = None if run.pending_only else run.suggestions_created
    outcome = {
        "completed": run_outcome(created, run.suggestions_updated, run.suggestions_withdrawn),
        "failed": "failed",
        "cancelled": "was cancelled",
    }[run.status]
    yield entry_of(
        event,
        AuditAction(f"run.{run.status}"),
        ResourceType.RUN,
        str(run.run_id),
        None,
        f"{who(event.actor)} had {'pending suggestions scored anew' if run.pending_only else 'suggestions generated'}"
        f" for the whole record; the run {outcome}.",
        details=given(run, frozenset({"run_id", "status", "progress"})),
    )


def suggestion_reviewed(event: Received[suggestion.SuggestionReviewed]) -> Iterable[Entry]:
    """Return one entry for the suggestion."""
    yield _enter_review(event, event.data.suggestion)


def suggestions_bulk_reviewed(event: Received[suggestion.SuggestionsBulkReviewed]) -> Iterable[Entry]:
    """Return one entry for all suggestions; none when there are none."""
    review = event.data
    if len(review.suggestions) == 1:
        (only,) = review.suggestions
        yield _enter_review(
            event, only if review.feedback is None else only.model_copy(update={"feedback": review.feedback})
        )
    elif review.suggestions:
        done = review.suggestions[0].status
        yield _enter_together(
            event,
            AuditAction(f"suggestion.{done}"),
            review.suggestions,
            f"{who(event.actor)} {done} {counted(len(review.suggestions), 'suggestion')} at once.",
            {"status": "pending"},
            {"status": done},
            given(review, frozenset({"action", "suggestions"})),
        )


def suggestions_reopened(event: Received[suggestion.SuggestionsReopened]) -> Iterable[Entry]:
    """Return one entry for all suggestions of the same review; it names who made that, too."""
    by_review: dict[tuple[Any, ...], list[suggestion.ReopenedSuggestion]] = {}
    for one in event.data.suggestions:
        by_review.setdefault((one.review_id, one.reviewed_by, one.status), []).append(one)
    for (review_id, reviewer, status), reopened in by_review.items():
        before = {"status": status, "reviewed_by": reviewer, "reviewed_at": reopened[0].reviewed_at}
        had = f", which {reviewer} had {status}"
        details = {"review_id": review_id}
        if len(reopened) == 1:
            (only,) = reopened
            title = joined(only)
            yield entry_of(
                event,
                AuditAction.SUGGESTION_REOPENED,
                ResourceType.SUGGESTION,
                str(only.id),
                title,
                f"{who(event.actor)} reopened the suggestion to link {pair(only)}{had}.",
                before | {"link_id": only.link_id},
                {"status": "pending"},
                {**details, **given(only, frozenset({"id", "status"}) | END_NAMES)},
                item_ids=items_of([only]),
            )
        else:
            yield _enter_together(
                event,
                AuditAction.SUGGESTION_REOPENED,
                reopened,
                f"{who(event.actor)} reopened {counted(len(reopened), 'suggestion')}{had}.",
                before,
                {"status": "pending"},
                details,
            )


def suggestions_expired(event: Received[suggestion.SuggestionsExpired]) -> Iterable[Entry]:
    """Return one entry for all suggestions."""
    ids, reason = event.data.suggestion_ids, event.data.reason
    many = len(ids) > 1
    yield _enter_ids(
        event,
        AuditAction.SUGGESTION_EXPIRED,
        ids,
        f"{counted(len(ids), 'suggestion') if many else 'A suggestion'} expired: {reason.rstrip('.')}.",
        {"status": "pending"},
        {"status": "expired"},
        {"reason": reason},
    )


def _enter_review(event: Received[Any], reviewed: suggestion.ReviewedSuggestion) -> Entry:
    ends = pair(reviewed)
    return entry_of(
        event,
        AuditAction(f"suggestion.{reviewed.status}"),
        ResourceType.SUGGESTION,
        str(reviewed.id),
        joined(reviewed),
        f"{who(event.actor)} {reviewed.status} the suggestion to link {ends}.",
        {"status": "pending"},
        {"status": reviewed.status},
        given(reviewed, frozenset({"id", "status"}) | END_NAMES),
        item_ids=items_of([reviewed]),
    )


def _enter_together(
    event: Received[Any],
    action: AuditAction,
    suggestions: Sequence[suggestion.ReviewedSuggestion | suggestion.ReopenedSuggestion],
    summary: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    details: Mapping[str, Any],
) -> Entry:
    """Return the entry of what was done to suggestions, the same to each, which those of their items find, too."""
    entry = _enter_ids(event, action, [one.id for one in suggestions], summary, before, after, details)
    entry.item_ids = items_of(suggestions)
    return entry


def _enter_ids(
    event: Received[Any],
    action: AuditAction,
    suggestion_ids: Sequence[UUID],
    summary: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    details: Mapping[str, Any],
) -> Entry:
    """Return the entry of what was done to suggestions, the same to each; of a single one it is the entry as ever."""
    ids = [str(suggestion_id) for suggestion_id in suggestion_ids]
    only = ids[0] if len(ids) == 1 else None
    entry = entry_of(event, action, ResourceType.SUGGESTION, only, None, summary, before, after, details)
    entry.resource_ids = ids if only is None else None
    return entry
