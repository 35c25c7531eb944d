"""The HTTP door to projects and their members, and what the gateway reads at its start."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from auth_service.projects import service
from auth_service.projects.schemas import (
    Deletion,
    ListedMember,
    ListedProject,
    Member,
    MemberWrite,
    NewProject,
    Project,
    ProjectChange,
)
from auth_service.users.endpoints import UserId
from chassis.core.identity import Role
from chassis.core.problems import PreconditionFailed
from chassis.db.database import Connection, Db
from chassis.web.callers import Admin, ServiceCaller, Viewer
from chassis.web.conditions import Conditions, containing
from chassis.web.idempotency import answer_once
from chassis.web.keyset import By
from chassis.web.listing import Page, PageQuery, PageRequest, Row, documented, page, read_query
from chassis.web.parameters import alternatives, parse_choice, parse_sort, sorts
from chassis.web.problem_documents import problem_responses, with_headers
from chassis.web.responses import answer, check_precondition, created, item, tagged
from chassis.web.strict_route import StrictRoute
from contracts import api_tokens
from contracts.projects import Visibility

PATH = "/api/v1/projects"
router = APIRouter(prefix=PATH, route_class=StrictRoute, tags=["Projects"])
internal_router = APIRouter(prefix="/internal", route_class=StrictRoute, include_in_schema=False)

ProjectKey = Annotated[str, Path(max_length=100, description="The key of the project.", examples=["DOOR"])]
_NOT_FOUND = "404 project_not_found"
_ARCHIVED = "409 project_archived"
_LAST = "409 last_project_admin"
_TAGGED = with_headers("ETag")

_SORTS = {
    "key": By("p.key", str),
    "name": By("p.name", str, expression="lower({})"),
    "created_at": By("p.created_at", datetime),
}


class ProjectQuery(PageQuery):
    """What narrows and orders the list of projects."""

    q: Annotated[str | None, Field(max_length=200, description="Part of the key or the name.")] = None
    visibility: Annotated[str | None, alternatives(Visibility)] = None
    archived: Annotated[bool | None, Field(description="Only those in the archive, or only the others.")] = None
    deleted: Annotated[
        bool, Field(description="Instead of those that are there, the deleted ones that can be restored; for admins.")
    ] = False
    sort: Annotated[str, sorts(list(_SORTS))] = "key"

    def narrow(self, conditions: Conditions) -> None:
        """Add what the projects must fulfil; raises Invalid for an unknown value."""
        conditions.choose("p.visibility", parse_choice("visibility", self.visibility, Visibility))
        if self.archived is not None:
            conditions.add("p.archived = %(archived)s", archived=self.archived)
        if self.q:
            conditions.add("(p.key ILIKE %(q)s OR p.name ILIKE %(q)s)", q=containing(self.q))

    def wanted(self, request: Request) -> PageRequest:
        """Return the page that is asked for; raises Invalid."""
        sort = parse_sort(self.sort, list(_SORTS))
        return self.page(request, sort.order(_SORTS, By("p.key", str, sort.descending)))


_MEMBER_SORTS = {
    "email": By("m.email", str),
    "full_name": By("m.full_name", str, expression="lower({})"),
    "since": By("m.since", datetime),
}


class MemberQuery(PageQuery):
    """What narrows and orders the list of members."""

    q: Annotated[str | None, Field(max_length=200, description="Part of the email or the full name.")] = None
    role: Annotated[str | None, alternatives(Role)] = None
    sort: Annotated[str, sorts(list(_MEMBER_SORTS))] = "full_name"

    def narrow(self, conditions: Conditions) -> None:
        """Add what the members must fulfil; raises Invalid for an unknown value."""
        conditions.choose("m.role", parse_choice("role", self.role, Role))
        if self.q:
            conditions.add("(m.email ILIKE %(q)s OR m.full_name ILIKE %(q)s)", q=containing(self.q))

    def wanted(self, request: Request) -> PageRequest:
        """Return the page that is asked for; raises Invalid."""
        sort = parse_sort(self.sort, list(_MEMBER_SORTS))
        return self.page(request, sort.order(_MEMBER_SORTS, By("m.user_id", int, sort.descending)))


@router.get(
    "",
    summary="List the projects that you have access to",
    response_model=Page[ListedProject],
    openapi_extra=documented(ProjectQuery),
)
async def list_projects(request: Request, database: Db, viewer: Viewer) -> Response:
    """Each with your role in it. Those in the archive are among them; deleted ones are listed by themselves."""
    query = read_query(request, ProjectQuery)
    wanted = query.wanted(request)
    found = await service.find_page(database, query.narrow, wanted, viewer, deleted=query.deleted)
    return page(request, wanted, found, [tagged(row, {}, wanted.fields) for row in found.rows])


@router.post(
    "",
    summary="Make a project",
    status_code=201,
    response_model=Project,
    responses=problem_responses("409 key_taken", "409 key_used"),
)
async def create_project(body: NewProject, request: Request, database: Db, admin: Admin) -> Response:
    """Its key stands in addresses, is never changed, and is never used again, not even after the project is deleted."""

    async def create(connection: Connection) -> Response:
        project = await service.create(connection, body, admin)
        return created(request, project, f"{PATH}/{project['key']}")

    return await answer_once(request, database, admin, create)


@router.get(
    "/{key}",
    summary="Read a project",
    response_model=Project,
    responses={**_TAGGED, **problem_responses(_NOT_FOUND)},
)
async def get_project(key: ProjectKey, request: Request, database: Db, viewer: Viewer) -> Response:
    """With your role in it. One that you have no access to is answered as one that is not there."""
    return item(request, await service.get(database, key, viewer))


@router.patch(
    "/{key}",
    summary="Change a project, archive it, or take it out of the archive",
    response_model=Project,
    responses={**_TAGGED, **problem_responses(_NOT_FOUND, _ARCHIVED, 412)},
)
async def update_project(
    key: ProjectKey, body: ProjectChange, request: Request, database: Db, viewer: Viewer
) -> Response:
    """For admins of the project. In one that is archived nothing can be changed; everything can be read.

    `MAIN` can be archived, too: whoever names no project can then only read. It takes effect within 2 s. Settings that
    are not sent stay; one that is null is again as the installation says.
    """
    changed = await service.change(database, key, body, viewer, lambda before: check_precondition(request, before))
    return item(request, changed)


@router.delete(
    "/{key}",
    summary="Delete a project, with everything in it",
    status_code=202,
    response_model=Deletion,
    responses=problem_responses(
        *("403 role_too_low", "403 session_needed", _NOT_FOUND, "409 not_archived", "409 main_project", 412)
    ),
)
async def delete_project(
    key: ProjectKey,
    request: Request,
    database: Db,
    admin: Admin,
    confirm: Annotated[str | None, Query(max_length=100, description="The key of the project once more.")] = None,
) -> Response:
    """Only one that is archived, or the demo's, and never by an API token.

    It is there for nobody any more, but stays as it is until `restorable_until`: until then an admin of the
    installation finds it by `GET /projects?deleted=true` and brings it back by `POST /projects/{key}/restore`. After
    that it and what is in it are gone, and nothing brings that back.
    """
    restorable_for: timedelta = request.app.state.projects_restorable_for
    until = await service.plan_deletion(
        database, key, confirm, admin, lambda before: check_precondition(request, before), restorable_for
    )
    return answer({"key": key, "restorable_until": until}, 202)


@router.post(
    "/{key}/restore",
    summary="Restore a deleted project",
    response_model=Project,
    responses={
        **_TAGGED,
        **problem_responses("403 role_too_low", "403 session_needed", _NOT_FOUND, "409 not_deleted"),
    },
)
async def restore_project(key: ProjectKey, request: Request, database: Db, admin: Admin) -> Response:
    """It is there again within 2 s, with all that is in it, its members, service accounts and their tokens.

    `restorable_until` says until when; no API token does it.
    """
    return item(request, await service.restore(database, key, admin))


@router.get(
    "/{key}/members",
    summary="List the members of a project",
    response_model=Page[ListedMember],
    responses=problem_responses(_NOT_FOUND),
    openapi_extra=documented(MemberQuery),
)
async def list_members(key: ProjectKey, request: Request, database: Db, viewer: Viewer) -> Response:
    """For admins of the project. Into an open project others come, too, with the roles of their accounts."""
    query = read_query(request, MemberQuery)
    wanted = query.wanted(request)
    found = await service.find_members(database, key, viewer, query.narrow, wanted)
    return page(request, wanted, found, [tagged(row, {}, wanted.fields) for row in found.rows])


@router.put(
    "/{key}/members/{user_id}",
    summary="Make a user a member of a project, or change their role there",
    response_model=Member,
    responses={
        **_TAGGED,
        201: {"model": Member, "description": "Created"},
        **problem_responses(
            *("403 role_too_low", "403 session_needed", _NOT_FOUND, "404 user_not_found"),
            *(_ARCHIVED, _LAST, "409 service_account", 412),
        ),
    },
)
async def put_member(
    key: ProjectKey, user_id: UserId, body: MemberWrite, request: Request, database: Db, viewer: Viewer
) -> Response:
    """For admins of the project. It takes effect within 2 s.

    In an open project a membership can raise the role of an account, never lower it. The last admin of a project
    stays one, unless an admin of the installation says otherwise. No API token makes an admin.
    """
    if body.role is Role.ADMIN:
        api_tokens.check_is_none(viewer)
    member, is_new = await service.put_member(
        database, key, user_id, body.role, viewer, lambda before: _check_member(request, before)
    )
    if is_new:
        return created(request, member, f"{PATH}/{key}/members/{user_id}")
    return item(request, member)


@router.delete(
    "/{key}/members/{user_id}",
    summary="Remove a member from a project",
    status_code=204,
    response_class=Response,
    responses=problem_responses(_NOT_FOUND, "404 member_not_found", _ARCHIVED, _LAST, 412),
)
async def remove_member(key: ProjectKey, user_id: UserId, request: Request, database: Db, viewer: Viewer) -> Response:
    """For admins of the project. It takes effect within 2 s."""
    await service.remove_member(database, key, user_id, viewer, lambda before: check_precondition(request, before))
    return Response(status_code=204)


def _check_member(request: Request, before: Row | None) -> None:
    if before is not None:
        check_precondition(request, before)
    elif "if-match" in request.headers:
        raise PreconditionFailed("This user is no member any more; leave If-Match out to make them one.")


@internal_router.get("/projects")
async def access(database: Db, _: ServiceCaller) -> Response:
    """Answer what decides who may enter which project; what changed since the caller read the feed's head is in it."""
    return answer(await service.access(database))
