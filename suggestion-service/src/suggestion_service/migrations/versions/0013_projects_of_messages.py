"""Keeps apart what changes, requests and failures of each project leave in the tables of messages."""

from chassis.messaging import migration as messaging_migration

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Give each row its project, and each project sight of its own rows alone."""
    messaging_migration.keep_projects_apart()
