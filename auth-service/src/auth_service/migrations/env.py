"""Alembic's door to the schema of auth-service."""

from auth_service.models import metadata
from chassis.migrations import run

run(metadata)
