"""The HTTP door to users: registering, oneself, and administration."""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, cast

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from auth_service import asked_mails
from auth_service.addresses import client_address
from auth_service.registration.policy import RegistrationPolicy
from auth_service.users import service, strength
from auth_service.users.passwords import PasswordPort, Passwords
from auth_service.users.schemas import ListedUser, NewUser, Registration, ToConfirm, User, UserChange
from chassis.core.identity import Identity, Role
from chassis.core.problems import Unauthenticated
from chassis.db import erasure
from chassis.db.coalescing import Coalesced
from chassis.db.database import Connection, Database, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Admin, Viewer
from chassis.web.conditions import Conditions, containing
from chassis.web.idempotency import answer_once
from chassis.web.keyset import By
from chassis.web.listing import Ids, Page, PageQuery, PageRequest, documented, page, read_query
from chassis.web.parameters import alternatives, parse_choice, parse_own_numbers, parse_sort, sorts
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, check_precondition, created, item, tagged
from chassis.web.strict_route import StrictRoute
from contracts import api_tokens

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_ANYONE = Identity(id=0, email="", role=None)
"""Whoever registers, for idempotency keys: no user has the id 0."""

_REFUSALS = ("403 role_too_low", "403 session_needed")

UserId = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.post(
    "/auth/register",
    tags=["Authentication"],
    summary="Register as a viewer",
    status_code=201,
    response_model=User,
    responses={
        **problem_responses(
            *("403 registration_invited", "403 registration_closed", "403 registration_domain"),
            *("409 email_taken", 429),
        ),
        202: {
            "model": ToConfirm,
            "description": "With `REGISTRATION=domains`: a mail is sent, the account comes later.",
        },
    },
)
async def register(body: Registration, request: Request, database: Db, passwords: PasswordPort) -> Response:
    """The role is viewer, whatever the body says; an admin can change it. REGISTRATION says who may register."""
    registration: RegistrationPolicy = request.app.state.registration
    await registration.admit(database, client_address(request), body.email)
    if registration.confirms:
        async with database.statement() as connection:
            await asked_mails.ask(connection, asked_mails.REGISTRATION, body.email)
        return answer({"detail": "A mail with a link is on its way: by it you choose your password."}, 202)
    return await _create(request, database, passwords, body, Role.VIEWER, None)


@router.get("/auth/me", tags=["Authentication"], summary="Read yourself, as stored now", response_model=User)
async def get_me(request: Request, viewer: Viewer) -> Response:
    """Your role and state are those of now, not those of your token."""
    by_id = cast("Coalesced[int, dict[str, Any]]", request.app.state.users_by_id)
    user = None if viewer.id is None else await by_id.get(viewer.id)
    if user is None:
        raise Unauthenticated("This account does not exist; log in again.")
    return item(request, user)


_SORTS = {
    "created_at": By("created_at", datetime),
    "email": By("email", str),
    "full_name": By("full_name", str, expression="lower({})"),
}


class UserQuery(PageQuery):
    """What narrows and orders the list of users."""

    role: Annotated[str | None, alternatives(Role)] = None
    is_active: Annotated[bool | None, Field(description="Only those who can log in, or only those who cannot.")] = None
    is_erased: Annotated[bool | None, Field(description="Only people who were erased, or only those who were not.")] = (
        None
    )
    q: Annotated[str | None, Field(max_length=200, description="Part of the email or the full name.")] = None
    ids: Ids = None
    sort: Annotated[str, sorts(list(_SORTS))] = "created_at:desc"

    def conditions(self) -> Conditions:
        """Return what the users must fulfil; raises Invalid for an unknown value."""
        conditions = Conditions("id NOT IN (SELECT user_id FROM service_accounts)")  # they are no people
        conditions.choose("role", parse_choice("role", self.role, Role))
        conditions.choose("id", parse_own_numbers(self.ids))
        if self.is_active is not None:
            conditions.add("is_active = %(is_active)s", is_active=self.is_active)
        if self.is_erased is not None:
            conditions.add(f"({erasure.IS_ERASED}) = %(is_erased)s", is_erased=self.is_erased)
        if self.q:
            conditions.add("(email ILIKE %(q)s OR full_name ILIKE %(q)s)", q=containing(self.q))
        return conditions

    def wanted(self, request: Request) -> PageRequest:
        """Return the page that is asked for; raises Invalid for an unknown sort, or a position in another list."""
        sort = parse_sort(self.sort, list(_SORTS))
        return self.page(request, sort.order(_SORTS, By("id", int, sort.descending)))


