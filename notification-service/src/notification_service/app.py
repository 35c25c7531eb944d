"""The HTTP app of this service."""

from functools import partial

from fastapi import FastAPI

from chassis.core.internal_tokens import InternalVerifier
from chassis.db.coalescing import Coalesced
from chassis.db.database import Database
from chassis.server.app import create_app as create_service_app
from chassis.server.process import Process, run_app
from notification_service import audit_endpoints, endpoints, repository, stream_endpoints
from notification_service.service import SERVICE
from notification_service.settings import Settings
from notification_service.stream import Stream


def create_app(settings: Settings, database: Database, verifier: InternalVerifier) -> FastAPI:
    """Return the app. No route has a setting of its own."""
    unread_counts = Coalesced(partial(repository.unread_counts, database))
    return create_service_app(
        "Notifications",
        [endpoints.router, audit_endpoints.router, stream_endpoints.router],
        database=database,
        verifier=verifier,
        schema_version=SERVICE.schema,
        state={"unread_counts": unread_counts, "stream": Stream(database, unread_counts)},
    )


async def _prepare(_settings: Settings, _database: Database, process: Process) -> None:
    # What the stream tells, the worker has stored.
    process.hear_commits()


if __name__ == "__main__":
    run_app(SERVICE, create_app, _prepare)
