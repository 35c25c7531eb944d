"""What auth-service's events say of projects: what each wants of suggestions, and that it is gone."""

from typing import Any

from chassis.core.projects import within
from chassis.db.database import Connection, Database, in_another_project
from chassis.messaging import removal
from chassis.messaging.events import Received
from contracts import auth
from contracts.projects import ProjectState, project_archived
from suggestion_service.scoring import run_service
from suggestion_service.store import corpus_head, outdated_scales, projects, settlement
from suggestion_service.store.projects import Project


async def take_wishes(connection: Connection, events: list[Received[Any]]) -> None:
    """Store what projects want; where that is something else than before, what is pending is scored anew by it.

    In another language its texts are read anew first. One that is archived wants nothing, and its runs end: nothing in
    it is changed any more.
    """
    for event in events:
        state: ProjectState = event.data.project
        wanted = state.settings
        project = Project(
            automatic_suggestions=False if state.archived else wanted.automatic_suggestions,
            algorithm=wanted.algorithm,  # type: ignore[arg-type]  # auth-service takes no other
            threshold=wanted.threshold,
            language=wanted.language,
        )
        async with in_another_project(connection, state.key):
            await corpus_head.lock(connection)
            before = await projects.get(connection)
            if await projects.put(connection, event.sequence, project):
                if state.archived:
                    await run_service.end_all(connection, project_archived().detail)
                if before.language != project.language:
                    await outdated_scales.put(connection)
                if before != project:
                    await settlement.reset(connection)


async def bury(connection: Connection, events: list[Received[auth.ProjectDeleted]]) -> None:
    """Note that projects are deleted: nothing of them is taken any more, and what is there is removed."""
    for event in events:
        async with in_another_project(connection, event.data.project.key):
            await projects.put(connection, event.sequence, Project(deleted=True))


async def remove_deleted(database: Database) -> None:
    """Remove what is left of deleted projects, some rows at a time.

    What was under way when a project was deleted is found by the next call.
    """
    async with database.across() as connection:
        deleted = await projects.to_be_removed(connection)
    for key in deleted:
        if await removal.remove(database, key, keep=("projects",)) == 0:
            with within(key):
                async with database.connection() as connection:
                    await projects.mark_removed(connection)
