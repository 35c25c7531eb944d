"""Reads of items."""

from collections.abc import Mapping
from uuid import UUID

import orjson

from catalog_service.items import repository
from catalog_service.items.filters import ItemFilters
from catalog_service.items.kind import ItemKind
from catalog_service.listing import fetch_page_as_json, fetch_rows_as_json
from catalog_service.search.query import understand
from catalog_service.search.repository import FOUND, parameters, search
from chassis.db.coalescing import Coalesced
from chassis.db.database import Database
from chassis.web.listing import Row


class ItemReads:
    """Reads of one kind of item; each sees everything that was committed before it was asked for."""

    def __init__(self, kind: ItemKind, database: Database) -> None:
        self._kind = kind
        self._database = database
        self._items: Coalesced[UUID, Row] = Coalesced(self._load)

    async def item(self, item_id: UUID) -> Row:
        """Return an item as it is answered; raises NotFound."""
        row = await self._items.get(item_id)
        if row is None:
            raise self._kind.not_found()
        return row

    async def item_with_coverage(self, item_id: UUID) -> Row:
        """Return an item with its `coverage`; raises NotFound."""
        async with self._database.connection() as connection:
            row = await repository.find_with_coverage(connection, self._kind, item_id)
        if row is None:
            raise self._kind.not_found()
        return row

    async def page(self, filters: ItemFilters) -> tuple[orjson.Fragment, int]:
        """Return one page of items, as JSON, and the total; raises Invalid for unknown values."""
        conditions, order = filters.conditions(self._kind), filters.order()
        more = repository.coverage_column(self._kind) if filters.with_coverage else ""
        columns, table, skip, limit = self._kind.columns, self._kind.table, filters.skip, filters.limit
        async with self._database.connection() as connection:
            if filters.searched:
                query = await understand(connection, filters.searched)
                if order is None:
                    kinds, best_first = (self._kind.name,), filters.best_first
                    hits, total = await search(connection, query, kinds, skip, limit, conditions, best_first=best_first)
                    ids = [hit.id for hit in hits]
                    return await fetch_rows_as_json(connection, columns, table, ids, more), total
                conditions.add(FOUND, **parameters(query))
            assert order is not None, "there is always one unless it is by relevance"
            return await fetch_page_as_json(connection, columns, table, conditions, order, skip, limit, more)

    async def _load(self, ids: list[UUID]) -> Mapping[UUID, Row]:
        async with self._database.connection() as connection:
            return await repository.find_all(connection, self._kind, ids)
