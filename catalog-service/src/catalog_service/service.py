"""catalog-service, described once for whatever runs it."""

from catalog_service.settings import Settings
from chassis.server.service import Service
from contracts.routes import AUTH, CATALOG, SUGGESTION, internal_callers

# The feeds of both are followed: what is pending, and what projects want; no request asks them anything.
SERVICE = Service(CATALOG.name, Settings, internal_callers(CATALOG), worker_asks=(AUTH.name, SUGGESTION.name))
