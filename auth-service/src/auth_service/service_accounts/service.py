"""Making and deleting service accounts, and their tokens, for admins of a project; each change in one transaction."""

import secrets
from collections.abc import Mapping
from typing import Any

from auth_service.api_tokens import repository as token_repository
from auth_service.api_tokens import service as api_tokens
from auth_service.api_tokens.schemas import NewApiToken
from auth_service.projects import repository as projects
from auth_service.projects import service as project_service
from auth_service.service_accounts import repository
from auth_service.service_accounts.schemas import NewServiceAccount
from auth_service.users import service as user_service
from auth_service.users.emails import SERVICE_ACCOUNTS
from auth_service.users.service import Shown
from chassis.core.identity import Identity, Role
from chassis.core.problems import Conflict, Forbidden, NotFound
from chassis.db.database import Connection, Database, map_constraint_violations
from chassis.messaging.events import actor_of
from chassis.web.listing import Fetched, PageRequest, Row
from contracts.auth import MemberChanged, MemberRemoved


async def create(connection: Connection, key: str, new: NewServiceAccount, password_hash: str, caller: Identity) -> Row:
    """Make a service account, whose password nobody has; raise NotFound, Forbidden, Conflict name_taken."""
    async with connection.transaction():
        await project_service.locked(connection, key, caller)
        email = f"{new.name}-{secrets.token_hex(3)}@{key.lower()}.{SERVICE_ACCOUNTS}"
        user = await user_service.create(
            connection,
            email=email,
            full_name=f"{new.name} ({key})",
            role=Role.VIEWER,
            password_hash=password_hash,
            actor=actor_of(caller),
        )
        payload = MemberChanged(project=key, user_id=user["id"], email=email, role=new.role.value, before=None)
        member = {"user_id": user["id"], "role": new.role.value, "since": user["created_at"]}
        await projects.put_member(connection, key, member, project_service.member_event(payload, actor_of(caller)))
        row = {
            "user_id": user["id"],
            "project_key": key,
            "name": new.name,
            "created_at": user["created_at"],
            "created_by": caller.id,
        }
        taken = Conflict(
            f"The project has a service account {new.name} already; choose another name.", code="name_taken"
        )
        with map_constraint_violations({"ix_service_accounts_name": taken}):
            await repository.insert(connection, row)
    return {
        "id": user["id"],
        "name": new.name,
        "email": email,
        "role": new.role,
        "created_at": user["created_at"],
        "created_by": caller.id,
    }


async def find_page(database: Database, key: str, caller: Identity, wanted: PageRequest) -> Fetched:
    """Return one page of the service accounts of a project; raise NotFound, Forbidden."""
    await _check_admin(database, key, caller)
    async with database.connection() as connection:
        return await repository.find_page(connection, repository.of_project(key), wanted)


async def delete(database: Database, key: str, user_id: int, caller: Identity) -> None:
    """End a service account with its tokens; raise NotFound, Forbidden."""
    async with database.transaction() as connection:
        await project_service.locked(connection, key, caller)
        account = await _found(connection, key, user_id)
        await user_service.deactivate(connection, user_id, actor_of(caller))
        payload = MemberRemoved(project=key, user_id=user_id, email=account["email"], before=account["role"])
        await projects.remove_member(connection, key, user_id, project_service.member_event(payload, actor_of(caller)))
        await repository.delete(connection, user_id)


async def create_token(
    connection: Connection, key: str, user_id: int, token: str, new: NewApiToken, caller: Identity
) -> Shown:
    """Store a token of a service account, for its project alone; raise NotFound, Forbidden, Conflict."""
    async with connection.transaction():
        await project_service.locked(connection, key, caller)
        account = await _found(connection, key, user_id)
        return await api_tokens.create(
            connection,
            Identity(user_id, account["email"], Role.VIEWER),
            token,
            name=new.name,
            scopes=new.scopes,
            projects=[key],
            expires_at=new.ends_at,
            actor=actor_of(caller),
        )


async def find_tokens(database: Database, key: str, user_id: int, caller: Identity, wanted: PageRequest) -> Fetched:
    """Return one page of the tokens of a service account; raise NotFound, Forbidden."""
    await _check_admin(database, key, caller)
    async with database.connection() as connection:
        await _found(connection, key, user_id)
        return await token_repository.find_page(connection, token_repository.working_of(user_id), wanted)


async def revoke_token(database: Database, key: str, user_id: int, token_id: int, caller: Identity) -> None:
    """End a token of a service account; raise NotFound, Forbidden."""
    await _check_admin(database, key, caller)
    async with database.connection() as connection:
        account = await _found(connection, key, user_id)
    owner = Identity(user_id, account["email"], Role.VIEWER)
    await api_tokens.revoke(database, owner, token_id, actor=actor_of(caller))


async def _check_admin(database: Database, key: str, caller: Identity) -> None:
    project = await project_service.get(database, key, caller)
    if project["role"] is not Role.ADMIN:
        raise Forbidden(
            "This needs the role admin in this project; ask one of its admins to change yours.", code="role_too_low"
        )


async def _found(connection: Connection, key: str, user_id: int) -> Mapping[str, Any]:
    account = await repository.find(connection, key, user_id)
    if account is None:
        raise NotFound("The project has no service account with this id.", code="service_account_not_found")
    return account
