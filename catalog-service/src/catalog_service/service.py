"""catalog-service, described once for whatever runs it."""

from catalog_service.settings import Settings
from chassis.server.service import Service
from contracts.routes import CATALOG

SERVICE = Service(CATALOG.name, Settings)
