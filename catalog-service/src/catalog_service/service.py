"""catalog-service, described once for whatever runs it."""

from catalog_service.settings import Settings
from chassis.server.service import Service
from contracts.routes import CATALOG, SUGGESTION

# The feed of suggestion-service is followed; no request asks it anything.
SERVICE = Service(CATALOG.name, Settings, worker_asks=(SUGGESTION.name,))
