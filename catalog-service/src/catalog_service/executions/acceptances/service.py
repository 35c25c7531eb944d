"""Accepts failures until a time, and ends that."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

from catalog_service.authorship import author
from catalog_service.executions.acceptances import repository
from catalog_service.executions.acceptances.repository import Accepted
from catalog_service.executions.acceptances.schemas import AcceptedFailureWrite, EndedBecause
from catalog_service.executions.tests import not_found as no_test
from catalog_service.items import repository as items
from catalog_service.items.kinds import TEST_CASE
from catalog_service.verdict_reads import END_OF_DAY
from chassis.core import projects
from chassis.core.problems import Conflict, Invalid, NotFound
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_all, fetch_value
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, Actor, NewEvent
from chassis.web.listing import Row
from contracts.catalog import AcceptedFailureCreated, AcceptedFailureEnded, AcceptedFailureState

LONGEST = timedelta(days=90)


async def accept(connection: Connection, body: AcceptedFailureWrite, actor: Actor, now: datetime) -> Row:
    """Accept the failure of a test or test case; return it as it is answered.

    Raises Invalid for a time that is over or too far away, NotFound, and Conflict where it is accepted already.
    """
    until = _end_of(body.until, now)
    await _check_is_there(connection, body)
    over = await repository.over(connection, now, test_id=body.automated_test_id, test_case_id=body.test_case_id)
    await _end(connection, over, EndedBecause.UNTIL, SYSTEM, now)
    row: Row = {
        "id": uuid4(),
        "test_id": body.automated_test_id,
        "test_case_id": body.test_case_id,
        "reason": body.reason,
        "until": until,
        "issue_url": body.issue_url,
        "created_by": author(actor),
        "created_at": now,
    }
    if not await repository.insert(connection, row):
        known = await repository.active_of(connection, body.automated_test_id, body.test_case_id)
        raise Conflict(
            "This failure is accepted already; to accept it anew, end that first at"
            f" {projects.page_address('/results?tab=accepted')}.",
            code="already_accepted",
            members={"accepted_failure_id": known},
        )
    (stored,) = await repository.lock(connection, [row["id"]])
    event = AcceptedFailureCreated(accepted_failure=_state(stored))
    await outbox.record(connection, [NewEvent(event, str(row["id"]), actor, time=now)])
    return await read(connection, row["id"], now)


def _end_of(until: date | datetime, now: datetime) -> datetime:
    """Return the end of a day in UTC, or the moment itself; raise Invalid unless it is to come, in at most 90 days."""
    if isinstance(until, datetime):
        moment, latest = until.astimezone(UTC), now + LONGEST
    else:
        moment = datetime.combine(until, END_OF_DAY, UTC)
        latest = datetime.combine((now + LONGEST).date(), END_OF_DAY, UTC)
    if moment <= now:
        raise Invalid.field("/until", "This is over already; name a day or a time that is to come.", "too_early")
    if moment > latest:
        last = f"{now + LONGEST:%Y-%m-%d}"
        detail = f"A failure is accepted for at most {LONGEST.days} days, now until {last}; accept it anew then."
        raise Invalid.field("/until", detail, "too_late")
    return moment


async def _check_is_there(connection: Connection, body: AcceptedFailureWrite) -> None:
    if body.test_case_id is not None:
        if await items.find(connection, TEST_CASE, body.test_case_id, "") is None:
            raise TEST_CASE.not_found()
    elif not await fetch_value(
        connection,
        # It is not merged into another one meanwhile.
        "SELECT true FROM automated_tests WHERE id = %s AND merged_into IS NULL FOR SHARE",
        (body.automated_test_id,),
    ):
        raise no_test()


async def read(connection: Connection, acceptance_id: UUID, now: datetime) -> Row:
    """Return an acceptance as it is answered; raise NotFound."""
    row = await repository.find(connection, acceptance_id, now)
    if row is None:
        raise _not_found()
    return row


def _not_found() -> NotFound:
    return NotFound("There is no accepted failure with this id.", code="accepted_failure_not_found")


async def end(connection: Connection, acceptance_id: UUID, actor: Actor, now: datetime) -> Row:
    """Accept a failure no longer; return it as it is answered. One that has ended stays as it is. Raises NotFound."""
    found = await repository.lock(connection, [acceptance_id])
    if not found:
        raise _not_found()
    (known,) = found
    if known["ended_at"] is None:
        is_over = known["until"] <= now
        because, by = (EndedBecause.UNTIL, SYSTEM) if is_over else (EndedBecause.PERSON, actor)
        await _end(connection, [acceptance_id], because, by, now)
    return await read(connection, acceptance_id, now)


async def _end(connection: Connection, ids: Sequence[UUID], because: EndedBecause, actor: Actor, now: datetime) -> None:
    if not ids:
        return
    was = [one["id"] for one in await repository.lock(connection, ids) if one["ended_at"] is None]
    by = author(actor) if because is EndedBecause.PERSON else None
    await repository.end(connection, was, now, because, by)
    await _tell_ends(connection, was, actor)


async def _tell_ends(connection: Connection, ids: Sequence[UUID], actor: Actor) -> None:
    events = []
    for stored in await repository.lock(connection, ids):
        assert stored["ended_at"] is not None, "it has ended"
        assert stored["ended_because"] is not None, "it has ended"
        event = AcceptedFailureEnded(
            accepted_failure=_state(stored),
            ended_at=stored["ended_at"],
            ended_because=EndedBecause(stored["ended_because"]).value,
        )
        events.append(NewEvent(event, str(stored["id"]), actor))
    await outbox.record(connection, events)


def _state(stored: Accepted) -> AcceptedFailureState:
    name = "by hand" if stored["by_hand"] else ".".join(filter(None, (stored["class_name"], stored["name"])))
    return AcceptedFailureState(
        id=stored["id"],
        automated_test_id=stored["test_id"],
        test_name=name or None,
        test_case_id=stored["test_case_id"],
        test_case_external_id=stored["test_case_external_id"],
        test_case_title=stored["test_case_title"],
        reason=stored["reason"],
        until=stored["until"],
        issue_url=stored["issue_url"],
        created_by=stored["created_by"],
        created_at=stored["created_at"],
    )


async def settle(connection: Connection, run_id: UUID, now: datetime) -> None:
    """End what is accepted of tests that a run has passed as the third, and that fail nowhere any more."""
    if await repository.any_active(connection, now):
        await _tell_ends(connection, await repository.settle(connection, run_id, now), SYSTEM)


class _Project(NamedTuple):
    project_id: str


async def end_over(database: Database, now: datetime) -> None:
    """Store and tell which acceptances their time has ended; they have not counted since."""
    async with database.across() as connection:
        over = await fetch_all(
            connection,
            _Project,
            "SELECT DISTINCT project_id FROM accepted_failures WHERE ended_at IS NULL AND until <= %s",
            (now,),
        )
    for one in over:
        with projects.within(one.project_id):
            async with database.transaction() as connection:
                await _end(connection, await repository.over(connection, now), EndedBecause.UNTIL, SYSTEM, now)
