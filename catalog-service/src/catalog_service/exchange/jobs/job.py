"""An import as it is stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chassis.messaging.events import Actor


@dataclass(frozen=True, slots=True)
class Job:
    """A row of import_jobs.

    `options` are those of POST /imports, `apply_options` those of its application: `on_change`, `atomic`, `suggest`,
    and who asked for it (`by`, `by_id`, `correlation_id`, `gateway_request_id`).
    """

    id: UUID
    status: str
    phase: str | None
    progress: float
    format: str | None
    kind: str
    file_name: str | None
    size: int
    sha256: str
    options: dict[str, Any]
    counts: dict[str, Any] | None
    summary: dict[str, Any] | None
    rows_read: int
    plan_hash: str | None
    record_position: int | None
    apply_options: dict[str, Any] | None
    applied_up_to: int
    search_ready: bool
    cancel_requested: bool
    error: dict[str, Any] | None
    created_by: str
    created_by_id: int | None
    correlation_id: str
    gateway_request_id: str | None
    created_at: datetime
    planned_at: datetime | None
    applied_at: datetime | None
    expires_at: datetime | None
    claim: UUID | None
    attempts: int
    project_id: str

    @property
    def creator(self) -> Actor:
        """Who sent the file."""
        return Actor(self.created_by_id, self.created_by)

    @property
    def applier(self) -> Actor:
        """Who asked that it be applied."""
        asked = self.apply_options or {}
        return Actor(asked["by_id"], asked["by"]) if "by" in asked else self.creator


COLUMNS = ", ".join(Job.__slots__)
