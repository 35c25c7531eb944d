"""Many reviews by one request: exactly of what was counted, or of nothing."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID, uuid4

from chassis.core import projects
from chassis.core.identity import Identity
from chassis.core.problems import Invalid, Problem
from chassis.core.wording import counted
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent, actor_of
from chassis.web.bulk import check_count, check_narrowed, pointing_into
from chassis.web.conditions import Conditions
from chassis.web.parameters import Choice, parse_choice
from chassis.web.peers import Peer
from contracts.suggestion import ReviewedSuggestion, SuggestionsBulkReviewed
from suggestion_service.metrics import count_reviews
from suggestion_service.review import acceptance, following, repository
from suggestion_service.review.bodies import BulkFilter, BulkReview
from suggestion_service.review.links import Refused
from suggestion_service.review.reasons import Reasons
from suggestion_service.review.refusals import not_found, why_not
from suggestion_service.review.schemas import Action, SuggestionStatus
from suggestion_service.store import accept_intents, suggestions
from suggestion_service.store.suggestions import REVIEWABLE, Rejection

T = TypeVar("T")

_PATIENCE = timedelta(seconds=60)
_MOST = 5000
_SHOWN = 20
_PENDING = Choice((SuggestionStatus.PENDING,), ())
_NOBODY = dict.fromkeys(("suggestion_status", "reviewed_by", "reviewed_at"))
_DONE = {Action.ACCEPT: "accepted", Action.REJECT: "rejected"}

Choose = Callable[[Connection], Awaitable[Sequence[UUID]]]
"""Locks and returns, in order, the suggestions that a review is of; raises when it may not be."""


async def review(
    database: Database, catalog: Peer, reasons: Reasons, reviewer: Identity, asked: BulkReview
) -> dict[str, Any]:
    """Review many suggestions, or show what would be reviewed; return the answer.

    A filter without `expected_count` is only counted. One event is recorded for all.
    Raises Invalid for a filter that says nothing, or finds too much; Conflict for another number than was expected.
    """
    conditions = _read(asked.filter) if asked.filter is not None else None
    if asked.dry_run or (conditions is not None and asked.expected_count is None):
        return await _preview(database, reasons, asked, conditions)
    choose = _by_filter(conditions, asked) if conditions is not None else _by_ids(asked.ids or [], asked)
    if asked.action is Action.ACCEPT:
        return _answer(asked, await _accept(database, catalog, reviewer, asked, choose))
    return _answer(asked, await _reject(database, reviewer, asked, choose))


def _read(written: BulkFilter) -> Conditions:
    with pointing_into("filter", instead_of="/query"):
        conditions = written.conditions(REVIEWABLE)
    check_narrowed(
        conditions, 'Say what to review, for example {"max_score": 0.4}; {"status": "pending"} is the whole queue.'
    )
    if parse_choice("status", written.status, SuggestionStatus) not in (None, _PENDING):
        raise Invalid.field(
            "/filter/status",
            "Only pending suggestions can be reviewed: leave status out. What was reviewed can be reopened first.",
            "not_reviewable",
        )
    return conditions


async def _preview(
    database: Database, reasons: Reasons, asked: BulkReview, conditions: Conditions | None
) -> dict[str, Any]:
    items: list[dict[str, Any]]
    async with database.connection() as connection, connection.transaction():
        if conditions is not None:
            items, total = await repository.best_reviewable(connection, conditions, _SHOWN)
            count, failed = total, 0
            message = _count_message(asked.action, count)
        else:
            ids = asked.ids or []
            states = await repository.states(connection, ids)
            pending = {one for one, state in states.items() if state.status == "pending"}
            problems = await why_not(connection, [one for one in dict.fromkeys(ids) if one not in pending])
            items = [_result(one, "pending") if one in pending else _failed(one, problems[one]) for one in ids]
            count, failed = len(pending), len(problems)
            total = count + failed
            message = (
                f"Nothing was reviewed: {_counted(count)} of {total} would be"
                f' {_DONE[asked.action]}. To do so, send the same without "dry_run".'
            )
    if conditions is not None:
        await reasons.add(items)
    return {
        "items": items,
        "total": total,
        "count": count,
        "reviewed": 0,
        "failed": failed,
        "dry_run": True,
        "review_id": None,
        "message": message,
    }


def _count_message(action: Action, count: int) -> str:
    if count == 0:
        return "Nothing was reviewed: no pending suggestion matches this filter."
    matching = f"Nothing was reviewed: {_counted(count)} {'matches' if count == 1 else 'match'} this filter"
    shown = f"; the best {_SHOWN} are shown" if count > _SHOWN else ""
    if count > _MOST:
        return f"{matching}{shown}. One request reviews at most {_MOST}: narrow the filter, for example by score."
    return f'{matching}{shown}. To {action} them, send the same with "expected_count": {count}, without "dry_run".'


def _by_filter(conditions: Conditions, asked: BulkReview) -> Choose:
    async def choose(connection: Connection) -> list[UUID]:
        ids = await repository.reviewable(connection, conditions, _MOST + 1)
        if len(ids) > _MOST:
            count = await repository.count_reviewable(connection, conditions)
            _expect(asked, count)
            raise Invalid.field(
                "/filter",
                f"The filter finds {count} suggestions, and one request reviews at most {_MOST}: narrow it, for"
                " example by score.",
                "too_many_suggestions",
            )
        _expect(asked, len(ids))
        # Whoever changed one of them since it was found may have changed whether it is to be found.
        _expect(asked, await repository.still_reviewable(connection, ids, conditions))
        return ids

    return choose


def _by_ids(ids: Sequence[UUID], asked: BulkReview) -> Choose:
    async def choose(connection: Connection) -> list[UUID]:
        different = list(dict.fromkeys(ids))
        if asked.expected_count is not None:
            _expect(asked, await repository.still_reviewable(connection, different, Conditions(REVIEWABLE)))
        return different

    return choose


def _expect(asked: BulkReview, count: int) -> None:
    check_count(asked.expected_count, count, f"{_counted(count)} can be reviewed", "reviewed")


async def _reject(database: Database, reviewer: Identity, asked: BulkReview, choose: Choose) -> "_Outcome":
    rejection = Rejection(uuid4(), reviewer.email, asked.feedback, datetime.now(UTC))
    async with database.transaction() as connection:
        chosen = await choose(connection)
        reviewed = in_order(await suggestions.reject(connection, chosen, rejection), chosen, attrgetter("id"))
        await _record(connection, reviewer, asked, rejection.review_id, reviewed)
        done = {one.id for one in reviewed}
        problems = await why_not(connection, [one for one in chosen if one not in done])
    count_reviews(reviewed)
    return _Outcome(chosen, _results(reviewed), problems, rejection.review_id)


async def _accept(
    database: Database, catalog: Peer, reviewer: Identity, asked: BulkReview, choose: Choose
) -> "_Outcome":
    begun = acceptance.new_acceptance(reviewer, asked.feedback, asked.link_type, _PATIENCE)
    async with database.transaction() as connection:
        chosen = await choose(connection)
        intents = await accept_intents.begin(connection, chosen, begun)
    open_ids = {intent.suggestion_id for intent in intents}
    async with database.connection() as connection:
        problems = await why_not(connection, [one for one in chosen if one not in open_ids])
    outcomes = await acceptance.link(catalog, intents)
    for intent in intents:
        outcome = outcomes[intent.suggestion_id]
        if isinstance(outcome, Refused):
            await acceptance.finish_refused(database, intent, outcome)
            problems[intent.suggestion_id] = outcome.problem
        elif isinstance(outcome, Problem):
            problems[intent.suggestion_id] = outcome
    made = [(one, outcome) for one, outcome in outcomes.items() if isinstance(outcome, UUID)]
    async with database.transaction() as connection:
        reviewed = in_order(await suggestions.accept(connection, made), chosen, attrgetter("id"))
        await _record(connection, reviewer, asked, begun.review_id, reviewed)
        results = _results(reviewed)
        # Finished by somebody else meanwhile: accepted all the same, or gone with its item.
        elsewhere = await repository.states(connection, [one for one, _ in made if one not in results])
    count_reviews(reviewed)
    for one, _ in made:
        if one in elsewhere and elsewhere[one].status == "accepted":
            results[one] = _result(one, "accepted", elsewhere[one].link_id)
        elif one not in results:
            problems[one] = not_found()
    return _Outcome(chosen, results, problems, begun.review_id)


def in_order(rows: Sequence[T], ids: Sequence[UUID], id_of: Callable[[T], UUID]) -> list[T]:
    """Return rows of suggestions in the order of these ids, which is that of the answer and of the events."""
    places = {suggestion_id: place for place, suggestion_id in enumerate(ids)}
    return sorted(rows, key=lambda row: places[id_of(row)])


async def _record(
    connection: Connection,
    reviewer: Identity,
    asked: BulkReview,
    review_id: UUID,
    reviewed: Sequence[ReviewedSuggestion],
) -> None:
    if not reviewed:
        return
    await following.follow(connection, [one.id for one in reviewed], actor_of(reviewer))
    event = SuggestionsBulkReviewed(
        action=asked.action.value,
        suggestions=[one.model_copy(update={"feedback": None}) for one in reviewed],
        review_id=review_id,
        feedback=asked.feedback,
    )
    await outbox.record(connection, [NewEvent(event, str(review_id), actor_of(reviewer))])


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of the suggestions that were chosen: a result or a problem of each."""

    chosen: Sequence[UUID]
    results: Mapping[UUID, dict[str, Any]]
    problems: Mapping[UUID, Problem]
    review_id: UUID


