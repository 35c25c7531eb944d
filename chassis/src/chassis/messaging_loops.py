"""The background loops that every service has: relay, retries, forgetting what nobody needs."""

from chassis.bus import Bus
from chassis.database import Database
from chassis.http.idempotency import forget_old_keys
from chassis.inbox import Inbox
from chassis.relay import Relay
from chassis.worker import Worker


def new_worker(name: str, database: Database, bus: Bus, inbox: Inbox | None = None) -> Worker:
    """Give a worker that publishes the service's events and, when it consumes, subscribes its inbox."""
    worker = Worker()
    worker.add(f"{name} relay", Relay(database, bus).run)

    async def forget() -> None:
        await forget_old_keys(database)

    worker.every(f"{name} idempotency keys", 3600, forget)
    if inbox is not None:
        bus.subscribe(inbox.queue, inbox.sources, inbox.receive)
        worker.every(f"{name} inbox retries", 1, inbox.retry_due)
    return worker
