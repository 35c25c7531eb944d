"""Making and changing users; each change with its event in the caller's transaction."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from auth_service.users import repository
from auth_service.users.repository import UserRow
from chassis.core.identity import Role
from chassis.core.problems import Conflict, NotFound
from chassis.db import erasure
from chassis.db.database import Connection, Database, map_constraint_violations
from chassis.messaging.events import Actor, NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest
from contracts.auth import UserCreated, UserState, UserUpdated

_SHOWN = ("id", "email", "full_name", "role", "is_active", "created_at")

Shown = dict[str, Any]
"""A user as the API shows one."""


async def create(
    connection: Connection,
    *,
    email: str,
    full_name: str,
    role: Role,
    password_hash: str,
    actor: Actor | Literal["themself"],
    must_change_password: bool = False,
) -> Shown:
    """Make a user, with one writing statement.

    Raises Conflict email_taken when the email has an account, or somebody with it is being erased.

    `must_change_password`: somebody else chose it, and the user has to choose another before anything else.
    """
    await check_not_being_erased(connection, email)
    shown: Shown = {
        "id": await repository.next_id(connection),
        "email": email,
        "full_name": full_name,
        "role": role.value,
        "is_active": True,
        "created_at": datetime.now(UTC),
    }
    event = NewEvent(
        UserCreated(user=UserState(**shown, tokens_not_before=None)),
        subject=str(shown["id"]),
        actor=Actor(shown["id"], email) if actor == "themself" else actor,
    )
    secret = {"password_hash": password_hash, "must_change_password": must_change_password}
    taken = Conflict("An account with this email exists already; log in, or use another email.", code="email_taken")
    with map_constraint_violations({"uq_users_email": taken}):
        await repository.insert(connection, {**shown, **secret}, event)
    return shown


async def check_not_being_erased(connection: Connection, email: str) -> None:
    """Raise Conflict email_taken while somebody with this email is being erased: what has it until then loses it."""
    if await repository.is_being_erased(connection, email):
        raise Conflict(
            "Somebody with this email is being erased; try again in some minutes, or use another email.",
            code="email_taken",
        )


async def find_page(database: Database, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of users, as they are shown."""
    async with database.connection() as connection:
        return await repository.find_page(connection, conditions, wanted)


async def find(database: Database, ids: Sequence[int]) -> dict[int, Shown]:
    """Return the users of these ids, by id."""
    async with database.connection() as connection:
        return await repository.shown(connection, ids)


async def get(database: Database, user_id: int) -> Shown:
    """Return a user; raise NotFound."""
    found = await find(database, [user_id])
    if user_id not in found:
        raise not_found()
    return found[user_id]


async def change(
    database: Database,
    user_id: int,
    fields: Mapping[str, Any],
    *,
    actor: Actor,
    check_precondition: Callable[[Shown], None],
) -> Shown:
    """Change `role`, `is_active` or `full_name` of a user and return the user as they are then.

    A deactivation also ends the user's tokens and links, so that they stay ended should the account come back.
    Raises NotFound, what `check_precondition` raises when given the user as shown before, and Conflict
    last_admin, erased, or service_account for the role of one.
    """
    loses_admin = fields.get("role", Role.ADMIN) != Role.ADMIN or fields.get("is_active") is False
    async with database.transaction() as connection:
        # Taken before the user's own lock: two admins who demote each other wait here, not for one another.
        active_admins = await repository.lock_active_admins(connection) if loses_admin else []
        user, now = await locked(connection, user_id)
        check_precondition(shown(user))
        changes = {
            name: {"before": user[name], "after": value}  # type: ignore[literal-required]
            for name, value in fields.items()
            if user[name] != value  # type: ignore[literal-required]
        }
        if not changes:
            return shown(user)
        if user["email"] == erasure.pseudonym(user_id):
            raise Conflict("This person was erased, and nobody uses the account again; make another.", code="erased")
        if loses_admin and active_admins == [user_id]:
            raise Conflict("This is the last active admin; make somebody else an admin first.", code="last_admin")
        if "role" in changes and not await repository.is_person(connection, user_id):
            raise Conflict(
                "This is a service account, which has a role in its own project alone; change it among the members of"
                " the project (PUT /projects/{key}/members/{user_id}).",
                code="service_account",
            )
        return shown(await _store(connection, user, changes, now, actor))


async def deactivate(connection: Connection, user_id: int, actor: Actor) -> None:
    """Have nobody use an account any more, which ends its tokens, in the caller's transaction; raise NotFound."""
    user, now = await locked(connection, user_id)
    if user["is_active"]:
        await _store(connection, user, {"is_active": {"before": True, "after": False}}, now, actor)


async def _store(
    connection: Connection, user: UserRow, changes: Mapping[str, Mapping[str, Any]], now: datetime, actor: Actor
) -> UserRow:
    """Store changes of a locked user, with what they mean for tokens, and tell of them; return the user after that."""
    values = {name: change["after"] for name, change in changes.items()}
    if not changes.keys().isdisjoint({"role", "is_active"}):
        values["access_changed_at"] = now
    if values.get("is_active") is False:
        values["tokens_not_before"] = now
        await repository.end_links(connection, user["id"])
    after: UserRow = {**user, **values}  # type: ignore[typeddict-item]
    event = NewEvent(UserUpdated(user=state(after), changes=changes), subject=str(user["id"]), actor=actor)
    await repository.update(connection, user["id"], values, event)
    return after


async def locked(connection: Connection, user_id: int) -> tuple[UserRow, datetime]:
    """Lock a user until the transaction ends; see repository.lock. Raises NotFound."""
    found = await repository.lock(connection, user_id)
    if found is None:
        raise not_found()
    return found


def shown(user: UserRow) -> Shown:
    """Return a user as the API shows one."""
    return {name: user[name] for name in _SHOWN}  # type: ignore[literal-required]


def state(user: UserRow) -> UserState:
    """Return a user as events tell of one."""
    return UserState.model_validate(user)


def not_found() -> NotFound:
    """The problem of an id that no user has."""
    return NotFound("There is no user with this id.", code="user_not_found")
