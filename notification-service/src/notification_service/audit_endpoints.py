"""What happened: activity for everyone, the audit log for admins."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from chassis.db.database import Db
from chassis.web.callers import Admin, Viewer
from chassis.web.listing import Page, documented, page, read_query
from chassis.web.problem_documents import with_headers
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from notification_service import audit_export, notifications
from notification_service.audit_export import AuditFormat, media_type_of
from notification_service.queries import ActivityQuery, AuditQuery
from notification_service.repository import NEWEST_ENTRY
from notification_service.schemas import ActivityList, AuditChain, AuditEntry, AuditHead

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_OF_PAGES = frozenset({"skip", "limit", "after"})
"""Parameters of the list that a file does not take: it has all."""


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


class AuditExportQuery(AuditQuery):
    """What of the audit log is exported, and in which form."""

    format: Annotated[AuditFormat, Field(description="A table, or a JSON object a line.")] = AuditFormat.CSV


@router.get(
    "/audit-log/export",
    response_class=Response,
    tags=["Audit log"],
    summary="Take the audit log away as a file",
    openapi_extra=documented(AuditExportQuery, _OF_PAGES),
    responses={
        200: {
            "description": "The entries, newest first; `format` says in which form.",
            **with_headers("Content-Disposition")[200],
            "content": {media_type_of(form).partition(";")[0]: {"schema": {"type": "string"}} for form in AuditFormat},
        }
    },
)
async def export_audit_log(request: Request, admin: Admin, database: Db) -> Response:
    """Every entry that the filters find, whatever their number; that it was taken away is an entry itself."""
    query = read_query(request, AuditExportQuery)
    parts = audit_export.write(database, admin, query, query.format)
    # What is wrong with the filters is answered as a problem: nothing has been sent before the first part is there.
    first = await anext(parts)

    async def content() -> AsyncGenerator[bytes, None]:
        async with aclosing(parts):
            yield first
            async for part in parts:
                yield part

    name = f"audit-log-{datetime.now(UTC):%Y-%m-%d}.{query.format}"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Type": media_type_of(query.format),
    }
    return StreamingResponse(content(), 200, headers)


@router.get(
    "/audit-log/chain",
    response_model=AuditChain,
    tags=["Audit log"],
    summary="Follow the audit log's chain, and say whether it is whole",
)
async def read_audit_chain(_: Admin, database: Db) -> Response:
    """Each entry is held against its seal, each seal against the one before it, and against the heads that are signed.

    The signatures themselves need the key that the database does not have: `python -m chassis.admin verify-audit`
    checks them. It also follows a chain that is too long for a request (`checked` is false then, and nothing is said).
    """
    return answer(await notifications.follow_chain(database))


@router.get(
    "/audit-log/head", response_model=AuditHead, tags=["Audit log"], summary="Read the head of the audit log's chain"
)
async def read_audit_head(_: Admin, database: Db) -> Response:
    """Each entry is sealed by a hash of what it says and of the seal before it.

    Who keeps a head elsewhere can tell later whether anything up to it was changed, taken out or put in:
    `python -m chassis.admin verify-audit --head`.
    """
    return answer(await notifications.audit_head(database))