def _answer(asked: BulkReview, outcome: _Outcome) -> dict[str, Any]:
    results = {**outcome.results, **{one: _failed(one, problem) for one, problem in outcome.problems.items()}}
    reviewed, failed = len(outcome.results), len(outcome.problems)
    review_id = outcome.review_id if outcome.results else None
    return {
        "items": [results[one] for one in (outcome.chosen if asked.ids is None else asked.ids)],
        "total": reviewed + failed,
        "reviewed": reviewed,
        "failed": failed,
        "dry_run": False,
        "review_id": review_id,
        "message": _message(asked, reviewed, failed, review_id),
    }


def _message(asked: BulkReview, reviewed: int, failed: int, review_id: UUID | None) -> str:
    if review_id is None:
        none = "no pending suggestion matches this filter" if asked.ids is None else "there are no ids"
        return f"Nothing was reviewed: {'`items` tells why' if failed else none}."
    not_done = f", {failed} {'was' if failed == 1 else 'were'} not: `items` tells why" if failed else ""
    were = "was" if reviewed == 1 else "were"
    undo = projects.address(f"/api/v1/suggestions/reviews/{review_id}/undo")
    return f"{_counted(reviewed)} {were} {_DONE[asked.action]}{not_done}. To take it back, POST {undo} within 30 days."


def _counted(number: int) -> str:
    return counted(number, "suggestion")


def _result(suggestion_id: UUID, status: str, link_id: UUID | None = None) -> dict[str, Any]:
    return {"id": suggestion_id, "status": status, "link_id": link_id, "code": None, "detail": None, **_NOBODY}


def _results(reviewed: Sequence[ReviewedSuggestion]) -> dict[UUID, dict[str, Any]]:
    return {one.id: _result(one.id, one.status, one.link_id) for one in reviewed}


def _failed(suggestion_id: UUID, problem: Problem) -> dict[str, Any]:
    first = problem.members if problem.code == "suggestion_not_pending" else {}
    return {**_result(suggestion_id, "error"), "code": problem.code, "detail": problem.detail, **first}
