"""The SQL of this service."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from chassis.core import projects
from chassis.db import erasure
from chassis.db.database import Connection, Database
from chassis.db.erasure import Person
from chassis.db.rows import fetch_column, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order, Values
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page, fetch_page_and_counts
from chassis.web.parameters import Choice
from contracts.auth import UserState
from notification_service.entries import Entry
from notification_service.project_repository import MAY_SEE, REVIEWS
from notification_service.vocabulary import NotificationType

Types = Choice[NotificationType] | None

_NOTIFICATION = (
    "id, project_id AS project, type, title, message, data, read_at IS NOT NULL AS read, read_at, created_at"
)
_ENTRY = (
    "id, occurred_at, actor, actor_id, action, resource_type, resource_id, resource_title, summary,"
    " before, after, details, request_id, gateway_request_id, resource_ids"
)
NEWEST_ENTRY = Order("occurred_at:desc", (By("occurred_at", datetime, True), By("id", int, True)))
NEWEST_NOTIFICATION = Order("created_at:desc", (By("created_at", datetime, True), By("id", int, True)))
_ACTIVITY = "id, occurred_at, actor, actor_id, action, resource_type, resource_id, resource_title, summary"
_VISIBLE = MAY_SEE.format(project="{table}.project_id", user="{table}.user_id")
_INSERT = """
    INSERT INTO notifications (event_id, user_id, type, title, message, data, created_at, read_at)
    SELECT * FROM json_to_recordset(%s::json) AS n (event_id uuid, user_id bigint, type text, title text,
        message text, data json, created_at timestamptz, read_at timestamptz)
