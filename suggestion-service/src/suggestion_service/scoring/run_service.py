"""What a caller may do with runs: ask for one, wait for it, cancel it."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from chassis.core.identity import Identity
from chassis.core.problems import Conflict, NotFound
from chassis.core.request_context import request_id
from chassis.db.database import Connection, Database
from chassis.db.leased_jobs import wait_for_end
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, actor_of
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest
from contracts.suggestion import RunFinished
from suggestion_service import metrics
from suggestion_service.engine import Algorithm
from suggestion_service.scoring import repository
from suggestion_service.store import runs
from suggestion_service.store.run_request import RunRequest
from suggestion_service.store.runs import Run

_ENOUGH, _MANY = 3, 10
"""Suggestions a requirement that a person can go through, and more than anybody does."""
_ENDED = ("completed", "failed", "cancelled")


def new_request(algorithm: Algorithm, threshold: float, caller: Identity, *, rescore: bool) -> RunRequest:
    """Return what the caller asks for."""
    return RunRequest(uuid4(), algorithm, threshold, rescore, actor_of(caller), request_id.get())


async def queue(connection: Connection, request: RunRequest, background: Algorithm) -> None:
    """Queue a run over everything with one statement. `background`: the algorithm of the project.

    Raises Conflict while a run that the same user asked for waits in this project.
    """
    if not await runs.insert_only_one(connection, request, datetime.now(UTC), background):
        raise Conflict(
            "A run that you asked for waits for its turn already, and each user has one that waits; cancel it to ask"
            " for another.",
            code="run_queued",
        )


async def ended(database: Database, run_id: UUID, within: float) -> Run | None:
    """Return the run when it has ended within so many seconds, else None."""
    return await wait_for_end(lambda: get(database, run_id), lambda run: run["status"] in _ENDED, within)


async def get(database: Database, run_id: UUID) -> Run:
    """Return a run; raise NotFound."""
    async with database.connection() as connection:
        run = await runs.get(connection, run_id)
        if run is None:
            raise _not_found()
    return run


async def advised_threshold(connection: Connection, run: Run) -> float | None:
    """Return the threshold that would leave three suggestions a requirement, where a run has left more than ten."""
    if run["status"] != "completed" or run["pending_only"]:
        return None
    return await repository.threshold_for(connection, _ENOUGH, _MANY)


async def page(database: Database, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the runs under conditions on `runs r`."""
    async with database.connection() as connection:
        return await runs.page(connection, conditions, wanted)


async def cancel(database: Database, run_id: UUID, caller: Identity) -> Run:
    """Cancel a run and return it; what it has stored stays. Raises NotFound, or Conflict when it has ended."""
    async with database.transaction() as connection:
        run = await runs.cancel(connection, run_id)
        if run is None:
            ended = await runs.get(connection, run_id)
            if ended is None:
                raise _not_found()
            raise Conflict(f"This run has ended already: {ended['status']}.", code="run_ended")
        await outbox.record(connection, [finished_event(run, actor_of(caller), request_id.get())])
    metrics.RUNS.labels(run["algorithm"], run["status"]).inc()
    return run


async def end_all(connection: Connection, error: str) -> None:
    """End the runs of the project that have not ended, as failed; what they have stored stays."""
    for request in await runs.unfinished(connection):
        run = await runs.end(connection, request.id, "failed", error)
        await outbox.record(connection, [finished_event(run, request.actor, request.correlation_id)])
        metrics.RUNS.labels(run["algorithm"], run["status"]).inc()


def finished_event(run: Run, actor: Actor, correlation_id: str) -> NewEvent:
    """Return the event of a run's end."""
    figures = {name: value for name, value in run.items() if name in RunFinished.model_fields}
    return NewEvent(RunFinished(run_id=run["id"], **figures), str(run["id"]), actor, correlation_id=correlation_id)


def _not_found() -> NotFound:
    return NotFound("There is no run with this id.", code="run_not_found")
