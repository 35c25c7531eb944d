"""The SQL of this service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from chassis.database import Connection, Database
from chassis.http.paging import Choice
from contracts.auth import UserState
from notification_service.entries import Entry

Row = dict[str, Any]

_NOTIFICATION = "id, type, title, message, data, read_at IS NOT NULL AS read, read_at, created_at"
_ENTRY = (
    "id, occurred_at, actor, actor_id, action, resource_type, resource_id, resource_title, summary,"
    " before, after, details, request_id"
)
_ACTIVITY = "id, occurred_at, actor, actor_id, action, resource_type, resource_id, resource_title, summary"


@dataclass(slots=True)
class NewNotification:
    """A notification to be stored, once for its event and user; without a user: for everyone who reviews."""

    event_id: UUID
    user_id: int | None
    type: str
    title: str
    message: str
    data: dict[str, Any]
    created_at: datetime


async def insert_notifications(connection: Connection, notifications: Sequence[NewNotification]) -> None:
    """Store notifications, each once for its event and user."""
    await connection.execute(
        """
        INSERT INTO notifications (event_id, user_id, type, title, message, data, created_at)
        SELECT * FROM json_to_recordset(%s::json) AS n (
            event_id uuid, user_id bigint, type text, title text, message text, data json, created_at timestamptz)
        ON CONFLICT (event_id, user_id) DO NOTHING
        """,
        (_records(notifications),),
    )


async def insert_notifications_for_reviewers(connection: Connection, notifications: Sequence[NewNotification]) -> None:
    """Store notifications, each for every active reviewer and admin, once for its event and user."""
    await connection.execute(
        """
        INSERT INTO notifications (event_id, user_id, type, title, message, data, created_at)
        SELECT n.event_id, recipients.user_id, n.type, n.title, n.message, n.data, n.created_at
        FROM json_to_recordset(%s::json) AS n (
            event_id uuid, type text, title text, message text, data json, created_at timestamptz)
        CROSS JOIN recipients
        WHERE recipients.is_active AND recipients.role IN ('reviewer', 'admin')
        ON CONFLICT (event_id, user_id) DO NOTHING
        """,
        (_records(notifications),),
    )


async def upsert_recipients(connection: Connection, users: Sequence[tuple[int, UserState]]) -> None:
    """Store users, each with its place in auth's feed; what is known from a later place stays."""
    await connection.execute(
        """
        INSERT INTO recipients (user_id, email, full_name, role, is_active, sequence)
        SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::boolean[], %s::bigint[])
        ON CONFLICT (user_id) DO UPDATE SET
            email = excluded.email, full_name = excluded.full_name, role = excluded.role,
            is_active = excluded.is_active, sequence = excluded.sequence
        WHERE recipients.sequence < excluded.sequence
        """,
        (
            [user.id for _, user in users],
            [user.email for _, user in users],
            [user.full_name for _, user in users],
            [user.role for _, user in users],
            [user.is_active for _, user in users],
            [sequence for sequence, _ in users],
        ),
    )


async def insert_entries(connection: Connection, entries: Sequence[Entry]) -> None:
    """Store audit entries."""
    await connection.execute(
        """
        INSERT INTO audit_entries (occurred_at, actor, actor_id, action, resource_type, resource_id,
                                   resource_title, summary, before, after, details, request_id)
        SELECT * FROM json_to_recordset(%s::json) AS e (
            occurred_at timestamptz, actor text, actor_id bigint, action text, resource_type text, resource_id text,
            resource_title text, summary text, before json, after json, details json, request_id text)
        """,
        (_records(entries),),
    )


def _records(rows: Sequence[object]) -> str:
    return orjson.dumps(rows).decode()


@dataclass(frozen=True, slots=True)
class NotificationPage:
    """One page of a user's notifications; `unread_count` counts all of the user's."""

    items: list[Row]
    total: int
    unread_count: int


async def list_notifications(
    connection: Connection, user_id: int, *, unread_only: bool, skip: int, limit: int
) -> NotificationPage:
    """Give a user's notifications, newest first."""
    cursor = await connection.execute(
        f"""
        SELECT counts.*, page.* FROM (
            SELECT coalesce(sum(total), 0)::bigint AS total, coalesce(sum(unread), 0)::bigint AS unread
            FROM notification_counts WHERE user_id = %(user_id)s
        ) AS counts LEFT JOIN LATERAL (
            SELECT {_NOTIFICATION} FROM notifications
            WHERE user_id = %(user_id)s {"AND read_at IS NULL" if unread_only else ""}
            ORDER BY created_at DESC, id DESC LIMIT %(limit)s OFFSET %(skip)s
        ) AS page ON true
        """,
        {"user_id": user_id, "limit": limit, "skip": skip},
    )
    rows = await cursor.fetchall()
    total, unread = rows[0]["total"], rows[0]["unread"]
    items = [row for row in rows if row["id"] is not None]
    for row in items:
        del row["total"], row["unread"]
    return NotificationPage(items, unread if unread_only else total, unread)


