"""Projects and who may enter them, in memory: from a snapshot at the start, then from auth-service's feed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chassis.core.identity import Identity, Role
from chassis.messaging.events import Message
from contracts.auth import (
    MemberChanged,
    MemberRemoved,
    ProjectArchived,
    ProjectCreated,
    ProjectDeleted,
    ProjectDeletionPlanned,
    ProjectRestored,
    ProjectUpdated,
)
from contracts.projects import ProjectState, Visibility, no_such_project, project_archived, role_in


@dataclass(slots=True)
class _Project:
    visibility: Visibility
    archived: bool
    members: dict[int, Role] = field(default_factory=dict)


class Projects:
    """All projects of the installation, by their keys, with their members."""

    def __init__(self) -> None:
        self._by_key: dict[str, _Project] = {}

    def enter(self, identity: Identity, key: str, *, writes: bool) -> Identity:
        """Return a caller, known by the role of their account, with the role that they have in a project.

        Raises NotFound where they have no access, the same as where there is no such project, and Conflict
        project_archived for a request that `writes` into one that is archived.
        """
        project = self._by_key.get(key)
        if project is None:
            raise no_such_project()
        role = role_in(project.visibility, identity.role, project.members.get(identity.id or 0))
        if role is None:
            raise no_such_project()
        if writes and project.archived:
            raise project_archived()
        return replace(identity, role=role, project=key, account_role=identity.role)

    def start(self, rows: list[dict[str, Any]]) -> None:
        """Begin anew with the projects of a snapshot."""
        self._by_key = {
            row["key"]: _Project(
                Visibility(row["visibility"]),
                row["archived"],
                {int(id_): Role(role) for id_, role in row["members"].items()},
            )
            for row in rows
        }

    def apply(self, message: Message) -> None:
        """Follow an event, which may be older than the snapshot and is of any kind."""
        kind = _KINDS.get(message.wire_name)
        if kind is None:
            return
        payload = message.decode(kind).data
        if isinstance(payload, MemberChanged):
            if payload.project in self._by_key:
                self._by_key[payload.project].members[payload.user_id] = Role(payload.role)
        elif isinstance(payload, MemberRemoved):
            if payload.project in self._by_key:
                self._by_key[payload.project].members.pop(payload.user_id, None)
        elif isinstance(payload, ProjectDeletionPlanned | ProjectDeleted):
            self._by_key.pop(payload.project.key, None)
        elif isinstance(payload, ProjectRestored):
            self._put(payload.project, {id_: Role(role) for id_, role in payload.members.items()})
        else:
            known = self._by_key.get(payload.project.key)
            self._put(payload.project, {} if known is None else known.members)

    def _put(self, state: ProjectState, members: dict[int, Role]) -> None:
        self._by_key[state.key] = _Project(state.visibility, state.archived, members)


_OfProject = (
    ProjectCreated | ProjectUpdated | ProjectArchived | ProjectDeletionPlanned | ProjectRestored | ProjectDeleted
)
_KINDS: Mapping[str, type[_OfProject | MemberChanged | MemberRemoved]] = {
    kind.wire_name: kind
    for kind in (
        ProjectCreated,
        ProjectUpdated,
        ProjectArchived,
        ProjectDeletionPlanned,
        ProjectRestored,
        ProjectDeleted,
        MemberChanged,
        MemberRemoved,
    )
}
