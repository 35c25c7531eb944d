"""The SQL of this service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from chassis.db.database import Connection, Database
from chassis.web.paging import Choice
from contracts.auth import UserState
from notification_service.entries import Entry
from notification_service.vocabulary import NotificationType

Row = dict[str, Any]
Types = Choice[NotificationType] | None

_NOTIFICATION = "id, type, title, message, data, read_at IS NOT NULL AS read, read_at, created_at"
_ENTRY = (
    "id, occurred_at, actor, actor_id, action, resource_type, resource_id, resource_title, summary,"
    " before, after, details, request_id, gateway_request_id, resource_ids"
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
                                   resource_title, summary, before, after, details, request_id, gateway_request_id,
                                   resource_ids)
        SELECT * FROM json_to_recordset(%s::json) AS e (
            occurred_at timestamptz, actor text, actor_id bigint, action text, resource_type text, resource_id text,
            resource_title text, summary text, before json, after json, details json, request_id text,
            gateway_request_id text, resource_ids text[])
        """,
        (_records(entries),),
    )


def _records(rows: Sequence[object]) -> str:
    return orjson.dumps(rows, option=orjson.OPT_UTC_Z).decode()


@dataclass(frozen=True, slots=True)
class NotificationPage:
    """One page of a user's notifications; `unread_count` counts all of the user's."""

    items: list[Row]
    total: int
    unread_count: int


async def list_notifications(
    connection: Connection,
    user_id: int,
    *,
    unread_only: bool,
    types: Types,
    since: datetime | None,
    skip: int,
    limit: int,
) -> NotificationPage:
    """Return a user's notifications, newest first; with `since` those that were made or read from then on."""
    clauses, values = choice_clauses("type", types)
    if since is not None:
        clauses.append("coalesce(read_at, created_at) >= %(since)s")
        values["since"] = since
    condition = " AND ".join(["user_id = %(user_id)s", *(["read_at IS NULL"] if unread_only else []), *clauses])
    # Counted only where nobody keeps the count.
    fitting = f", (SELECT count(*) FROM notifications WHERE {condition}) AS fitting" if clauses else ""
    cursor = await connection.execute(
        f"""
        SELECT counts.*, page.* FROM (
            SELECT coalesce(sum(total), 0)::bigint AS total, coalesce(sum(unread), 0)::bigint AS unread{fitting}
            FROM notification_counts WHERE user_id = %(user_id)s
        ) AS counts LEFT JOIN LATERAL (
            SELECT {_NOTIFICATION} FROM notifications
            WHERE {condition}
            ORDER BY created_at DESC, id DESC LIMIT %(limit)s OFFSET %(skip)s
        ) AS page ON true
        """,
        {**values, "user_id": user_id, "limit": limit, "skip": skip},
    )
    rows = await cursor.fetchall()
    total, unread = rows[0]["total"], rows[0]["unread"]
    fitting_total: int = rows[0]["fitting"] if clauses else unread if unread_only else total
    items = [row for row in rows if row["id"] is not None]
    for row in items:
        del row["total"], row["unread"]
        row.pop("fitting", None)
    return NotificationPage(items, fitting_total, unread)


async def unread_counts(database: Database, user_ids: list[int]) -> Mapping[int, int]:
    """Return how many notifications each of these users has not read; who never had any is left out."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT user_id, unread FROM notification_counts WHERE user_id = ANY(%s)", (user_ids,)
        )
        return {row["user_id"]: row["unread"] for row in await cursor.fetchall()}


async def find_notification(connection: Connection, user_id: int, notification_id: int) -> Row | None:
    """Return a user's own notification, or None."""
    cursor = await connection.execute(
        f"SELECT {_NOTIFICATION} FROM notifications WHERE id = %s AND user_id = %s",
        (notification_id, user_id),
    )
    return await cursor.fetchone()


async def mark_read(connection: Connection, user_id: int, notification_id: int, now: datetime) -> Row | None:
    """Mark a user's own notification read unless it was, and return it, or None."""
    cursor = await connection.execute(
        "UPDATE notifications SET read_at = coalesce(read_at, %s) WHERE id = %s AND user_id = %s"
        f" RETURNING {_NOTIFICATION}",
        (now, notification_id, user_id),
    )
    return await cursor.fetchone()


