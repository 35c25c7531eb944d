"""What runs beside the HTTP app: events come in."""

from collections.abc import Mapping

from starlette.types import ASGIApp

from chassis.core.settings import read
from chassis.db.database import Database
from chassis.messaging.bus import Bus
from chassis.messaging.feed import Feed
from chassis.messaging.inbox import Inbox
from chassis.server.messaging_loops import consume, new_worker
from chassis.server.process import Process, run
from chassis.server.process.settings import BrokerSettings
from chassis.server.worker import Worker
from chassis.web.peers import Peer
from notification_service.app import SCHEMA_VERSION
from notification_service.handlers import HANDLERS
from notification_service.settings import Addresses, Settings


def create_worker(settings: Settings, database: Database, bus: Bus, peers: Mapping[str, Peer]) -> Worker:
    """Return the loops of this service, its inbox subscribed to the bus; `peers` are the services that it follows.

    No loop has a setting of its own.
    """
    worker = new_worker("notification", database)
    inbox = Inbox("notification", database, HANDLERS)
    consume(worker, inbox, bus, [Feed(source, peer, inbox) for source, peer in peers.items()])
    return worker


async def _compose(process: Process) -> ASGIApp:
    settings = read(Settings)
    database = await process.database(settings, SCHEMA_VERSION)
    tokens = settings.internal_tokens()
    addresses = read(Addresses)
    urls = {"auth": addresses.auth_url, "catalog": addresses.catalog_url, "suggestion": addresses.suggestion_url}
    peers = {
        source: process.peer(f"{source}-service", url, tokens, "notification-service") for source, url in urls.items()
    }
    bus = process.bus()
    await process.use(create_worker(settings, database, bus, peers), bus)
    return process.probes()


if __name__ == "__main__":
    run(_compose, Settings, Addresses, BrokerSettings, schema=SCHEMA_VERSION)
