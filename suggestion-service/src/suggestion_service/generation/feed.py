"""Catching up with catalog's feed, so that a run sees every change that was answered before it was asked for."""

from chassis import outbox
from chassis.inbox import Inbox
from chassis.peers import Peer
from chassis.problems import Unavailable

_PAGE = 250


class CatalogFeed:
    """catalog's feed of changes, read on demand beside the bus; the inbox drops what it knows already."""

    def __init__(self, catalog: Peer, inbox: Inbox) -> None:
        self._catalog = catalog
        self._inbox = inbox

    async def catch_up(self) -> None:
        """Return when everything that catalog had committed before the call was received.

        An event that cannot be applied is kept by the inbox and holds up nobody. Raises Unavailable when catalog
        does not answer.
        """
        position = await self._inbox.position("catalog")
        target, events = await self._changes(position)
        while position < target and events:
            await self._inbox.receive(events)
            # The feed has no gaps. Not the inbox's position: that stands still at a message nobody could read.
            position += len(events)
            if position < target:
                _, events = await self._changes(position)

    async def _changes(self, after: int) -> tuple[int, list[bytes]]:
        response = await self._catalog.get("/internal/changes", {"after": after, "limit": _PAGE})
        if response.status_code != 200:
            raise Unavailable(f"catalog-service refused to tell its changes ({response.status_code}).")
        return outbox.read_changes(response.content)
