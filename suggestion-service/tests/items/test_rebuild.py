"""The copy is rebuilt from catalog's feed while events come and people read."""

import asyncio
import os
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
import uvicorn
from psycopg.rows import dict_row

from chassis.messaging.rebuild import Rebuilt, rebuild
from contracts import catalog as told
from contracts.routes import SUGGESTION
from suggestion_service.engine import Query
from suggestion_service.read_model import new_read_model
from testing.feeds import pruned
from testing.internal import KEYS


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://unused")
    monkeypatch.setenv("INTERNAL_SIGNING_KEY", KEYS[SUGGESTION.name])


async def rebuild_copy(service: Any, read_feed: Callable[[int, int], Any] | None = None) -> Rebuilt:
    async def read(after: int, limit: int) -> bytes:
        response = await service.peer.get("/internal/changes", {"after": after, "limit": limit})
        content: bytes = response.content
        return content

    async with await psycopg.AsyncConnection.connect(
        service.database.url, autocommit=True, row_factory=dict_row, prepare_threshold=None
    ) as connection:
        return await rebuild(connection, new_read_model(), read_feed or read)


async def copy_of(service: Any) -> list[dict[str, Any]]:
    """The copy without what the order of events may change: tombstones' contents, and where a text was found new."""
    rows: list[dict[str, Any]] = await service.rows(
        "SELECT id, side, external_id, title, module, tags, priority, text, terms, sequence FROM items"
        " WHERE NOT deleted ORDER BY id"
    )
    links = await service.rows("SELECT * FROM linked_pairs ORDER BY link_id")
    return [*rows, *links]


async def in_memory(service: Any) -> tuple[set[Any], set[Any]]:
    """What a worker has in memory: its items, and all scores between them."""
    view = await service.corpora.refresh()
    scores = {
        (*pair, score)
        for block in view.scorer.score(Query("tfidf", 0.01))
        for *pair, score in zip(block.requirement_ids, block.test_case_ids, block.scores.tolist(), strict=True)
    }
    return set(view.text_sequences), scores


def a_history(catalog: Any) -> dict[str, Any]:
    made = {
        "wrong": catalog.requirement("The door closes"),
        "missing": catalog.requirement("The lamp burns", tags=["a"]),
        "right": catalog.test_case("Close the door", steps={"1": "push"}),
        "gone": catalog.test_case("Paint the door"),
    }
    catalog.link(made["wrong"], made["right"])
    catalog.unlink(catalog.link(made["missing"], made["gone"]))
    catalog.change(made["wrong"], title="The door closes slowly")
    catalog.change(made["missing"], status="approved", external_id="REQ-2")
    catalog.delete(made["gone"])
    return made


_INVENT = """
INSERT INTO items (id, side, title, tags, priority, text, terms, text_sequence, sequence, change, deleted)
SELECT %s, side, 'Phantom', tags, priority, text, terms, 1, 1, change, false FROM items WHERE id = %s
"""


async def spoil(service: Any, made: dict[str, Any]) -> uuid.UUID:
    """Make rows wrong, missing and invented; return the id of the invented item."""
    phantom = uuid.uuid4()
    await service.rows("UPDATE items SET title = 'Wrong', terms = '{\"wrong\": 1}' WHERE id = %s", made["wrong"])
    await service.rows("DELETE FROM items WHERE id = %s", made["missing"])
    await service.rows(
        _INVENT,
        phantom,
        made["right"],
    )
    await service.rows(
        "WITH moved AS (UPDATE corpus_head SET head = head + 1 RETURNING head)"
        " UPDATE items SET deleted = false, change = moved.head FROM moved WHERE id = %s",
        made["gone"],
    )
    await service.rows("DELETE FROM linked_pairs WHERE requirement_id = %s", made["wrong"])
    await service.rows(
        "INSERT INTO linked_pairs (link_id, requirement_id, test_case_id, sequence, deleted)"
        " VALUES (%s, %s, %s, 2, false)",
        uuid.uuid4(),
        made["missing"],
        made["right"],
    )
    return phantom


async def test_items_of_imports_are_rebuilt_and_scored_like_others(serve: Any, catalog: Any) -> None:
    service = await serve()
    with catalog.importing():
        imported = catalog.requirement("The door closes")
        right = catalog.test_case("Close the door", steps={"1": "push"})
    await service.score()
    before = await service.rows("SELECT status FROM runs")
    await service.rows("UPDATE items SET text = '{}', terms = '{}' WHERE id = %s", imported)
    rebuilt = await rebuild_copy(service)
    assert rebuilt.corrected["items"] == 1
    assert await service.rows("SELECT item_id FROM scoring_queue") == [{"item_id": imported}]
    assert await service.rows("SELECT status FROM runs") == before
    assert await service.rows("SELECT FROM import_items") == []
    assert {row["id"] for row in await copy_of(service)} == {imported, right}


