"""The routes of a kind of item, written once: each kind gives the types of its bodies and answers."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel

from catalog_service.bulk.schemas import BulkAnswer, bulk_change_of
from catalog_service.bulk.service import answer_many
from catalog_service.fields.definitions import NONE, PREFIX
from catalog_service.items.external_ids import ExternalId, check_external_id
from catalog_service.items.filters import OF_ONE, RELATIONS, ItemFilters, expand_of_one
from catalog_service.items.kinds import ItemKind
from catalog_service.items.schemas import ItemPatch, ItemsBulkChange, ItemWrite
from catalog_service.items.service import ItemService
from chassis.db.database import Connection, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Reviewer, Viewer
from chassis.web.facets import Facet, FacetCounts, documented_facets, read_facets
from chassis.web.idempotency import answer_once
from chassis.web.listing import Row, documented, page, read_query
from chassis.web.parameters import parse_expand
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, check_precondition, created, item
from chassis.web.strict_route import StrictRoute

F = TypeVar("F", bound=Callable[..., Any])


def item_routes(
    kind: ItemKind,
    *,
    written: type[ItemWrite],
    patched: type[ItemPatch],
    answered: type[BaseModel],
    expanded: type[BaseModel],
    listed: type[BaseModel],
    query: type[ItemFilters],
    facets: Sequence[Facet],
) -> APIRouter:
    """Return the routes of a kind.

    Args: the bodies `written` (POST and PUT) and `patched`; the answers: an item as `answered`, `expanded`, and a page
    of items as `listed`; the `query` of the list, and its `facets`.
    """
    router = APIRouter(prefix=kind.path, route_class=StrictRoute, tags=[f"{kind.label.capitalize()}s"])
    a, name, by_external_id, by_id = kind.label, kind.name, "/by-external-id/{external_id:text}", f"/{{{kind.name}_id}}"
    many = bulk_change_of(ItemsBulkChange, f"{answered.__name__}sChange", query, patched, {"priority": "high"})
    id_in_path = Path(alias=f"{name}_id")
    not_found, taken = f"404 {name}_not_found", "409 external_id_taken"

    def answered_with(request: Request, row: Row) -> Response:
        return item(request, row, tag=kind.etag(row))

    def check_of(request: Request) -> Callable[[Row], None]:
        return lambda row: check_precondition(request, row, kind.etag(row))

    def items_of(request: Request) -> ItemService:
        items: ItemService = request.app.state.items[name]
        return items

    @router.post(
        "",
        name=f"create_{name}",
        status_code=201,
        response_model=answered,
        responses=problem_responses(taken),
        summary=f"Create a {a}",
    )
    @with_body(written)
    async def create(
        request: Request,
        body: ItemWrite,
        reviewer: Reviewer,
        database: Db,
    ) -> Response:
        """Suggestions for it are looked for in the background."""
        items, actor = items_of(request), actor_of(reviewer)

        async def create_within(connection: Connection) -> Response:
            return _created(kind, request, await items.create_within(connection, body, actor))

        if "idempotency-key" not in request.headers:
            return _created(kind, request, await items.create(body, actor))
        async with items.naming_holder(body.external_id):
            return await answer_once(request, database, reviewer, create_within)

    @router.get(
        "",
        name=f"list_{kind.table}",
        response_model=listed,
        responses=problem_responses(422, "422 page_too_large"),
        summary=f"List {a}s, the newest first",
        openapi_extra=documented(query),
    )
    async def find(request: Request, viewer: Viewer) -> Response:
        """Return one page of those that all the filters find; what is left out does not narrow."""
        filters = read_query(request, query)
        items = items_of(request)
        wanted = filters.wanted(request, name, await items.fields() if filters.sorts_by_field else NONE)
        return page(request, wanted, await items.find_page(filters, wanted))

    @router.get(
        "/facets",
        name=f"count_{kind.table}",
        response_model=FacetCounts,
        summary=f"Count {a}s by the values of their fields",
        openapi_extra=documented_facets(query, facets),
    )
    async def count(request: Request, viewer: Viewer) -> Response:
        """Under the filters of the list; the counts of a facet leave out its own filter.

        Fields of the project are counted where `facets` names them: `field.KEY`.
        """
        items, asked = items_of(request), request.query_params.get("facets")
        all_facets = [*facets, *(await items.facets())] if asked is not None and PREFIX in asked else facets
        wanted = facets if asked is None else read_facets(asked, all_facets)
        return answer(await items.count_facets(read_query(request, query), wanted))

    @router.post(
        "/bulk",
        name=f"change_{kind.table}",
        response_model=BulkAnswer[answered],  # type: ignore[valid-type]
        responses=problem_responses("409 count_changed"),
        summary=f"Change or delete many {a}s",
    )
    @with_body(many)
    async def change_many(request: Request, body: ItemsBulkChange, reviewer: Reviewer, database: Db) -> Response:
        """Change each by itself, as PATCH and DELETE do: one that cannot be changed holds up no other.

        With a filter, exactly the `expected_count` that were counted before are changed, or none (409 `count_changed`).
        Without that number, or with `dry_run`, nothing is changed: the answer is how many there are, and the first.
        Many are changed in parts; where the time of one request is over, `remaining` says how many are left.
        """
        return await answer_many(request, database, reviewer, request.app.state.many_items[name], body)

    @router.get(
        by_external_id,
        name=f"read_{name}_by_external_id",
        response_model=answered,
        responses=problem_responses(not_found),
        summary=f"Read the {a} that has an external id",
    )
    async def read_by_external_id(request: Request, external_id: ExternalId, viewer: Viewer) -> Response:
        """As by its id, and with the same ETag. Slashes in the external_id may be written as they are."""
        check_external_id(request, external_id)
        return answered_with(request, await items_of(request).get_by_external_id(external_id))

    @router.put(
        by_external_id,
        name=f"put_{name}_by_external_id",
        response_model=answered,
        responses={201: {"model": answered, "description": "Created"}, **problem_responses(taken, 412)},
        summary=f"Create or replace the {a} that has an external id",
    )
    @with_body(written)
    async def put_by_external_id(
        request: Request,
        external_id: ExternalId,
        body: ItemWrite,
        reviewer: Reviewer,
    ) -> Response:
        """The same call as often as you like: 201 when it created, 200 when it replaced what there was.

        `external_id` may be left out of the body. With `If-None-Match: *` it only creates, with `If-Match` it only
        replaces what was read.
        """
        check_external_id(request, external_id)
        check, may_create = check_of(request), "if-match" not in request.headers
        row, is_new = await items_of(request).put(external_id, body, actor_of(reviewer), check, may_create=may_create)
        return _created(kind, request, row) if is_new else answered_with(request, row)

    @router.get(
        by_id,
        name=f"read_{name}",
        response_model=expanded,
        responses=problem_responses(not_found),
        summary=f"Read a {a}",
    )
    @with_types(expand=expand_of_one(query.expandable))
    async def read(
        request: Request, item_id: Annotated[UUID, id_in_path], viewer: Viewer, expand: str | None = None
    ) -> Response:
        """With `expand`, the ETag is that of the longer answer: for `If-Match`, read without."""
        items = items_of(request)
        asked = parse_expand(expand, (*query.expandable, *OF_ONE))
        if asked & frozenset(OF_ONE):
            row = await request.app.state.details(kind, item_id, asked)
            if RELATIONS in asked:
                rolled = await items.get_expanded(item_id, {RELATIONS})
                row |= {name: value for name, value in rolled.items() if name.startswith("rolled")}
            return item(request, row)
        if asked:
            return item(request, await items.get_expanded(item_id, asked))
        return answered_with(request, await items.get(item_id))

    @router.put(
        by_id,
        name=f"replace_{name}",
        response_model=answered,
        responses=problem_responses(not_found, taken, 412),
        summary=f"Replace a {a}",
    )
    @with_body(written)
    async def replace(
        request: Request,
        item_id: Annotated[UUID, id_in_path],
        body: ItemWrite,
        reviewer: Reviewer,
    ) -> Response:
        """What is not sent falls back to its default; `created_by` stays unless it is sent."""
        replaced = await items_of(request).replace(item_id, body, actor_of(reviewer), check_of(request))
        return answered_with(request, replaced)

    @router.patch(
        by_id,
        name=f"update_{name}",
        response_model=answered,
        responses=problem_responses(not_found, taken, 412),
        summary=f"Change fields of a {a}",
    )
    @with_body(patched)
    async def patch(
        request: Request,
        item_id: Annotated[UUID, id_in_path],
        body: ItemPatch,
        reviewer: Reviewer,
    ) -> Response:
        """A JSON merge patch (RFC 7396): null removes, objects are merged, an unknown field is refused."""
        return answered_with(
            request, await items_of(request).patch(item_id, body, actor_of(reviewer), check_of(request))
        )

    @router.delete(
        by_id,
        name=f"delete_{name}",
        status_code=204,
        response_class=Response,
        responses=problem_responses(not_found, 412),
        summary=f"Delete a {a} with its links and suggestions",
    )
    async def delete(request: Request, item_id: Annotated[UUID, id_in_path], reviewer: Reviewer) -> Response:
        """It stays in the history and in the audit log; its external_id can be given to another."""
        await items_of(request).delete(item_id, actor_of(reviewer), check_of(request))
        return Response(status_code=204)

    return router


def with_body(model: type[BaseModel]) -> Callable[[F], F]:
    """Have FastAPI read the argument `body` of a route as `model`, which is known only when the route is made."""
    return with_types(body=model)


def with_types(**types: Any) -> Callable[[F], F]:
    """The same for arguments of any names."""

    def annotate(route: F) -> F:
        route.__annotations__.update(types)
        return route

    return annotate


def _created(kind: ItemKind, request: Request, row: Row) -> Response:
    return created(request, row, f"{kind.path}/{row['id']}", kind.etag(row))
