"""Alembic's door to the schema of catalog-service."""

from catalog_service.models import metadata
from chassis.migrations import run

run(metadata)
