"""Computes the embeddings that are missing, of new texts and of all texts for a new model, in the background.

Until all items of a project have vectors of a model, none is in use there: hybrid scores are lexical. From then on, an
item whose text has changed is scored by its words alone for the moment that its vectors take.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from uuid import UUID

from chassis.core import projects
from chassis.core.batches import all_or_each
from chassis.core.signals import wait_with_timeout
from chassis.db.database import Database, in_project
from suggestion_service.embeddings.item_vectors import embed_items, model_of
from suggestion_service.embeddings.port import Embedder, EmbeddingsUnavailable
from suggestion_service.engine import ItemVectors
from suggestion_service.scale import Scales
from suggestion_service.store import (
    corpus_head,
    embedding_model,
    embeddings,
    embeddings_in_use,
    items,
    scoring_queue,
)
from suggestion_service.store.corpus_head import Head
from suggestion_service.store.embeddings import Claim, ClaimedItem, Place

_log = logging.getLogger(__name__)

BATCH = 32
"""Items that are embedded at a time: some seconds of work, which a worker that is stopped has to end."""
_POLL = 1.0
_REST = 10.0
_REPORT = 30.0
"""Seconds between two lines of progress."""
_NO_TABLE = (
    "the database has no pgvector: install it in the PostgreSQL server, then run"
    " `python -m suggestion_service.embeddings.tables` with this DATABASE_URL"
)


class EmbeddingLoop:
    """The loop that embeds; as many workers as there are share it."""

    def __init__(
        self,
        database: Database,
        load: Callable[[], Embedder] | None,
        *,
        scales: Scales | None,
        scored: Callable[[], None],
    ) -> None:
        """`load` gives the model, which may take seconds and raise EmbeddingsUnavailable; None: there shall be no
        embeddings. When items get vectors later and the scale of the queue is hybrid, they are queued for scoring and
        `scored` is called; never without `scales`.
        """
        self._database = database
        self._load = load
        self._scales = scales
        self._scored = scored
        self._committed = database.commits.listener()
        self._embedder: Embedder | None = None
        self._places: dict[str, Place] = {}
        """By project, how far its items have been looked through."""
        self._seen: dict[str, int] = {}
        """By project, the head of its corpus when it was looked through to the end."""
        self._waiting: deque[Head] = deque()
        """The projects that are looked through next, in turn."""
        self._reported_at = 0.0

    async def run(self) -> None:
        """Embed what lacks embeddings, for ever; without a model, see to it that hybrid scores are lexical."""
        # A loop that failed and goes on declares nothing: by now that may be another worker's newer model.
        embedder = self._embedder or await self.begin()
        if embedder is None:
            await asyncio.Event().wait()
            return
        while True:
            self._committed.clear()
            worked = await self.embed_next(embedder)
            if worked is None:
                await asyncio.sleep(_REST)
            elif not worked:
                await wait_with_timeout(self._committed, _POLL)

    async def begin(self) -> Embedder | None:
        """Load the model and declare that it is computed with; return None, and say why, where there is none."""
        try:
            embedder = await self._loaded()
        except EmbeddingsUnavailable as reason:
            _log.warning("Embeddings are off, and hybrid scores are lexical: %s", reason)
            embedder = None
        with projects.across():
            async with self._database.transaction() as connection:
                # Vectors of another model are in use no more, from now on.
                if await embedding_model.declare(connection, model_of(embedder) if embedder else None):
                    for project in await embeddings_in_use.forget(connection):
                        async with in_project(connection, project):
                            await corpus_head.move(connection)
        self._embedder = embedder
        return embedder

    async def _loaded(self) -> Embedder | None:
        if self._load is None:
            return None
        async with self._database.connection() as connection:
            if not await embeddings.table_exists(connection):
                raise EmbeddingsUnavailable(f"{_NO_TABLE}.")
        embedder = await asyncio.to_thread(self._load)
        _log.info("Embeddings are computed with %s", model_of(embedder))
        return embedder

    async def embed_next(self, embedder: Embedder) -> bool | None:
        """Embed some items of the next project that lack embeddings; return whether there was something to do.

        None: other workers compute with another model, which was declared later.
        """
        if not self._waiting:
            self._waiting.extend(await self._unseen())
        if not self._waiting:
            return False
        project, head = self._waiting.popleft()
        with projects.within(project):
            worked = await self._embed_some(embedder, project)
        if worked:
            self._waiting.append(Head(project, head))
        elif worked is not None:
            self._seen[project] = head
        return worked if worked is None else worked or bool(self._waiting)

    async def _unseen(self) -> list[Head]:
        """Return the projects that have changed since they were looked through, or have lost a worker."""
        async with self._database.across() as connection:
            heads = await corpus_head.heads(connection)
            lost = await embeddings.projects_with_expired(connection) if heads else []
        return [head for head in heads if head.project in lost or self._seen.get(head.project) != head.head]

    async def _embed_some(self, embedder: Embedder, project: str) -> bool | None:
        model = model_of(embedder)
        # Not announced as a commit: that would wake those who watch commits, us among them.
        async with self._database.connection() as connection, connection.transaction():
            if (await embedding_model.declared(connection)).model != model:
                return None
            claim = await embeddings.reclaim(connection, model, BATCH)
            place = None
            if not claim.items:
                after = self._places.get(project, embeddings.START)
                claim, place = await embeddings.look(connection, model, after, BATCH)
        if claim.items:
            async with embeddings.LEASES.leased(self._database, claim.id):
                await self._embed(embedder, claim)
            await self._report(model)
        if place is not None:
            self._places[project] = place
        elif not claim.items:
            await self._put_to_use(model)
        return bool(claim.items) or place is not None

    async def _embed(self, embedder: Embedder, claim: Claim) -> None:
        vectors: dict[UUID, ItemVectors | None] = {}

        async def embed(some: Sequence[ClaimedItem]) -> None:
            made = await asyncio.to_thread(embed_items, embedder, [item.said for item in some])
            vectors.update(zip((item.id for item in some), made, strict=True))

        async def go_without(item: ClaimedItem, error: Exception) -> None:
            _log.exception("Embedding item %s failed, it is scored by its words: %s", item.id, error)
            vectors[item.id] = None

        await all_or_each(claim.items, embed, go_without)
        await self._store(claim, [vectors[item.id] for item in claim.items])

    async def _store(self, claim: Claim, vectors: list[ItemVectors | None]) -> None:
        async with self._database.transaction() as connection:
            hybrid = self._scales is not None and (await self._scales.current(connection)).algorithm == "hybrid"
            await corpus_head.lock(connection)
            stored = await embeddings.store(connection, claim, vectors)
            if stored and await embedding_model.declared(connection) == (claim.model, True):
                await items.mark_changed(connection, stored)
                if hybrid:
                    # One that is being scored just now and is done before this commits is left to the rescore sweep.
                    await scoring_queue.queue_again(connection, stored)
        if hybrid:
            self._scored()

    async def _put_to_use(self, model: str) -> None:
        async with self._database.connection() as connection:
            if (await embedding_model.declared(connection)).in_use:
                return
        async with self._database.transaction() as connection:
            await corpus_head.lock(connection)
            unused = await embedding_model.declared(connection) == (model, False)
            if not unused or not await embeddings.complete(connection, model):
                return
            await embeddings_in_use.use(connection, model)
            await embeddings.delete_others(connection, model)
            await corpus_head.move(connection)
        _log.info("Embeddings are complete: hybrid scores are made of those of %s from now on", model)

    async def _report(self, model: str) -> None:
        now = asyncio.get_running_loop().time()
        if now < self._reported_at + _REPORT:
            return
        self._reported_at = now
        async with self._database.connection() as connection:
            done, items = await embeddings.progress(connection, model)
        _log.info("Embeddings of %s: %d of %d items", model, done, items)
