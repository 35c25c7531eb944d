"""Making, changing and deleting projects, and who is a member; each change with its event in the same transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from auth_service.projects import repository
from auth_service.projects.repository import ProjectRow
from auth_service.projects.schemas import NewProject, settings_of
from auth_service.users import repository as users
from auth_service.users import service as user_service
from chassis.core.identity import Identity, Role
from chassis.core.problems import Conflict, Forbidden, Invalid, NotFound
from chassis.core.projects import MAIN
from chassis.db.database import Connection, Database, map_constraint_violations
from chassis.messaging.events import SYSTEM, Actor, NewEvent, actor_of
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row
from contracts.auth import (
    MemberChanged,
    MemberRemoved,
    ProjectArchived,
    ProjectCreated,
    ProjectDeleted,
    ProjectDeletionPlanned,
    ProjectRestored,
    ProjectUpdated,
)
from contracts.projects import DEMO, ProjectState, Visibility, no_such_project, project_archived, role_in

_SHOWN = (
    *("key", "name", "description", "visibility", "archived", "settings"),
    *("created_at", "created_by", "restorable_until"),
)

Check = Callable[[Row], None]
"""Given what is there, as it is shown; raises PreconditionFailed unless a change of it is allowed."""


async def create(connection: Connection, new: NewProject, caller: Identity) -> Row:
    """Make a project, with one writing statement; raise Conflict key_taken or key_used."""
    row = {
        **new.model_dump(mode="json"),
        "archived": False,
        "created_at": datetime.now(UTC),
        "created_by": caller.id,
    }
    if await repository.was_deleted(connection, new.key):
        raise Conflict(
            f"{new.key} was the key of a project that was deleted, and stays its own; choose another.", code="key_used"
        )
    event = NewEvent(ProjectCreated(project=_state(row)), subject=new.key, actor=actor_of(caller))
    taken = Conflict(f"There is a project with the key {new.key} already; choose another.", code="key_taken")
    with map_constraint_violations({"pk_projects": taken}):
        await repository.insert(connection, row, event)
    return _shown({**row, "restorable_until": None, "membership": None}, caller)


async def find_page(
    database: Database,
    narrow: Callable[[Conditions], None],
    wanted: PageRequest,
    caller: Identity,
    *,
    deleted: bool = False,
) -> Fetched:
    """Return one page of the projects that the caller has access to, as they see them.

    `deleted`: of those that can be restored instead; raises Forbidden role_too_low unless the caller may do that.
    """
    if deleted:
        if not caller.may(Role.ADMIN):
            raise Forbidden("Deleted projects are for admins of the installation to see.", code="role_too_low")
        conditions = repository.restorable()
    else:
        conditions = repository.visible_to(None if caller.role is Role.ADMIN else caller.id)
    narrow(conditions)
    async with database.connection() as connection:
        found = await repository.find_page(connection, conditions, wanted, caller.id)
    return found._replace(rows=[_shown(row, caller) for row in found.rows])


async def get(database: Database, key: str, caller: Identity) -> Row:
    """Return a project as the caller sees it; raise NotFound, where they have no access, too."""
    async with database.connection() as connection:
        return _shown(await _found(connection, key, caller), caller)


async def change(database: Database, key: str, fields: Mapping[str, Any], caller: Identity, check: Check) -> Row:
    """Change fields of a project, its settings one by one, and return it as it is then.

    Raises NotFound, Forbidden role_too_low, Conflict project_archived unless it is to leave the archive, and what
    `check` raises.
    """
    async with database.transaction() as connection:
        project = await locked(connection, key, caller, is_writable=fields.get("archived") is False)
        check(_shown(project, caller))
        before: Row = {**project, "settings": settings_of(project["settings"])}
        wanted = dict(fields)
        if "settings" in fields:
            wanted["settings"] = settings_of({**before["settings"], **_dumped(fields["settings"])})
        changes = {
            name: {"before": before[name], "after": value} for name, value in wanted.items() if before[name] != value
        }
        if not changes:
            return _shown(project, caller)
        values = {name: change["after"] for name, change in changes.items()}
        after: Row = {**before, **values}
        kind = ProjectArchived if values.get("archived") else ProjectUpdated
        event = NewEvent(kind(project=_state(after), changes=changes), subject=key, actor=actor_of(caller))
        await repository.update(connection, key, values, event)
        return _shown(after, caller)


async def plan_deletion(
    database: Database, key: str, confirmed: str | None, caller: Identity, check: Check, restorable_for: timedelta
) -> datetime:
    """Have a project that is archived, or the demo's, be there for nobody; `confirmed` is its key once more.

    Returns until when it can be restored. Raises NotFound, Conflict main_project or not_archived, Invalid
    not_confirmed, and what `check` raises.
    """
    async with database.transaction() as connection:
        project = await locked(connection, key, caller, is_writable=True)
        check(_shown(project, caller))
        if key == MAIN:
            raise Conflict("MAIN is the project of whoever names none, and always there.", code="main_project")
        if not project["archived"] and key != DEMO:  # which is there to be tried, and to be gone again
            raise Conflict("Only a project that is archived can be deleted; archive it first.", code="not_archived")
        if confirmed != key:
            detail = f"All of this project will be gone; to confirm that, send ?confirm={key}."
            raise Invalid.field("/query/confirm", detail, "not_confirmed")
        until = datetime.now(UTC) + restorable_for
        payload = ProjectDeletionPlanned(project=_state(project), until=until)
        event = NewEvent(payload, subject=key, actor=actor_of(caller))
        await repository.plan_deletion(connection, key, until, event)
        return until


async def restore(database: Database, key: str, caller: Identity) -> Row:
    """Have a deleted project be there again, with its members, and return it.

    Raises NotFound, of one that can be restored no more, too, and Conflict not_deleted.
    """
    async with database.transaction() as connection:
        project = await repository.lock_deleted(connection, key)
        if project is None:
            await _found(connection, key, caller)
            raise Conflict("This project is not deleted, so there is nothing to restore.", code="not_deleted")
        assert project["restorable_until"] is not None, "it was looked for by that"
        if project["restorable_until"] <= datetime.now(UTC):
            raise no_such_project()
        members = await repository.roles_of_members(connection, key)
        payload = ProjectRestored(project=_state(project), members=members)
        await repository.restore(connection, key, NewEvent(payload, subject=key, actor=actor_of(caller)))
        return _shown(await _found(connection, key, caller), caller)


async def finish_deletions(database: Database) -> None:
    """Delete for good what can be restored no more, and end the service accounts of it: one project a transaction."""
    async with database.connection() as connection:
        due = await repository.due_for_deletion(connection)
    for key in due:
        async with database.transaction() as connection:
            project = await repository.lock_deleted(connection, key)
            if project is not None:
                event = NewEvent(ProjectDeleted(project=_state(project)), subject=key, actor=SYSTEM)
                await repository.delete(connection, key, event)
                await end_service_accounts(connection, SYSTEM)


async def end_service_accounts(connection: Connection, actor: Actor) -> None:
    """Have nobody use the service accounts of projects that are gone."""
    for user_id in await repository.end_service_accounts(connection):
        await user_service.deactivate(connection, user_id, actor)


async def find_members(
    database: Database, key: str, caller: Identity, narrow: Callable[[Conditions], None], wanted: PageRequest
) -> Fetched:
    """Return one page of the members of a project; raise NotFound, and Forbidden unless the caller is its admin."""
    async with database.connection() as connection:
        _check_admin(await _found(connection, key, caller), caller)
        conditions = Conditions("m.project_key = %(key)s", key=key)
        narrow(conditions)
        return await repository.members_page(connection, conditions, wanted)


async def put_member(
    database: Database, key: str, user_id: int, role: Role, caller: Identity, check: Callable[[Row | None], None]
) -> tuple[Row, bool]:
    """Make a user a member of a project, or change their role there; return them, and whether they are new.

    Raises NotFound, Forbidden, Conflict project_archived, last_project_admin or service_account, and what `check`
    raises.
    """
    async with database.transaction() as connection:
        await locked(connection, key, caller)
        user = (await users.shown(connection, [user_id])).get(user_id)
        if user is None:
            raise user_service.not_found()
        before = await repository.member(connection, key, user_id)
        check(before)
        if before is not None and before["role"] == role:
            return before, False
        if (before is None or role is Role.ADMIN) and not await users.is_person(connection, user_id):
            raise Conflict(
                "This is a service account: it is a viewer or a reviewer of its own project, and of no other.",
                code="service_account",
            )
        if before is not None:
            await _check_not_last(connection, key, before, caller)
        since = datetime.now(UTC) if before is None else before["since"]
        row = {
            "user_id": user_id,
            "email": user["email"],
            "full_name": user["full_name"],
            "is_active": user["is_active"],
            "role": role.value,
            "since": since,
        }
        was = None if before is None else before["role"]
        payload = MemberChanged(project=key, user_id=user_id, email=user["email"], role=role.value, before=was)
        await repository.put_member(connection, key, row, member_event(payload, actor_of(caller)))
        return row, before is None


async def remove_member(database: Database, key: str, user_id: int, caller: Identity, check: Check) -> None:
    """Have a user be no member of a project any more.

    Raises NotFound, Forbidden, Conflict project_archived or last_project_admin, and what `check` raises.
    """
    async with database.transaction() as connection:
        await locked(connection, key, caller)
        before = await repository.member(connection, key, user_id)
        if before is None:
            raise NotFound("This user is no member of the project.", code="member_not_found")
        check(before)
        await _check_not_last(connection, key, before, caller)
        payload = MemberRemoved(project=key, user_id=user_id, email=before["email"], before=before["role"])
        await repository.remove_member(connection, key, user_id, member_event(payload, actor_of(caller)))


async def access(database: Database) -> Row:
    """Return what the gateway decides by: all projects, with their members."""
    async with database.connection() as connection:
        return {"projects": await repository.access(connection)}


async def _found(connection: Connection, key: str, caller: Identity) -> ProjectRow:
    project = await _find(connection, key, caller)
    if project is None:
        raise no_such_project()
    return project


async def _find(connection: Connection, key: str, caller: Identity) -> ProjectRow | None:
    """Return a project that the caller has access to."""
    project = await repository.find(connection, key, caller.id)
    return None if project is None or _role(project, caller) is None else project


async def check_access(connection: Connection, keys: Iterable[str], caller: Identity) -> None:
    """Raise NotFound where one of the projects is not there, or the caller has no access to it."""
    for key in keys:
        if await _find(connection, key, caller) is None:
            raise no_such_project(key)


async def highest_role(connection: Connection, caller: Identity, keys: Sequence[str] | None) -> Role | None:
    """Return the highest role that somebody has in one of these projects, None: in any; None where they have none."""
    assert caller.id is not None, "only users are members"
    found = await repository.memberships(connection, caller.id, keys)
    roles = [
        role_in(Visibility(visibility), caller.role, None if membership is None else Role(membership))
        for visibility, membership in found
    ]
    return max((role for role in roles if role is not None), key=lambda role: role.rank, default=None)


async def locked(connection: Connection, key: str, caller: Identity, *, is_writable: bool = False) -> ProjectRow:
    """Return a project that stays as it is until the transaction ends; raise what a change of it is refused with.

    `is_writable`: although it may be archived.
    """
    if not await repository.lock(connection, key):
        raise no_such_project()
    # A statement of its own: it sees what those have changed who held the lock before.
    project = await _found(connection, key, caller)
    _check_admin(project, caller)
    if project["archived"] and not is_writable:
        raise project_archived()
    return project


def _check_admin(project: ProjectRow, caller: Identity) -> None:
    if _role(project, caller) is not Role.ADMIN:
        raise Forbidden(
            "This needs the role admin in this project; ask one of its admins to change yours.", code="role_too_low"
        )


async def _check_not_last(connection: Connection, key: str, member: Row, caller: Identity) -> None:
    """Raise Conflict where a project would lose its last admin; an admin of the installation may do that."""
    if member["role"] != Role.ADMIN or caller.role is Role.ADMIN:
        return
    if not await repository.other_admins(connection, key, member["user_id"]):
        raise Conflict(
            "This is the last admin of the project; make another member its admin first.", code="last_project_admin"
        )


def _role(project: Mapping[str, Any], caller: Identity) -> Role | None:
    membership = project["membership"]
    return role_in(Visibility(project["visibility"]), caller.role, None if membership is None else Role(membership))


def _shown(project: Mapping[str, Any], caller: Identity) -> Row:
    shown = {name: project[name] for name in _SHOWN}
    return {**shown, "settings": settings_of(project["settings"]), "role": _role(project, caller)}


def _state(project: Mapping[str, Any]) -> ProjectState:
    return ProjectState.model_validate({**project, "settings": settings_of(project["settings"])})


def member_event(payload: MemberChanged | MemberRemoved, by: Actor) -> NewEvent:
    """Return the event of a change of a membership."""
    return NewEvent(payload, subject=f"{payload.project}/{payload.user_id}", actor=by)


def _dumped(settings: Mapping[str, Any]) -> Row:
    """Return settings that were sent as they are stored."""
    return {
        name: [one.model_dump(mode="json") for one in value] if isinstance(value, list) else value
        for name, value in settings.items()
    }
