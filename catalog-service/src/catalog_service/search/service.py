"""Search with snippets that are safe to put into a page."""

from html import escape
from typing import Any

from catalog_service.search import repository
from catalog_service.search.repository import HIT_BEGINS, HIT_ENDS
from chassis.database import Connection


async def search(
    connection: Connection, text: str, kinds: tuple[str, ...], skip: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """Give (items of a page, total); kinds: `requirement`, `test_case`. See repository.search for the order."""
    rows, total = await repository.search(connection, text, kinds, skip, limit)
    for row in rows:
        row["snippet"] = snippet(row.pop("excerpt"))
    return rows, total


def snippet(excerpt: str) -> str:
    """Give the excerpt as HTML: hits in `<mark>`, everything else escaped."""
    return escape(excerpt).replace(HIT_BEGINS, "<mark>").replace(HIT_ENDS, "</mark>")
