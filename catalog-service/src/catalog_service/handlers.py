"""The table of events: what each one does to the copy of what is pending, and to what projects want."""

from collections.abc import Mapping

from catalog_service.exchange.jobs.repository import delete_packed_files
from catalog_service.pending import service
from catalog_service.projects.service import bury, take_wishes, unless_deleted
from catalog_service.timeline import service as timeline
from chassis.core.projects import ALL
from chassis.db.database import Connection, in_another_project
from chassis.messaging.events import Received
from chassis.messaging.inbox import Handler
from chassis.messaging.payloads import Payload
from contracts import auth, suggestion
from contracts.erasure import erase_people


async def forget_people(connection: Connection, events: list[Received[auth.UserErased]]) -> None:
    """Take people out of all that is kept, and delete files in which nobody can be found."""
    await erase_people(connection, events)
    async with in_another_project(connection, ALL):
        await delete_packed_files(connection)


PENDING: Mapping[type[Payload], Handler] = {
    suggestion.PendingPairsChanged: service.change,
    suggestion.SuggestionReviewed: service.review,
    suggestion.SuggestionsBulkReviewed: service.review_many,
}
"""Those that the copy of what is pending is rebuilt from."""


async def _review(connection: Connection, events: list[Received[suggestion.SuggestionReviewed]]) -> None:
    await service.review(connection, events)
    await timeline.remember_review(connection, events)


async def _review_many(connection: Connection, events: list[Received[suggestion.SuggestionsBulkReviewed]]) -> None:
    await service.review_many(connection, events)
    await timeline.remember_reviews(connection, events)


HANDLERS: Mapping[type[Payload], Handler] = {
    suggestion.PendingPairsChanged: unless_deleted(service.change),
    suggestion.SuggestionReviewed: unless_deleted(_review),
    suggestion.SuggestionsBulkReviewed: unless_deleted(_review_many),
    auth.ProjectCreated: take_wishes,
    auth.ProjectUpdated: take_wishes,
    auth.ProjectArchived: take_wishes,
    auth.ProjectDeletionPlanned: take_wishes,
    auth.ProjectRestored: take_wishes,
    auth.ProjectDeleted: bury,
    auth.UserErased: forget_people,
}
