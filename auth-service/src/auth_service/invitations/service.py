"""Inviting, revoking, and making an account of an invitation."""

from datetime import UTC, datetime, timedelta
from typing import Any

from auth_service import one_time_links
from auth_service.invitations import repository
from auth_service.invitations.repository import InvitationRow
from auth_service.projects import repository as projects
from auth_service.projects import service as project_service
from auth_service.users import repository as users
from auth_service.users import service as user_service
from auth_service.users import strength
from auth_service.users.passwords import Passwords
from auth_service.users.service import Shown
from chassis.core.identity import Identity, Role
from chassis.core.problems import Conflict, Gone, NotFound
from chassis.db.database import Connection, Database
from chassis.messaging.events import SYSTEM, Actor, NewEvent, actor_of
from chassis.web.listing import Fetched, PageRequest
from contracts.auth import InvitationAccepted, InvitationMade, InvitationRevoked, MemberChanged
from contracts.projects import no_such_project, project_archived

LIFETIME = timedelta(days=7)
PAGE = "accept-invitation"
"""The address of the page on which a link is used."""
_SHOWN_FOR = timedelta(days=30)


async def invite(
    connection: Connection, admin: Identity | None, token: str, *, email: str, role: Role, project: str | None
) -> dict[str, Any]:
    """Store an invitation, with one writing statement, and return it; without an `admin` nobody made it.

    Raises Conflict email_taken when the email has an account, NotFound when there is no such project, and Conflict
    project_archived.
    """
    if await users.credentials(connection, email) is not None:
        raise Conflict("An account with this email exists already.", code="email_taken")
    await user_service.check_not_being_erased(connection, email)
    if project is not None:
        found = await projects.find(connection, project, None)
        if found is None:
            raise no_such_project()
        if found["archived"]:
            raise project_archived()
    now = datetime.now(UTC)
    row: dict[str, Any] = {
        "id": await repository.next_id(connection),
        "email": email,
        "role": role.value,
        "project": project,
        "created_at": now,
        "created_by": None if admin is None else admin.id,
        "expires_at": now + LIFETIME,
    }
    payload = InvitationMade(
        invitation_id=row["id"], email=email, role=role.value, project=project, expires_at=row["expires_at"]
    )
    event = NewEvent(payload, subject=str(row["id"]), actor=SYSTEM if admin is None else actor_of(admin))
    await repository.insert(connection, {**row, "token_hash": one_time_links.hash_of(token)}, event)
    return row


async def find_page(database: Database, wanted: PageRequest) -> Fetched:
    """Return one page of the invitations that nobody has accepted or revoked."""
    async with database.connection() as connection:
        return await repository.find_page(connection, wanted)


async def revoke(database: Database, admin: Identity, invitation_id: int) -> None:
    """Have an invitation work no more; raise NotFound."""
    async with database.transaction() as connection:
        row = await repository.lock(connection, invitation_id)
        if row is None:
            raise NotFound(
                "There is no invitation with this id; it may have been accepted or revoked.",
                code="invitation_not_found",
            )
        payload = InvitationRevoked(invitation_id=invitation_id, email=row["email"])
        event = NewEvent(payload, subject=str(invitation_id), actor=actor_of(admin))
        await repository.delete(connection, invitation_id, event)


async def accept(database: Database, passwords: Passwords, token: str, password: str, full_name: str) -> Shown:
    """Make the account of an invitation, and its membership, and return the user.

    Raises Gone link_invalid, Invalid for a password that is guessed first, and Conflict email_taken.
    """
    token_hash = one_time_links.hash_of(token)
    async with database.transaction() as connection:
        invitation = await repository.lock_working(connection, token_hash)
    if invitation is None:
        raise _works_no_more()
    strength.check(password, [invitation["email"], full_name], "/password")
    password_hash = await passwords.hash(password)
    async with database.transaction() as connection:
        invitation = await repository.lock_working(connection, token_hash)
        if invitation is None:
            raise _works_no_more()
        user = await user_service.create(
            connection,
            email=invitation["email"],
            full_name=full_name,
            role=role_of(invitation),
            password_hash=password_hash,
            actor="themself",
        )
        await use(connection, invitation, user)
    return user


async def locked_of(connection: Connection, email: str) -> InvitationRow | None:
    """Lock the newest invitation of an address that still works; to be accepted without its link."""
    return await repository.lock_newest(connection, email)


def role_of(invitation: InvitationRow) -> Role:
    """Return the role of the account that an invitation makes."""
    return Role.VIEWER if invitation["project"] is not None else Role(invitation["role"])


async def use(connection: Connection, invitation: InvitationRow, user: Shown) -> None:
    """Give a new user the membership of an invitation, which works no more then."""
    await _enter_project(connection, invitation, user)
    payload = InvitationAccepted(invitation_id=invitation["id"], email=user["email"], user_id=user["id"])
    event = NewEvent(payload, subject=str(invitation["id"]), actor=Actor(user["id"], user["email"]))
    await repository.delete(connection, invitation["id"], event)


async def forget_old(database: Database) -> None:
    """Delete the invitations that expired long ago."""
    async with database.connection() as connection:
        await repository.prune(connection, _SHOWN_FOR)


async def _enter_project(connection: Connection, invitation: InvitationRow, user: Shown) -> None:
    """Make the user a member; of a project that was archived or deleted meanwhile nobody becomes one."""
    key = invitation["project"]
    if key is None or not await projects.lock(connection, key):
        return
    project = await projects.find(connection, key, None)
    if project is None or project["archived"]:
        return
    inviter = invitation["created_by"]
    assert inviter is not None, "only admins invite to projects"
    by = Actor(inviter, (await users.shown(connection, [inviter]))[inviter]["email"])
    payload = MemberChanged(project=key, user_id=user["id"], email=user["email"], role=invitation["role"], before=None)
    row = {"user_id": user["id"], "role": invitation["role"], "since": datetime.now(UTC)}
    await projects.put_member(connection, key, row, project_service.member_event(payload, by))


def _works_no_more() -> Gone:
    return one_time_links.works_no_more("ask whoever invited you")