"""


@dataclass(slots=True)
class NewNotification:
    """A notification to be stored, once for its event and user; without a user: for everyone who reviews.

    What all events of one request are told by has an `event_id` of its own. `read_at` is set from the start for who
    has seen it before it was told.
    """

    event_id: UUID
    user_id: int | None
    type: str
    title: str
    message: str
    data: dict[str, Any]
    created_at: datetime
    read_at: datetime | None = None


@contextmanager
def of_person() -> Iterator[None]:
    """Work within on what belongs to a person: in the caller's project, or in all of them where that is none.

    Whatever is asked then names the person, and is narrowed to what they may see.
    """
    if projects.current.get() == projects.NONE:
        with projects.across():
            yield
    else:
        yield


def seen(table: str) -> str:
    """Return the condition on rows of a table that their user may see their project; the gateway has said so of one."""
    return _VISIBLE.format(table=table) if projects.current.get() == projects.ALL else "true"


async def insert_notifications(connection: Connection, notifications: Sequence[NewNotification]) -> None:
    """Store notifications, each once for its event and user."""
    await connection.execute(f"{_INSERT} ON CONFLICT (event_id, user_id) DO NOTHING", (_records(notifications),))


async def lock_data(connection: Connection, keys: Sequence[tuple[UUID, int]]) -> dict[tuple[UUID, int], dict[str, Any]]:
    """Return, of those of these (event, user) that there is a notification of, its data; it stays as it is."""
    cursor = await connection.execute(
        "SELECT event_id, user_id, data FROM notifications JOIN unnest(%s::uuid[], %s::bigint[])"
        " AS asked (event_id, user_id) USING (event_id, user_id) ORDER BY id FOR UPDATE OF notifications",
        ([event_id for event_id, _ in keys], [user_id for _, user_id in keys]),
    )
    return {(row["event_id"], row["user_id"]): row["data"] for row in await cursor.fetchall()}


async def put_notifications(connection: Connection, notifications: Sequence[NewNotification]) -> None:
    """Store notifications; one of the same event and user is replaced, and unread."""
    await connection.execute(
        f"{_INSERT} ON CONFLICT (event_id, user_id) DO UPDATE SET title = excluded.title, message = excluded.message,"
        " data = excluded.data, created_at = excluded.created_at, read_at = NULL",
        (_records(notifications),),
    )


async def insert_notifications_for_reviewers(connection: Connection, notifications: Sequence[NewNotification]) -> None:
    """Store notifications, each for everybody active who may review in the project, once for its event and user."""
    await connection.execute(
        f"""
        INSERT INTO notifications (event_id, user_id, type, title, message, data, created_at)
        SELECT n.event_id, r.user_id, n.type, n.title, n.message, n.data, n.created_at
        FROM json_to_recordset(%s::json) AS n (
            event_id uuid, type text, title text, message text, data json, created_at timestamptz)
        CROSS JOIN recipients r JOIN projects p ON p.key = %s
        LEFT JOIN members m ON m.project_key = p.key AND m.user_id = r.user_id
        WHERE {REVIEWS}
        ON CONFLICT (event_id, user_id) DO NOTHING
        """,
        (_records(notifications), projects.current.get()),
    )


async def delete_notifications_of_reviews(
    connection: Connection, user_id: int, suggestions: Sequence[UUID], reviews: Mapping[UUID, int], since: datetime
) -> None:
    """Delete what a user was told since a moment of their own reviews: each of one of these `suggestions`.

    Or of as many at once as `reviews` says.
    """
    await connection.execute(
        """
        DELETE FROM notifications
        WHERE user_id = %(user_id)s AND type = %(type)s AND created_at >= %(since)s
            AND (data ->> 'suggestion_id' = ANY(%(suggestions)s)
                OR (data ->> 'review_id', (data ->> 'accepted')::bigint + (data ->> 'rejected')::bigint)
                    IN (SELECT * FROM unnest(%(reviews)s::text[], %(counts)s::bigint[])))
        """,
        {
            "user_id": user_id,
            "type": NotificationType.SUGGESTION_REVIEWED,
            "since": since,
            "suggestions": [str(one) for one in suggestions],
            "reviews": [str(one) for one in reviews],
            "counts": list(reviews.values()),
        },
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


async def names_in_entries(connection: Connection, user_id: int) -> list[str]:
    """Return every full name of a user that the audit log has; the feed, which is pruned, may have fewer."""
    return await fetch_column(
        connection,
        "SELECT DISTINCT name FROM audit_entries"
        " CROSS JOIN LATERAL (VALUES (before ->> 'full_name'), (after ->> 'full_name')) called (name)"
        " WHERE resource_type = 'user' AND resource_id = %s AND name IS NOT NULL ORDER BY name",
        (str(user_id),),
    )


async def erase_from_entries(connection: Connection, person: Person) -> list[int]:
    """Take a person out of all audit entries; return the ids of those that named them."""
    return await fetch_column(
        connection,
        "SELECT entry_id FROM erase_from_audit_entries(%s, %s, %s::text, %s) ORDER BY 1",
        (erasure.pattern(person.email), person.pseudonym, erasure.pattern_of_names(person.names), erasure.NAME),
    )


async def insert_entries(connection: Connection, entries: Sequence[Entry]) -> None:
    """Store audit entries."""
    await connection.execute(
        """
        INSERT INTO audit_entries (occurred_at, actor, actor_id, action, resource_type, resource_id,
                                   resource_title, summary, before, after, details, request_id, gateway_request_id,
                                   resource_ids, batch_id, item_ids)
        SELECT * FROM json_to_recordset(%s::json) AS e (
            occurred_at timestamptz, actor text, actor_id bigint, action text, resource_type text, resource_id text,
            resource_title text, summary text, before json, after json, details json, request_id text,
            gateway_request_id text, resource_ids text[], batch_id uuid, item_ids text[])
        """,
        (_records(entries),),
    )


def _records(rows: Sequence[object]) -> str:
    return orjson.dumps(rows, option=orjson.OPT_UTC_Z).decode()


async def find_notifications(
    connection: Connection, conditions: Conditions, wanted: PageRequest, *, unread_only: bool
) -> tuple[Fetched, int]:
    """Return a page of a user's notifications, and how many are unread of all.

    `conditions` are those of a NotificationQuery.
    """
    counted = (
        "SELECT coalesce(sum({0}), 0)::bigint FROM notification_counts WHERE user_id = %(user_id)s"
        f" AND {seen('notification_counts')}"
    )
    total = counted.format("unread" if unread_only else "total")
    if conditions.narrowed:
        total = f"SELECT count(*) FROM notifications {conditions.where}"
    counts = f"SELECT ({total}) AS total, ({counted.format('unread')}) AS unread"
    found, counted_all = await fetch_page_and_counts(
        connection, counts, _NOTIFICATION, "notifications", conditions, wanted
    )
    return found, counted_all["unread"]


async def unread_counts(database: Database, user_ids: list[int]) -> Mapping[int, int]:
    """Return how many notifications each of these users has not read; a user who never had any is left out.

    Those of the project; in none, of all that the user may see.
    """
    with of_person():
        async with database.connection() as connection:
            return await _unread_counts(connection, user_ids)


async def _unread_counts(connection: Connection, user_ids: list[int]) -> Mapping[int, int]:
    cursor = await connection.execute(
        "SELECT user_id, sum(unread)::bigint AS unread FROM notification_counts"
        f" WHERE user_id = ANY(%s) AND {seen('notification_counts')} GROUP BY user_id",
        (user_ids,),
    )
    return {row["user_id"]: row["unread"] for row in await cursor.fetchall()}


async def find_notification(connection: Connection, user_id: int, notification_id: int) -> Row | None:
    """Return a user's own notification, or None."""
    cursor = await connection.execute(
        f"SELECT {_NOTIFICATION} FROM notifications WHERE id = %s AND user_id = %s AND {seen('notifications')}",
        (notification_id, user_id),
    )
    return await cursor.fetchone()