async def mark_all_read(connection: Connection, user_id: int, types: Types, now: datetime) -> int:
    """Mark everything of a user read, of these types alone when there are any; return how many were unread."""
    clauses, values = choice_clauses("type", types)
    condition = " AND ".join(["user_id = %(user_id)s", "read_at IS NULL", *clauses])
    cursor = await connection.execute(
        f"UPDATE notifications SET read_at = %(now)s WHERE {condition}", {**values, "now": now, "user_id": user_id}
    )
    return cursor.rowcount


async def delete_notification(connection: Connection, user_id: int, notification_id: int) -> bool:
    """Delete a user's own notification; return whether there was one."""
    cursor = await connection.execute(
        "DELETE FROM notifications WHERE id = %s AND user_id = %s", (notification_id, user_id)
    )
    return cursor.rowcount == 1


def choice_clauses(column: str, choice: Choice[Any] | None) -> tuple[list[str], dict[str, Any]]:
    """Return the SQL conditions on a text column that a choice makes, and their parameters."""
    if choice is None:
        return [], {}
    clauses, values = [], {}
    if len(choice.included) == 1 and "" not in choice.included:  # so that an index gives the rows in order
        clauses.append(f"{column} = %({column}_in)s")
        values[f"{column}_in"] = choice.included[0]
    elif choice.included:
        or_none = f" OR {column} IS NULL" if "" in choice.included else ""
        clauses.append(f"({column} = ANY(%({column}_in)s::text[]){or_none})")
        values[f"{column}_in"] = list(choice.included)
    if choice.excluded:
        # A row without the column is one of the excluded only when that is asked for, by an empty text.
        and_some = f" AND {column} IS NOT NULL" if "" in choice.excluded else ""
        clauses.append(f"({column} = ANY(%({column}_out)s::text[])) IS NOT TRUE{and_some}")
        values[f"{column}_out"] = list(choice.excluded)
    return clauses, values


def _resource_clauses(choice: Choice[Any] | None) -> tuple[list[str], dict[str, Any]]:
    """Return the same for `resource_id`; an entry that is about several resources is about each of them."""
    clauses, values = choice_clauses("resource_id", choice)
    if choice is not None and choice.included:
        values["resource_ids_in"] = list(choice.included)
        clauses[0] = f"({clauses[0]} OR resource_ids && %(resource_ids_in)s::text[])"
    if choice is not None and choice.excluded:
        clauses.append("(resource_ids && %(resource_id_out)s::text[]) IS NOT TRUE")
    return clauses, values


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
        """Return the SQL condition and its parameters."""
        clauses = ["true"]
        values: dict[str, Any] = {}
        choices = [
            *(choice_clauses(column, getattr(self, column)) for column in ("actor", "action", "resource_type")),
            _resource_clauses(self.resource_id),
        ]
        for of_column, with_values in choices:
            clauses += of_column
            values |= with_values
        if self.since is not None:
            clauses.append("occurred_at >= %(since)s")
            values["since"] = self.since
        if self.until is not None:
            clauses.append("occurred_at < %(until)s")
            values["until"] = self.until
        return " AND ".join(clauses), values


async def list_entries(connection: Connection, chosen: AuditFilter, skip: int, limit: int) -> tuple[list[Row], int]:
    """Return audit entries, newest first, and how many there are."""
    condition, values = chosen.condition()
    total = f"SELECT count(*) FROM audit_entries WHERE {condition}"
    if chosen == AuditFilter():
        total = "SELECT coalesce(sum(total), 0)::bigint FROM audit_entry_counts"
    return await _entries(connection, _ENTRY, condition, values, skip, limit, total)


async def list_activity(
    connection: Connection, since: datetime, chosen: AuditFilter, skip: int, limit: int
) -> tuple[list[Row], int]:
    """Return the chosen work on items since then, newest first, and how much there is; nothing about accounts."""
    condition, values = replace(chosen, since=since).condition()
    condition += " AND resource_type <> 'user'"
    if chosen != AuditFilter():
        total = f"SELECT count(*) FROM audit_entries WHERE {condition}"
        return await _entries(connection, _ACTIVITY, condition, values, skip, limit, total)
    # Whole hours are counted already: what is left to count is the rest of the first.
    total = f"""
        SELECT (SELECT coalesce(sum(activity), 0)::bigint FROM audit_entry_counts WHERE hour >= %(next_hour)s)
             + (SELECT count(*) FROM audit_entries WHERE {condition} AND occurred_at < %(next_hour)s)
    """
    next_hour = since.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return await _entries(connection, _ACTIVITY, condition, {**values, "next_hour": next_hour}, skip, limit, total)


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
