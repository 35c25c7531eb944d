"""Alembic's entry point."""

from chassis.migrations import run
from suggestion_service.models import metadata

run(metadata)
