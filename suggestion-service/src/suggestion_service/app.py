"""The HTTP app of suggestion-service."""

from fastapi import FastAPI
from starlette.types import ASGIApp

from chassis.core.identity import InternalTokens
from chassis.core.settings import read
from chassis.core.version import newest_schema
from chassis.db.database import Database
from chassis.server import app as http
from chassis.server.process import Process, run
from chassis.web.peers import Peer
from suggestion_service.analytics import endpoints as analytics
from suggestion_service.review import endpoints as review
from suggestion_service.review.undoing import Undoing
from suggestion_service.scoring import endpoints as generation
from suggestion_service.settings import Addresses, Settings

SCHEMA_VERSION = newest_schema("suggestion_service")


def create_app(settings: Settings, database: Database, internal_tokens: InternalTokens, catalog: Peer) -> FastAPI:
    """Return the app; `catalog` makes the links of accepted suggestions."""
    return http.create_app(
        "Suggestions",
        # Generation first: /suggestions/runs is no id of a suggestion.
        [generation.router, review.router, analytics.router],
        database=database,
        internal_tokens=internal_tokens,
        schema_version=SCHEMA_VERSION,
        state={
            "settings": settings,
            "catalog": catalog,
            "undoing": Undoing(database, catalog, score=settings.auto_suggestions_enabled),
        },
    )


async def _compose(process: Process) -> ASGIApp:
    settings = read(Settings)
    database = await process.database(settings, SCHEMA_VERSION)
    tokens = settings.internal_tokens()
    catalog = process.peer("catalog-service", read(Addresses).catalog_url, tokens, "suggestion-service")
    return create_app(settings, database, tokens, catalog)


if __name__ == "__main__":
    run(_compose, Settings, Addresses, schema=SCHEMA_VERSION)
