"""What catalog-service does beside HTTP: it publishes its events and judges coverage."""

from starlette.types import ASGIApp

from catalog_service.app import SCHEMA_VERSION
from catalog_service.coverage.metrics import of_modules
from catalog_service.coverage.projector import CoverageProjector
from catalog_service.settings import Settings
from chassis.bus import Bus
from chassis.database import Database
from chassis.messaging_loops import new_worker, publish
from chassis.process import Process, run
from chassis.process.settings import BrokerSettings
from chassis.settings import read
from chassis.worker import Worker


def create_worker(settings: Settings, database: Database, bus: Bus) -> Worker:
    """Give the worker; the caller opens and closes `database`, and starts `bus`."""
    worker = new_worker("catalog", database)
    publish(worker, "catalog", database, bus)
    worker.readings.append(of_modules(database))
    projector = CoverageProjector(database, settings.coverage_drop_threshold)
    worker.add("catalog coverage", projector.run, alone=True)
    return worker


async def _compose(process: Process) -> ASGIApp:
    settings = read(Settings)
    database = await process.database(settings, SCHEMA_VERSION)
    bus = process.bus()
    await process.use(create_worker(settings, database, bus), bus)
    return process.probes()


if __name__ == "__main__":
    run(_compose, Settings, BrokerSettings, schema=SCHEMA_VERSION)
