"""The audit entries of projects and their members, which activity does not show."""

from collections.abc import Iterable
from typing import Any

from chassis.messaging.events import Received
from contracts import auth
from contracts.projects import ProjectState
from notification_service.entries import Entry, entry_of
from notification_service.vocabulary import AuditAction, ResourceType
from notification_service.wording import listed, who


def project_created(event: Received[auth.ProjectCreated]) -> Iterable[Entry]:
    """Return one entry for the project."""
    yield _project_entry(event, AuditAction.PROJECT_CREATED, "created", None, _fields(event.data.project))


def project_changed(event: Received[Any]) -> Iterable[Entry]:
    """Return one entry for a project that was changed, archived, or taken out of the archive."""
    changes = event.data.changes
    before = {field: change["before"] for field, change in changes.items()}
    after = {field: change["after"] for field, change in changes.items()}
    if changes.get("archived", {}).get("after"):
        action, verb = AuditAction.PROJECT_ARCHIVED, "archived"
    else:
        action, verb = AuditAction.PROJECT_UPDATED, f"changed {listed(changes)} of"
    yield _project_entry(event, action, verb, before, after)


def project_deletion_planned(event: Received[auth.ProjectDeletionPlanned]) -> Iterable[Entry]:
    """Return one entry for the project that somebody deleted, with how long it can be restored."""
    until = event.data.until
    yield _project_entry(
        event,
        AuditAction.PROJECT_DELETION_PLANNED,
        "deleted",
        {"restorable_until": None},
        {"restorable_until": until.isoformat().replace("+00:00", "Z")},
        f"; it can be restored until {until:%Y-%m-%d %H:%M} UTC",
    )


def project_restored(event: Received[auth.ProjectRestored]) -> Iterable[Entry]:
    """Return one entry for the project that is there again, as it was."""
    yield _project_entry(event, AuditAction.PROJECT_RESTORED, "restored", None, None)


def project_deleted(event: Received[auth.ProjectDeleted]) -> Iterable[Entry]:
    """Return one entry for the project that is gone: what it was is `before`."""
    before = _fields(event.data.project)
    yield _project_entry(event, AuditAction.PROJECT_DELETED, "deleted", before, None, " for good")


def member_changed(event: Received[auth.MemberChanged]) -> Iterable[Entry]:
    """Return one entry for the new member, or for the role that one has now."""
    member = event.data
    yield entry_of(
        event,
        AuditAction.PROJECT_MEMBER_CHANGED,
        ResourceType.PROJECT,
        member.project,
        member.project,
        f"{who(event.actor)} made {member.email} {member.role} of the project {member.project}.",
        None if member.before is None else {"role": member.before},
        {"role": member.role},
        {"user_id": member.user_id},
    )


def member_removed(event: Received[auth.MemberRemoved]) -> Iterable[Entry]:
    """Return one entry for who is no member any more."""
    member = event.data
    yield entry_of(
        event,
        AuditAction.PROJECT_MEMBER_REMOVED,
        ResourceType.PROJECT,
        member.project,
        member.project,
        f"{who(event.actor)} removed {member.email} from the project {member.project}.",
        {"role": member.before},
        None,
        {"user_id": member.user_id},
    )


def _project_entry(
    event: Received[Any],
    action: AuditAction,
    verb: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    end: str = "",
) -> Entry:
    project: ProjectState = event.data.project
    named = f"the project {project.key}, “{project.name}”"
    return entry_of(
        event,
        action,
        ResourceType.PROJECT,
        project.key,
        project.name,
        f"{who(event.actor)} {verb} {named}{end}.",
        before,
        after,
    )


def _fields(project: ProjectState) -> dict[str, Any]:
    return project.model_dump(mode="json", exclude={"key"})
