"""What events and requests do: notify users, write the audit log, copy auth's users, mark as read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from chassis.core import projects
from chassis.core.identity import Identity
from chassis.core.problems import NotFound
from chassis.core.projects import ALL, MAIN
from chassis.core.turns import take_turns
from chassis.db import erasure as db_erasure
from chassis.db import sealing
from chassis.db.database import Connection, Database, in_another_project
from chassis.db.sealing import Erased
from chassis.messaging import removal
from chassis.messaging.events import Received
from chassis.web.keyset import Values
from chassis.web.listing import Fetched, PageRequest, Row
from contracts import erasure, suggestion
from contracts.auth import (
    MemberChanged,
    MemberRemoved,
    ProjectDeleted,
    ProjectDeletionPlanned,
    UserErased,
    UserState,
)
from contracts.projects import ProjectState
from notification_service import account_entries, audit_keeping, project_repository, repository, texts
from notification_service.entries import Entry, changes
from notification_service.queries import ActivityQuery, AuditQuery, NotificationQuery
from notification_service.repository import NewNotification, Types
from notification_service.texts import Text

_AUDIT = ("audit_entries", "audit_seals", "audit_heads", "audit_anchors")
"""What no service may delete from."""
REQUESTS = UUID("6b1c0f0a-8f0e-4d53-9d0b-6f2f1a3c5e77")
"""The namespace of what stands for all events of one request."""
_CLOCKS_DIFFER = timedelta(minutes=1)


async def notify_actors(connection: Connection, written: Sequence[tuple[Received[Any], Text]]) -> None:
    """Notify the user who triggered each event; none is notified of what the system did by itself.

    What they did in the page they have seen: of that they are told as of something read.
    """
    rows = [
        _notification(event, event.actor.id, text, read=event.actor.at_page)
        for event, text in written
        if event.actor.id is not None
    ]
    if rows:
        await repository.insert_notifications(connection, rows)


async def notify_reviewers(connection: Connection, written: Sequence[tuple[Received[Any], Text]]) -> None:
    """Notify every active user who is reviewer or admin now of each event."""
    await repository.insert_notifications_for_reviewers(
        connection, [_notification(event, None, text) for event, text in written]
    )


async def notify_of_suggestions(
    connection: Connection, events: Sequence[Received[suggestion.ItemSuggestionsGenerated]]
) -> None:
    """Notify who changed items of new suggestions for them: once a request, however many items it changed.

    What is found later adds to what was told, which is then unread again.
    """
    found: dict[tuple[UUID, int], list[Received[suggestion.ItemSuggestionsGenerated]]] = {}
    for event in events:
        if event.actor.id is not None and event.data.suggestions_created:
            source_id = uuid5(REQUESTS, _request_of(event)) if event.correlation_id else event.id
            found.setdefault((source_id, event.actor.id), []).append(event)
    earlier = await repository.lock_data(connection, list(found)) if found else {}
    rows = []
    for (source_id, user_id), together in found.items():
        text = texts.suggestions_found([event.data for event in together], earlier.get((source_id, user_id), {}))
        rows.append(replace(_notification(together[-1], user_id, text), event_id=source_id))
    if rows:
        await repository.put_notifications(connection, rows)


def _request_of(event: Received[Any]) -> str:
    """Name the request of an event within its project: callers choose what they call their requests."""
    return event.correlation_id if event.project == MAIN else f"{event.project} {event.correlation_id}"


async def take_back_reviews(connection: Connection, events: Sequence[Received[suggestion.SuggestionsReopened]]) -> None:
    """Delete what somebody was told of reviews that they have undone themselves: nothing of it holds any more."""
    for event in events:
        own = [one for one in event.data.suggestions if one.reviewed_by == event.actor.email and one.reviewed_at]
        if event.actor.id is None or not own:
            continue
        reviews = Counter(one.review_id for one in own if one.review_id is not None)
        since = min(one.reviewed_at for one in own if one.reviewed_at) - _CLOCKS_DIFFER
        await repository.delete_notifications_of_reviews(
            connection, event.actor.id, [one.id for one in own], reviews, since
        )


def _notification(event: Received[Any], user_id: int | None, text: Text, *, read: bool = False) -> NewNotification:
    read_at = event.time if read else None
    return NewNotification(event.id, user_id, text.type, text.title, text.message, text.data, event.time, read_at)


async def write_audit_log(connection: Connection, entries: Sequence[Entry]) -> None:
    """Add entries to the audit log."""
    if entries:
        await repository.insert_entries(connection, entries)


async def find_audit_entries(database: Database, reader: Identity, query: AuditQuery, wanted: PageRequest) -> Fetched:
    """Return a page of the audit entries that the reader may see, each with the `changes` of its fields."""
    conditions = query.conditions(reader)
    async with database.connection() as connection:
        found = await repository.find_entries(connection, conditions, wanted)
    async for row in take_turns(found.rows):
        row["changes"] = changes(row.pop("before"), row.pop("after"))
    return found


async def find_more_entries(
    database: Database, reader: Identity, query: AuditQuery, after: Values | None, limit: int
) -> tuple[list[Row], Values | None]:
    """Return the entries behind a position, as `find_audit_entries` does, and the next position; None: these are all.

    Nothing is counted: who reads all of them asks many times.
    """
    async with database.connection() as connection:
        rows = await repository.find_entries_behind(connection, query.conditions(reader), after, limit)
    async for row in take_turns(rows):
        row["changes"] = changes(row.pop("before"), row.pop("after"))
    return rows, repository.NEWEST_ENTRY.position(rows[-1]) if len(rows) == limit else None


async def audit_head(database: Database) -> Row:
    """Return the head of the project's chain, and the one that was signed last."""
    async with database.connection() as connection:
        head = await sealing.head(connection)
        signed = await sealing.signed_head(connection)
    return {
        "entries": 0 if head is None else head.place,
        "hash": None if head is None else bytes(head.hash).hex(),
        "signed": None
        if signed is None
        else {
            "day": signed.day,
            "entries": signed.place,
            "hash": bytes(signed.hash).hex(),
            "key": signed.key,
            "signature": bytes(signed.signature).hex(),
        },
    }


