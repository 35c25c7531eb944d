"""Changes of many links at once."""

from catalog_service.joining.bulk import ManyJoinings
from catalog_service.links import service

MANY_LINKS = ManyJoinings(service.LINKS, "/api/v1/links", "l.id", service.ends)
