"""The background loops that services share: relay, pruning, retries, catching up, statistics, what has expired."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from chassis.core.problems import Unavailable
from chassis.db import statistics
from chassis.db.database import Database
from chassis.messaging.bus import Bus
from chassis.messaging.feed import Feed
from chassis.messaging.inbox import Inbox
from chassis.messaging.metrics import of_feed, of_inbox, of_pruning
from chassis.messaging.pruning import Pruner
from chassis.messaging.relay import Relay
from chassis.observability.databases import of_database
from chassis.server.worker import Loop, Worker
from chassis.web.idempotency import forget_old_keys

_log = logging.getLogger(__name__)
_CATCH_UP_EVERY = 10
_PRUNE_EVERY = 3600
_LOOK_FOR_GROWTH_EVERY = 2


def new_worker(name: str, database: Database) -> Worker:
    """Return a worker that deletes expired idempotency keys, and tells PostgreSQL of tables that have grown."""
    worker = Worker()
    worker.collectors.append(of_database(database))

    async def forget() -> None:
        await forget_old_keys(database)

    async def look_for_growth() -> None:
        await statistics.refresh(database)

    worker.every(f"{name} idempotency keys", 3600, forget, leader_only=True)
    worker.every(f"{name} statistics", _LOOK_FOR_GROWTH_EVERY, look_for_growth, leader_only=True)
    return worker


def publish(worker: Worker, name: str, database: Database, bus: Bus) -> None:
    """Have the service's events published."""
    worker.add(f"{name} relay", Relay(database, bus).run, leader_only=True)
    worker.collectors.append(of_feed(name, database))


def prune(worker: Worker, name: str, database: Database, pruner: Pruner, retention_days: int) -> None:
    """Have the service's feed pruned of what is older than the retention; 0 days: have all of it kept."""
    worker.collectors.append(of_pruning(name, database, pruner.consumers))
    if retention_days:
        keep = partial(pruner.keep, timedelta(days=retention_days))
        worker.every(f"{name} feed pruning", _PRUNE_EVERY, keep, leader_only=True)


def consume(worker: Worker, inbox: Inbox, bus: Bus, feeds: Sequence[Feed]) -> None:
    """Have the events of `feeds`, the sources that the inbox follows, delivered to it: by the bus, or read from them.

    Raises ValueError when a source has no feed.
    """
    if {feed.source for feed in feeds} != inbox.sources:
        raise ValueError(f"{inbox.queue} follows {sorted(inbox.sources)}: give the feeds of those.")
    bus.subscribe(inbox.queue, inbox.sources, inbox.receive)
    worker.collectors.append(of_inbox(inbox, feeds))
    worker.every(f"{inbox.queue} inbox retries", 1, inbox.retry_due, leader_only=True)
    worker.every(f"{inbox.queue} inbox pruning", _PRUNE_EVERY, inbox.forget_old, leader_only=True)
    for feed in feeds:
        worker.every(f"{inbox.queue} feed of {feed.source}", _CATCH_UP_EVERY, _catching_up(feed), leader_only=True)


def _catching_up(feed: Feed) -> Loop:
    async def catch_up() -> None:
        try:
            await feed.catch_up_if_stalled()
        except Unavailable as away:
            _log.warning("The feed of %s cannot be read: %s", feed.source, away.detail)

    return catch_up
