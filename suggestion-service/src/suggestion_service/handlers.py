"""The table of events: what each one does to the copy of the items, and to what projects want."""

from collections.abc import Awaitable, Callable, Mapping
from itertools import groupby
from typing import Any
from uuid import UUID

from chassis.db.database import Connection
from chassis.messaging.events import Received
from chassis.messaging.inbox import Handler
from chassis.messaging.payloads import Payload
from contracts import auth, catalog
from suggestion_service.engine import Side
from suggestion_service.items import imports, service
from suggestion_service.projects import bury, take_wishes
from suggestion_service.scale import Scales
from suggestion_service.store import projects

_Take = Callable[..., Awaitable[list[UUID]]]


def handlers(*, scales: Scales | None, queued: Callable[[], None]) -> Mapping[type[Payload], Handler]:
    """Return the handlers; with `scales`, changed items are queued for scoring by them and `queued` is called.

    What an import changes is queued at its end. What comes late of a project that is deleted is left alone.
    """
    return {
        **copying(scales=scales, queued=queued, together=True),
        catalog.ImportApplied: _unless_deleted(_end_of_import(scales, queued)),
        auth.ProjectCreated: take_wishes,
        auth.ProjectUpdated: take_wishes,
        auth.ProjectArchived: take_wishes,
        auth.ProjectDeletionPlanned: take_wishes,
        auth.ProjectRestored: take_wishes,
        auth.ProjectDeleted: bury,
        auth.UserErased: service.erase_people,
    }


def copying(*, scales: Scales | None, queued: Callable[[], None], together: bool) -> Mapping[type[Payload], Handler]:
    """Return the handlers that write the copy alone.

    With `scales`, changed items are queued for scoring where the project wants that; with `together`, those of an
    import are noted instead.
    """

    def put(side: Side, take: _Take) -> Handler:
        async def handle(connection: Connection, events: list[Received[Any]]) -> None:
            score = scales is not None and (await scales.wishes(connection)).automatic
            for batch_id, of_batch in groupby(events, key=lambda event: event.batch_id if together else None):
                states = _states(side, list(of_batch))
                if batch_id is None:
                    await take(connection, side, states, score=score)
                else:
                    settled = await imports.is_settled(connection)
                    changed = await take(connection, side, states, score=False)
                    await imports.note(connection, batch_id, changed, settled=settled)
            queued()

        return handle

    def removed(side: Side) -> Handler:
        async def handle(connection: Connection, events: list[Received[Any]]) -> None:
            await service.remove(connection, side, _states(side, events))

        return handle

    table: Mapping[type[Payload], Handler] = {
        catalog.RequirementCreated: put("requirement", service.add),
        catalog.RequirementUpdated: put("requirement", service.change),
        catalog.RequirementDeleted: removed("requirement"),
        catalog.TestCaseCreated: put("test_case", service.add),
        catalog.TestCaseUpdated: put("test_case", service.change),
        catalog.TestCaseDeleted: removed("test_case"),
        catalog.LinkCreated: service.link,
        catalog.LinkDeleted: service.unlink,
    }
    return {payload: _unless_deleted(handle) for payload, handle in table.items()}


def _unless_deleted(handler: Handler) -> Handler:
    """Return a handler that leaves a project alone which is deleted: its events and the end of it come by two feeds."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        if not (await projects.get(connection)).deleted:
            await handler(connection, events)

    return handle


def _end_of_import(scales: Scales | None, queued: Callable[[], None]) -> Handler:
    async def handle(connection: Connection, events: list[Received[catalog.ImportApplied]]) -> None:
        for event in events:
            await imports.end(connection, event, scales)
        queued()

    return handle


def _states(side: Side, events: list[Received[Any]]) -> list[tuple[Received[Any], service.State]]:
    return [(event, getattr(event.data, side)) for event in events]
