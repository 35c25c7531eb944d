"""The routes of links, and of the items on their other side."""

from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from catalog_service.bulk.schemas import BulkAnswer, BulkChange, bulk_change_of
from catalog_service.bulk.service import answer_many
from catalog_service.items import suspicion
from catalog_service.items.endpoints import with_body
from catalog_service.items.ends import check_named
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.links import service, undoing
from catalog_service.links.bulk import MANY_LINKS
from catalog_service.links.repository import LinkRow
from catalog_service.links.schemas import (
    AcceptedSuggestions,
    ExpandedLink,
    Link,
    LinkCreate,
    LinkedRequirement,
    LinkedTestCase,
    LinkPatch,
    ListedLink,
    UndoneReviews,
)
from catalog_service.values import LinkSource, LinkType
from chassis.core.problems import Conflict, Problem
from chassis.db.database import Connection, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Reviewer, ServiceCaller, Viewer
from chassis.web.conditions import Conditions
from chassis.web.idempotency import answer_once
from chassis.web.keyset import By, Order
from chassis.web.listing import Ids, Page, PageQuery, Row, documented, page, read_query
from chassis.web.parameters import (
    ALTERNATIVES,
    Sort,
    alternatives,
    parse_choice,
    parse_expand,
    parse_ids,
    parse_moment,
    parse_own_ids,
    parse_sort,
    sorts,
)
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, check_precondition, created, item, tagged
from chassis.web.strict_route import StrictRoute

PATH = "/api/v1/links"
_SORTS = {
    "created_at": By("l.created_at", datetime),
    "updated_at": By("l.updated_at", datetime),
    "confidence_score": By("l.confidence_score", float, nullable=True),
}
_NEWEST_LINK_FIRST = Order(
    "linked_at:desc", (By("l.created_at", datetime, True, member="link_created_at"), By("l.id", UUID, member="link_id"))
)

router = APIRouter(route_class=StrictRoute, tags=["Links"])
internal_router = APIRouter(prefix="/internal", route_class=StrictRoute, include_in_schema=False)


Expand = Annotated[
    str | None,
    Field(
        description="items: adds both items to each link, in short, as `requirement` and `test_case`.",
        examples=["items"],
        json_schema_extra={"enum": ["items"]},
    ),
]


class LinkFilters(PageQuery):
    """What narrows and orders a list of links."""

    requirement_id: Annotated[str | None, Field(description=f"Ids of requirements: {ALTERNATIVES}")] = None
    test_case_id: Annotated[str | None, Field(description=f"Ids of test cases: {ALTERNATIVES}")] = None
    link_type: Annotated[str | None, alternatives(LinkType)] = None
    link_source: Annotated[str | None, alternatives(LinkSource)] = None
    suspect: Annotated[bool | None, Field(description="Whether an item is newer than the link.")] = None
    updated_since: Annotated[
        str | None,
        Field(
            description="Made, changed or confirmed at or after this moment (an RFC 3339 timestamp, or a day for its"
            " midnight UTC); that an item changed, which makes its links suspect, changes no link.",
            examples=["2026-01-31T12:00:00Z", "2026-01-31"],
        ),
    ] = None
    ids: Ids = None
    expand: Expand = None
    sort: Annotated[str, sorts(list(_SORTS))] = "created_at:desc"

    def conditions(self) -> Conditions:
        """Return what the links must fulfil; raises Invalid for an unknown value."""
        conditions = Conditions()
        conditions.choose("l.requirement_id", parse_ids("requirement_id", self.requirement_id))
        conditions.choose("l.test_case_id", parse_ids("test_case_id", self.test_case_id))
        conditions.choose("l.link_type", parse_choice("link_type", self.link_type, LinkType))
        conditions.choose("l.link_source", parse_choice("link_source", self.link_source, LinkSource))
        if self.suspect is not None:
            conditions.add(f"l.id {'' if self.suspect else 'NOT '}IN ({suspicion.suspect_links('l.id')})")
        conditions.choose("l.id", parse_own_ids(self.ids))
        moment = parse_moment("updated_since", self.updated_since)
        if moment is not None:
            conditions.add("l.updated_at >= %(updated_since)s", updated_since=moment)
        return conditions


@cache
def _order(sort: Sort) -> Order:
    return sort.order(_SORTS, By("l.id", UUID))


def _ends(expand: str | None) -> Callable[[LinkRow], Row]:
    """Return how a link shows its items, if it is to; raise Invalid for what cannot be expanded."""
    return service.ends if "items" in parse_expand(expand, ("items",)) else lambda _: {}


@router.post(
    PATH,
    status_code=201,
    response_model=Link,
    responses=problem_responses("404 requirement_not_found", "404 test_case_not_found", "409 link_exists"),
    summary="Link a requirement and a test case",
)
async def create_link(request: Request, body: LinkCreate, reviewer: Reviewer, database: Db) -> Response:
    """A pair is linked once; each end is named by its id or by its external_id.

    The link is `manual` and its confidence 1.0, also when `link_source` or `confidence_score` is sent: they are read
    only. 409 `link_exists` tells the `link_id` of the link that there is.
    """
    fields = body.model_dump(exclude={"confidence_score"})
    check_named(fields, ("requirement", "test_case"))

    async def make(connection: Connection) -> Response:
        link = await service.create(connection, fields, actor_of(reviewer))
        return created(request, link, f"{PATH}/{link['id']}")

    try:
        return await answer_once(request, database, reviewer, make)
    except Conflict as conflict:
        if conflict.code != "link_exists":
            raise
        raise await service.existing(database, conflict) from None


