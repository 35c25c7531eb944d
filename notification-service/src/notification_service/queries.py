"""The queries of the lists: what narrows them, as the API takes it and as SQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from chassis.core.identity import Identity
from chassis.core.projects import MAIN
from chassis.web.conditions import Conditions
from chassis.web.listing import Ids, PageQuery
from chassis.web.parameters import (
    FREE_ALTERNATIVES,
    UPDATED_SINCE,
    alternatives,
    parse_choice,
    parse_moment,
    parse_own_numbers,
    parse_words,
    refuse_nothing_between,
)
from notification_service.vocabulary import AuditAction, NotificationType, ResourceType

_LATELY = 7
"""Days."""
_MOMENT = "a time (RFC 3339) or a day, which is its midnight in UTC."

Types = Annotated[str | None, alternatives(NotificationType)]


class NotificationQuery(PageQuery):
    """What narrows the list of a user's notifications."""

    unread_only: Annotated[bool, Field(description="Only those that are not read.")] = False
    limit: Annotated[int, Query(ge=1, le=100, description="How many items to give at most.")] = 20
    type: Types = None
    updated_since: Annotated[
        str | None,
        Field(description=f"{UPDATED_SINCE} Reading a notification changes it.", examples=["2026-01-31T12:00:00Z"]),
    ] = None

    ids: Ids = None

    def conditions(self, user_id: int, *always: str) -> Conditions:
        """Return what the notifications must fulfil, not narrowed by what is counted already; raises Invalid.

        `always` holds for whatever is asked.
        """
        unread = ("read_at IS NULL",) if self.unread_only else ()
        conditions = Conditions("user_id = %(user_id)s", *unread, *always, user_id=user_id)
        conditions.choose("type", parse_choice("type", self.type, NotificationType))
        conditions.choose("id", parse_own_numbers(self.ids))
        since = parse_moment("updated_since", self.updated_since)
        if since is not None:
            conditions.add("coalesce(read_at, created_at) >= %(since)s", since=since)
        return conditions


class _EntryQuery(PageQuery):
    actor: Annotated[str | None, Field(description=f"Emails: {FREE_ALTERNATIVES}.", examples=["ana@example.com"])] = (
        None
    )
    action: Annotated[str | None, alternatives(AuditAction)] = None
    resource_type: Annotated[str | None, alternatives(ResourceType)] = None
    resource_id: Annotated[str | None, Field(description=f"Ids: {FREE_ALTERNATIVES}.")] = None
    ids: Ids = None

    def _narrowed(self, conditions: Conditions) -> Conditions:
        """Return the conditions with what the caller asks for; raises Invalid for an unknown value."""
        conditions.choose("actor", parse_words("actor", None if self.actor is None else self.actor.lower()))
        conditions.choose("action", parse_choice("action", self.action, AuditAction))
        conditions.choose("resource_type", parse_choice("resource_type", self.resource_type, ResourceType))
        conditions.choose("id", parse_own_numbers(self.ids))
        # An entry that is about several resources is about each of them.
        conditions.match(
            "resource_id",
            parse_words("resource_id", self.resource_id),
            "resource_id = ANY({values}) OR resource_ids && {values}::text[]",
            none="resource_id IS NULL",
        )
        return conditions


class ActivityQuery(_EntryQuery):
    """What narrows the list of what was done to items."""

    days: Annotated[
        int | None,
        Query(ge=1, le=90, description="How many days back: 7 if nothing is said, of one item (`item_id`) all."),
    ] = None
    item_id: Annotated[
        UUID | None,
        Field(
            description="A requirement or test case: whatever happened to it, to its links and to suggestions for it,"
            " each change by an import and the import."
        ),
    ] = None

    @property
    def days_back(self) -> int | None:
        """How many days back; None: from the beginning."""
        return _LATELY if self.days is None and self.item_id is None else self.days

    def conditions(self, since: datetime | None, imports: Sequence[str]) -> Conditions:
        """Return what work on items since then must fulfil; raises Invalid for an unknown value.

        `imports` are those that have touched the item that is asked for.
        """
        conditions = Conditions("resource_type <> 'user'", "resource_type <> 'project'")
        if since is not None:
            conditions.always("occurred_at >= %(since)s", of="days")
            conditions.parameters["since"] = since
        if self.item_id is None:
            conditions.always("batch_id IS NULL", of="item_id")
        else:
            item = str(self.item_id)
            conditions.add(
                "(resource_id = ANY(%(item)s) OR item_ids && %(item)s::text[])", of="item_id", item=[item, *imports]
            )
        return self._narrowed(conditions)


class AuditQuery(_EntryQuery):
    """What narrows the audit log."""

    since: Annotated[str | None, Field(description=f"From this moment on: {_MOMENT}")] = None
    until: Annotated[str | None, Field(description=f"Before this moment: {_MOMENT}")] = None

    def conditions(self, reader: Identity) -> Conditions:
        """Return what the entries must fulfil; raises Invalid for an unknown value.

        Beside its own entries MAIN has those of the installation, which admins of the project alone do not see.
        """
        conditions = self._narrowed(Conditions())
        if reader.project == MAIN and not reader.administers:
            conditions.add(f"resource_type <> 'user' AND (resource_type <> 'project' OR resource_id = '{MAIN}')")
        since, until = parse_moment("since", self.since), parse_moment("until", self.until)
        if since is not None:
            conditions.add("occurred_at >= %(since)s", since=since)
        if until is not None:
            conditions.add("occurred_at < %(until)s", until=until)
            is_empty = since is not None and since >= until
            refuse_nothing_between("since", "until", vars(self), is_empty=is_empty)
        return conditions
