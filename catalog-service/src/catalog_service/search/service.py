"""Search with snippets that are safe to put into a page."""

import asyncio
from collections.abc import Sequence

from catalog_service.search import repository, spelling
from catalog_service.search.query import SearchQuery, parse_query
from catalog_service.search.repository import Hit
from catalog_service.search.snippet import Snippets
from chassis.db.database import Database
from chassis.web.listing import Fetched, PageRequest, Row

_TEXTS = ("title", "tags", "description", "steps", "preconditions", "postconditions", "test_data")
_SHOWN = ("external_id", "title", "module", "status")
_LONG = 100_000
"""To look through texts of so many characters takes longer than others should wait."""


async def search(
    database: Database, text: str, kinds: Sequence[str], wanted: PageRequest
) -> tuple[Fetched, str | None]:
    """Search items of `kinds` (`requirement`, `test_case`); see repository.search for the order.

    Return a page of what was found, and what may have been meant by words that are nowhere.
    """
    async with database.connection() as connection:
        query = await parse_query(connection, text)
        found = await repository.search(connection, query, kinds, wanted)
        if found.total == 0:
            return found, await spelling.did_you_mean(connection, query, kinds)
        texts = await repository.texts(connection, found.rows)
    shown = [(hit, texts[hit.id]) for hit in found.rows if hit.id in texts]
    if sum(len(row[name] or "") for _, row in shown for name in _TEXTS) > _LONG:
        items = await asyncio.to_thread(_items, query, shown)
    else:
        items = _items(query, shown)
    return found._replace(rows=items), None


def _items(query: SearchQuery, shown: list[tuple[Hit, Row]]) -> list[Row]:
    snippets = Snippets(query)
    return [
        {
            "type": hit.type,
            "id": hit.id,
            **{name: row[name] for name in _SHOWN},
            "score": hit.score,
            "snippet": snippets.of(row["external_id"], [row[name] for name in _TEXTS]),
        }
        for hit, row in shown
    ]
