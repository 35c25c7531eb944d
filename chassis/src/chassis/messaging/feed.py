"""Another service's feed of changes, read on demand beside the bus; the inbox drops what it knows already."""

import logging

from chassis.core.problems import Unavailable
from chassis.messaging import outbox
from chassis.messaging.inbox import Inbox
from chassis.web.peers import Peer

_log = logging.getLogger(__name__)
_PAGE = 250


class Feed:
    """The feed of `source`, entering by `inbox`."""

    def __init__(self, source: str, peer: Peer, inbox: Inbox) -> None:
        self.source = source
        self._peer = peer
        self._inbox = inbox
        self._behind_at: int | None = None

    async def catch_up(self) -> None:
        """Return when everything that the source had committed before the call was received.

        An event that cannot be applied is stored with its error and holds up no other. Raises Unavailable when the
        source does not answer.
        """
        position = await self._inbox.position(self.source)
        target, events = await self._changes(position, _PAGE)
        while position < target and events:
            await self._inbox.receive(events)
            # The feed has no gaps. Not the inbox's position: that stands still at an unreadable message.
            position += len(events)
            if position < target:
                _, events = await self._changes(position, _PAGE)

    async def catch_up_if_stalled(self) -> None:
        """Catch up when the bus has brought nothing new since the last call although there was something.

        To be called now and then: so a broker that has lost its data, or is away for long, costs no event. A source
        that was restored to an older state than was received is not read: its places mean other events now.
        """
        position = await self._inbox.position(self.source)
        if await self._was_rolled_back(position):
            _log.error(
                "%s has received %d events of %s, whose feed does not have the last of them: it was restored to an"
                " older state. `python -m chassis.admin reread %s` has it read again.",
                *(self._inbox.queue, position, self.source, self.source),
            )
            return
        if position == self._behind_at:
            _log.warning("%s stands at %d of %s: reading its feed", self._inbox.queue, position, self.source)
            await self.catch_up()
            position = await self._inbox.position(self.source)
        head = await self.head()
        self._behind_at = position if head > position else None

    async def _was_rolled_back(self, position: int) -> bool:
        """Check whether the feed lacks the last event that was received: its source was restored to an older state."""
        if position == 0:
            return False
        _, events = await self._changes(position - 1, 1)
        return not (events and await self._inbox.knows(events[0]))

    async def head(self) -> int:
        """Return the last event of the source; raise Unavailable when it does not answer."""
        head, _ = await self._changes(0, 0)
        return head

    async def _changes(self, after: int, limit: int) -> tuple[int, list[bytes]]:
        return outbox.read_changes(await changes_of(self._peer, after, limit))


async def changes_of(peer: Peer, after: int, limit: int) -> bytes:
    """Return a page of a service's feed, at most `limit` events after `after`, for `outbox.read_changes`.

    Raises Unavailable when the service does not answer, or refuses.
    """
    response = await peer.get("/internal/changes", {"after": after, "limit": limit})
    if response.status_code != 200:
        raise Unavailable(f"{peer.name} refused to tell its changes ({response.status_code}).")
    return response.content
