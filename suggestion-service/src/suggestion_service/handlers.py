"""The table of events: what each one does to the copy of the items."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from chassis.db.database import Connection
from chassis.messaging.events import Payload, Received
from chassis.messaging.inbox import Handler
from contracts import catalog
from suggestion_service.engine import Side
from suggestion_service.items import service


def handlers(*, score: bool, queued: Callable[[], None]) -> Mapping[type[Payload], Handler]:
    """Return the handlers; with `score`, changed items are queued for scoring and `queued` is called."""

    def put(side: Side, take: Callable[..., Awaitable[None]]) -> Handler:
        async def handle(connection: Connection, events: list[Received[Any]]) -> None:
            await take(connection, side, _states(side, events), score=score)
            queued()

        return handle

    def removed(side: Side) -> Handler:
        async def handle(connection: Connection, events: list[Received[Any]]) -> None:
            await service.remove(connection, side, _states(side, events))

        return handle

    return {
        catalog.RequirementCreated: put("requirement", service.add),
        catalog.RequirementUpdated: put("requirement", service.change),
        catalog.RequirementDeleted: removed("requirement"),
        catalog.TestCaseCreated: put("test_case", service.add),
        catalog.TestCaseUpdated: put("test_case", service.change),
        catalog.TestCaseDeleted: removed("test_case"),
        catalog.LinkCreated: service.link,
        catalog.LinkDeleted: service.unlink,
    }


def _states(side: Side, events: list[Received[Any]]) -> list[tuple[Received[Any], service.State]]:
    return [(event, getattr(event.data, side)) for event in events]