_MOST_FOLLOWED = 100_000
"""Entries of a chain that are followed in a request: one or two seconds."""


async def follow_chain(database: Database) -> Row:
    """Return whether the project's chain is whole, as far as that can be told without the key that signs its heads."""
    project = projects.current.get()
    async with database.connection() as connection:
        state = await repository.chain_state(connection)
        signed = await sealing.signed_head(connection)
        is_short = state["entries"] <= _MOST_FOLLOWED
        verdict = await sealing.verify(connection, project, None, {}) if is_short else None
    return {
        "entries": state["entries"] if verdict is None or verdict.wrong else verdict.entries,
        "checked": is_short,
        "wrong": None if verdict is None else verdict.wrong,
        "erased": 0 if verdict is None else verdict.erased,
        "unsealed": state["unsealed"],
        "sealed_at": state["sealed_at"],
        "signed_on": None if signed is None else signed.day,
    }


async def copy_users(connection: Connection, states: Sequence[tuple[int, UserState]]) -> None:
    """Copy users as they are, each with its place in auth's feed; an older state never replaces a newer one."""
    newest: dict[int, tuple[int, UserState]] = {}
    for sequence, user in states:
        known = newest.get(user.id)
        if known is None or known[0] < sequence:
            newest[user.id] = (sequence, user)
    await repository.upsert_recipients(connection, list(newest.values()))


async def erase_people(connection: Connection, events: Sequence[Received[UserErased]]) -> None:
    """Take the person of each event out of all that is kept; in the audit log of each project an entry tells of it."""
    for event in events:
        erased: dict[str, Erased] = {}
        if event.data.former is not None:
            person = erasure.person(event.data.user.id, event.data.former)
            async with in_another_project(connection, ALL):
                earlier = await repository.names_in_entries(connection, person.id)
            person = person._replace(names=(*person.names, *earlier))
            await db_erasure.erase(connection, person)
            async with in_another_project(connection, ALL):
                ids = await repository.erase_from_entries(connection, person)
                erased = {one.project: one for one in await sealing.note_erasure(connection, event.id, ids)}
        # What was there at the second time was on its way at the first.
        for project in sorted(erased.keys() | (set() if event.data.again else {MAIN})):
            async with in_another_project(connection, project):
                entry = account_entries.user_erased(event, erased.get(project))
                await repository.insert_entries(connection, [entry])


