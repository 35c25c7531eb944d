"""HTTP: which references wait for their other end, and giving one up."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.references import repository, service
from catalog_service.references.schemas import Reference, ReferenceKind, ReferredKind
from chassis.core.problems import Invalid
from chassis.db.database import Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Reviewer, Viewer
from chassis.web.conditions import Conditions
from chassis.web.listing import Ids, Page, PageQuery, documented, page, read_query
from chassis.web.parameters import ALTERNATIVES, alternatives, parse_choice, parse_ids, parse_own_ids
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/references", route_class=StrictRoute, tags=["Links"])


class ReferencesQuery(PageQuery):
    """What narrows the list of references."""

    waiting: Annotated[bool, Field(description="Only those that wait are kept: true, or left out.")] = True
    kind: Annotated[str | None, alternatives(ReferenceKind)] = None
    key_kind: Annotated[str | None, alternatives(ReferredKind)] = None
    owner_id: Annotated[str | None, Field(description=f"Ids of the items that have them: {ALTERNATIVES}")] = None
    import_id: Annotated[str | None, Field(description=f"Ids of the imports they came with: {ALTERNATIVES}")] = None
    ids: Ids = None

    def conditions(self) -> Conditions:
        """Return what the references `w` must fulfil; raises Invalid."""
        if not self.waiting:
            detail = "References that do not wait any more have become links or were given up; send true."
            raise Invalid.field("/query/waiting", detail, "not_kept")
        conditions = Conditions()
        conditions.choose("w.kind", parse_choice("kind", self.kind, ReferenceKind))
        conditions.choose("w.wanted_kind", parse_choice("key_kind", self.key_kind, ReferredKind))
        conditions.choose("w.owner_id", parse_ids("owner_id", self.owner_id))
        conditions.choose("w.import_id", parse_ids("import_id", self.import_id))
        conditions.choose("w.id", parse_own_ids(self.ids))
        return conditions


@router.get(
    "",
    response_model=Page[Reference],
    summary="List references that wait for their other end",
    openapi_extra=documented(ReferencesQuery),
)
async def list_references(request: Request, _: Viewer, database: Db) -> Response:
    """Return one page of them, the newest first: an import has named items that are not there yet.

    Each becomes a link in the transaction in which the item comes, whoever creates it, and is not listed any more.
    """
    query = read_query(request, ReferencesQuery)
    wanted = query.page(request, repository.NEWEST_FIRST)
    conditions = query.conditions()
    async with database.connection() as connection:
        return page(request, wanted, await repository.page(connection, conditions, wanted))


@router.delete(
    "/{reference_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 reference_not_found"),
    summary="Give up a reference",
)
async def delete_reference(reference_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """It makes no link when its other end comes; the audit log says who gave it up."""
    async with database.transaction() as connection:
        await service.give_up(connection, reference_id, actor_of(reviewer))
    return Response(status_code=204)
