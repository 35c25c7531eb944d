"""Another service's feed of changes, read on demand beside the bus; the inbox drops what it knows already."""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from prometheus_client import Counter

from chassis.core.problems import Unavailable
from chassis.db.database import Database
from chassis.messaging import outbox, pruning
from chassis.messaging.inbox import Inbox
from chassis.messaging.outbox import Changes
from chassis.web.peers import Peer

_log = logging.getLogger(__name__)
_PAGE = 250
_TELL_EVERY = 60
"""Seconds after which a source is told again how far its events are received, although that is the same."""

_PRUNED = Counter(
    "traceline_consumer_pruned_total",
    "Places of the feed whose events were pruned before they were received.",
    ("consumer", "source"),
)


class OwnFeed:
    """What the service tells itself: to the `consumers` that follow it."""

    def __init__(self, database: Database, consumers: Sequence[str]) -> None:
        self._database = database
        self._consumers = list(consumers)

    async def head(self) -> int:
        """Return the last event that was committed before the call."""
        return await outbox.number(self._database)

    async def is_received(self, place: int) -> bool:
        """Check whether every consumer has told that it received everything up to a place."""
        async with self._database.across() as connection:
            return place <= await pruning.received_by_all(connection, self._consumers)


class Feed:
    """The feed of `source`, entering by `inbox`.

    With `own`, the source is told that an event was received only when all who follow this service have received what
    it had told by then: so nothing from before the event is on its way any more. It is for a source that follows
    nobody: two that wait for each other would wait for ever.
    """

    def __init__(self, source: str, peer: Peer, inbox: Inbox, own: OwnFeed | None = None) -> None:
        self.source = source
        self._own = own
        self._passing: tuple[int, int] | None = None
        self._passed = 0
        self._peer = peer
        self._inbox = inbox
        self._behind_at: int | None = None
        self._told: tuple[int, float] | None = None
        self._pruned = _PRUNED.labels(inbox.queue, source)

    async def catch_up(self) -> None:
        """Return when everything that the source had committed before the call was received.

        An event that cannot be applied is stored with its error and holds up no other. Raises Unavailable when the
        source does not answer.
        """
        position = await self._inbox.position(self.source)
        page = await self._changes(position, _PAGE)
        target = page.head
        while position < target and page.events:
            self._note_pruned(position, page)
            await self._inbox.receive(page.events, after=position, pruned=page.pruned)
            # Not the inbox's position: that stands still at an unreadable message.
            position = page.last
            if position < target:
                page = await self._changes(position, _PAGE)

    async def catch_up_if_stalled(self) -> None:
        """Catch up when the bus has brought nothing new since the last call although there was something.

        To be called now and then: so a broker that has lost its data, or is away for long, costs no event. The source
        is told what was received, and may prune it. One that was restored to an older state than was received is
        neither read nor told: its places mean other events now.
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
            # Who has received nothing yet follows a source that told before, as after an upgrade.
            level = logging.WARNING if position and not self._inbox.is_full else logging.INFO
            _log.log(level, "%s stands at %d of %s: reading its feed", self._inbox.queue, position, self.source)
            await self.catch_up()
            position = await self._inbox.position(self.source)
        head = await self.head()
        self._behind_at = position if head > position else None
        await self._tell(await self._passed_on(position))

    async def _was_rolled_back(self, position: int) -> bool:
        """Check whether the feed lacks the last event that was received: its source was restored to an older state."""
        if position == 0:
            return False
        return not await has_event_at(await self._changes(position - 1, 1), position, self._inbox.knows)

    async def head(self) -> int:
        """Return the last event of the source; raise Unavailable when it does not answer."""
        return (await self._changes(0, 0)).head

    def _note_pruned(self, position: int, page: Changes) -> None:
        """Count what will never be received, and log it where something was received before: a copy misses nothing."""
        if missing := page.last - position - len(page.events):
            self._pruned.inc(missing)
            if position:
                _log.warning(
                    "%s had received %d events of %s and goes on up to %d: %d of these were pruned. Copies are right"
                    " all the same; what is made of each event, such as an audit log, lacks those.",
                    *(self._inbox.queue, position, self.source, page.last, missing),
                )

    async def _passed_on(self, position: int) -> int:
        """Return up to where the events were received and what was told before has arrived, too."""
        if self._own is None:
            return position
        if self._passing is None and position > self._passed:
            self._passing = position, await self._own.head()
        if self._passing is not None and await self._own.is_received(self._passing[1]):
            self._passed, self._passing = self._passing[0], None
        return min(self._passed, position)

    async def _tell(self, position: int) -> None:
        """Acknowledge to the source up to where all was received: it keeps what comes after, and the last before."""
        now = time.monotonic()
        if self._told is None or self._told[0] != position or now >= self._told[1] + _TELL_EVERY:
            await self._peer.put(f"/internal/feed-consumers/{self._inbox.queue}", {"position": position})
            self._told = position, now

    async def _changes(self, after: int, limit: int) -> Changes:
        return outbox.read_changes(await changes_of(self._peer, after, limit), after)


async def has_event_at(page: Changes, position: int, knows: Callable[[bytes], Awaitable[bool]]) -> bool:
    """Check whether a feed has the event that was received as the one at `position`, by the page that begins there.

    One that was pruned counts as there: nothing tells it from another any more.
    """
    if position > page.head or not page.events:
        return False
    return await knows(page.events[0]) if page.first == position else position <= page.pruned


async def changes_of(peer: Peer, after: int, limit: int) -> bytes:
    """Return a page of a service's feed, at most `limit` events after `after`, for `outbox.read_changes`.

    Raises Unavailable when the service does not answer, or refuses.
    """
    response = await peer.get("/internal/changes", {"after": after, "limit": limit})
    if response.status_code != 200:
        raise Unavailable(f"{peer.name} refused to tell its changes ({response.status_code}).")
    return response.content