async def copy_projects(connection: Connection, events: Sequence[Received[Any]]) -> None:
    """Copy the project of each event as it is then."""
    for event in events:
        project: ProjectState = event.data.project
        await project_repository.put(connection, project.key, project.visibility, event.sequence)


async def hide_projects(connection: Connection, events: Sequence[Received[ProjectDeletionPlanned]]) -> None:
    """Note that nobody has access to projects any more, until they are restored."""
    for event in events:
        project: ProjectState = event.data.project
        await project_repository.put(connection, project.key, project.visibility, event.sequence, hidden=True)


async def bury_projects(connection: Connection, events: Sequence[Received[ProjectDeleted]]) -> None:
    """Note that projects are deleted: nothing of them is taken any more, and what is there is removed."""
    for event in events:
        await project_repository.bury(connection, event.data.project.key, event.sequence, event.time)


async def copy_members(connection: Connection, events: Sequence[Received[Any]]) -> None:
    """Copy the role that each event gives to a member, or takes from one."""
    for event in events:
        member: MemberChanged | MemberRemoved = event.data
        role = member.role if isinstance(member, MemberChanged) else None
        await project_repository.put_member(connection, member.project, member.user_id, role, event.sequence)


async def remove_deleted_projects(database: Database) -> None:
    """Remove what is left of deleted projects, some rows at a time; what was under way is found by the next call."""
    async with database.connection() as connection:
        deleted = await project_repository.to_be_removed(connection)
    for key in deleted:
        removed = await audit_keeping.remove(database, "remove_audit_entries_of", key)
        if removed + await removal.remove(database, key, keep=_AUDIT) == 0:
            async with database.connection() as connection:
                await project_repository.mark_removed(connection, key)


async def find_activity(
    database: Database, query: ActivityQuery, wanted: PageRequest
) -> tuple[Fetched, datetime | None]:
    """Return a page of the work on items within the days that are asked for, and since when all of it is kept.

    That is None while nothing has been removed. Of a single item it is whatever happened to it, with its imports.
    """
    days = query.days_back
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    async with database.connection() as connection:
        imports = [] if query.item_id is None else await repository.imports_of(connection, str(query.item_id))
        conditions = query.conditions(since, imports)
        found = await repository.find_activity(connection, since, conditions, wanted)
        return found, await repository.kept_since(connection)


async def find_notifications(
    database: Database, user_id: int, query: NotificationQuery, wanted: PageRequest
) -> tuple[Fetched, int]:
    """Return a page of a user's notifications, and how many are unread of all."""
    with repository.of_person():
        conditions = query.conditions(user_id, repository.seen("notifications"))
        async with database.connection() as connection:
            return await repository.find_notifications(connection, conditions, wanted, unread_only=query.unread_only)


async def find_notification(database: Database, user_id: int, notification_id: int) -> Row:
    """Return a user's own notification; raise NotFound for another user's or an unknown one."""
    with repository.of_person():
        async with database.connection() as connection:
            return _found(await repository.find_notification(connection, user_id, notification_id))


async def mark_read(database: Database, user_id: int, notification_id: int) -> Row:
    """Mark a user's own notification read, and return it; one that was read keeps its `read_at`.

    Raises NotFound for another user's or an unknown one.
    """
    with repository.of_person():
        async with database.statement() as connection:
            return _found(await repository.mark_read(connection, user_id, notification_id, datetime.now(UTC)))


async def mark_all_read(database: Database, user_id: int, types: Types) -> int:
    """Mark everything of a user read, of these types alone when there are any; return how many were unread."""
    with repository.of_person():
        async with database.statement() as connection:
            return await repository.mark_all_read(connection, user_id, types, datetime.now(UTC))


async def delete_notification(database: Database, user_id: int, notification_id: int) -> None:
    """Delete a user's own notification; raise NotFound for another user's or an unknown one."""
    with repository.of_person():
        async with database.statement() as connection:
            if not await repository.delete_notification(connection, user_id, notification_id):
                raise _not_found()


def _found(row: Row | None) -> Row:
    if row is None:
        raise _not_found()
    return row


def _not_found() -> NotFound:
    return NotFound("You have no notification with this id.", code="notification_not_found")
