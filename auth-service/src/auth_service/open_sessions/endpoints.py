"""The HTTP door to sessions: a person's own, and for admins the end of another's."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from auth_service.open_sessions import repository, service
from auth_service.users.endpoints import UserId
from chassis.db.database import Db
from chassis.web.callers import Admin, Viewer
from chassis.web.keyset import By
from chassis.web.listing import Page, PageQuery, documented, page, read_query
from chassis.web.parameters import parse_sort, sorts
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_SORTS = {"last_seen_at": By("last_seen_at", datetime), "created_at": By("created_at", datetime)}

SessionId = Annotated[str, Path(min_length=1, max_length=64)]


class OpenSession(BaseModel):
    """A log-in that has not ended."""

    id: str = Field(examples=["0f1e2d3c4b5a69788796a5b4c3d2e1f0"])
    created_at: datetime = Field(description="When somebody logged in.")
    last_seen_at: datetime = Field(description="To the minute.")
    address: str = Field(description="From where they were seen last.", examples=["192.0.2.7"])
    agent: str = Field(description="What they were seen with last, as it calls itself.", examples=["Mozilla/5.0 ..."])
    expires_at: datetime = Field(description="When it ends unless it is renewed.")
    is_current: bool = Field(description="Whether it is the one of this request.")


class SessionQuery(PageQuery):
    """What orders the list of sessions."""

    sort: Annotated[str, sorts(list(_SORTS))] = "last_seen_at:desc"


@router.get(
    "/auth/sessions",
    tags=["Authentication"],
    summary="List where you are logged in, the last seen first",
    response_model=Page[OpenSession],
    openapi_extra=documented(SessionQuery),
)
async def list_sessions(request: Request, database: Db, viewer: Viewer) -> Response:
    """Log-ins at the page and by programs alike; API tokens are a list of their own."""
    query = read_query(request, SessionQuery)
    sort = parse_sort(query.sort, list(_SORTS))
    wanted = query.page(request, sort.order(_SORTS, By("id", str, sort.descending)))
    found = await service.find_page(database, repository.open_of(viewer.id), wanted)
    return page(request, wanted, found, [{**row, "is_current": row["id"] == viewer.session_id} for row in found.rows])


@router.delete(
    "/auth/sessions",
    tags=["Authentication"],
    summary="Log out everywhere else",
    status_code=204,
    response_class=Response,
)
async def end_other_sessions(database: Db, viewer: Viewer) -> Response:
    """Only the session of this request goes on; API tokens do, too."""
    await service.end_others(database, viewer)
    return Response(status_code=204)


@router.delete(
    "/auth/sessions/{session_id}",
    tags=["Authentication"],
    summary="End one of your sessions",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 session_not_found"),
)
async def end_session(session_id: SessionId, database: Db, viewer: Viewer) -> Response:
    """Its tokens stop working within 2 seconds."""
    await service.end_one(database, viewer, session_id)
    return Response(status_code=204)


@router.delete(
    "/users/{user_id}/sessions",
    tags=["Users"],
    summary="Log a user out everywhere",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 user_not_found"),
)
async def end_sessions_of_user(user_id: UserId, database: Db, admin: Admin) -> Response:
    """They may log in again, and their API tokens go on: a deactivation ends those, too."""
    await service.end_all(database, admin, user_id)
    return Response(status_code=204)
