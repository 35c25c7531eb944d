"""Runs this service's migrations."""

from chassis.migrations import run
from notification_service.models import metadata

run(metadata)