async def mark_read(connection: Connection, user_id: int, notification_id: int, now: datetime) -> Row | None:
    """Mark a user's own notification read unless it was, and return it, or None."""
    cursor = await connection.execute(
        "UPDATE notifications SET read_at = coalesce(read_at, %s)"
        f" WHERE id = %s AND user_id = %s AND {seen('notifications')} RETURNING {_NOTIFICATION}",
        (now, notification_id, user_id),
    )
    return await cursor.fetchone()


async def mark_all_read(connection: Connection, user_id: int, types: Types, now: datetime) -> int:
    """Mark everything of a user read, of these types alone when there are any; return how many were unread."""
    conditions = Conditions("user_id = %(user_id)s", "read_at IS NULL", seen("notifications"), user_id=user_id)
    conditions.choose("type", types)
    cursor = await connection.execute(
        f"UPDATE notifications SET read_at = %(now)s {conditions.where}", {**conditions.parameters, "now": now}
    )
    return cursor.rowcount


async def delete_notification(connection: Connection, user_id: int, notification_id: int) -> bool:
    """Delete a user's own notification; return whether there was one."""
    cursor = await connection.execute(
        f"DELETE FROM notifications WHERE id = %s AND user_id = %s AND {seen('notifications')}",
        (notification_id, user_id),
    )
    return cursor.rowcount == 1


async def find_entries(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of audit entries."""
    total = None if conditions.narrowed else "SELECT coalesce(sum(total), 0)::bigint FROM audit_entry_counts"
    return await fetch_page(connection, _ENTRY, "audit_entries", conditions, wanted, total)


async def find_entries_behind(
    connection: Connection, conditions: Conditions, after: Values | None, limit: int
) -> list[Row]:
    """Return the audit entries behind a position, the newest first."""
    wanted = PageRequest(NEWEST_ENTRY, limit, after=after)
    cursor = await connection.execute(
        wanted.rows("audit_entries", conditions, _ENTRY), {**conditions.parameters, **wanted.parameters}
    )
    return (await cursor.fetchall())[:limit]


async def chain_state(connection: Connection) -> Row:
    """Return how many entries of the project have a seal and how many have none yet, and when the last was made."""
    cursor = await connection.execute(
        """
        SELECT (SELECT count(*) FROM audit_seals) AS entries,
               (SELECT count(*) FROM audit_entries WHERE id > (SELECT position FROM audit_sealing)) AS unsealed,
               (SELECT e.occurred_at FROM audit_seals s JOIN audit_entries e ON e.id = s.entry_id
                ORDER BY s.place DESC LIMIT 1) AS sealed_at
        """
    )
    row = await cursor.fetchone()
    assert row is not None, "a query without FROM has a row"
    return row


async def imports_of(connection: Connection, item_id: str) -> list[str]:
    """Return the ids of the imports that have changed an item or its links."""
    return await fetch_column(
        connection,
        "SELECT DISTINCT batch_id::text FROM audit_entries"
        " WHERE (resource_id = %(item)s OR item_ids && ARRAY[%(item)s]) AND batch_id IS NOT NULL",
        {"item": item_id},
    )


async def kept_since(connection: Connection) -> datetime | None:
    """Return when the oldest entry of the project was made, if older ones have been removed."""
    kept: datetime | None = await fetch_value(
        connection,
        "SELECT coalesce((SELECT min(occurred_at) FROM audit_entries), removed_at) FROM audit_anchors",
        (),
    )
    return kept


async def find_activity(
    connection: Connection, since: datetime | None, conditions: Conditions, wanted: PageRequest
) -> Fetched:
    """Return a page of the work on items since then; nothing about accounts.

    `conditions` are those of an ActivityQuery since the same moment.
    """
    total = None
    if since is not None and not conditions.narrowed:
        # Whole hours are counted already: what is left to count is the rest of the first.
        next_hour = since.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        conditions.parameters["next_hour"] = next_hour
        total = f"""
            SELECT (SELECT coalesce(sum(activity), 0)::bigint FROM audit_entry_counts WHERE hour >= %(next_hour)s)
                 + (SELECT count(*) FROM audit_entries {conditions.where} AND occurred_at < %(next_hour)s)
        """
    return await fetch_page(connection, _ACTIVITY, "audit_entries", conditions, wanted, total)
