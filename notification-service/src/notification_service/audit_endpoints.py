"""What happened: activity for everyone, the audit log for admins."""

from fastapi import APIRouter, Request, Response

from chassis.db.database import Db
from chassis.web.callers import Admin, Viewer
from chassis.web.listing import Page, documented, page, read_query
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from notification_service import notifications
from notification_service.queries import ActivityQuery, AuditQuery
from notification_service.repository import NEWEST_ENTRY
from notification_service.schemas import ActivityList, AuditEntry, AuditHead

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)


@router.get(
    "/activity",
    response_model=ActivityList,
    tags=["Activity"],
    summary="List who did what to which item, newest first",
    openapi_extra=documented(ActivityQuery),
)
async def list_activity(request: Request, _: Viewer, database: Db) -> Response:
    """Work on requirements, test cases, links, suggestions and coverage; accounts are not shown.

    With `item_id` it is all that ever happened to an item, unless `days` says otherwise.
    """
    query = read_query(request, ActivityQuery)
    wanted = query.page(request, NEWEST_ENTRY)
    found, kept_since = await notifications.find_activity(database, query, wanted)
    return page(request, wanted, found, extra={"kept_since": kept_since})


@router.get(
    "/audit-log",
    response_model=Page[AuditEntry],
    tags=["Audit log"],
    summary="List every change with the fields before and after, newest first",
    openapi_extra=documented(AuditQuery),
)
async def list_audit_log(request: Request, admin: Admin, database: Db) -> Response:
    """A created item has only `after`.

    Who was refused or held up, who exported what, and who read the audit log are in it, too: the first such request of
    somebody within seconds, those that follow together, by their `count`, each quarter of an hour. What happens to
    accounts and to the installation is in the audit log of MAIN, where admins of the installation alone see it:
    log-ins, sessions, tokens, invitations, other projects.
    """
    query = read_query(request, AuditQuery)
    wanted = query.page(request, NEWEST_ENTRY)
    return page(request, wanted, await notifications.find_audit_entries(database, admin, query, wanted))


@router.get(
    "/audit-log/head", response_model=AuditHead, tags=["Audit log"], summary="Read the head of the audit log's chain"
)
async def read_audit_head(_: Admin, database: Db) -> Response:
    """Each entry is sealed by a hash of what it says and of the seal before it.

    Who keeps a head elsewhere can tell later whether anything up to it was changed, taken out or put in:
    `python -m chassis.admin verify-audit --head`.
    """
    return answer(await notifications.audit_head(database))
