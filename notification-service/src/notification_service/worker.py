"""What runs beside the HTTP app: events come in."""

from chassis.db.database import Database
from chassis.messaging.bus import Bus
from chassis.messaging.feed import Feed
from chassis.messaging.inbox import Inbox
from chassis.server.messaging_loops import consume, new_worker
from chassis.server.process import run_worker
from chassis.server.worker import Worker
from chassis.web.peers import Peer
from contracts.routes import ignored_by, sources_of
from notification_service.audit_keeping import AuditKeeping
from notification_service.handlers import HANDLERS
from notification_service.notifications import remove_deleted_projects
from notification_service.service import SERVICE
from notification_service.settings import Settings
from notification_service.stream import delete_old_events


def create_worker(settings: Settings, database: Database, bus: Bus, *followed: Peer) -> Worker:
    """Return the loops of this service, its inbox subscribed to the bus; it follows the feeds of all others."""
    worker = new_worker("notification", database)
    inbox = Inbox("notification", database, HANDLERS, ignored_by("notification"))
    feeds = [Feed(source, peer, inbox) for source, peer in zip(sources_of("notification"), followed, strict=True)]
    consume(worker, inbox, bus, feeds)

    async def delete_old() -> None:
        await delete_old_events(database)

    async def remove_projects() -> None:
        await remove_deleted_projects(database)

    keeping = AuditKeeping(database, settings)
    worker.add("notification audit seals", keeping.seal, leader_only=True)
    worker.every("notification audit heads", 600, keeping.sign, leader_only=True)
    worker.every("notification audit retention", 3600, keeping.remove_old, leader_only=True)
    worker.every("notification stream", 600, delete_old, leader_only=True)
    worker.every("notification deleted projects", 10, remove_projects, leader_only=True)
    return worker


if __name__ == "__main__":
    run_worker(SERVICE, create_worker)
