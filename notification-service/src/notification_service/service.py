"""notification-service, described once for whatever runs it."""

from chassis.server.service import Service
from contracts.routes import NOTIFICATION, followed_by, internal_callers
from notification_service.settings import Settings

SERVICE = Service(NOTIFICATION.name, Settings, internal_callers(NOTIFICATION), worker_asks=followed_by(NOTIFICATION))
