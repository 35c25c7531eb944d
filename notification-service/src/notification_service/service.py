"""notification-service, described once for whatever runs it."""

from chassis.server.service import Service
from contracts.routes import AUTH, CATALOG, NOTIFICATION, SUGGESTION, internal_callers
from notification_service.settings import Settings

# It follows the feeds of all others.
SERVICE = Service(
    NOTIFICATION.name, Settings, internal_callers(NOTIFICATION), worker_asks=(AUTH.name, CATALOG.name, SUGGESTION.name)
)
