"""catalog-service, described once for whatever runs it."""

from catalog_service.settings import Settings
from chassis.server.service import Service
from contracts.routes import AUTH, CATALOG, SUGGESTION

# The feeds of both are followed: what is pending, and what projects want; no request asks them anything.
SERVICE = Service(CATALOG.name, Settings, worker_asks=(AUTH.name, SUGGESTION.name))
