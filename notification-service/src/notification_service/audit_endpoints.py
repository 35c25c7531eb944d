"""What happened: activity for everyone, the audit log for admins."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from chassis.core.identity import Admin, Viewer
from chassis.db.database import Db
from chassis.web.paging import (
    FREE_ALTERNATIVES,
    Limit,
    Page,
    Skip,
    alternatives,
    page,
    parse_choice,
    parse_moment,
    parse_words,
)
from chassis.web.strict_route import StrictRoute
from notification_service import repository, service
from notification_service.repository import AuditFilter
from notification_service.schemas import Activity, AuditEntry, Days
from notification_service.vocabulary import AuditAction, ResourceType

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_MOMENT = "a time (RFC 3339) or a day, which is its midnight in UTC."

Actors = Annotated[str | None, Query(description=f"Emails: {FREE_ALTERNATIVES}.", examples=["ana@example.com"])]
Actions = Annotated[str | None, alternatives(AuditAction)]
ResourceTypes = Annotated[str | None, alternatives(ResourceType)]
ResourceIds = Annotated[str | None, Query(description=f"Ids: {FREE_ALTERNATIVES}.")]


@router.get(
    "/activity",
    response_model=Page[Activity],
    tags=["Activity"],
    summary="List who did what to which item, newest first",
)
async def list_activity(
    request: Request,
    _: Viewer,
    database: Db,
    actor: Actors = None,
    action: Actions = None,
    resource_type: ResourceTypes = None,
    resource_id: ResourceIds = None,
    days: Days = 7,
    skip: Skip = 0,
    limit: Limit = 50,
) -> Response:
    """Work on requirements, test cases, links, suggestions and coverage; accounts are not shown."""
    since = datetime.now(UTC) - timedelta(days=days)
    chosen = _chosen(actor, action, resource_type, resource_id)
    async with database.connection() as connection:
        items, total = await repository.list_activity(connection, since, chosen, skip, limit)
    return page(request, items, total, skip, limit)


@router.get(
    "/audit-log",
    response_model=Page[AuditEntry],
    tags=["Audit log"],
    summary="List every change with the fields before and after, newest first",
)
async def list_audit_log(
    request: Request,
    _: Admin,
    database: Db,
    actor: Actors = None,
    action: Actions = None,
    resource_type: ResourceTypes = None,
    resource_id: ResourceIds = None,
    since: Annotated[str | None, Query(description=f"From this moment on: {_MOMENT}")] = None,
    until: Annotated[str | None, Query(description=f"Before this moment: {_MOMENT}")] = None,
    skip: Skip = 0,
    limit: Limit = 50,
) -> Response:
    """Log-ins that failed, log-outs and changes of accounts are in it too. A created item has only `after`."""
    chosen = replace(
        _chosen(actor, action, resource_type, resource_id),
        since=parse_moment("since", since),
        until=parse_moment("until", until),
    )
    async with database.connection() as connection:
        items, total = await service.audit_log(connection, chosen, skip, limit)
    return page(request, items, total, skip, limit)


def _chosen(actor: str | None, action: str | None, resource_type: str | None, resource_id: str | None) -> AuditFilter:
    return AuditFilter(
        actor=parse_words("actor", None if actor is None else actor.lower()),
        action=parse_choice("action", action, AuditAction),
        resource_type=parse_choice("resource_type", resource_type, ResourceType),
        resource_id=parse_words("resource_id", resource_id),
    )
