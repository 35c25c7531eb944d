"""What each event leads to: one table, a line an event."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from chassis.db.database import Connection
from chassis.messaging.events import Payload, Received
from chassis.messaging.inbox import Handler
from contracts import auth, catalog, suggestion
from notification_service import entries, notifications, stream_events, stream_repository, texts
from notification_service.entries import Entries
from notification_service.stream_events import StreamEvents
from notification_service.texts import Text
from notification_service.vocabulary import ResourceType

_Notify = Callable[[Connection, list[tuple[Received[Any], Text]]], Awaitable[None]]


def audited(describe: Entries) -> Handler:
    """Return a handler that adds what `describe` makes of each event to the audit log."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        await notifications.write_audit_log(connection, [entry for event in events for entry in describe(event)])

    return handle


def _notified(notify: _Notify, write: Callable[[Received[Any]], Text | None]) -> Handler:
    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        written = [(event, write(event)) for event in events]
        await notify(connection, [(event, text) for event, text in written if text is not None])

    return handle


def to_actor(write: Callable[[Received[Any]], Text | None]) -> Handler:
    """Return a handler that sends what `write` makes of each event to the user who triggered it."""
    return _notified(notifications.notify_actors, write)


def to_reviewers(write: Callable[[Received[Any]], Text | None]) -> Handler:
    """Return a handler that sends what `write` makes of each event to all active reviewers and admins."""
    return _notified(notifications.notify_reviewers, write)


def streamed(describe: StreamEvents) -> Handler:
    """Return a handler that tells those who are connected what `describe` makes of the events."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        told = list(describe(events))
        if told:
            await stream_repository.insert(connection, told)

    return handle


async def copy_users(connection: Connection, events: list[Received[Any]]) -> None:
    """Copy the user of each event."""
    await notifications.copy_users(connection, [(event.sequence, event.data.user) for event in events])


def each(*handlers: Handler) -> Handler:
    """Return a handler that has these work one after the other."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        for handler in handlers:
            await handler(connection, events)

    return handle


_REQUIREMENT = ResourceType.REQUIREMENT
_TEST_CASE = ResourceType.TEST_CASE
_LINK = ResourceType.LINK


def _created(kind: ResourceType, text: Callable[[Received[Any]], Text]) -> Handler:
    return each(audited(entries.created(kind)), to_actor(text), streamed(stream_events.item_changed(kind, "created")))


def _updated(kind: ResourceType) -> Handler:
    return each(audited(entries.updated(kind)), streamed(stream_events.item_changed(kind, "updated")))


def _deleted(kind: ResourceType) -> Handler:
    return each(audited(entries.deleted(kind)), streamed(stream_events.item_changed(kind, "deleted")))


HANDLERS: Mapping[type[Payload], Handler] = {
    catalog.RequirementCreated: _created(_REQUIREMENT, texts.requirement_created),
    catalog.RequirementUpdated: _updated(_REQUIREMENT),
    catalog.RequirementDeleted: _deleted(_REQUIREMENT),
    catalog.TestCaseCreated: _created(_TEST_CASE, texts.test_case_created),
    catalog.TestCaseUpdated: _updated(_TEST_CASE),
    catalog.TestCaseDeleted: _deleted(_TEST_CASE),
    catalog.LinkCreated: each(audited(entries.created(_LINK)), streamed(stream_events.item_changed(_LINK, "created"))),
    catalog.LinkUpdated: _updated(_LINK),
    catalog.LinkDeleted: _deleted(_LINK),
    catalog.CoverageChanged: streamed(stream_events.coverage_changed),
    catalog.CoverageDropped: each(audited(entries.coverage_dropped), to_reviewers(texts.coverage_dropped)),
    suggestion.ItemSuggestionsGenerated: each(
        audited(entries.item_suggestions_generated), notifications.notify_of_suggestions
    ),
    suggestion.RunProgressed: streamed(stream_events.run_progressed),
    suggestion.RunFinished: each(
        audited(entries.run_finished), to_actor(texts.run_finished), streamed(stream_events.run_finished)
    ),
    suggestion.SuggestionReviewed: each(
        audited(entries.suggestion_reviewed),
        to_actor(texts.suggestion_reviewed),
        streamed(stream_events.suggestion_reviewed),
    ),
    suggestion.SuggestionsBulkReviewed: each(
        audited(entries.suggestions_bulk_reviewed),
        to_actor(texts.suggestions_bulk_reviewed),
        streamed(stream_events.suggestions_bulk_reviewed),
    ),
    suggestion.SuggestionsReopened: each(
        audited(entries.suggestions_reopened),
        to_actor(texts.suggestions_reopened),
        streamed(stream_events.suggestions_reopened),
    ),
    suggestion.SuggestionsExpired: each(
        audited(entries.suggestions_expired), streamed(stream_events.suggestions_expired)
    ),
    auth.UserCreated: each(audited(entries.user_created), copy_users),
    auth.UserUpdated: each(audited(entries.user_updated), copy_users),
    auth.PasswordChanged: each(audited(entries.password_changed), copy_users),
    auth.TokenEnded: audited(entries.token_ended),
    auth.LoginFailed: audited(entries.login_failed),
}
