"""What events and requests do: tell people, keep the audit log, copy who can be told, mark as read."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from chassis.core.problems import NotFound
from chassis.db.database import Connection
from chassis.messaging.events import Received
from chassis.web.listing import Conditions, Row
from contracts.auth import UserState
from notification_service import repository
from notification_service.entries import Entry, changes
from notification_service.repository import NewNotification, Types
from notification_service.texts import Text


async def tell_actors(connection: Connection, told: Sequence[tuple[Received[Any], Text]]) -> None:
    """Tell each event to the user who triggered it; what the system did by itself is told to nobody."""
    rows = [_notification(event, event.actor.id, text) for event, text in told if event.actor.id is not None]
    if rows:
        await repository.insert_notifications(connection, rows)


async def tell_reviewers(connection: Connection, told: Sequence[tuple[Received[Any], Text]]) -> None:
    """Tell each event to every active user who is reviewer or admin now."""
    await repository.insert_notifications_for_reviewers(
        connection, [_notification(event, None, text) for event, text in told]
    )


def _notification(event: Received[Any], user_id: int | None, text: Text) -> NewNotification:
    return NewNotification(event.id, user_id, text.type, text.title, text.message, text.data, event.time)


async def keep(connection: Connection, entries: Sequence[Entry]) -> None:
    """Keep entries in the audit log."""
    if entries:
        await repository.insert_entries(connection, entries)


async def audit_log(connection: Connection, conditions: Conditions, skip: int, limit: int) -> tuple[list[Row], int]:
    """Return audit entries, newest first, each with the `changes` of its fields, and how many there are."""
    rows, total = await repository.find_entries(connection, conditions, skip, limit)
    for row in rows:
        row["changes"] = changes(row.pop("before"), row.pop("after"))
    return rows, total


async def remember_users(connection: Connection, states: Sequence[tuple[int, UserState]]) -> None:
    """Copy users as they are, each with its place in auth's feed; an older state never replaces a newer one."""
    newest: dict[int, tuple[int, UserState]] = {}
    for sequence, user in states:
        known = newest.get(user.id)
        if known is None or known[0] < sequence:
            newest[user.id] = (sequence, user)
    await repository.upsert_recipients(connection, list(newest.values()))


async def find_notification(connection: Connection, user_id: int, notification_id: int) -> Row:
    """Return a user's own notification; raise NotFound for somebody else's or an unknown one."""
    return _found(await repository.find_notification(connection, user_id, notification_id))


async def mark_read(connection: Connection, user_id: int, notification_id: int) -> Row:
    """Mark a user's own notification read, and return it; one that was read keeps its `read_at`.

    Raises NotFound for somebody else's or an unknown one.
    """
    now = datetime.now(UTC)
    return _found(await repository.mark_read(connection, user_id, notification_id, now))


async def mark_all_read(connection: Connection, user_id: int, types: Types) -> int:
    """Mark everything of a user read, of these types alone when there are any; return how many were unread."""
    return await repository.mark_all_read(connection, user_id, types, datetime.now(UTC))


async def delete_notification(connection: Connection, user_id: int, notification_id: int) -> None:
    """Delete a user's own notification; raise NotFound for somebody else's or an unknown one."""
    if not await repository.delete_notification(connection, user_id, notification_id):
        raise _not_found()


def _found(row: Row | None) -> Row:
    if row is None:
        raise _not_found()
    return row


def _not_found() -> NotFound:
    return NotFound("You have no notification with this id.", code="notification_not_found")