async def test_wrong_missing_and_invented_rows_are_put_right_as_in_a_fresh_copy(serve: Any, catalog: Any) -> None:
    made = a_history(catalog)
    service, fresh = await serve(), await serve()
    await service.score()
    await fresh.score()
    await spoil(service, made)
    await in_memory(service)

    rebuilt = await rebuild_copy(service)

    assert rebuilt.corrected == {"items": 4, "linked_pairs": 2, "suggestions": 0}
    assert (rebuilt.reach.position, rebuilt.reach.head, rebuilt.skipped) == (len(catalog.feed), len(catalog.feed), 0)
    assert await copy_of(service) == await copy_of(fresh)
    # The worker that had the wrong rows in memory follows, and so does one that starts.
    followed = await in_memory(service)
    assert followed == await in_memory(fresh)
    service.start()
    assert followed == await in_memory(service)


async def test_a_copy_that_is_right_is_left_alone(service: Any, catalog: Any) -> None:
    a_history(catalog)
    await service.score()
    await service.pair()
    before = [await service.rows(f"TABLE {table} ORDER BY 1") for table in _ALL]

    rebuilt = await rebuild_copy(service)

    assert set(rebuilt.corrected.values()) == {0}
    assert [await service.rows(f"TABLE {table} ORDER BY 1") for table in _ALL] == before


_ALL = ("items", "corpus_head", "linked_pairs", "scoring_queue", "suggestions", "outbox", "inbox", "inbox_positions")


async def test_everything_comes_back_from_an_empty_copy(serve: Any, catalog: Any) -> None:
    a_history(catalog)
    service, fresh = await serve(), await serve()
    await service.score()
    await fresh.score()
    await service.rows("TRUNCATE items, linked_pairs")
    await rebuild_copy(service)
    assert await copy_of(service) == await copy_of(fresh)


async def test_a_pruned_feed_gives_the_copy_rebuilt_and_begun_anew(serve: Any, catalog: Any) -> None:
    made = a_history(catalog)
    link = catalog.link(made["wrong"], made["right"])
    catalog.tell(told.LinkUpdated(link=told.LinkState(**link), changes={}), link["id"])
    with catalog.importing():
        catalog.change(made["right"], priority="low")
    catalog.change(made["missing"], module="Doors")
    catalog.change(made["right"], steps={"1": "pull"})
    service = await serve()
    await service.score()
    right = await copy_of(service)
    whole, catalog.feed = catalog.feed, pruned(catalog.feed, told.EVENTS)
    assert len(catalog.feed) == len(whole) - 4
    assert set((await rebuild_copy(service)).corrected.values()) == {0}
    await service.rows("TRUNCATE items, linked_pairs")
    await rebuild_copy(service)
    assert await copy_of(service) == right
    fresh = await serve()
    await fresh.score()
    assert await copy_of(fresh) == right
    assert await fresh.rows("SELECT FROM import_items") == [], "the end of the import was told"


async def test_only_an_item_whose_text_was_wrong_is_scored_again(service: Any, catalog: Any) -> None:
    suggestion = await service.pair()
    await service.pair("the lamp burns at night")
    item = uuid.UUID(suggestion["requirement_id"])
    await service.rows("UPDATE items SET text = '{\"title\": \"nonsense\"}', terms = '{}' WHERE id = %s", item)

    await rebuild_copy(service)

    assert [row["item_id"] for row in await service.rows("SELECT item_id FROM scoring_queue")] == [item]
    await service.score()
    assert len(await service.suggestions()) == 2


async def test_a_rejected_pair_is_not_suggested_again(service: Any, catalog: Any) -> None:
    suggestion = await service.pair()
    # One by one: applied together, these events find the new text at the place of the last of them.
    item = uuid.UUID(suggestion["requirement_id"])
    catalog.change(item, description="The pump stops when the tank is full, and then it waits")
    await service.score()
    catalog.change(item, status="approved")
    await service.score()
    await service.post(f"/suggestions/{suggestion['id']}/reject", {"feedback": "No."})
    await service.rows("UPDATE items SET external_id = 'WRONG'")

    assert (await rebuild_copy(service)).corrected["items"] == 2
    assert await service.rows("SELECT * FROM scoring_queue") == []
    await service.generate()
    assert [found["status"] for found in await service.suggestions()] == ["rejected"]


async def test_suggestions_of_items_that_do_not_exist_go(service: Any, catalog: Any) -> None:
    kept = await service.pair()
    phantom = uuid.uuid4()
    await service.rows(_INVENT, phantom, uuid.UUID(kept["requirement_id"]))
    await service.rows(
        "INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method, status,"
        " created_at, requirement_text_sequence, test_case_text_sequence) SELECT gen_random_uuid(), %s, test_case_id,"
        " similarity_score, suggestion_method, status, created_at, requirement_text_sequence, test_case_text_sequence"
        " FROM suggestions",
        phantom,
    )
    assert len(await service.suggestions()) == 2

    assert (await rebuild_copy(service)).corrected["suggestions"] == 1
    assert [found["id"] for found in await service.suggestions()] == [kept["id"]]
    assert phantom not in (await in_memory(service))[0]