@router.get(
    "/users",
    tags=["Users"],
    summary="List users, newest first",
    response_model=Page[ListedUser],
    openapi_extra=documented(UserQuery),
)
async def list_users(request: Request, database: Db, _: Admin) -> Response:
    """Those who are not active any more are in it, too."""
    query = read_query(request, UserQuery)
    wanted = query.wanted(request)
    found = await service.find_page(database, query.conditions(), wanted)
    return page(request, wanted, found, [tagged(user, {}, wanted.fields) for user in found.rows])


@router.post(
    "/users",
    tags=["Users"],
    summary="Make a user of any role",
    status_code=201,
    response_model=User,
    responses=problem_responses(*_REFUSALS, "409 email_taken"),
)
async def create_user(body: NewUser, request: Request, database: Db, passwords: PasswordPort, admin: Admin) -> Response:
    """Without a role they are a viewer. No API token makes users."""
    api_tokens.check_is_none(admin)
    by_default: bool = request.app.state.must_change_given_passwords
    must_change = by_default if body.must_change_password is None else body.must_change_password
    return await _create(request, database, passwords, body, body.role, admin, must_change_password=must_change)


@router.get(
    "/users/{user_id}",
    tags=["Users"],
    summary="Read a user",
    response_model=User,
    responses=problem_responses("404 user_not_found"),
)
async def get_user(user_id: UserId, request: Request, database: Db, _: Admin) -> Response:
    """The ETag serves `If-Match` of a later change."""
    return item(request, await service.get(database, user_id))


@router.patch(
    "/users/{user_id}",
    tags=["Users"],
    summary="Change the role, the name or the activity of a user",
    response_model=User,
    responses=problem_responses(
        *_REFUSALS, "404 user_not_found", "409 last_admin", "409 erased", "409 service_account", 412
    ),
)
async def update_user(user_id: UserId, body: UserChange, request: Request, database: Db, admin: Admin) -> Response:
    """Takes effect within 2 s for tokens that were issued already; a deactivation ends them for good.

    No API token changes a role, or has an account back that was deactivated.
    """
    if "role" in body or body.get("is_active"):
        api_tokens.check_is_none(admin)
    user = await _change(request, database, admin, user_id, body)
    return item(request, user)


async def _create(
    request: Request,
    database: Database,
    passwords: Passwords,
    body: Registration,
    role: Role,
    admin: Identity | None,
    *,
    must_change_password: bool = False,
) -> Response:
    """Make a user for an admin, or for whoever registers (None)."""
    strength.check(body.password.get_secret_value(), [body.email, body.full_name], "/password")
    password_hash = await passwords.hash(body.password.get_secret_value())

    async def create(connection: Connection) -> Response:
        user = await service.create(
            connection,
            email=body.email,
            full_name=body.full_name,
            role=role,
            password_hash=password_hash,
            actor="themself" if admin is None else actor_of(admin),
            must_change_password=must_change_password,
        )
        return created(request, user, f"/api/v1/users/{user['id']}")

    # What is stored of the body, to recognise it, must not make the password in it easier to guess.
    idempotency_key = request.headers.get("idempotency-key", "").encode()
    body_key = await passwords.key(body.password.get_secret_value(), idempotency_key) if idempotency_key else b""
    if admin is not None:
        return await answer_once(request, database, admin, create, body_key=body_key)
    whose = sha256(body.email.encode()).hexdigest()
    return await answer_once(request, database, _ANYONE, create, body_key=body_key, whose=whose)


async def _change(
    request: Request, database: Database, admin: Identity, user_id: int, fields: Mapping[str, Any]
) -> dict[str, Any]:
    return await service.change(
        database,
        user_id,
        fields,
        actor=actor_of(admin),
        check_precondition=lambda before: check_precondition(request, before),
    )
