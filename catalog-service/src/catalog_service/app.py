"""The HTTP app of catalog-service."""

from datetime import UTC, datetime

from fastapi import FastAPI

from catalog_service.changes.endpoints import router as changes_router
from catalog_service.details import service as details
from catalog_service.exchange.inspection.endpoints import router as inspection_router
from catalog_service.exchange.jobs.endpoints import router as imports_router
from catalog_service.exchange.kept.endpoints import router as kept_relations_router
from catalog_service.exchange.mappings.endpoints import router as mappings_router
from catalog_service.exchange.writing.endpoints import router as exports_router
from catalog_service.executions.acceptances.endpoints import router as acceptances_router
from catalog_service.executions.badge_endpoints import router as badge_router
from catalog_service.executions.endpoints import router as results_router
from catalog_service.executions.gate_endpoints import router as gate_router
from catalog_service.executions.pattern_endpoints import router as patterns_router
from catalog_service.executions.report_endpoints import router as result_reports_router
from catalog_service.executions.retire_endpoints import router as retire_router
from catalog_service.executions.runner_endpoints import router as runners_router
from catalog_service.fields.cache import KnownFields
from catalog_service.fields.endpoints import router as fields_router
from catalog_service.history.endpoints import router as history_router
from catalog_service.items.bulk import ManyItems
from catalog_service.items.kinds import KINDS
from catalog_service.items.service import ItemService
from catalog_service.items.source_urls import SourceUrls
from catalog_service.levels.endpoints import router as project_levels_router
from catalog_service.links.endpoints import internal_router
from catalog_service.links.endpoints import router as links_router
from catalog_service.matrix.endpoints import router as matrix_router
from catalog_service.outline.endpoints import router as outline_router
from catalog_service.proposals.applying import Applying
from catalog_service.proposals.endpoints import router as proposals_router
from catalog_service.references.endpoints import router as references_router
from catalog_service.relations.endpoints import router as relations_router
from catalog_service.relations.service import deletions_with_items
from catalog_service.reports.endpoints import router as reports_router
from catalog_service.reports.evidence.endpoints import router as evidence_router
from catalog_service.reports.levels.endpoints import router as levels_router
from catalog_service.reports.verification.endpoints import router as verification_router
from catalog_service.requirements.endpoints import router as requirements_router
from catalog_service.search.endpoints import router as search_router
from catalog_service.service import SERVICE
from catalog_service.settings import Settings
from catalog_service.test_cases.endpoints import router as test_cases_router
from catalog_service.timeline.endpoints import router as timeline_router
from catalog_service.trend.endpoints import router as trend_router
from catalog_service.verdicts import Basis
from chassis.core.internal_tokens import InternalVerifier
from chassis.db.database import Database
from chassis.server.app import create_app as create_service_app
from chassis.server.process import run_app


def create_app(settings: Settings, database: Database, verifier: InternalVerifier) -> FastAPI:
    """Return the app; the caller opens and closes `database`."""
    source_urls = SourceUrls(settings.source_url_schemes)

    known_fields = KnownFields(database)

    def basis() -> Basis:
        return settings.basis(datetime.now(UTC))

    return create_service_app(
        "Traceline catalog",
        [
            requirements_router,
            test_cases_router,
            links_router,
            kept_relations_router,
            relations_router,
            references_router,
            fields_router,
            project_levels_router,
            outline_router,
            history_router,
            timeline_router,
            changes_router,
            reports_router,
            verification_router,
            levels_router,
            evidence_router,
            matrix_router,
            trend_router,
            search_router,
            inspection_router,
            mappings_router,
            imports_router,
            exports_router,
            results_router,
            gate_router,
            badge_router,
            patterns_router,
            runners_router,
            retire_router,
            acceptances_router,
            result_reports_router,
            internal_router,
            proposals_router,
        ],
        database=database,
        verifier=verifier,
        schema_version=SERVICE.schema,
        state={
            "settings": settings,
            "applying": Applying(database, source_urls),
            "items": {
                kind.name: ItemService(kind, database, source_urls, deletions_with_items, basis, known_fields)
                for kind in KINDS
            },
            "details": lambda kind, item_id, asked: details.read(database, kind, item_id, asked, basis()),
            "many_items": {kind.name: ManyItems(kind, source_urls, deletions_with_items, basis) for kind in KINDS},
        },
    )


if __name__ == "__main__":
    run_app(SERVICE, create_app)
