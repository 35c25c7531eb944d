"""What a notification says: from an event, its type, title, message and the ids to follow."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chassis.core.wording import counted, percent
from chassis.messaging.events import Received
from contracts import catalog, suggestion
from notification_service.vocabulary import NotificationType
from notification_service.wording import import_outcome, listed, named, pair, run_outcome

_MOST_IDS = 20
"""Of what was done to many at once a notification has so many ids: each list shows it whole."""


class Text(NamedTuple):
    """The words of a notification, the same for everyone who gets it."""

    type: NotificationType
    title: str
    message: str
    data: dict[str, Any]


def requirement_created(event: Received[catalog.RequirementCreated]) -> Text:
    """Return the text for who created a requirement."""
    item = event.data.requirement
    return Text(
        NotificationType.REQUIREMENT_CREATED,
        "Requirement created",
        f"You created {named('requirement', item.title, item.external_id)}.",
        {"requirement_id": item.id},
    )


def test_case_created(event: Received[catalog.TestCaseCreated]) -> Text:
    """Return the text for who created a test case."""
    item = event.data.test_case
    return Text(
        NotificationType.TEST_CASE_CREATED,
        "Test case created",
        f"You created {named('test_case', item.title, item.external_id)}.",
        {"test_case_id": item.id},
    )


def import_applied(event: Received[catalog.ImportApplied]) -> Text | None:
    """Return the text for who has imported a file; None when that has created no requirement and no test case."""
    applied = event.data
    created = {kind: applied.count(kind, "create") for kind in ("requirement", "test_case")}
    if not any(created.values()):
        return None
    counts = [counted(number, kind.replace("_", " ")) for kind, number in created.items() if number]
    file = "a file" if applied.file_name is None else f"“{applied.file_name}”"
    return Text(
        NotificationType.REQUIREMENT_CREATED if created["requirement"] else NotificationType.TEST_CASE_CREATED,
        f"{listed(counts)} imported",
        f"Your import of {file} {import_outcome(applied)}.",
        {"import_id": applied.import_id, "counts": applied.counts},
    )


def suggestions_found(found: Sequence[suggestion.ItemSuggestionsGenerated], earlier: Mapping[str, Any]) -> Text:
    """Return the text about new suggestions for items that one request has changed.

    `earlier` is the data of what was told about others of these items, empty where nothing was.
    """
    ids = {kind: dict.fromkeys(_told_ids(earlier, kind)) for kind in ("requirement", "test_case")}
    number, items = earlier.get("suggestions_created", 0), earlier.get("items", sum(map(len, ids.values())))
    for one in found:
        number += one.suggestions_created
        items += str(one.item_id) not in ids[one.item_type]
        ids[one.item_type][str(one.item_id)] = None
    counts = counted(number, "new suggestion")
    verb = "waits" if number == 1 else "wait"
    if items == 1:
        (item, *_) = found
        title = f"{counts} for {item.item_external_id or f'“{item.item_title}”'}"
        name = named(item.item_type, item.item_title, item.item_external_id)
        about: dict[str, Any] = {f"{item.item_type}_id": item.item_id}
    else:
        title, name = f"{counts} for {items} items", f"{items} items that were changed at once"
        about = {"items": items, **{f"{kind}_ids": list(of_kind)[:_MOST_IDS] for kind, of_kind in ids.items()}}
    return Text(
        NotificationType.SUGGESTIONS_GENERATED,
        title,
        f"{counts} for {name} {verb} for review.",
        {**about, "suggestions_created": number},
    )


def _told_ids(data: Mapping[str, Any], kind: str) -> list[str]:
    only = data.get(f"{kind}_id")
    return [only] if only is not None else data.get(f"{kind}_ids", [])


def run_finished(event: Received[suggestion.RunFinished]) -> Text | None:
    """Return the text about the end of a generation over everything; None when it was cancelled, or nobody's."""
    run = event.data
    if run.pending_only:
        return None
    data = {"run_id": run.run_id, "status": run.status, "suggestions_created": run.suggestions_created}
    if run.status == "completed":
        advice = (
            ""
            if run.advised_threshold is None
            else " More than ten a requirement are pending: a threshold of"
            f" {run.advised_threshold:g} would leave three."
        )
        return Text(
            NotificationType.SUGGESTIONS_GENERATED,
            f"Generation finished: {counted(run.suggestions_created, 'new suggestion')}",
            f"Suggestions for the whole record ({run.algorithm}, threshold {run.threshold:g}):"
            f" {counted(run.pairs_analyzed, 'pair')} compared. The run"
            f" {run_outcome(run.suggestions_created, run.suggestions_updated, run.suggestions_withdrawn)}.{advice}",
            data,
        )
    if run.status == "failed":
        reason = "" if run.error is None else f": {run.error.rstrip('.')}"
        return Text(
            NotificationType.SUGGESTIONS_GENERATED,
            "Generation failed",
            f"Suggestions for the whole record ({run.algorithm}, threshold {run.threshold:g}) could not be"
            f" generated{reason}.",
            data,
        )
    return None


