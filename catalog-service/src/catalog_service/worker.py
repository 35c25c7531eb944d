"""What catalog-service does beside HTTP: it publishes its events and judges coverage."""

from catalog_service.coverage.projector import CoverageProjector
from catalog_service.settings import Settings
from chassis.bus import Bus
from chassis.database import Database
from chassis.messaging_loops import new_worker
from chassis.worker import Worker


def create_worker(settings: Settings, database: Database, bus: Bus) -> Worker:
    """Give the worker; the caller opens and closes `database`, and starts `bus`."""
    worker = new_worker("catalog", database, bus)
    projector = CoverageProjector(database, settings.coverage_drop_threshold)
    worker.add("catalog coverage", projector.run)
    return worker
