"""The HTTP app of suggestion-service."""

from fastapi import FastAPI

from chassis.core.internal_tokens import InternalVerifier
from chassis.db.database import Database
from chassis.server import app as http
from chassis.server.process import run_app
from chassis.web.peers import Peer
from suggestion_service.analytics import endpoints as analytics
from suggestion_service.proposals import endpoints as proposals
from suggestion_service.review import endpoints as review
from suggestion_service.review.reasons import Reasons
from suggestion_service.review.undoing import Undoing
from suggestion_service.scale import Scales
from suggestion_service.scoring import endpoints as generation
from suggestion_service.service import SERVICE
from suggestion_service.settings import Settings


def create_app(settings: Settings, database: Database, verifier: InternalVerifier, catalog: Peer) -> FastAPI:
    """Return the app; `catalog` makes the links of accepted suggestions."""
    scales = Scales.of(settings)
    return http.create_app(
        "Suggestions",
        # Generation first: /suggestions/runs is no id of a suggestion.
        [generation.router, review.router, proposals.router, analytics.router],
        database=database,
        verifier=verifier,
        schema_version=SERVICE.schema,
        state={
            "scales": scales,
            "catalog": catalog,
            "reasons": Reasons(database),
            "undoing": Undoing(database, catalog, scales),
        },
    )


if __name__ == "__main__":
    run_app(SERVICE, create_app)
