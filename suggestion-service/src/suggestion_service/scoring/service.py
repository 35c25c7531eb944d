"""What a caller may do with runs: ask for one, wait for it, cancel it."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from chassis.core.identity import Identity
from chassis.core.problems import Conflict, NotFound
from chassis.core.request_context import request_id
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, actor_of
from contracts.suggestion import RunFinished
from suggestion_service.scoring import runs

_ENDED = ("completed", "failed", "cancelled")
_POLL = 0.05


async def request(
    connection: Connection, algorithm: str, threshold: float, caller: Identity, *, rescore: bool, background: str
) -> UUID:
    """Queue a run over everything with one statement; return its id. `background`: the algorithm of the settings."""
    run_id, now = uuid4(), datetime.now(UTC)
    await runs.insert(
        *(connection, run_id, algorithm, threshold, actor_of(caller), request_id.get(), now),
        rescore=rescore,
        background=background,
    )
    return run_id


async def ended(database: Database, run_id: UUID, within: float) -> dict[str, Any] | None:
    """Return the run when it has ended within so many seconds, else None."""
    clock = asyncio.get_running_loop()
    deadline = clock.time() + within
    while (run := await get(database, run_id))["status"] not in _ENDED:
        if clock.time() > deadline:
            return None
        await asyncio.sleep(_POLL)
    return run


async def get(database: Database, run_id: UUID) -> dict[str, Any]:
    """Return a run; raise NotFound."""
    async with database.connection() as connection:
        run = await runs.get(connection, run_id)
    if run is None:
        raise _not_found()
    return run


async def cancel(connection: Connection, run_id: UUID, caller: Identity) -> dict[str, Any]:
    """Cancel a run and return it; what it has stored stays. Raises NotFound, or Conflict when it has ended."""
    run = await runs.cancel(connection, run_id)
    if run is None:
        ended = await runs.get(connection, run_id)
        if ended is None:
            raise _not_found()
        raise Conflict(f"This run has ended already: {ended['status']}.", code="run_ended")
    await outbox.record(connection, [finished_event(run, actor_of(caller), request_id.get())])
    return run


def finished_event(run: dict[str, Any], actor: Actor, correlation_id: str) -> NewEvent:
    """Return the event of a run's end."""
    return NewEvent(
        RunFinished(
            run_id=run["id"],
            **{name: run[name] for name in ("status", "algorithm", "threshold", *runs.COUNTS, "error")},
        ),
        str(run["id"]),
        actor,
        correlation_id=correlation_id,
    )


def _not_found() -> NotFound:
    return NotFound("There is no run with this id.", code="run_not_found")
