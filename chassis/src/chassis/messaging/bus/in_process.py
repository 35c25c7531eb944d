"""The bus of the embedded run: the same promises within one process, nothing kept in memory alone."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from chassis.core.backoff import Backoff
from chassis.core.tasks import cancel_and_wait
from chassis.db.refusals import is_of_full_storage
from chassis.messaging.bus import Deliver, Publication, Work

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Subscription:
    queue: str
    sources: frozenset[str]
    deliver: Deliver
    in_order: asyncio.Lock


class InProcessBus:
    """Delivers while publishing: an event is confirmed when every queue has acknowledged it.

    So a crash loses nothing: the relay has not moved on, and sends again.
    """

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._started = asyncio.Event()
        self._work: dict[str, Work] = {}
        self._jobs: dict[str, asyncio.Queue[bytes]] = {}
        self._working: list[asyncio.Task[None]] = []

    def subscribe(self, queue: str, sources: frozenset[str], deliver: Deliver) -> None:
        """See Bus.subscribe."""
        if any(subscription.queue == queue for subscription in self._subscriptions):
            raise ValueError(f"The queue {queue} has a subscription already.")
        self._subscriptions.append(_Subscription(queue, sources, deliver, asyncio.Lock()))

    def take_part(self, queue: str, work: Work) -> None:
        """See Bus.take_part."""
        self._work[queue] = work
        self._jobs[queue] = asyncio.Queue()

    async def start(self) -> None:
        """See Bus.start."""
        self._started.set()
        self._working = [asyncio.create_task(self._do_jobs(queue)) for queue in self._work]

    async def stop(self) -> None:
        """See Bus.stop. Publishers wait from now on; their events stay in the outbox."""
        self._started.clear()
        await cancel_and_wait(*self._working)

    async def send(self, queue: str, job: bytes) -> None:
        """See Bus.send."""
        if queue in self._jobs:
            self._jobs[queue].put_nowait(job)

    async def _do_jobs(self, queue: str) -> None:
        while True:
            job = await self._jobs[queue].get()
            try:
                await self._work[queue](job)
            except Exception as error:  # noqa: BLE001 - the job is given up; the database still says what there is to do
                if is_of_full_storage(error):  # which the log has, once
                    _log.info("A job of %s waits for room", queue)
                else:
                    _log.exception("A job of %s failed", queue)

    async def publish(self, publications: Sequence[Publication]) -> None:
        """See Bus.publish."""
        await self._started.wait()
        await asyncio.gather(*(self._deliver(subscription, publications) for subscription in self._subscriptions))

    async def _deliver(self, subscription: _Subscription, publications: Sequence[Publication]) -> None:
        batch = [publication.envelope for publication in publications if publication.source in subscription.sources]
        if not batch:
            return
        async with subscription.in_order:
            backoff = Backoff()
            while True:
                try:
                    await subscription.deliver(batch)
                except Exception as error:  # noqa: BLE001 - whatever it was, the events must not be lost
                    _log.log(
                        logging.INFO if is_of_full_storage(error) else logging.WARNING,  # which the log has, once
                        "%s did not take %d events: %s; again in %.1f s",
                        subscription.queue,
                        len(batch),
                        error,
                        backoff.seconds,
                    )
                else:
                    return
                await backoff.wait()
                await self._started.wait()
