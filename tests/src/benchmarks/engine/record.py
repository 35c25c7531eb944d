"""Fills databases with items beside the API, which takes them one at a time only.

Each item is made, stored and copied by the services' own functions. Only its event is left out: items are there as if
they had been before the feed began, so that no notification is sent of a hundred thousand of them.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any

from psycopg.types.json import Json

from acceptance.program import ADMIN_EMAIL
from benchmarks.engine.texts import Item, Items
from catalog_service.fields.definitions import NONE
from catalog_service.items import service
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.items.schemas import ItemWrite
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite
from chassis.core import projects
from chassis.db.database import Database
from chassis.messaging.events import Actor, NewEvent, Received
from chassis.messaging.inbox import Handler
from chassis.messaging.payloads import Payload
from suggestion_service.engine import Side
from suggestion_service.handlers import handlers

_AT_ONCE = 1000
_AUTHOR = Actor(1, ADMIN_EMAIL)
_BEFORE_THE_FEED = 0
_KINDS: dict[Side, tuple[ItemKind, type[ItemWrite]]] = {
    "requirement": (REQUIREMENT, RequirementWrite),
    "test_case": (TEST_CASE, TestCaseWrite),
}
HANDLERS = handlers(scales=None, queued=lambda: None)
"""What suggestion-service does with events, without scoring anything."""

Row = dict[str, Any]


async def fill(items: Items, *, suggestion_url: str, catalog_url: str | None = None) -> None:
    """Put items into suggestion-service's copy of the catalog, and into the catalog where one is given."""
    async with opened(suggestion_url) as suggestion:
        if catalog_url is None:
            for _, page in _pages(items):
                await _copy(suggestion, page)
        else:
            async with opened(catalog_url) as catalog:
                for kind, page in _pages(items):
                    rows = [row for row, _ in page]
                    await asyncio.gather(_copy(suggestion, page), store(catalog, kind.table, kind.columns, rows))
                await _analyse(catalog)
        await _analyse(suggestion)


def _pages(items: Items) -> Iterator[tuple[ItemKind, list[tuple[Row, NewEvent]]]]:
    for side, (kind, body) in _KINDS.items():
        created = (service.new(kind, body(**_said(item)).model_dump(), _AUTHOR, NONE) for item in items[side])
        while page := list(islice(created, _AT_ONCE)):
            yield kind, page


def _said(item: Item) -> Row:
    text = item.text
    return {
        "title": text.title,
        "description": text.description,
        "module": text.module,
        "tags": list(text.tags),
        "priority": item.priority,
        "type": "functional",
    }


async def store(catalog: Database, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Put rows into a table of the catalog, in one transaction."""
    names = ", ".join(columns)
    async with catalog.transaction() as connection:
        await connection.execute(
            f"INSERT INTO {table} ({names}) SELECT {names} FROM json_populate_recordset(NULL::{table}, %s)",
            (Json(rows),),
        )


async def _copy(suggestion: Database, page: list[tuple[Row, NewEvent]]) -> None:
    await apply(suggestion, HANDLERS, [event for _, event in page])


async def apply(copy: Database, handlers: Mapping[type[Payload], Handler], events: Sequence[NewEvent]) -> None:
    """Have a service take events of one type, as of before the feed, in one transaction."""
    async with copy.transaction() as connection:
        await handlers[type(events[0].data)](
            connection,
            [
                Received(event.id, "catalog", _BEFORE_THE_FEED, event.time, event.actor, "", event.data)
                for event in events
            ],
        )


async def _analyse(database: Database) -> None:
    """Tell the planner of the rows, as the server does by itself a minute later."""
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL ROLE NONE")
        await connection.execute("ANALYZE")


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """The database of a service."""
    database = Database(url, project=projects.MAIN)
    await database.open()
    try:
        yield database
    finally:
        await database.close()
