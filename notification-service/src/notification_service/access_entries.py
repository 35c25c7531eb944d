"""The audit entries of requests that gateways have noticed: who was refused what, and who took what away."""

from collections.abc import Iterable

from chassis.core.wording import counted
from chassis.messaging.events import Received
from contracts import auth
from notification_service.entries import Entry, entry_of
from notification_service.vocabulary import AuditAction, ResourceType
from notification_service.wording import given, who


def access_refused(event: Received[auth.AccessRefused]) -> Iterable[Entry]:
    """Return one entry for the project that was closed to somebody, or for the account; either may not be known."""
    data = event.data
    if data.status == 429:
        action, verb = AuditAction.USER_THROTTLED, "held up"
    elif data.project is None:
        action, verb = AuditAction.USER_ACCESS_REFUSED, "refused"
    else:
        action, verb = AuditAction.PROJECT_ACCESS_REFUSED, "refused"
    by = "of somebody unknown" if event.actor.id is None else f"of {event.actor.email}"
    were = "was" if data.count == 1 else "were"
    summary = f"{counted(data.count, 'request')} {by} from {data.address} {were} {verb} ({data.reason})."
    yield _entry(event, action, data.project, summary)


def data_read(event: Received[auth.DataRead]) -> Iterable[Entry]:
    """Return one entry for the project whose record somebody took away, or whose audit log they read."""
    data = event.data
    times = "" if data.count == 1 else f" {data.count} times"
    if data.what == "export":
        summary = f"{who(event.actor)} exported {data.requests[0]} from {data.address}{times}."
        yield _entry(event, AuditAction.PROJECT_EXPORTED, event.project, summary)
    else:
        summary = f"{who(event.actor)} read the audit log from {data.address}{times}."
        yield _entry(event, AuditAction.PROJECT_AUDIT_LOG_READ, event.project, summary)


def _entry(
    event: Received[auth.AccessRefused] | Received[auth.DataRead],
    action: AuditAction,
    project: str | None,
    summary: str,
) -> Entry:
    details = given(event.data, frozenset({"project"}))
    if project is not None:
        return entry_of(event, action, ResourceType.PROJECT, project, project, summary, details=details)
    account = None if event.actor.id is None else str(event.actor.id)
    title = None if account is None else event.actor.email
    return entry_of(event, action, ResourceType.USER, account, title, summary, details=details)
