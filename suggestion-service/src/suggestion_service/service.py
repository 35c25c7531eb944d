"""suggestion-service, described once for whatever runs it."""

from chassis.server.service import Service
from contracts.routes import CATALOG, SUGGESTION
from suggestion_service.settings import Settings

# Catalog makes the links of accepted suggestions, and its feed is followed.
SERVICE = Service(SUGGESTION.name, Settings, app_asks=(CATALOG.name,), worker_asks=(CATALOG.name,))
