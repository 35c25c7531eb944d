"""Reports how far imports are that are being applied, at most once a second.

Nothing is told of a plan: until it is applied, an import leaves no trace but its own.
"""

from typing import TypedDict
from uuid import UUID

from chassis.core import projects
from chassis.db.database import Database
from chassis.db.rows import fetch_all
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from contracts.catalog import ImportProgressed

# Locked, so that nobody ends them before this is told.
_APPLYING = """
SELECT project_id, id, progress, created_by, created_by_id, apply_options, correlation_id FROM import_jobs
WHERE status = 'applying' ORDER BY created_at {0}
"""


class _Applying(TypedDict):
    project_id: str
    id: UUID
    progress: float
    created_by: str
    created_by_id: int | None
    apply_options: dict[str, str | int | None]
    correlation_id: str


class ImportProgress:
    """Remembers what it has seen: of an import that takes no second only the end is told."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: dict[UUID, float] = {}

    async def tell(self) -> None:
        """Record an event of each import that has come further since the last call."""
        async with self._database.across() as connection:
            known = await fetch_all(connection, _Applying, _APPLYING.format(""))
        further = {job["id"] for job in known if self._seen.get(job["id"], job["progress"]) != job["progress"]}
        concerned = {job["project_id"] for job in known if job["id"] in further}
        self._seen = {job["id"]: job["progress"] for job in known}
        for project in sorted(concerned):
            with projects.within(project):
                async with self._database.transaction() as connection:
                    going_on = await fetch_all(connection, _Applying, _APPLYING.format("FOR SHARE"))
                    await outbox.record(connection, [_event(job) for job in going_on if job["id"] in further])


def _event(job: _Applying) -> NewEvent:
    asked = job["apply_options"]
    by, by_id = str(asked.get("by", job["created_by"])), asked.get("by_id", job["created_by_id"])
    return NewEvent(
        ImportProgressed(import_id=job["id"], status="applying", progress=job["progress"]),
        str(job["id"]),
        Actor(by_id if isinstance(by_id, int) else None, by),
        correlation_id=job["correlation_id"],
    )