async def test_events_that_come_while_the_copy_is_rebuilt_wait_and_are_applied_once(
    serve: Any, catalog: Any, eventually: Any
) -> None:
    made = a_history(catalog)
    service, fresh = await serve(), await serve()
    await service.score()
    await spoil(service, made)
    locked, go_on = asyncio.Event(), asyncio.Event()

    async def slow_read(after: int, limit: int) -> bytes:
        response = await service.peer.get("/internal/changes", {"after": after, "limit": limit})
        if after == seen:
            locked.set()
            await go_on.wait()
        content: bytes = response.content
        return content

    seen = len(catalog.feed)
    rebuilding = asyncio.create_task(rebuild_copy(service, slow_read))
    async with asyncio.timeout(120):
        await locked.wait()
    catalog.requirement("The bell rings")
    catalog.change(made["right"], steps={"1": "pull"})
    receiving = asyncio.create_task(service.inbox.receive(catalog.feed))
    await eventually(lambda: service.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
    assert [row["title"] for row in await service.rows("SELECT title FROM items WHERE title = 'Wrong'")] == ["Wrong"]
    go_on.set()
    async with asyncio.timeout(120):
        await asyncio.gather(rebuilding, receiving)

    await fresh.inbox.receive(catalog.feed)
    assert await copy_of(service) == await copy_of(fresh)
    assert await service.inbox.position("catalog") == len(catalog.feed)
    queued = await service.rows("SELECT item_id FROM scoring_queue")
    assert {row["item_id"] for row in queued} >= {made["right"]}


async def test_events_that_were_not_received_yet_are_left_to_come_with_all_their_effects(
    service: Any, catalog: Any
) -> None:
    pending = await service.pair()
    requirement_id, test_case_id = (uuid.UUID(pending[name]) for name in ("requirement_id", "test_case_id"))
    late = catalog.requirement("the pump stops when the tank is full")
    catalog.link(requirement_id, test_case_id)
    early = catalog.test_case("the pump stops when the tank is full")
    catalog.change(test_case_id, module="tanks")
    await service.inbox.receive(catalog.feed[-2:])

    rebuilt = await rebuild_copy(service)

    assert (rebuilt.reach.position, rebuilt.reach.head) == (2, 6)
    assert await service.rows("SELECT id FROM items WHERE id = %s", early) == [{"id": early}]
    assert await service.rows("SELECT module FROM items WHERE id = %s", test_case_id) == [{"module": "tanks"}]
    assert await service.rows("SELECT id FROM items WHERE id = %s", late) == []
    await service.score()
    (expired,) = await service.suggestions(status="expired")
    assert expired["id"] == pending["id"]
    pairs = {(found["requirement_id"], found["test_case_id"]) for found in await service.suggestions(status="pending")}
    assert (str(late), str(early)) in pairs


async def test_a_copy_whose_positions_were_lost_loses_no_item(service: Any, catalog: Any) -> None:
    a_history(catalog)
    await service.score()
    before = await copy_of(service)
    await service.rows("TRUNCATE inbox, inbox_positions")
    await rebuild_copy(service)
    assert await copy_of(service) == before


async def test_an_event_that_cannot_be_applied_is_told_and_holds_up_nothing(service: Any, catalog: Any) -> None:
    catalog.requirement("The door closes")
    catalog.feed.append(catalog.feed[0].replace(b'"sequence":1,', b'"sequence":2,').replace(b'"title"', b'"titel"'))
    catalog.requirement("The lamp burns")
    await service.follow()
    await service.rows("TRUNCATE items")
    assert (await rebuild_copy(service)).skipped == 1
    assert len(await service.rows("SELECT FROM items")) == 2


async def test_when_catalog_stops_answering_the_copy_stays_as_it_was(service: Any, catalog: Any) -> None:
    made = a_history(catalog)
    await service.score()
    await spoil(service, made)
    before = await copy_of(service)

    async def fail(after: int, limit: int) -> bytes:
        if after:
            raise ConnectionError("away")
        response = await service.peer.get("/internal/changes", {"after": after, "limit": limit})
        content: bytes = response.content
        return content

    with pytest.raises(ConnectionError):
        await rebuild_copy(service, fail)
    assert await copy_of(service) == before


@asynccontextmanager
async def served(app: Any, eventually: Any) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off"))
    running = asyncio.create_task(server.serve())

    async def started() -> bool:
        return server.started

    await eventually(started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running


async def test_the_operator_rebuilds_the_copy_with_one_command(serve: Any, catalog: Any, eventually: Any) -> None:
    made = a_history(catalog)
    for number in range(600):
        catalog.requirement(f"The door number {number} closes")
    service, fresh = await serve(), await serve()
    await service.follow()
    await fresh.follow()
    await spoil(service, made)

    async with served(catalog.app, eventually) as url:
        running = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "chassis.admin", "rebuild", "suggestion_service"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "DATABASE_URL": service.database.url, "CATALOG_URL": url},
        )
        async with asyncio.timeout(120):
            output, errors = await running.communicate()

    assert running.returncode == 0, errors.decode()
    assert output.decode() == (
        f"Rebuilt the copy of catalog as of event {len(catalog.feed)} of {len(catalog.feed)}."
        " Rows put right: 4 of items, 2 of linked_pairs, 0 of suggestions.\n"
    )
    assert await copy_of(service) == await copy_of(fresh)
