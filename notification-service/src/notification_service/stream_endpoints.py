"""The stream of events: server-sent, from a position on."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from chassis.core.projects import NONE
from chassis.web.callers import Viewer
from chassis.web.event_stream import EventStream
from chassis.web.strict_route import StrictRoute
from contracts.api_tokens import PREFIX
from notification_service.stream import Stream
from notification_service.stream_schemas import EXAMPLE, StreamEvent

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Events"])

_MOST = 2**63 - 1
_GO_ON = "The last `id` that came, to go on after it."


@router.get(
    "/events",
    status_code=200,
    response_class=EventStream,
    responses={
        200: {
            "model": StreamEvent,
            "description": "Server-sent events. The schema is that of one, whose fields are lines: `id: 42`, then"
            " `event: item.changed`, then `data:` with JSON in one line, then an empty line.",
            "content": {EventStream.media_type: {"example": EXAMPLE}},
        }
    },
    # FastAPI takes what is no JSON for a string.
    openapi_extra={"responses": {"200": {"content": {EventStream.media_type: {"schema": {"type": "object"}}}}}},
    summary="Follow what happens, as server-sent events",
)
async def follow_events(
    request: Request,
    viewer: Viewer,
    last_event_id: Annotated[
        int | None, Query(ge=0, le=_MOST, description=f"{_GO_ON} For clients that cannot send the header, which wins.")
    ] = None,
    last_event_id_header: Annotated[
        int | None, Header(alias="Last-Event-ID", ge=0, le=_MOST, description=f"{_GO_ON} Browsers send it themselves.")
    ] = None,
) -> Response:
    """It tells of one project. It begins now, or after the position that you name, and goes on until the token ends or
    your role changes.

    Nothing is missed and nothing comes twice: each event's `id` is its position, from which the stream goes on for a
    day. After that, `reset` comes first: read again what you show. `unread` comes at the beginning and whenever your
    count over all projects (by an API token: in this one) has changed. Every 15 seconds without an event there is a
    comment. When the stream ends, come back after `retry` milliseconds.
    """
    stream: Stream = request.app.state.stream
    assert viewer.id is not None, "whoever has a role is a person"
    after = last_event_id if last_event_id_header is None else last_event_id_header
    # A token may be for some projects alone.
    counted = viewer.project if viewer.token_id.startswith(PREFIX) else NONE
    return EventStream(stream.follow(viewer.id, viewer.project, after, counted))
