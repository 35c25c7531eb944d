"""What each event leads to: one table, a line an event."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from chassis.core import projects
from chassis.db.database import Connection
from chassis.messaging.events import Received
from chassis.messaging.inbox import Handler
from chassis.messaging.payloads import Payload
from contracts import auth, catalog, suggestion
from notification_service import (
    access_entries,
    account_entries,
    entries,
    notifications,
    project_entries,
    project_repository,
    proposal_entries,
    stream_events,
    stream_repository,
    suggestion_entries,
    texts,
)
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
        messages = list(describe(events))
        if messages:
            await stream_repository.insert(connection, messages)

    return handle


async def copy_users(connection: Connection, events: list[Received[Any]]) -> None:
    """Copy the user of each event."""
    await notifications.copy_users(connection, [(event.sequence, event.data.user) for event in events])


COPYING: Mapping[type[Payload], Handler] = {
    auth.UserCreated: copy_users,
    auth.UserUpdated: copy_users,
    auth.PasswordChanged: copy_users,
    auth.PasswordReset: copy_users,
    auth.UserErased: copy_users,
    auth.ProjectCreated: notifications.copy_projects,
    auth.ProjectUpdated: notifications.copy_projects,
    auth.ProjectArchived: notifications.copy_projects,
    auth.ProjectDeletionPlanned: notifications.hide_projects,
    auth.ProjectRestored: notifications.copy_projects,
    auth.ProjectDeleted: notifications.bury_projects,
    auth.MemberChanged: notifications.copy_members,
    auth.MemberRemoved: notifications.copy_members,
}
"""What the events of auth-service do to the copies of what it has."""


def each(*handlers: Handler) -> Handler:
    """Return a handler that has these work one after the other."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        for handler in handlers:
            await handler(connection, events)

    return handle