async def unread_counts(database: Database, user_ids: list[int]) -> Mapping[int, int]:
    """Give how many notifications each of these users has not read; who never had any is left out."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT user_id, unread FROM notification_counts WHERE user_id = ANY(%s)", (user_ids,)
        )
        return {row["user_id"]: row["unread"] for row in await cursor.fetchall()}


async def find_notification(connection: Connection, user_id: int, notification_id: int) -> Row | None:
    """Give a user's own notification, or None."""
    cursor = await connection.execute(
        f"SELECT {_NOTIFICATION} FROM notifications WHERE id = %s AND user_id = %s",
        (notification_id, user_id),
    )
    return await cursor.fetchone()


async def mark_read(connection: Connection, user_id: int, notification_id: int, now: datetime) -> Row | None:
    """Mark a user's own notification read unless it was, and give it, or None."""
    cursor = await connection.execute(
        "UPDATE notifications SET read_at = coalesce(read_at, %s) WHERE id = %s AND user_id = %s"
        f" RETURNING {_NOTIFICATION}",
        (now, notification_id, user_id),
    )
    return await cursor.fetchone()


async def mark_all_read(connection: Connection, user_id: int, now: datetime) -> int:
    """Mark everything of a user read; give how many were unread."""
    cursor = await connection.execute(
        "UPDATE notifications SET read_at = %s WHERE user_id = %s AND read_at IS NULL", (now, user_id)
    )
    return cursor.rowcount


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries to give: alternatives and exclusions of columns, from `since` to before `until`."""

    actor: Choice[Any] | None = None
    action: Choice[Any] | None = None
    resource_type: Choice[Any] | None = None
    resource_id: Choice[Any] | None = None
    since: datetime | None = None
    until: datetime | None = None

    def condition(self) -> tuple[str, dict[str, Any]]:
        """Give the SQL condition and its parameters."""
        clauses = ["true"]
        values: dict[str, Any] = {}
        for column in ("actor", "action", "resource_type", "resource_id"):
            choice: Choice[Any] | None = getattr(self, column)
            if choice is None:
                continue
            if choice.included:
                or_none = f" OR {column} IS NULL" if "" in choice.included else ""
                clauses.append(f"({column} = ANY(%({column}_in)s::text[]){or_none})")
                values[f"{column}_in"] = list(choice.included)
            if choice.excluded:
                # An entry without the column is one of the excluded only when that is asked for, by an empty text.
                and_some = f" AND {column} IS NOT NULL" if "" in choice.excluded else ""
                clauses.append(f"({column} = ANY(%({column}_out)s::text[])) IS NOT TRUE{and_some}")
                values[f"{column}_out"] = list(choice.excluded)
        if self.since is not None:
            clauses.append("occurred_at >= %(since)s")
            values["since"] = self.since
        if self.until is not None:
            clauses.append("occurred_at < %(until)s")
            values["until"] = self.until
        return " AND ".join(clauses), values


async def list_entries(connection: Connection, chosen: AuditFilter, skip: int, limit: int) -> tuple[list[Row], int]:
    """Give audit entries, newest first, and how many there are."""
    condition, values = chosen.condition()
    total = f"SELECT count(*) FROM audit_entries WHERE {condition}"
    if chosen == AuditFilter():
        total = "SELECT coalesce(sum(total), 0)::bigint FROM audit_entry_counts"
    return await _entries(connection, _ENTRY, condition, values, skip, limit, total)


async def list_activity(connection: Connection, since: datetime, skip: int, limit: int) -> tuple[list[Row], int]:
    """Give the work on items since then, newest first, and how much there is; accounts are nobody's business."""
    condition = "occurred_at >= %(since)s AND resource_type <> 'user'"
    # Whole hours are counted already: what is left to count is the rest of the first.
    total = f"""
        SELECT (SELECT coalesce(sum(activity), 0)::bigint FROM audit_entry_counts WHERE hour >= %(next_hour)s)
             + (SELECT count(*) FROM audit_entries WHERE {condition} AND occurred_at < %(next_hour)s)
    """
    next_hour = since.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return await _entries(
        connection, _ACTIVITY, condition, {"since": since, "next_hour": next_hour}, skip, limit, total
    )


async def _entries(
    connection: Connection, columns: str, condition: str, values: dict[str, Any], skip: int, limit: int, total: str
) -> tuple[list[Row], int]:
    cursor = await connection.execute(
        f"""
        SELECT counted.total, page.* FROM (SELECT ({total}) AS total) AS counted LEFT JOIN LATERAL (
            SELECT {columns} FROM audit_entries WHERE {condition}
            ORDER BY occurred_at DESC, id DESC LIMIT %(limit)s OFFSET %(skip)s
        ) AS page ON true
        """,
        {**values, "limit": limit, "skip": skip},
    )
    rows = await cursor.fetchall()
    found = rows[0]["total"]
    items = [row for row in rows if row["id"] is not None]
    for row in items:
        del row["total"]
    return items, found
