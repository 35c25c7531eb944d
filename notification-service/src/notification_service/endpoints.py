"""The notifications of the caller."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from chassis.core.identity import Identity
from chassis.db.coalescing import Coalesced
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import documented, page, read_query
from chassis.web.parameters import parse_choice
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, item
from chassis.web.strict_route import StrictRoute
from notification_service import notifications
from notification_service.queries import NotificationQuery, Types
from notification_service.repository import NEWEST_NOTIFICATION
from notification_service.schemas import Marked, Notification, NotificationId, NotificationList, UnreadCount
from notification_service.vocabulary import NotificationType

router = APIRouter(prefix="/api/v1/notifications", route_class=StrictRoute, tags=["Notifications"])


async def _unread_counts(request: Request) -> Coalesced[int, int]:
    counts: Coalesced[int, int] = request.app.state.unread_counts
    return counts


@router.get(
    "",
    response_model=NotificationList,
    summary="List the caller's notifications, newest first",
    openapi_extra=documented(NotificationQuery),
)
async def list_notifications(request: Request, viewer: Viewer, database: Db) -> Response:
    """`unread_count` of the envelope counts all unread notifications of the caller, whatever is asked for."""
    query = read_query(request, NotificationQuery)
    wanted = query.page(request, NEWEST_NOTIFICATION)
    found, unread = await notifications.find_notifications(database, _id(viewer), query, wanted)
    return page(request, wanted, found, extra={"unread_count": unread})


@router.get("/unread-count", response_model=UnreadCount, summary="Count the caller's unread notifications")
async def count_unread_notifications(
    viewer: Viewer, counts: Annotated[Coalesced[int, int], Depends(_unread_counts)]
) -> Response:
    """Made to be polled."""
    count = await counts.get(_id(viewer))
    return answer({"unread_count": 0 if count is None else count})


@router.post("/mark-all-read", response_model=Marked, summary="Mark all of the caller's notifications read")
async def mark_all_notifications_read(
    viewer: Viewer,
    database: Db,
    type: Types = None,  # noqa: A002 - the parameter's public name
) -> Response:
    """`marked` counts those that were unread; with `type`, only notifications of that type are marked."""
    types = parse_choice("type", type, NotificationType)
    return answer({"marked": await notifications.mark_all_read(database, _id(viewer), types)})


@router.get(
    "/{notification_id}",
    response_model=Notification,
    responses=problem_responses("404 notification_not_found"),
    summary="Read one of the caller's notifications",
)
async def read_notification(
    request: Request, notification_id: NotificationId, viewer: Viewer, database: Db
) -> Response:
    """Reading it by this address does not mark it read."""
    return item(request, await notifications.find_notification(database, _id(viewer), notification_id))


@router.post(
    "/{notification_id}/read",
    response_model=Notification,
    responses=problem_responses("404 notification_not_found"),
    summary="Mark one of the caller's notifications read",
)
@router.patch(
    "/{notification_id}/read",
    name="patch_notification_read",
    response_model=Notification,
    responses=problem_responses("404 notification_not_found"),
    summary="Mark one of the caller's notifications read (as POST)",
)
async def mark_notification_read(
    request: Request, notification_id: NotificationId, viewer: Viewer, database: Db
) -> Response:
    """Marking it again changes nothing: `read_at` stays."""
    return item(request, await notifications.mark_read(database, _id(viewer), notification_id))


@router.delete(
    "/{notification_id}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 notification_not_found"),
    summary="Delete one of the caller's notifications",
)
async def delete_notification(notification_id: NotificationId, viewer: Viewer, database: Db) -> Response:
    """It is gone for good, read or not; what it is about stays."""
    await notifications.delete_notification(database, _id(viewer), notification_id)
    return Response(status_code=204)


def _id(caller: Identity) -> int:
    assert caller.id is not None, "whoever has a role is a person"
    return caller.id
