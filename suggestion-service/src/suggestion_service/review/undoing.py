"""Undoing in three steps: the intent is stored, catalog deletes the link, the suggestion is pending, with an event.

Whoever ends between the steps is finished by `reconcile`. A suggestion with an intent is closed to others, and so is
its pair to new suggestions.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID

from chassis.core import projects, request_context
from chassis.core.identity import Identity
from chassis.core.problems import Conflict, NotFound, Problem, Unavailable
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.web.peers import Peer
from contracts.suggestion import SuggestionsReopened
from suggestion_service.review import following, links, repository
from suggestion_service.review.bulk import in_order
from suggestion_service.review.refusals import moment, not_found, review_in_words
from suggestion_service.review.repository import Undoable
from suggestion_service.scale import Scales
from suggestion_service.store import corpus_head, reviews, scoring_queue, suggestions, undo_intents
from suggestion_service.store.reviews import Review
from suggestion_service.store.undo_intents import Undo, UndoIntent

_UNDOABLE = timedelta(days=30)
_PATIENCE = timedelta(seconds=5)
_BULK_PATIENCE = timedelta(seconds=60)
_RECONCILED_AT_ONCE = 200


class Undoing:
    """Undoes reviews. A suggestion that is pending again is scored, where that may give another score and the project
    wants suggestions of the background, as `scales` say.
    """

    def __init__(self, database: Database, catalog: Peer, scales: Scales) -> None:
        self._database = database
        self._catalog = catalog
        self._scales = scales

    async def reopen(self, suggestion_id: UUID, reviewer: Identity) -> None:
        """Undo the review of one suggestion, whoever made it.

        Raises NotFound; Conflict when there is no review to undo, it is too old, or its link was touched; Unavailable
        when catalog does not answer: then it is finished later.
        """
        intents, problems = await self._begin([suggestion_id], None, reviewer, _PATIENCE)
        problems |= await self._go_on(intents)
        if problems:
            raise problems[suggestion_id]

    async def undo(self, review_id: UUID, reviewer: Identity) -> dict[str, Any]:
        """Undo what is left of a review; return the answer, with a result for each of its suggestions, in order.

        Raises NotFound; Conflict when nothing is left, or it is too old; of a single suggestion what `reopen` raises.
        """
        async with self._database.connection() as connection:
            review = await reviews.get(connection, review_id)
        if review is None:
            raise NotFound("There is no review with this id.", code="review_not_found")
        ids = review.suggestion_ids
        intents, problems = await self._begin(ids, review_id, reviewer, _BULK_PATIENCE)
        codes = {problem.code for problem in problems.values()}
        if not intents and codes <= {"too_late", "suggestion_not_reviewed", "suggestion_not_found"}:
            raise next((one for one in problems.values() if one.code == "too_late"), _nothing_left(review))
        problems |= await self._go_on(intents)
        if len(ids) == 1 and problems:
            raise problems[ids[0]]
        reopened = len(ids) - len(problems)
        return {
            "items": [_result(suggestion_id, problems.get(suggestion_id)) for suggestion_id in ids],
            "total": len(ids),
            "reopened": reopened,
            "failed": len(problems),
            "review_id": review_id,
            "message": _message(reopened, len(problems)),
        }

    async def reconcile(self) -> None:
        """Finish what was begun and not finished: a crash, a time-out, catalog away."""
        async with self._database.across() as connection:
            overdue = await undo_intents.claim_overdue(connection, _RECONCILED_AT_ONCE)
        requests: dict[tuple[str, Actor, datetime], list[UndoIntent]] = defaultdict(list)
        for intent in overdue:
            requests[intent.project_id, intent.actor, intent.created_at].append(intent)
        for (project, _, _), intents in requests.items():
            with projects.within(project):
                await self._go_on(intents)

    async def _begin(
        self, ids: Sequence[UUID], review_id: UUID | None, reviewer: Identity, patience: timedelta
    ) -> tuple[list[UndoIntent], dict[UUID, Problem]]:
        """Store intents; return them, and the problems of the others. With `review_id`, of what is under it alone."""
        now = datetime.now(UTC)
        async with self._database.transaction() as connection:
            # Nobody suggests the pair anew between the look and the intent.
            await corpus_head.lock(connection)
            await suggestions.lock(connection, ids)
            found = await repository.undoable(connection, ids)
            problems = {one: problem for one in ids if (problem := _why_not(found.get(one), review_id, now))}
            request_id = request_context.request_id.get()
            undo = Undo(reviewer.id, reviewer.email, request_id, now, now + patience, reviewer.at_page)
            possible = [one for one in ids if one not in problems]
            intents = await undo_intents.begin(connection, possible, undo) if possible else []
        return in_order(intents, ids, attrgetter("suggestion_id")), problems

    async def _go_on(self, intents: Sequence[UndoIntent]) -> dict[UUID, Problem]:
        """Have the links of intents deleted, and their suggestions pending again; return the problems."""
        if not intents:
            return {}
        problems = await unlink(self._catalog, intents)
        refused = [one for one, problem in problems.items() if not isinstance(problem, Unavailable)]
        possible = [intent.suggestion_id for intent in intents if intent.suggestion_id not in problems]
        async with self._database.transaction() as connection:
            await corpus_head.lock(connection)
            await suggestions.lock(connection, refused)
            await undo_intents.drop(connection, refused)
            if possible:
                wishes = await self._scales.wishes(connection)
                await finish(connection, possible, intents[0], score=wishes.automatic)
            there = await repository.undoable(connection, possible)
        gone = {one: not_found() for one in possible if one not in there}
        return {**problems, **gone}


async def unlink(catalog: Peer, intents: Sequence[UndoIntent]) -> dict[UUID, Problem]:
    """Have the links of intents deleted, many by one call; return the problems of those that cannot be undone."""
    waits = Unavailable(
        "catalog-service does not answer right now. The undoing is kept and finished by itself when it does; read the"
        " suggestion in a while.",
        retry_after=5,
    )
    problems: dict[UUID, Problem] = dict.fromkeys((intent.suggestion_id for intent in intents), waits)
    for intent, problem in await links.ask(links.unmake, catalog, intents):
        if problem is None:
            del problems[intent.suggestion_id]
        else:
            problems[intent.suggestion_id] = problem
    return problems


async def finish(connection: Connection, ids: Sequence[UUID], intent: UndoIntent, *, score: bool) -> None:
    """Have suggestions pending again, with one event for all; not those that somebody else has. Corpus: locked."""
    rows = await suggestions.reopen(connection, ids, intent.actor_email, datetime.now(UTC))
    reopened = in_order(rows, ids, attrgetter("id"))
    if not reopened:
        return
    await following.follow_reopened(connection, [one.id for one in reopened], intent.actor)
    if score:
        outdated = {one.requirement_id for one in reopened if one.outdated}
        await scoring_queue.queue_again(connection, outdated)
    event = SuggestionsReopened(suggestions=[*reopened])
    subject = str(reopened[0].id)
    await outbox.record(connection, [NewEvent(event, subject, intent.actor, correlation_id=intent.correlation_id)])


def _why_not(found: Undoable | None, review_id: UUID | None, now: datetime) -> Problem | None:
    if found is None:
        return not_found()
    if found.status not in {"accepted", "rejected"}:
        return _not_reviewed(found)
    happened = review_in_words(found.status, found.reviewed_by, found.reviewed_at)
    if review_id is not None and found.review_id != review_id:
        return Conflict(
            f"This suggestion is not under this review any more: {happened}.",
            code="suggestion_not_reviewed",
            members={"suggestion_status": found.status},
        )
    if found.reviewed_at is None or found.reviewed_at < now - _UNDOABLE:
        return Conflict(
            f"A review can be undone for {_UNDOABLE.days} days, and {happened}. The pair is suggested again when a text"
            " of the two changes, and can be linked by hand.",
            code="too_late",
        )
    if found.other_id is not None:
        do = "review" if found.other_status == "pending" else "reopen"
        return Conflict(
            f"The pair has been suggested anew since, and that suggestion ({found.other_id}) is {found.other_status}:"
            f" {do} that one.",
            code="suggested_again",
            members={"suggestion_id": found.other_id},
        )
    return None


def _not_reviewed(found: Undoable) -> Conflict:
    happened = {
        "pending": "it is pending",
        "expired": f"it is expired: {found.feedback or 'nobody reviewed it'}",
        "accepting": "it is being accepted right now",
        "reopening": f"{found.undone_by} is reopening it right now",
    }[found.status]
    return Conflict(
        f"There is no review of this suggestion to undo: {happened.rstrip('.')}.",
        code="suggestion_not_reviewed",
        members={"suggestion_status": found.status},
    )


def _nothing_left(review: Review) -> Conflict:
    if review.undone_at is None:
        return Conflict("Nothing of this review is left to undo.", code="review_undone")
    return Conflict(
        f"This review has been undone: {review.undone_by} did so on {moment(review.undone_at)}.",
        code="review_undone",
        members={"undone_by": review.undone_by, "undone_at": review.undone_at},
    )


def _result(suggestion_id: UUID, problem: Problem | None) -> dict[str, Any]:
    return {
        "id": suggestion_id,
        "status": "pending" if problem is None else "error",
        "link_id": None if problem is None else problem.members.get("link_id"),
        "code": None if problem is None else problem.code,
        "detail": None if problem is None else problem.detail,
    }


def _message(reopened: int, failed: int) -> str:
    if not reopened:
        return "Nothing was undone: `items` tells why."
    not_done = f", {failed} could not be undone: `items` tells why" if failed else ""
    if reopened == 1:
        return f"1 suggestion is pending again, as if it had not been reviewed{not_done}."
    return f"{reopened} suggestions are pending again, as if they had not been reviewed{not_done}."
