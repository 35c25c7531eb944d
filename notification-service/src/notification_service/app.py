"""The HTTP app of this service."""

from functools import partial

from fastapi import FastAPI
from starlette.types import ASGIApp

from chassis.core.identity import InternalTokens
from chassis.core.settings import read
from chassis.core.version import newest_schema
from chassis.db.coalescing import Coalesced
from chassis.db.database import Database
from chassis.server.app import create_app as create_service_app
from chassis.server.process import Process, run
from notification_service import audit_endpoints, endpoints, repository
from notification_service.settings import Settings

SCHEMA_VERSION = newest_schema("notification_service")


def create_app(settings: Settings, database: Database, internal_tokens: InternalTokens) -> FastAPI:
    """Return the app. No route has a setting of its own."""
    return create_service_app(
        "Notifications",
        [endpoints.router, audit_endpoints.router],
        database=database,
        internal_tokens=internal_tokens,
        schema_version=SCHEMA_VERSION,
        state={"unread_counts": Coalesced(partial(repository.unread_counts, database))},
    )


async def _compose(process: Process) -> ASGIApp:
    settings = read(Settings)
    database = await process.database(settings, SCHEMA_VERSION)
    return create_app(settings, database, settings.internal_tokens())


if __name__ == "__main__":
    run(_compose, Settings, schema=SCHEMA_VERSION)
