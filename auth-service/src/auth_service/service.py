"""auth-service, described once for whatever runs it."""

from auth_service.settings import Settings
from chassis.server.service import Service
from contracts.routes import AUTH, internal_callers

SERVICE = Service(AUTH.name, Settings, internal_callers(AUTH))
