"""What catalog-service does beside HTTP: it tells its events, follows what is pending, judges and keeps coverage."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

from catalog_service.coverage import repository as coverage
from catalog_service.coverage.metrics import of_modules
from catalog_service.coverage.projector import CoverageProjector
from catalog_service.exchange import import_loop
from catalog_service.exchange.applying.searchable import complete
from catalog_service.exchange.import_loop import ImportLoop
from catalog_service.exchange.jobs.import_progress import ImportProgress
from catalog_service.exchange.planning.staging import Limits
from catalog_service.executions import completion, retention, verdict_days
from catalog_service.executions.acceptances import service as acceptances
from catalog_service.handlers import HANDLERS
from catalog_service.projects.service import remove_deleted
from catalog_service.search.maintenance import merge_pending_entries, rebuild_documents
from catalog_service.service import SERVICE
from catalog_service.settings import Settings
from catalog_service.trend import service as trend
from chassis.db.database import Database
from chassis.messaging.bus import Bus
from chassis.messaging.feed import Feed, OwnFeed
from chassis.messaging.inbox import Inbox
from chassis.messaging.pruning import Pruner
from chassis.server.messaging_loops import consume, new_worker, prune, publish
from chassis.server.process import run_worker
from chassis.server.worker import Worker
from chassis.web.peers import Peer
from contracts.routes import PUBLISHED, consumers_of, ignored_by

_MERGE_EVERY = 2
_CLEAR_UP_EVERY = 60
_ONCE_AN_HOUR = 3600
_ONCE_A_DAY = 24 * 3600
"""Only a migration leaves something to do."""


def create_worker(settings: Settings, database: Database, bus: Bus, auth: Peer, suggestion: Peer) -> Worker:
    """Return the worker; the caller opens and closes `database`, and starts `bus`."""
    worker = new_worker("catalog", database)
    publish(worker, "catalog", database, bus)
    pruner = Pruner(database, PUBLISHED["catalog"], consumers_of("catalog"), [coverage.position])
    prune(worker, "catalog", database, pruner, settings.feed_retention_days)
    inbox = Inbox("catalog", database, HANDLERS, ignored_by("catalog"))
    own = OwnFeed(database, pruner.consumers)
    consume(worker, inbox, bus, [Feed("auth", auth, inbox, own), Feed("suggestion", suggestion, inbox)])
    worker.collectors.append(of_modules(database))
    projector = CoverageProjector(database, settings.coverage_drop_threshold, settings.coverage_rest_seconds)
    worker.add("catalog coverage", projector.run, leader_only=True)

    async def keep_days() -> None:
        while True:
            await trend.keep_today(database, datetime.now(UTC))
            await asyncio.sleep(trend.until_next(datetime.now(UTC)).total_seconds())

    worker.add("catalog coverage days", keep_days, leader_only=True)
    worker.every("catalog search entries", _MERGE_EVERY, partial(merge_pending_entries, database), leader_only=True)
    worker.every("catalog search of imports", 1, partial(complete, database), leader_only=True)
    worker.every("catalog search documents", _ONCE_A_DAY, partial(rebuild_documents, database), leader_only=True)
    worker.every("catalog deleted projects", 10, partial(remove_deleted, database), leader_only=True)
    limits = Limits(
        rows=settings.import_max_rows,
        memory_bytes=settings.import_memory_mib * 1024**2,
        cpu_seconds=settings.import_cpu_seconds,
        source_url_schemes=settings.source_url_schemes,
    )
    imports = ImportLoop(database, limits)
    worker.add("catalog imports", imports.read)
    worker.add("catalog import plans", imports.apply)
    worker.every("catalog import progress", 1, ImportProgress(database).tell, leader_only=True)
    worker.every("catalog import files", _CLEAR_UP_EVERY, partial(import_loop.clear_up, database), leader_only=True)
    schemas = partial(import_loop.clear_up_schemas, database)
    worker.every("catalog schemas of ReqIF", _ONCE_AN_HOUR, schemas, leader_only=True)

    async def end_runs() -> None:
        await completion.end_forgotten(database, settings.results_default_branch, datetime.now(UTC))

    async def prune_results() -> None:
        age = timedelta(days=settings.results_retention_days)
        default_branch = settings.results_default_branch
        await retention.prune(database, datetime.now(UTC), retention=age, default_branch=default_branch)

    async def keep_verdicts() -> None:
        await verdict_days.keep_today(database, settings, datetime.now(UTC))

    async def end_acceptances() -> None:
        await acceptances.end_over(database, datetime.now(UTC))

    worker.every("catalog test runs", _CLEAR_UP_EVERY, end_runs, leader_only=True)
    worker.every("catalog accepted failures", _CLEAR_UP_EVERY, end_acceptances, leader_only=True)
    worker.every("catalog old results", _ONCE_AN_HOUR, prune_results, leader_only=True)
    worker.every("catalog verdict days", _ONCE_AN_HOUR, keep_verdicts, leader_only=True)
    return worker


if __name__ == "__main__":
    run_worker(SERVICE, create_worker)
