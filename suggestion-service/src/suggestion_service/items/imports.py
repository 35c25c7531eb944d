"""What an import changes is scored together when its end is told: as a run over everything if it is much."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from chassis.db.database import Connection
from chassis.messaging.events import Received
from contracts import catalog
from suggestion_service.scale import Scales
from suggestion_service.store import import_items, runs, scoring_queue, settlement
from suggestion_service.store.run_request import RunRequest

_MOST_QUEUED = 1000
"""More items than these are scored by a run."""


async def note(connection: Connection, import_id: UUID, item_ids: list[UUID], *, settled: bool) -> None:
    """Note that an import has changed items, which are to be scored at its end."""
    if item_ids:
        await import_items.put(connection, import_id, item_ids, settled=settled)


async def is_settled(connection: Connection) -> bool:
    """Check whether what is pending is complete."""
    state = await settlement.state(connection)
    return state.head == state.position


async def end(connection: Connection, applied: Received[catalog.ImportApplied], scales: Scales | None) -> None:
    """Queue what an import has changed, or a run over everything by the scale of the queue, asked for by who imported.

    Where no suggestions are wanted, by the import or (without `scales`) at all, what is pending counts as complete if
    it was before.
    """
    noted = await import_items.take(connection, applied.data.import_id)
    wishes = None if scales is None else await scales.wishes(connection)
    if scales is None or wishes is None or not wishes.automatic or not applied.data.suggest:
        if noted.settled:
            await settlement.skip(connection)
    elif len(noted.item_ids) > _MOST_QUEUED:
        like = await scales.of_run(connection)
        request = RunRequest(uuid4(), like.algorithm, like.threshold, True, applied.actor, applied.correlation_id)
        await runs.insert(connection, request, datetime.now(UTC), wishes.algorithm)
    else:
        await scoring_queue.queue_again(connection, noted.item_ids)
