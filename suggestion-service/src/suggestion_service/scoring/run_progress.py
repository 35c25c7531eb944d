"""Reports how far runs are that go on, at most once a second."""

from uuid import UUID

from chassis.core import projects
from chassis.db.database import Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from contracts.suggestion import RunProgressed
from suggestion_service.store import runs
from suggestion_service.store.runs import ProgressingRun


class RunProgress:
    """Remembers what it has told: who comes after it tells the same once more."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._told: dict[str, dict[UUID, float]] = {}
        """By project."""

    async def tell(self) -> None:
        """Record an event of each run that has begun or come further since the last call."""
        async with self._database.across() as connection:
            with_runs = await runs.running_projects(connection)
        self._told = {project: self._told.get(project, {}) for project in with_runs}
        for project in with_runs:
            with projects.within(project):
                self._told[project] = await self._tell(self._told[project])

    async def _tell(self, reported: dict[UUID, float]) -> dict[UUID, float]:
        """Record the events of a project; return how far its runs are."""
        async with self._database.connection() as connection:
            known = await runs.running(connection)
        if {run["id"]: run["progress"] for run in known} == reported:
            return reported
        async with self._database.transaction() as connection:
            # Once more: nobody ends them now, so that their end is told after this.
            going_on = await runs.running(connection)
            further = [run for run in going_on if run["progress"] != reported.get(run["id"])]
            await outbox.record(connection, [_event(run) for run in further])
        return {run["id"]: run["progress"] for run in going_on}


def _event(run: ProgressingRun) -> NewEvent:
    figures = {name: value for name, value in run.items() if name in RunProgressed.model_fields}
    return NewEvent(
        RunProgressed(run_id=run["id"], **figures),
        str(run["id"]),
        Actor(run["actor_id"], run["created_by"]),
        correlation_id=run["correlation_id"],
    )
