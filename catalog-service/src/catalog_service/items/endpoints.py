"""What the routes of requirements and test cases do; each kind declares its own for the documentation."""

from collections.abc import Callable
from uuid import UUID

from fastapi import Request, Response

from catalog_service.items import repository, service
from catalog_service.items.creations import ItemCreations
from catalog_service.items.external_ids import naming_who_has_it
from catalog_service.items.filters import ItemFilters, with_coverage
from catalog_service.items.kind import ItemKind
from catalog_service.items.reads import ItemReads
from catalog_service.items.schemas import ItemPatch, ItemWrite
from catalog_service.items.source_urls import SourceUrls
from chassis.core.identity import Identity
from chassis.db.database import Connection, Database
from chassis.messaging.events import actor_of
from chassis.web.idempotency import answer_once
from chassis.web.listing import Row, page
from chassis.web.responses import check_precondition, created, item


async def create(kind: ItemKind, request: Request, database: Database, caller: Identity, body: ItemWrite) -> Response:
    """Create an item."""
    _check_source_url(request, body)
    row, event = service.new(kind, body.model_dump(), actor_of(caller))
    answer = created(request, row, f"{kind.path}/{row['id']}")

    async def store(connection: Connection) -> Response:
        await repository.insert(connection, kind, row, event)
        return answer

    async with naming_who_has_it(kind, database, body.external_id):
        if "idempotency-key" in request.headers:
            return await answer_once(request, database, caller, store)
        creations: ItemCreations = request.app.state.item_creations[kind.name]
        await creations.store(row, event)
    return answer


async def read(kind: ItemKind, request: Request, item_id: UUID, expand: str | None) -> Response:
    """Answer one item."""
    reads = _reads(kind, request)
    wanted = reads.item_with_coverage if with_coverage(expand) else reads.item
    return item(request, await wanted(item_id))


async def find(kind: ItemKind, request: Request, filters: ItemFilters) -> Response:
    """Answer a list of items."""
    rows, total = await _reads(kind, request).page(filters)
    return page(request, rows, total, filters.skip, filters.limit)


def _reads(kind: ItemKind, request: Request) -> ItemReads:
    reads: ItemReads = request.app.state.item_reads[kind.name]
    return reads


async def replace(
    kind: ItemKind, request: Request, database: Database, caller: Identity, item_id: UUID, body: ItemWrite
) -> Response:
    """Replace an item."""
    _check_source_url(request, body)
    async with naming_who_has_it(kind, database, body.external_id):
        return await _change(
            kind, request, database, caller, item_id, lambda now: service.replacement(now, body.model_dump())
        )


async def patch(
    kind: ItemKind, request: Request, database: Database, caller: Identity, item_id: UUID, body: ItemPatch
) -> Response:
    """Apply a merge patch to an item."""
    _check_source_url(request, body)
    named = body.model_dump(exclude_unset=True)
    async with naming_who_has_it(kind, database, body.external_id):
        return await _change(kind, request, database, caller, item_id, lambda now: service.patched(kind, now, named))


def _check_source_url(request: Request, body: ItemWrite | ItemPatch) -> None:
    source_urls: SourceUrls = request.app.state.source_urls
    source_urls.check(body.source_url)


async def _change(
    kind: ItemKind,
    request: Request,
    database: Database,
    caller: Identity,
    item_id: UUID,
    wanted: Callable[[Row], Row],
) -> Response:
    async with database.transaction() as connection:
        current = await service.lock(connection, kind, item_id)
        check_precondition(request, current)
        row = await service.update(connection, kind, current, wanted(current), actor_of(caller))
    return item(request, row)


async def delete(kind: ItemKind, request: Request, database: Database, caller: Identity, item_id: UUID) -> Response:
    """Delete an item and its links."""
    async with database.transaction() as connection:
        current = await service.lock_to_delete(connection, kind, item_id)
        check_precondition(request, current)
        await service.delete(connection, kind, current, actor_of(caller))
    return Response(status_code=204)
