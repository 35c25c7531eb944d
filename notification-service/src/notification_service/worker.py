"""What runs beside the HTTP app: events come in."""

from chassis.bus import Bus
from chassis.database import Database
from chassis.inbox import Inbox
from chassis.messaging_loops import new_worker
from chassis.worker import Worker
from notification_service.handlers import HANDLERS
from notification_service.settings import Settings


def create_worker(settings: Settings, database: Database, bus: Bus) -> Worker:
    """Give the loops of this service, its inbox subscribed to the bus. No loop has a setting of its own."""
    return new_worker("notification", database, bus, Inbox("notification", database, HANDLERS))
