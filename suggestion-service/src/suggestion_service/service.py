"""suggestion-service, described once for whatever runs it."""

from chassis.server.service import Service
from contracts.routes import AUTH, CATALOG, SUGGESTION, internal_callers
from suggestion_service.settings import Settings

# Catalog makes the links of accepted suggestions; its feed is followed, and that of auth, for what projects want.
SERVICE = Service(
    SUGGESTION.name,
    Settings,
    internal_callers(SUGGESTION),
    app_asks=(CATALOG.name,),
    worker_asks=(AUTH.name, CATALOG.name),
)
