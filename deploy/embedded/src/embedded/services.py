"""The services of a whole Traceline, as their packages describe them."""

from chassis.server.service import service_of
from contracts import routes

SERVICES = tuple(service_of(service.package) for service in routes.SERVICES)
"""Each comes after those that it asks."""