def scores_renewed(event: Received[suggestion.RunFinished]) -> Text | None:
    """Return the text about new scores after an update; None about other generations, and where none has changed."""
    run = event.data
    if not run.pending_only or not run.suggestions_updated + run.suggestions_withdrawn:
        return None
    renewed = counted(run.suggestions_updated, "pending suggestion")
    outcome = run_outcome(None, run.suggestions_updated, run.suggestions_withdrawn)
    return Text(
        NotificationType.SUGGESTIONS_GENERATED,
        f"New scores for {renewed}",
        "Since this update a score says how likely two items belong together, by whichever algorithm. Scoring anew"
        f" what is pending {outcome}. Thresholds that are set, like {run.threshold:g}, stay, and are read on the new"
        " scale.",
        {"run_id": run.run_id, "status": run.status, "suggestions_created": 0},
    )


def suggestion_reviewed(event: Received[suggestion.SuggestionReviewed]) -> Text:
    """Return the text about the reviewed suggestion."""
    reviewed = event.data.suggestion
    outcome = "; they are linked now" if reviewed.status == "accepted" else ""
    return Text(
        NotificationType.SUGGESTION_REVIEWED,
        f"Suggestion {reviewed.status}",
        f"You {reviewed.status} the suggestion to link {pair(reviewed)}{outcome}.",
        {
            "suggestion_id": reviewed.id,
            "status": reviewed.status,
            "requirement_id": reviewed.requirement_id,
            "test_case_id": reviewed.test_case_id,
            "link_id": reviewed.link_id,
        },
    )


def suggestions_bulk_reviewed(event: Received[suggestion.SuggestionsBulkReviewed]) -> Text | None:
    """Return the text about suggestions reviewed at once; None when there are none."""
    reviewed = event.data.suggestions
    if not reviewed:
        return None
    accepted = sum(one.status == "accepted" for one in reviewed)
    rejected = len(reviewed) - accepted
    done = " and ".join(
        f"{verb} {counted(number, 'suggestion')}"
        for verb, number in (("accepted", accepted), ("rejected", rejected))
        if number
    )
    return Text(
        NotificationType.SUGGESTION_REVIEWED,
        f"{counted(len(reviewed), 'suggestion')} reviewed",
        f"You {done} at once.",
        {
            "accepted": accepted,
            "rejected": rejected,
            "review_id": event.data.review_id,
            "suggestion_ids": [one.id for one in reviewed[:_MOST_IDS]],
        },
    )


def suggestions_reopened(event: Received[suggestion.SuggestionsReopened]) -> Text:
    """Return the text about reviews that were undone."""
    reopened = event.data.suggestions
    reviewers = sorted({one.reviewed_by or "somebody" for one in reopened})
    if reviewers == [event.actor.email]:
        whose = "your review"
    else:
        whose = f"the review by {reviewers[0]}" if len(reviewers) == 1 else f"reviews by {len(reviewers)} people"
    links = sum(one.link_id is not None for one in reopened)
    gone = "" if not links else "; its link is gone" if len(reopened) == 1 else f"; {counted(links, 'link')} went too"
    if len(reopened) == 1:
        what = f"the suggestion to link {pair(reopened[0])} is"
    else:
        what = f"{counted(len(reopened), 'suggestion')} are"
    return Text(
        NotificationType.SUGGESTION_REVIEWED,
        f"{counted(len(reopened), 'suggestion')} reopened",
        f"You undid {whose}: {what} pending again{gone}.",
        {
            "reopened": len(reopened),
            "review_id": reopened[0].review_id,
            "suggestion_ids": [one.id for one in reopened[:_MOST_IDS]],
        },
    )


def proposals_made(event: Received[suggestion.ProposalsMade]) -> Text:
    """Return the text for whose token proposed something, once a request."""
    made = event.data.proposals
    wait = "waits" if len(made) == 1 else "wait"
    return Text(
        NotificationType.SUGGESTIONS_GENERATED,
        f"{counted(len(made), 'proposal')} by {made[0].agent_name}",
        f"Your agent {made[0].agent_name} has proposed: {counted(len(made), 'proposal')} {wait} for a review.",
        {"batch": event.data.batch, "proposals_made": len(made), "suggestions_created": 0},
    )


def coverage_dropped(event: Received[catalog.CoverageDropped]) -> Text:
    """Return the text about coverage that fell."""
    now = event.data
    verb = "has" if now.covered_requirements == 1 else "have"
    return Text(
        NotificationType.COVERAGE_DROP,
        f"Coverage fell below {percent(now.threshold)}",
        f"{now.covered_requirements:,} of {counted(now.total_requirements, 'requirement')} {verb} a test case: coverage"
        f" is {percent(now.coverage, below=now.threshold)}, below the threshold of {percent(now.threshold)}.",
        {
            "coverage": now.coverage,
            "threshold": now.threshold,
            "covered_requirements": now.covered_requirements,
            "total_requirements": now.total_requirements,
        },
    )
