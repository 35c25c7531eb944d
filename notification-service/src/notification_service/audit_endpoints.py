"""What happened: activity for everyone, the audit log for admins."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from chassis.database import Db
from chassis.http.paging import FREE_ALTERNATIVES, Limit, Page, Skip, page, parse_choice, parse_words
from chassis.http.strict_route import StrictRoute
from chassis.identity import Admin, Viewer
from notification_service import repository, service
from notification_service.repository import AuditFilter
from notification_service.schemas import Activity, AuditEntry, Days, Instant
from notification_service.vocabulary import AuditAction, ResourceType

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_ALTERNATIVES = "Comma-separated alternatives; a leading ! excludes."


@router.get(
    "/activity",
    response_model=Page[Activity],
    tags=["Activity"],
    summary="List who did what to which item, newest first",
)
async def list_activity(
    request: Request, _: Viewer, database: Db, days: Days = 7, skip: Skip = 0, limit: Limit = 50
) -> Response:
    """Work on requirements, test cases, links, suggestions and coverage; accounts are not shown."""
    since = datetime.now(UTC) - timedelta(days=days)
    async with database.connection() as connection:
        items, total = await repository.list_activity(connection, since, skip, limit)
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
    actor: Annotated[str | None, Query(description=f"Emails: {FREE_ALTERNATIVES}.")] = None,
    action: Annotated[str | None, Query(description=f"Such as requirement.updated. {_ALTERNATIVES}")] = None,
    resource_type: Annotated[str | None, Query(description=f"Such as requirement. {_ALTERNATIVES}")] = None,
    resource_id: Annotated[str | None, Query(description=f"Ids: {FREE_ALTERNATIVES}.")] = None,
    since: Annotated[Instant | None, Query(description="From this moment on (RFC 3339).")] = None,
    until: Annotated[Instant | None, Query(description="Before this moment (RFC 3339).")] = None,
    skip: Skip = 0,
    limit: Limit = 50,
) -> Response:
    """Log-ins that failed, log-outs and changes of accounts are in it too. A created item has only `after`."""
    chosen = AuditFilter(
        actor=parse_words("actor", None if actor is None else actor.lower()),
        action=parse_choice("action", action, AuditAction),
        resource_type=parse_choice("resource_type", resource_type, ResourceType),
        resource_id=parse_words("resource_id", resource_id),
        since=since,
        until=until,
    )
    async with database.connection() as connection:
        items, total = await service.audit_log(connection, chosen, skip, limit)
    return page(request, items, total, skip, limit)
