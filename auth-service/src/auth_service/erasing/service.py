"""Erasing people: the account at once, then all that names them, wherever it is kept."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from auth_service.erasing import repository
from auth_service.users import repository as users
from auth_service.users import service as user_service
from auth_service.users.repository import UserRow
from chassis.core.identity import Role
from chassis.core.problems import Conflict
from chassis.core.projects import ALL
from chassis.db import erasure
from chassis.db.database import Connection, Database, in_another_project
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, Actor, NewEvent
from contracts.auth import Former, UserErased
from contracts.erasure import person
from contracts.routes import consumers_of

AGAIN_AFTER = timedelta(seconds=10)
"""How long a request that the person made just before may be at work.

What a service had told by then is waited for: it says that it received an event only once that has arrived everywhere.
"""


async def erase(
    database: Database,
    user_id: int,
    *,
    actor: Actor,
    password_hash: str,
    check_precondition: Callable[[dict[str, Any]], None],
) -> None:
    """Overwrite an account for good and tell the other services; done already, it does nothing.

    `password_hash` is that of a password which nobody knows.

    Raises NotFound, what `check_precondition` raises, and Conflict last_admin or service_account.
    """
    async with database.transaction() as connection:
        active_admins = await users.lock_active_admins(connection)
        user, now = await user_service.locked(connection, user_id)
        check_precondition(user_service.shown(user))
        if user["email"] == erasure.pseudonym(user_id):
            return
        if not await users.is_person(connection, user_id):
            raise Conflict(
                "This is a service account, which is no person; to end it, delete it among the service accounts of its"
                " project (DELETE /projects/{key}/service-accounts/{user_id}).",
                code="service_account",
            )
        if active_admins == [user_id]:
            raise Conflict("This is the last active admin; make somebody else an admin first.", code="last_admin")
        names = {user["full_name"], *await _names(connection, user_id)}
        former = Former(email=user["email"], full_names=tuple(sorted(names)))
        values: dict[str, Any] = {
            "email": erasure.pseudonym(user_id),
            "full_name": erasure.NAME,
            "password_hash": password_hash,
            "role": Role.VIEWER.value,
            "is_active": False,
            "tokens_not_before": now,
            "access_changed_at": now,
        }
        after: UserRow = {**user, **values}  # type: ignore[typeddict-item]
        by = Actor(actor.id, values["email"]) if actor.id == user_id else actor
        event = NewEvent(UserErased(user=user_service.state(after), former=former), subject=str(user_id), actor=by)
        await users.update(connection, user_id, values, event)
        await repository.forget(connection, user_id, former.email)


async def finish(database: Database) -> None:
    """Tell of each erasure once more, after a while; when everybody has received that, forget who it was here, too."""
    async with database.across() as connection:
        pending = await repository.pending(connection, consumers_of("auth"))
    for user_id in dict.fromkeys(one.event.user.id for one in pending):
        events = [one for one in pending if one.event.user.id == user_id]
        last = events[-1]
        if not last.received:
            continue
        if last.event.again:
            await _forget(database, last.event)
        elif datetime.now(UTC) - last.time >= AGAIN_AFTER:
            again = NewEvent(last.event.model_copy(update={"again": True}), subject=str(user_id), actor=SYSTEM)
            async with database.transaction() as connection:
                await outbox.record(connection, [again])


async def _names(connection: Connection, user_id: int) -> list[str]:
    async with in_another_project(connection, ALL):
        return await repository.names_of(connection, user_id)


async def _forget(database: Database, event: UserErased) -> None:
    assert event.former is not None
    async with database.transaction() as connection:
        async with in_another_project(connection, ALL):
            await repository.forget_former(connection, event.user.id)
        await erasure.erase(connection, person(event.user.id, event.former))
