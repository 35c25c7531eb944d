"""The routes of relations, and of the requirements above and below one."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from functools import cache, partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.bulk.schemas import BulkAnswer, BulkChange, bulk_change_of
from catalog_service.bulk.service import answer_many
from catalog_service.items.endpoints import with_body
from catalog_service.items.ends import check_named
from catalog_service.items.suspicion import suspect_relations
from catalog_service.relations import service
from catalog_service.relations.bulk import MANY_RELATIONS
from catalog_service.relations.repository import RelationRow
from catalog_service.relations.schemas import (
    ExpandedRelation,
    ListedRelation,
    RelatedRequirement,
    Relation,
    RelationCreate,
    RelationPatch,
)
from catalog_service.values import RelationSource, RelationType
from chassis.db.database import Connection, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Reviewer, Viewer
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
from chassis.web.responses import check_precondition, created, item, tagged
from chassis.web.strict_route import StrictRoute

PATH = "/api/v1/relations"
_SORTS = {"created_at": By("n.created_at", datetime), "updated_at": By("n.updated_at", datetime)}
_NEWEST_FIRST = Order("created_at:desc", (By("n.created_at", datetime, True), By("n.id", UUID)))

router = APIRouter(route_class=StrictRoute, tags=["Relations"])

Expand = Annotated[
    str | None,
    Field(
        description="items: adds both requirements to each relation, in short, as `child` and `parent`.",
        examples=["items"],
        json_schema_extra={"enum": ["items"]},
    ),
]


class Direction(StrEnum):
    """On which side of a requirement the other one is."""

    PARENTS = "parents"
    CHILDREN = "children"


class RelationFilters(PageQuery):
    """What narrows and orders a list of relations."""

    child_id: Annotated[str | None, Field(description=f"Ids of the requirements below: {ALTERNATIVES}")] = None
    parent_id: Annotated[str | None, Field(description=f"Ids of the requirements above: {ALTERNATIVES}")] = None
    relation_type: Annotated[str | None, alternatives(RelationType)] = None
    source: Annotated[str | None, alternatives(RelationSource)] = None
    suspect: Annotated[bool | None, Field(description="Whether a requirement is newer than the relation.")] = None
    updated_since: Annotated[
        str | None,
        Field(
            description="Made, changed or confirmed at or after this moment (an RFC 3339 timestamp, or a day for its"
            " midnight UTC).",
            examples=["2026-01-31T12:00:00Z", "2026-01-31"],
        ),
    ] = None
    ids: Ids = None
    expand: Expand = None
    sort: Annotated[str, sorts(list(_SORTS))] = "created_at:desc"

    def conditions(self) -> Conditions:
        """Return what the relations must fulfil; raises Invalid for an unknown value."""
        conditions = Conditions()
        conditions.choose("n.child_id", parse_ids("child_id", self.child_id))
        conditions.choose("n.parent_id", parse_ids("parent_id", self.parent_id))
        conditions.choose("n.relation_type", parse_choice("relation_type", self.relation_type, RelationType))
        conditions.choose("n.source", parse_choice("source", self.source, RelationSource))
        if self.suspect is not None:
            conditions.add(f"n.id {'' if self.suspect else 'NOT '}IN ({suspect_relations('n.id')})")
        conditions.choose("n.id", parse_own_ids(self.ids))
        moment = parse_moment("updated_since", self.updated_since)
        if moment is not None:
            conditions.add("n.updated_at >= %(updated_since)s", updated_since=moment)
        return conditions


class RelatedQuery(PageQuery):
    """Which of the relations of a requirement are listed."""

    direction: Annotated[str | None, alternatives(Direction)] = None


@cache
def _order(sort: Sort) -> Order:
    return sort.order(_SORTS, By("n.id", UUID))


def _ends(expand: str | None) -> Callable[[RelationRow], Row]:
    """Return how a relation shows its requirements, if it is to; raise Invalid for what cannot be expanded."""
    return service.ends if "items" in parse_expand(expand, ("items",)) else lambda _: {}


@router.post(
    PATH,
    status_code=201,
    response_model=Relation,
    responses=problem_responses(
        *("404 requirement_not_found", "409 relation_exists", "409 relation_cycle"),
        *(422, "422 same_item", "422 too_many_parents"),
    ),
    summary="Put a requirement below another",
)
async def create_relation(request: Request, body: RelationCreate, reviewer: Reviewer, database: Db) -> Response:
    """From one child to one parent there is one relation at most; each is named by its id or by its external_id.

    Relations of the types `refines` and `derives_from` make no circle: 409 `relation_cycle` tells the `path` that
    would be closed, by external ids. A requirement may have up to 100 parents. 409 `relation_exists` tells the
    `relation_id` of the relation that there is.
    """
    fields = body.model_dump()
    check_named(fields, service.ENDS)

    async def make(connection: Connection) -> Response:
        relation = await service.create(connection, fields, actor_of(reviewer))
        return created(request, relation, f"{PATH}/{relation['id']}")

    return await answer_once(request, database, reviewer, make)


@router.get(
    PATH,
    response_model=Page[ListedRelation],
    summary="List relations, the newest first",
    openapi_extra=documented(RelationFilters),
)
async def list_relations(request: Request, viewer: Viewer, database: Db) -> Response:
    """Return one page of those that all the filters find; what is left out does not narrow."""
    filters = read_query(request, RelationFilters)
    conditions, ends = filters.conditions(), _ends(filters.expand)
    wanted = filters.page(request, _order(parse_sort(filters.sort, list(_SORTS))))
    found = await service.RELATIONS.find_page(database, conditions, wanted)
    rows = [tagged(service.shown(row), ends(row), wanted.fields) for row in found.rows]
    return page(request, wanted, found, rows)


@router.post(
    PATH + "/bulk",
    response_model=BulkAnswer[ExpandedRelation],
    responses=problem_responses("409 count_changed"),
    summary="Change or delete many relations",
)
@with_body(
    bulk_change_of(BulkChange, "RelationsChange", RelationFilters, RelationPatch, {"relation_type": "derives_from"})
)
async def change_relations(request: Request, body: BulkChange, reviewer: Reviewer, database: Db) -> Response:
    """As `POST /requirements/bulk` does. Suspicion stays; both requirements of a deleted relation stay."""
    return await answer_many(request, database, reviewer, MANY_RELATIONS, body)


@router.get(
    PATH + "/{relation_id}",
    response_model=ExpandedRelation,
    responses=problem_responses("404 relation_not_found"),
    summary="Read a relation",
)
async def read_relation(
    request: Request, relation_id: UUID, viewer: Viewer, database: Db, expand: Expand = None
) -> Response:
    """With `expand`, the ETag is that of the longer answer: for `If-Match`, read without."""
    ends, relation = _ends(expand), await service.RELATIONS.read(database, relation_id)
    return item(request, {**service.shown(relation), **ends(relation)})


@router.patch(
    PATH + "/{relation_id}",
    response_model=Relation,
    responses=problem_responses("404 relation_not_found", "409 relation_cycle", 412),
    summary="Change type, role or notes of a relation",
)
async def update_relation(
    request: Request, relation_id: UUID, body: RelationPatch, reviewer: Reviewer, database: Db
) -> Response:
    """A JSON merge patch (RFC 7396). Suspicion stays; see confirm. To other requirements: make another relation."""
    fields = body.model_dump(exclude_unset=True)
    check = partial(check_precondition, request)
    updated = await service.RELATIONS.update(
        database, relation_id, fields, actor_of(reviewer), check, service.check_change
    )
    return item(request, updated)


@router.delete(
    PATH + "/{relation_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 relation_not_found", 412),
    summary="Delete a relation",
)
async def delete_relation(request: Request, relation_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """Both requirements stay."""
    await service.RELATIONS.delete(database, relation_id, actor_of(reviewer), partial(check_precondition, request))
    return Response(status_code=204)


@router.post(
    PATH + "/{relation_id}/confirm",
    response_model=Relation,
    responses=problem_responses("404 relation_not_found", 412),
    summary="Confirm that a relation still holds",
)
async def confirm_relation(request: Request, relation_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """Clears suspicion. With `If-Match`, only if the relation and its suspicion are as they were read."""
    check = partial(check_precondition, request)
    return item(request, await service.RELATIONS.confirm(database, relation_id, actor_of(reviewer), check))


@router.get(
    "/api/v1/requirements/{requirement_id}/relations",
    response_model=Page[RelatedRequirement],
    responses=problem_responses("404 requirement_not_found"),
    summary="List the requirements above and below a requirement",
    openapi_extra=documented(RelatedQuery),
)
async def list_related(request: Request, requirement_id: UUID, viewer: Viewer, database: Db) -> Response:
    """Each with its relation, the one made last first: `direction=parents` those above, `children` those below."""
    query = read_query(request, RelatedQuery)
    asked = parse_choice("direction", query.direction, Direction)
    wanted_ones, excluded = ((), ()) if asked is None else (asked.included, asked.excluded)
    directions = [one for one in wanted_ones or Direction if one not in excluded]
    wanted = query.page(request, _NEWEST_FIRST)
    found = await service.find_related(database, requirement_id, directions, wanted)
    return page(request, wanted, found)
