"""Follows what projects want, and removes those that are deleted."""

from typing import Any

from catalog_service.projects import repository
from catalog_service.projects.repository import Project
from chassis.core.projects import within
from chassis.db.database import Connection, Database, in_another_project
from chassis.messaging import removal
from chassis.messaging.events import Received
from chassis.messaging.inbox import Handler
from contracts import auth
from contracts.projects import ProjectState

_WISHES = {"coverage_threshold", "gate", "name_patterns", "expected_lanes", "result_properties"}


async def take_wishes(connection: Connection, events: list[Received[Any]]) -> None:
    """Store what projects want."""
    for event in events:
        state: ProjectState = event.data.project
        async with in_another_project(connection, state.key):
            wanted = state.settings
            settings = wanted.model_dump(mode="json", include=_WISHES)
            await repository.put(connection, event.sequence, Project(archived=state.archived, **settings))


async def bury(connection: Connection, events: list[Received[auth.ProjectDeleted]]) -> None:
    """Note that projects are deleted: nothing of them is taken any more, and what is there is removed."""
    for event in events:
        async with in_another_project(connection, event.data.project.key):
            await repository.put(connection, event.sequence, Project(deleted=True))


def unless_deleted(handler: Handler) -> Handler:
    """Return a handler that leaves a project alone which is deleted: its events and the end of it come by two feeds."""

    async def handle(connection: Connection, events: list[Received[Any]]) -> None:
        if not (await repository.get(connection)).deleted:
            await handler(connection, events)

    return handle


async def remove_deleted(database: Database) -> None:
    """Remove what is left of deleted projects, some rows at a time.

    What was under way when a project was deleted is found by the next call.
    """
    async with database.across() as connection:
        deleted = await repository.to_be_removed(connection)
    for key in deleted:
        if await removal.remove(database, key, keep=("projects",)) == 0:
            with within(key):
                async with database.connection() as connection:
                    await repository.mark_removed(connection)
