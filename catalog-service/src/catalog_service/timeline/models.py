"""What timelines are told from, beside versions, links and results."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from chassis.db.schema import project_column, required, timestamp


def add_tables(metadata: sa.MetaData) -> None:
    """Describe the tables in the schema of the service."""
    link_changes = sa.Table(
        "link_changes",
        metadata,
        project_column(),
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        required("link_id", sa.Uuid, comment="stays when the link is deleted"),
        required("requirement_id", sa.Uuid),
        required("test_case_id", sa.Uuid),
        required("action", sa.Text, comment="updated, deleted"),
        required("actor", sa.Text),
        timestamp("occurred_at"),
        required("told", pg.JSON, comment="the changes; of a deletion, the link as it was"),
        sa.Column("import_id", sa.Uuid, comment="of the import that did it, if one did"),
        comment="what happened to links after they were made; written by a trigger of their events",
    )
    sa.Index(None, link_changes.c.requirement_id)
    sa.Index(None, link_changes.c.test_case_id)

    suggestion_reviews = sa.Table(
        "suggestion_reviews",
        metadata,
        project_column(),
        sa.Column("suggestion_id", sa.Uuid, primary_key=True),
        timestamp("reviewed_at", primary_key=True),
        required("requirement_id", sa.Uuid),
        required("test_case_id", sa.Uuid),
        required("actor", sa.Text),
        required("score", sa.Double),
        sa.Column("note", sa.Text),
        comment="suggestions that were rejected; accepted ones are links",
    )
    sa.Index(None, suggestion_reviews.c.requirement_id)
    sa.Index(None, suggestion_reviews.c.test_case_id)
