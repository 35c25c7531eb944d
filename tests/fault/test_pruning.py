"""Feeds that are pruned lead every copy to what it was: rebuilt, begun anew, and while everything goes on."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg import sql

import catalog_service.handlers
import catalog_service.read_model
import notification_service.handlers
import notification_service.read_model
import suggestion_service.handlers
import suggestion_service.read_model
from acceptance.client import Traceline, ok
from acceptance.faults.databases import SOURCES, query
from acceptance.faults.draining import drained
from acceptance.faults.history import History
from acceptance.faults.invariants import copies
from acceptance.faults.load import Load
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually
from chassis.admin import connections
from chassis.db.database import Database
from chassis.messaging import outbox, rebuild
from chassis.messaging.inbox import Inbox
from chassis.messaging.pruning import Pruner
from contracts.routes import PUBLISHED, consumers_of, ignored_by
from testing import PostgresServer


def _suggestion_handlers() -> Any:
    return suggestion_service.handlers.handlers(scales=None, queued=lambda: None)


@dataclass(frozen=True)
class Copy:
    """A service's copy: its rebuild, its handlers, and the rows of it by table, as far as the feed decides on them."""

    consumer: str
    source: str
    read_model: Any
    handlers: Any
    rows: Mapping[str, str]


COPIES = [
    Copy(
        "catalog",
        "suggestion",
        catalog_service.read_model.new_read_model,
        lambda: catalog_service.handlers.HANDLERS,
        {"pending_pairs": "SELECT requirement_id, test_case_id, pending, sequence FROM pending_pairs ORDER BY 1, 2"},
    ),
    Copy(
        "notification",
        "auth",
        notification_service.read_model.new_read_model,
        lambda: notification_service.handlers.HANDLERS,
        {
            "recipients": "SELECT * FROM recipients ORDER BY user_id",
            "projects": "SELECT key, visibility, sequence, deleted_at FROM projects ORDER BY key",
            "members": "SELECT project_key, user_id, role, sequence FROM members ORDER BY 1, 2",
        },
    ),
    Copy(
        "suggestion",
        "catalog",
        suggestion_service.read_model.new_read_model,
        _suggestion_handlers,
        {
            # Not where a text was found new, which depends on how events came together.
            "items": "SELECT id, side, external_id, title, module, tags, priority, text, terms, sequence FROM items"
            " WHERE NOT deleted ORDER BY id",
            "items, tombstones": "SELECT id, side, sequence FROM items WHERE deleted ORDER BY id",
            "linked_pairs": "SELECT link_id, requirement_id, test_case_id, sequence, deleted FROM linked_pairs"
            " WHERE sequence > 0 ORDER BY link_id",
        },
    ),
]


@pytest.fixture(scope="module")
def running() -> Iterator[RunningTraceline]:
    with fresh_folder() as place, RunningTraceline(place, COVERAGE_REST_SECONDS="0") as server:
        yield server


@pytest.fixture(scope="module")
def admin(running: RunningTraceline) -> Iterator[Traceline]:
    with Traceline(running.base_url) as anyone:
        yield anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


@asynccontextmanager
async def opened(running: RunningTraceline, service: str) -> AsyncIterator[Database]:
    database = Database(running.database_url(f"{service}-service"), pool_size=2)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def prune(running: RunningTraceline) -> dict[str, int]:
    """Prune all feeds as far as consumers have told, as workers do with what is old; return what was removed."""
    removed = {}
    for source in SOURCES:
        async with opened(running, source) as database:
            pruner = Pruner(database, PUBLISHED[source], consumers_of(source))
            removed[source] = 0
            while (some := await pruner.prune_some(datetime.now(UTC) + timedelta(days=1))) is not None:
                removed[source] += some
    return removed


def told(running: RunningTraceline) -> dict[tuple[str, str], int]:
    """How far consumers say that they have received a source."""
    return {
        (source, row["consumer"]): row["position"]
        for source in SOURCES
        for row in query(running, source, "SELECT consumer, position FROM feed_consumers")
    }


def told_by_all(heads: Mapping[str, int]) -> dict[tuple[str, str], int]:
    return {(source, consumer): heads[source] for source in SOURCES for consumer in consumers_of(source)}


def rows_of(running: RunningTraceline, copy: Copy) -> dict[str, list[Any]]:
    return {table: query(running, copy.consumer, rows) for table, rows in copy.rows.items()}


def lose(running: RunningTraceline, copy: Copy) -> None:
    with psycopg.connect(running.database_url(f"{copy.consumer}-service")) as connection:
        for table in copy.rows:
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(table.partition(",")[0])))


async def begun_anew(postgres: PostgresServer, source: Database, copy: Copy) -> dict[str, list[Any]]:
    """Return the rows of a copy that follows from the beginning, as a service does whose database is new."""
    async with postgres.opened(f"{copy.consumer}_service") as database:
        inbox = Inbox(copy.consumer, database, copy.handlers(), ignored_by(copy.consumer))
        position, head = 0, 1
        while position < head:
            page = outbox.read_changes(await outbox.changes(source, position, 100), position)
            await inbox.receive(page.events, after=position, pruned=page.pruned)
            position, head = page.last, page.head
        assert await inbox.position(copy.source) == head
        assert (await inbox.failed()) == {"waiting": 0, "parked": 0}
        found = {}
        async with database.across() as connection:
            for table, rows in copy.rows.items():
                found[table] = await (await connection.execute(rows)).fetchall()
        return found


@pytest.mark.long
async def test_every_copy_comes_out_of_pruned_feeds_as_it_was(
    running: RunningTraceline, admin: Traceline, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    promoted, other = (admin.new_user("viewer").me()["id"] for _ in range(2))
    ok(admin.patch(f"/users/{promoted}", json={"role": "reviewer"}))
    project = admin.new_project()
    for user, role in ((promoted, "viewer"), (other, "viewer"), (promoted, "reviewer")):
        assert admin.put(f"/projects/{project}/members/{user}", json={"role": role}).is_success
    ok(admin.patch(f"/projects/{project}", json={"name": "Another"}))
    with Load(admin, History(), pace=0.0) as load:
        load.acknowledges(300)
    heads = drained(running)
    right = {copy.consumer: rows_of(running, copy) for copy in COPIES}
    assert all(rows for tables in right.values() for rows in tables.values()), "the load makes some of each"

    eventually(lambda: told(running) == told_by_all(heads), "what every consumer has received")
    removed = await prune(running)
    assert all(removed.values()), removed
    for copy in COPIES:
        monkeypatch.setenv("DATABASE_URL", running.database_url(f"{copy.consumer}-service"))
        async with opened(running, copy.source) as source:
            for is_lost in (False, True):
                if is_lost:
                    lose(running, copy)
                async with connections.database() as connection:
                    rebuilt = await rebuild.rebuild(connection, copy.read_model(), partial(outbox.changes, source))
                assert rebuilt.skipped == 0
                assert any(rebuilt.corrected.values()) == is_lost
                assert rows_of(running, copy) == right[copy.consumer]
            assert await begun_anew(postgres, source, copy) == right[copy.consumer]


@pytest.mark.long
async def test_everything_goes_on_over_pruned_feeds(running: RunningTraceline, admin: Traceline) -> None:
    with Load(admin, History(), seed=2, pace=0.0) as load:
        load.acknowledges(50)
        await prune(running)
        load.acknowledges(50)
    drained(running)
    assert list(copies.violations(running)) == []
