"""Embeddings in the database and in memory: computed once, never of an old text, never of two models at once."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from chassis.core.tasks import cancel_and_wait
from suggestion_service.embeddings import tables
from suggestion_service.embeddings.embedding_loop import EmbeddingLoop
from suggestion_service.embeddings.item_vectors import embed_items, model_of
from suggestion_service.embeddings.live_vectors import LiveVectors
from suggestion_service.embeddings.metrics import of_embeddings
from suggestion_service.embeddings.port import Embedder, EmbeddingsUnavailable
from suggestion_service.engine import ItemText, ItemVectors
from suggestion_service.scale import Scales
from suggestion_service.store import embeddings
from testing import PostgresServer
from testing.metrics import measured


class HashingEmbedder:
    """A model as small as can be: each word adds to the places that its hash names."""

    def __init__(self, name: str = "hashing", dimensions: int = 48) -> None:
        self.name = name
        self.dimensions = dimensions
        self.texts: list[str] = []
        self.refuses = ""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            if self.refuses and self.refuses in text:
                raise ValueError(f"cannot read {text}")
            for word in text.lower().split():
                digest = hashlib.sha256(f"{self.name} {word}".encode()).digest()
                vectors[row, digest[0] % self.dimensions] += 1.0
                vectors[row, digest[1] % self.dimensions] -= 0.5
        return vectors


class Worker:
    """The part of a worker that embeds, turned by hand."""

    def __init__(self, service: Any, embedder: Embedder | None, *, scales: Scales | None = None) -> None:
        def load() -> Embedder:
            assert embedder is not None
            return embedder

        self.embedder = embedder
        self.announced = 0
        self.loop = EmbeddingLoop(service.database, load if embedder else None, scales=scales, scored=self._scored)

    def _scored(self) -> None:
        self.announced += 1

    async def begin(self) -> "Worker":
        await self.loop.begin()
        return self

    async def work(self) -> None:
        """Embed until nothing is left."""
        assert self.embedder is not None
        while await self.loop.embed_next(self.embedder):
            pass


NewWorker = Callable[..., Any]


@pytest.fixture
def new_worker(service: Any) -> NewWorker:
    async def make(embedder: Embedder | None, **options: Any) -> Worker:
        return await Worker(service, embedder, **options).begin()

    return make


async def model_in_use(service: Any) -> str | None:
    found = await service.rows("SELECT model FROM embeddings_in_use JOIN embedding_model USING (model)")
    return found[0]["model"] if found else None


async def vectors_of(service: Any, live: LiveVectors, item_id: UUID) -> ItemVectors | None:
    views = await live.refresh()
    assert views is not None
    (row,) = await service.rows("SELECT side FROM items WHERE id = %s", item_id)
    view = views[row["side"]]
    place = view.row_of(item_id)
    return None if place < 0 else ItemVectors(view.whole[place].astype(np.int16), view.passages_of(place))


def same(one: ItemVectors | None, other: ItemVectors | None) -> bool:
    return (
        one is not None
        and other is not None
        and np.array_equal(one.whole, other.whole)
        and np.array_equal(one.passages, other.passages)
    )


def expected(embedder: Embedder, title: str, description: str | None = None) -> ItemVectors | None:
    return embed_items(embedder, [ItemText(title=title, description=description or title)])[0]


async def test_every_item_gets_vectors_and_memory_has_them_as_they_were_computed(
    service: Any, catalog: Any, new_worker: NewWorker
) -> None:
    texts = [f"The pump {number} stops. It rests {number} minutes. Then it starts." for number in range(80)]
    items = [(catalog.requirement if number % 2 else catalog.test_case)(text) for number, text in enumerate(texts)]
    await service.follow()
    embedder = HashingEmbedder()
    await (await new_worker(embedder)).work()
    live = LiveVectors(service.database)
    for item, text in zip(items, texts, strict=True):
        assert same(await vectors_of(service, live, item), expected(embedder, text))
    assert await model_in_use(service) == model_of(embedder)


async def test_a_text_is_computed_once(service: Any, catalog: Any, new_worker: NewWorker) -> None:
    item = catalog.requirement("The door closes")
    await service.follow()
    embedder = HashingEmbedder()
    await (await new_worker(embedder)).work()
    seen = len(embedder.texts)
    catalog.change(item, priority="high", tags=["doors"])
    await service.follow()
    await (await new_worker(embedder)).work()
    assert (seen, len(embedder.texts)) == (1, 1)


async def test_vectors_of_an_old_text_are_none(service: Any, catalog: Any, new_worker: NewWorker) -> None:
    item = catalog.requirement("The door closes")
    await service.follow()
    embedder = HashingEmbedder()
    worker = await new_worker(embedder)
    await worker.work()
    live = LiveVectors(service.database)
    assert await vectors_of(service, live, item) is not None
    catalog.change(item, title="The window opens", description="Slowly")
    await service.follow()
    assert await vectors_of(service, live, item) is None
    await worker.work()
    assert same(await vectors_of(service, live, item), expected(embedder, "The window opens", "Slowly"))


async def test_a_text_that_changes_while_it_is_embedded_is_embedded_again(
    service: Any, catalog: Any, new_worker: NewWorker
) -> None:
    item = catalog.requirement("The door closes")
    await service.follow()
    embedder = HashingEmbedder()
    worker, other = await new_worker(embedder), await new_worker(embedder)
    model = model_of(embedder)
    async with service.database.transaction() as connection:
        claim, _ = await embeddings.look(connection, model, embeddings.START, 10)
    catalog.change(item, title="The window opens", description="Slowly")
    await service.follow()
    await other.work()  # the item is another's: it is passed over
    async with service.database.transaction() as connection:
        assert (
            await embeddings.store(connection, claim, embed_items(embedder, [item.said for item in claim.items])) == []
        )
    await worker.work()
    live = LiveVectors(service.database)
    assert same(await vectors_of(service, live, item), expected(embedder, "The window opens", "Slowly"))


async def test_workers_share_the_items_and_a_dead_ones_are_taken_over(
    service: Any, catalog: Any, new_worker: NewWorker
) -> None:
    for number in range(150):
        catalog.requirement(f"The pump number {number}")
    await service.follow()
    embedders = [HashingEmbedder(), HashingEmbedder()]
    workers = [await new_worker(embedder) for embedder in embedders]
    async with service.database.transaction() as connection:
        claim, _ = await embeddings.look(connection, model_of(embedders[0]), embeddings.START, 40)
    assert len(claim.items) == 40
    await asyncio.gather(*(worker.work() for worker in workers))
    assert sum(len(embedder.texts) for embedder in embedders) == 110
    assert await model_in_use(service) is None
    await service.rows("UPDATE embeddings SET claimed_until = now() - interval '1 second' WHERE whole IS NULL")
    await workers[1].work()
    assert sum(len(embedder.texts) for embedder in embedders) == 150
    assert await model_in_use(service) == model_of(embedders[0])


async def test_vectors_of_deleted_items_are_gone(service: Any, catalog: Any, new_worker: NewWorker) -> None:
    item, other = catalog.requirement("The door closes"), catalog.test_case("The lamp burns")
    await service.follow()
    worker = await new_worker(HashingEmbedder())
    await worker.work()
    live = LiveVectors(service.database)
    await live.refresh()
    catalog.delete(item)
    await service.follow()
    assert await vectors_of(service, live, item) is None
    await worker.work()
    assert await service.rows("SELECT item_id FROM embeddings") == [{"item_id": other}]


async def test_another_model_is_used_once_it_has_read_everything(
    service: Any, catalog: Any, new_worker: NewWorker
) -> None:
    items = [catalog.requirement(f"The pump number {number}") for number in range(50)]
    await service.follow()
    old, new = HashingEmbedder("old"), HashingEmbedder("new", dimensions=64)
    old_worker = await new_worker(old)
    await old_worker.work()
    live = LiveVectors(service.database)
    assert await live.refresh() is not None
    worker = await new_worker(new)
    assert await live.refresh() is None
    assert await worker.loop.embed_next(new)
    assert await live.refresh() is None
    assert await old_worker.loop.embed_next(old) is None
    await worker.work()
    assert same(await vectors_of(service, live, items[0]), expected(new, "The pump number 0"))
    assert await service.rows("SELECT DISTINCT model FROM embeddings") == [{"model": model_of(new)}]


async def test_without_a_model_no_vectors_are_used_and_with_it_again_none_is_computed_twice(
    service: Any, catalog: Any, new_worker: NewWorker
) -> None:
    catalog.requirement("The door closes")
    await service.follow()
    embedder = HashingEmbedder()
    await (await new_worker(embedder)).work()
    await new_worker(None)
    live = LiveVectors(service.database)
    assert await live.refresh() is None
    await (await new_worker(embedder)).work()
    assert await live.refresh() is not None
    assert len(embedder.texts) == 1


async def test_a_model_that_cannot_be_had_leaves_scores_lexical_and_says_why(
    service: Any, catalog: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def load() -> Embedder:
        raise EmbeddingsUnavailable("EMBEDDINGS_MODEL is /nowhere, and there is no such folder.")

    loop = EmbeddingLoop(service.database, load, scales=None, scored=lambda: None)
    assert await loop.begin() is None
    (line,) = [record.getMessage() for record in caplog.records if "Embeddings" in record.getMessage()]
    assert "no such folder" in line
    assert "hybrid scores are lexical" in line
    assert await LiveVectors(service.database).refresh() is None


async def test_a_text_that_the_model_fails_on_does_without(service: Any, catalog: Any, new_worker: NewWorker) -> None:
    bad, good = catalog.requirement("The poison closes"), catalog.requirement("The lamp burns")
    empty = catalog.test_case("...")
    await service.follow()
    embedder = HashingEmbedder()
    embedder.refuses = "poison"
    await (await new_worker(embedder)).work()
    live = LiveVectors(service.database)
    assert await vectors_of(service, live, bad) is None
    assert await vectors_of(service, live, empty) is None
    assert await vectors_of(service, live, good) is not None
    assert await model_in_use(service) is not None


async def test_an_item_is_queued_for_scoring_when_its_vectors_come(
    service: Any, catalog: Any, new_worker: NewWorker
) -> None:
    catalog.requirement("The door closes")
    await service.score()
    worker = await new_worker(HashingEmbedder(), scales=service.scales)
    await worker.work()
    assert await service.rows("SELECT * FROM scoring_queue") == []  # all are scored at once, by the rescore sweep
    catalog.requirement("The hall is dark")
    await service.score()
    await worker.work()
    assert await service.rows("SELECT * FROM scoring_queue") == []  # tfidf has no use for vectors
    await service.generate(algorithm="hybrid")
    item = catalog.requirement("The lamp burns")
    await service.score()
    await worker.work()
    assert await service.rows("SELECT item_id FROM scoring_queue") == [{"item_id": item}]
    assert worker.announced > 0


async def test_a_change_of_what_is_used_moves_the_head(service: Any, catalog: Any, new_worker: NewWorker) -> None:
    async def head() -> int:
        (row,) = await service.rows("SELECT head FROM corpus_head")
        found: int = row["head"]
        return found

    catalog.requirement("The door closes")
    await service.follow()
    heads = [await head()]
    worker = await new_worker(HashingEmbedder())
    await worker.work()
    heads.append(await head())
    await new_worker(None)
    heads.append(await head())
    assert heads == sorted(set(heads))


async def test_the_worker_of_a_process_embeds_by_itself(service: Any, catalog: Any, eventually: Any) -> None:
    embedder = HashingEmbedder()
    loop = EmbeddingLoop(service.database, lambda: embedder, scales=None, scored=lambda: None)
    running = asyncio.create_task(loop.run())
    try:
        item = catalog.requirement("The door closes")
        await service.follow()

        async def there() -> bool:
            return await service.rows("SELECT FROM embeddings WHERE item_id = %s AND whole IS NOT NULL", item) != []

        await eventually(there)
    finally:
        await cancel_and_wait(running)


async def test_those_who_run_it_see_how_many_items_lack_embeddings(
    service: Any, catalog: Any, new_worker: NewWorker
) -> None:
    async def missing() -> float:
        return (await measured(of_embeddings(service.database)))["traceline_embeddings_missing"]

    items = [catalog.requirement(f"The pump number {number}") for number in range(3)]
    await service.follow()
    assert await missing() == 3, "no model was declared yet"
    embedder = HashingEmbedder()
    embedder.refuses = "number 2"
    worker = await new_worker(embedder)
    await worker.work()
    assert await missing() == 0, "one that the model fails on does without"
    catalog.change(items[0], title="The window opens", description="Slowly")
    catalog.delete(items[1])
    await service.follow()
    assert await missing() == 1
    await new_worker(HashingEmbedder("new"))
    assert await missing() == 2
    await new_worker(None)
    assert await missing() == 2
    await service.rows("DROP TABLE embeddings")
    assert await missing() == 2


def test_the_table_can_be_made_later_and_again(postgres: PostgresServer) -> None:
    url = postgres.database("suggestion_service")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE embeddings")
        connection.execute("DROP EXTENSION vector")
    tables.create_tables(url)
    tables.create_tables(url)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM embeddings").fetchone() == (0,)


async def test_without_pgvector_embeddings_are_off_and_what_to_do_is_said(
    service: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await service.rows("DROP TABLE embeddings")
    loop = EmbeddingLoop(service.database, HashingEmbedder, scales=None, scored=lambda: None)
    assert await loop.begin() is None
    assert "python -m suggestion_service.embeddings.tables" in caplog.text
    assert await LiveVectors(service.database).refresh() is None


async def test_a_worker_with_a_wrong_setting_goes_on_without_embeddings(
    serve: Any, catalog: Any, eventually: Any, caplog: pytest.LogCaptureFixture
) -> None:
    service = await serve(
        embeddings_enabled=True, embeddings_model="/nowhere/at/all", auto_suggestions_algorithm="hybrid"
    )
    catalog.requirement("The pump stops when the tank is full")
    catalog.test_case("The pump stops when the tank is full")

    async def reasons() -> list[str]:
        return [record.getMessage() for record in caplog.records if "Embeddings are off" in record.getMessage()]

    async with service.working():
        await eventually(service.suggestions)
        # With the extra it takes seconds to load the libraries that say what is wrong.
        lines = await eventually(reasons)
    assert len(lines) == 1
    assert "\n" not in lines[0]