def unless_in_batch(handler: Handler) -> Handler:
    """Return a handler that does this with changes by themselves: many at once are told together, at their end."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        alone = [event for event in events if event.batch_id is None]
        if alone:
            await handler(connection, alone)

    return handle


_REQUIREMENT = ResourceType.REQUIREMENT
_TEST_CASE = ResourceType.TEST_CASE
_LINK = ResourceType.LINK
_RELATION = ResourceType.RELATION


def _created(kind: ResourceType, text: Callable[[Received[Any]], Text]) -> Handler:
    return each(_changed(kind, entries.created(kind), "created"), unless_in_batch(to_actor(text)))


def _updated(kind: ResourceType) -> Handler:
    return _changed(kind, entries.updated(kind), "updated")


def _deleted(kind: ResourceType) -> Handler:
    return _changed(kind, entries.deleted(kind), "deleted")


def _changed(kind: ResourceType, describe: Entries, change: str) -> Handler:
    return each(audited(describe), unless_in_batch(streamed(stream_events.item_changed(kind, change))))


_KNOWN: Mapping[type[Payload], Handler] = {
    catalog.RequirementCreated: _created(_REQUIREMENT, texts.requirement_created),
    catalog.RequirementUpdated: _updated(_REQUIREMENT),
    catalog.RequirementDeleted: _deleted(_REQUIREMENT),
    catalog.TestCaseCreated: _created(_TEST_CASE, texts.test_case_created),
    catalog.TestCaseUpdated: _updated(_TEST_CASE),
    catalog.TestCaseDeleted: _deleted(_TEST_CASE),
    catalog.LinkCreated: _changed(_LINK, entries.created(_LINK), "created"),
    catalog.LinkUpdated: _updated(_LINK),
    catalog.LinkDeleted: _deleted(_LINK),
    catalog.RelationCreated: _changed(_RELATION, entries.created(_RELATION), "created"),
    catalog.RelationUpdated: _updated(_RELATION),
    catalog.RelationDeleted: _deleted(_RELATION),
    catalog.ReferenceDeleted: audited(entries.reference_deleted),
    catalog.CoverageChanged: streamed(stream_events.coverage_changed),
    catalog.CoverageDropped: each(audited(entries.coverage_dropped), to_reviewers(texts.coverage_dropped)),
    catalog.ImportProgressed: streamed(stream_events.import_progressed),
    catalog.ImportApplied: each(
        audited(entries.import_applied), to_actor(texts.import_applied), streamed(stream_events.import_applied)
    ),
    catalog.TestRunCompleted: each(audited(entries.test_run_completed), streamed(stream_events.test_run_completed)),
    catalog.AcceptedFailureCreated: audited(entries.accepted_failure_created),
    catalog.AcceptedFailureEnded: audited(entries.accepted_failure_ended),
    catalog.AutomatedTestsRetired: audited(entries.automated_tests_retired),
    catalog.FieldsChanged: audited(entries.fields_changed),
    catalog.LevelsChanged: audited(entries.levels_changed),
    suggestion.ItemSuggestionsGenerated: each(
        audited(suggestion_entries.item_suggestions_generated), notifications.notify_of_suggestions
    ),
    suggestion.RunProgressed: streamed(stream_events.run_progressed),
    suggestion.RunFinished: each(
        audited(suggestion_entries.run_finished),
        to_actor(texts.run_finished),
        to_reviewers(texts.scores_renewed),
        streamed(stream_events.run_finished),
    ),
    suggestion.SuggestionReviewed: each(
        audited(suggestion_entries.suggestion_reviewed),
        to_actor(texts.suggestion_reviewed),
        streamed(stream_events.suggestion_reviewed),
    ),
    suggestion.SuggestionsBulkReviewed: each(
        audited(suggestion_entries.suggestions_bulk_reviewed),
        to_actor(texts.suggestions_bulk_reviewed),
        streamed(stream_events.suggestions_bulk_reviewed),
    ),
    suggestion.SuggestionsReopened: each(
        audited(suggestion_entries.suggestions_reopened),
        notifications.take_back_reviews,
        to_actor(texts.suggestions_reopened),
        streamed(stream_events.suggestions_reopened),
    ),
    suggestion.SuggestionsExpired: each(
        audited(suggestion_entries.suggestions_expired), streamed(stream_events.suggestions_expired)
    ),
    suggestion.ProposalsMade: each(
        audited(proposal_entries.proposals_made),
        to_actor(texts.proposals_made),
        streamed(stream_events.proposals_changed),
    ),
    suggestion.ProposalsReviewed: each(
        audited(proposal_entries.proposals_reviewed), streamed(stream_events.proposals_changed)
    ),
    auth.UserCreated: audited(account_entries.user_created),
    auth.UserUpdated: audited(account_entries.user_updated),
    auth.PasswordChanged: audited(account_entries.password_changed),
    auth.PasswordReset: audited(account_entries.password_reset),
    auth.UserErased: notifications.erase_people,
    auth.PasswordResetOffered: audited(account_entries.password_reset_offered),
    auth.InvitationMade: audited(account_entries.invitation_made),
    auth.InvitationAccepted: audited(account_entries.invitation_accepted),
    auth.InvitationRevoked: audited(account_entries.invitation_revoked),
    auth.TokenEnded: audited(account_entries.token_ended),
    auth.KeysReplaced: audited(account_entries.keys_replaced),
    auth.SessionsEnded: audited(account_entries.sessions_ended),
    auth.SecondFactorChanged: audited(account_entries.second_factor_changed),
    auth.RecoveryCodeUsed: audited(account_entries.recovery_code_used),
    auth.LoginSucceeded: audited(account_entries.login_succeeded),
    auth.LoginFailed: audited(account_entries.login_failed),
    auth.ApiTokenCreated: audited(account_entries.api_token_created),
    auth.ApiTokenRevoked: audited(account_entries.api_token_revoked),
    auth.ApiTokenUsedElsewhere: audited(account_entries.api_token_used_elsewhere),
    auth.AccessRefused: audited(access_entries.access_refused),
    auth.DataRead: audited(access_entries.data_read),
    auth.ProjectCreated: audited(project_entries.project_created),
    auth.ProjectUpdated: audited(project_entries.project_changed),
    auth.ProjectArchived: audited(project_entries.project_changed),
    auth.ProjectDeletionPlanned: audited(project_entries.project_deletion_planned),
    auth.ProjectRestored: audited(project_entries.project_restored),
    auth.ProjectDeleted: audited(project_entries.project_deleted),
    auth.MemberChanged: audited(project_entries.member_changed),
    auth.MemberRemoved: audited(project_entries.member_removed),
}


def _unless_deleted(handler: Handler) -> Handler:
    """Return a handler that leaves a project alone which is deleted: its events and the end of it come by two feeds."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        if not await project_repository.is_deleted(connection, projects.current.get()):
            await handler(connection, events)

    return handle


HANDLERS: Mapping[type[Payload], Handler] = {
    payload: each(_unless_deleted(handler), COPYING[payload]) if payload in COPYING else _unless_deleted(handler)
    for payload, handler in _KNOWN.items()
}
