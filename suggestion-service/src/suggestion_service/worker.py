"""What suggestion-service does besides answering: follow catalog, score, finish, clear up."""

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
from suggestion_service.allocator import give_back_large_arrays
from suggestion_service.embeddings.embedding_loop import EmbeddingLoop
from suggestion_service.embeddings.metrics import of_embeddings
from suggestion_service.embeddings.port import Embedder
from suggestion_service.embeddings.sentence_model import load_model
from suggestion_service.handlers import handlers
from suggestion_service.projects import remove_deleted
from suggestion_service.proposals import reviewing
from suggestion_service.review import acceptance, following, withdrawal
from suggestion_service.review.undoing import Undoing
from suggestion_service.review_model.trainer import Trainer
from suggestion_service.scale import Scales
from suggestion_service.scoring import run_loop
from suggestion_service.scoring.corpora import Corpora
from suggestion_service.scoring.jobs import QUEUE, ScoringJobs
from suggestion_service.scoring.new_scale import NewScale
from suggestion_service.scoring.on_change import ChangeScoring
from suggestion_service.scoring.rescore_sweep import RescoreSweep
from suggestion_service.scoring.run_loop import RunLoop
from suggestion_service.scoring.run_progress import RunProgress
from suggestion_service.service import SERVICE
from suggestion_service.settings import Settings


def create_worker(settings: Settings, database: Database, bus: Bus, auth: Peer, catalog: Peer) -> Worker:
    """Return the worker; several may run, of as many processes, over the same database."""
    give_back_large_arrays()
    corpora = Corpora(database, settings.suggestions_corpus_memory_mb * 2**20)
    jobs = ScoringJobs(database, bus)
    scales = Scales.of(settings)
    table = handlers(scales=scales, queued=jobs.queued)
    inbox = Inbox("suggestion", database, table, ignored_by("suggestion"))
    feed = Feed("catalog", catalog, inbox)
    worker = new_worker("suggestion", database)
    publish(worker, "suggestion", database, bus)
    pruner = Pruner(database, PUBLISHED["suggestion"], consumers_of("suggestion"))
    prune(worker, "suggestion", database, pruner, settings.feed_retention_days)
    own = OwnFeed(database, pruner.consumers)
    consume(worker, inbox, bus, [Feed("auth", auth, inbox, own), feed])
    generation = RunLoop(database, corpora, feed, bus)
    bus.take_part(run_loop.QUEUE, generation.on_wakeup)
    worker.add("suggestion runs", generation.run)
    worker.every("suggestion run progress", 1, RunProgress(database).tell, leader_only=True)

    def load() -> Embedder:
        return load_model(settings.embeddings_model)

    embeddings = EmbeddingLoop(
        database,
        load if settings.embeddings_enabled else None,
        scales=scales,
        scored=jobs.queued,
    )
    worker.add("suggestion embeddings", embeddings.run)
    if settings.embeddings_enabled:
        worker.collectors.append(of_embeddings(database))
    scoring = ChangeScoring(database, corpora, scales)

    async def score(_job: bytes) -> None:
        if await scoring.score_waiting():
            # An item may have changed meanwhile, and of very many not all are announced at once.
            jobs.queued()

    bus.take_part(QUEUE, score)
    worker.add("suggestion scoring jobs", jobs.run)
    worker.every("suggestion scoring sweep", 2, jobs.sweep, leader_only=True)
    worker.add("suggestion rescore sweep", RescoreSweep(database, corpora, scales).run, leader_only=True)
    worker.every("suggestion new scale", 5, NewScale(database, scales).bring_over, leader_only=True)
    undoing = Undoing(database, catalog, scales)

    async def reconcile() -> None:
        await acceptance.reconcile(database, catalog)
        await undoing.reconcile()
        await reviewing.reconcile(database, catalog)

    async def withdraw_old() -> None:
        await withdrawal.withdraw_old(database)
        await following.end_old(database)

    async def remove_projects() -> None:
        await remove_deleted(database)

    worker.every("suggestion deleted projects", 10, remove_projects, leader_only=True)
    worker.every("suggestion reviews", 1, reconcile, leader_only=True)
    worker.add("suggestion review model", Trainer(database).run, leader_only=True)
    worker.every("suggestion expiry", 600, withdraw_old, leader_only=True)
    return worker


if __name__ == "__main__":
    run_worker(SERVICE, create_worker)
