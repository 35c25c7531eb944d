"""What suggestion-service does besides answering: follow catalog, score, finish, clear up."""

from chassis.bus import Bus
from chassis.database import Database
from chassis.inbox import Inbox
from chassis.messaging_loops import new_worker
from chassis.peers import Peer
from chassis.worker import Worker
from suggestion_service.generation.background import BackgroundScoring
from suggestion_service.generation.corpus import LiveCorpus
from suggestion_service.generation.feed import CatalogFeed
from suggestion_service.generation.run_loop import RunLoop
from suggestion_service.handlers import IGNORED, handlers
from suggestion_service.review import acceptance, withdrawal
from suggestion_service.settings import Settings


def create_worker(settings: Settings, database: Database, bus: Bus, catalog: Peer) -> Worker:
    """Give the worker; several may run, of as many processes, over the same database."""
    corpus = LiveCorpus(database)
    scoring = BackgroundScoring(
        database, corpus, settings.auto_suggestions_algorithm, settings.auto_suggestions_threshold
    )
    table = handlers(score=settings.auto_suggestions_enabled, queued=scoring.queued)
    inbox = Inbox("suggestion", database, table, IGNORED)
    worker = new_worker("suggestion", database, bus, inbox)
    worker.add("suggestion runs", RunLoop(database, corpus, CatalogFeed(catalog, inbox)).run)
    if settings.auto_suggestions_enabled:
        worker.add("suggestion background scoring", scoring.run)

    async def reconcile() -> None:
        await acceptance.reconcile(database, catalog)

    async def withdraw_old() -> None:
        await withdrawal.withdraw_old(database)

    worker.every("suggestion acceptances", 1, reconcile)
    worker.every("suggestion expiry", 600, withdraw_old)
    return worker