@router.get(
    PATH,
    response_model=Page[ListedLink],
    summary="List links, the newest first",
    openapi_extra=documented(LinkFilters),
)
async def list_links(request: Request, viewer: Viewer, database: Db) -> Response:
    """Return one page of those that all the filters find; what is left out does not narrow."""
    filters = read_query(request, LinkFilters)
    conditions, ends = filters.conditions(), _ends(filters.expand)
    wanted = filters.page(request, _order(parse_sort(filters.sort, list(_SORTS))))
    found = await service.LINKS.find_page(database, conditions, wanted)
    rows = [tagged(service.shown(row), ends(row), wanted.fields) for row in found.rows]
    return page(request, wanted, found, rows)


@router.post(
    PATH + "/bulk",
    response_model=BulkAnswer[ExpandedLink],
    responses=problem_responses("409 count_changed"),
    summary="Change or delete many links",
)
@with_body(bulk_change_of(BulkChange, "LinksChange", LinkFilters, LinkPatch, {"link_type": "verifies"}))
async def change_links(request: Request, body: BulkChange, reviewer: Reviewer, database: Db) -> Response:
    """As `POST /requirements/bulk` does. Suspicion stays; both items of a deleted link stay."""
    return await answer_many(request, database, reviewer, MANY_LINKS, body)


@router.get(
    PATH + "/{link_id}",
    response_model=ExpandedLink,
    responses=problem_responses("404 link_not_found"),
    summary="Read a link",
)
async def read_link(request: Request, link_id: UUID, viewer: Viewer, database: Db, expand: Expand = None) -> Response:
    """With `expand`, the ETag is that of the longer answer: for `If-Match`, read without."""
    ends, link = _ends(expand), await service.LINKS.read(database, link_id)
    return item(request, {**service.shown(link), **ends(link)})


@router.patch(
    PATH + "/{link_id}",
    response_model=Link,
    responses=problem_responses("404 link_not_found", 412),
    summary="Change type or notes of a link",
)
async def update_link(request: Request, link_id: UUID, body: LinkPatch, reviewer: Reviewer, database: Db) -> Response:
    """A JSON merge patch (RFC 7396). Suspicion stays; see confirm."""
    fields = body.model_dump(exclude_unset=True)
    check = partial(check_precondition, request)
    return item(request, await service.LINKS.update(database, link_id, fields, actor_of(reviewer), check))


@router.delete(
    PATH + "/{link_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 link_not_found", 412),
    summary="Delete a link",
)
async def delete_link(request: Request, link_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """Both items stay; the pair can be linked, and suggested, again."""
    await service.LINKS.delete(database, link_id, actor_of(reviewer), partial(check_precondition, request))
    return Response(status_code=204)


@router.post(
    PATH + "/{link_id}/confirm",
    response_model=Link,
    responses=problem_responses("404 link_not_found", 412),
    summary="Confirm that a link still holds",
)
async def confirm_link(request: Request, link_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """Clears suspicion. With `If-Match`, only if the link and its suspicion are as they were read."""
    check = partial(check_precondition, request)
    return item(request, await service.LINKS.confirm(database, link_id, actor_of(reviewer), check))


def _add_linked(kind: ItemKind, other: ItemKind, listed: type[BaseModel]) -> None:
    @router.get(
        f"{kind.path}/{{{kind.name}_id}}/{other.path.rpartition('/')[2]}",
        name=f"list_{other.table}_of_{kind.name}",
        response_model=listed,
        responses=problem_responses(f"404 {kind.name}_not_found"),
        summary=f"List the {other.label}s that are linked to a {kind.label}",
        openapi_extra=documented(PageQuery),
    )
    async def find_linked(
        request: Request,
        item_id: Annotated[UUID, Path(alias=f"{kind.name}_id")],
        viewer: Viewer,
        database: Db,
    ) -> Response:
        """Each with its link; the link made last comes first."""
        wanted = read_query(request, PageQuery).page(request, _NEWEST_LINK_FIRST)
        found = await service.find_linked(database, kind, item_id, other, wanted)
        return page(request, wanted, found)


_add_linked(REQUIREMENT, TEST_CASE, Page[LinkedTestCase])
_add_linked(TEST_CASE, REQUIREMENT, Page[LinkedRequirement])


@internal_router.put("/links/by-suggestion")
async def put_links_by_suggestion(
    request: Request, body: AcceptedSuggestions, caller: ServiceCaller, database: Db
) -> Response:
    """Make the links of accepted suggestions, each once, however often it is asked for.

    `items` has for each, in order, the `link_id`, of a link that was made before too, and if it has been deleted since;
    or as `code` why there is none: `requirement_not_found`, `test_case_not_found`, `link_exists` when the pair has a
    link of another origin, or `acceptance_undone`.
    """
    made = await service.accept(database, body.accepted)
    outcomes = [(None, one.code) if isinstance(one, Problem) else (one, None) for one in made]
    return answer({"items": [{"link_id": link_id, "code": code} for link_id, code in outcomes]})


@internal_router.put("/links/undone-by-suggestion")
async def put_links_undone_by_suggestion(
    request: Request, body: UndoneReviews, caller: ServiceCaller, database: Db
) -> Response:
    """Delete the links of reviews that are undone, each once, however often it is asked for.

    `items` has for each, in order, as `code` why its suggestion cannot be pending again, null when it can:
    `link_changed` when the link was changed, confirmed or made again; `link_exists` when the pair of a
    suggestion that became no link has one; `link_id` is then that link. Or `requirement_not_found` and
    `test_case_not_found`.
    """
    outcomes = await undoing.undo(database, body.undone)
    return answer({"items": [{"code": outcome.code, "link_id": outcome.link_id} for outcome in outcomes]})
