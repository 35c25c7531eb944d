"""The table of relations."""

import sqlalchemy as sa

from catalog_service.values import RelationSource, RelationType
from chassis.db.schema import one_of, project_column, required, timestamp


def add_tables(metadata: sa.MetaData) -> None:
    """Describe the tables in the schema of the service."""
    relations = sa.Table(
        "requirement_relations",
        metadata,
        project_column(),
        sa.Column("id", sa.Uuid, primary_key=True),
        required("child_id", sa.ForeignKey("requirements.id", ondelete="CASCADE")),
        required("parent_id", sa.ForeignKey("requirements.id", ondelete="CASCADE")),
        required("relation_type", sa.Text),
        sa.Column("role", sa.String(100), comment="what another tool calls it"),
        sa.Column("notes", sa.Text),
        required("source", sa.Text),
        timestamp("created_at"),
        sa.Column("created_by", sa.String(100)),
        timestamp("confirmed_at", nullable=True),
        sa.Column("confirmed_by", sa.String(100)),
        timestamp("updated_at"),
        required("child_version", sa.Integer, comment="when made or last confirmed"),
        required("parent_version", sa.Integer, comment="when made or last confirmed"),
        sa.UniqueConstraint("child_id", "parent_id", name="uq_requirement_relations_ends"),
        sa.CheckConstraint("child_id <> parent_id", name="ends"),
        one_of("relation_type", *RelationType),
        one_of("source", *RelationSource),
        comment="requirements above requirements",
    )
    sa.Index(None, relations.c.parent_id)
    sa.Index(
        None,
        relations.c.project_id,
        relations.c.created_at,
        relations.c.id.desc(),
    )
    sa.Index(
        None,
        relations.c.project_id,
        relations.c.updated_at,
        relations.c.id.desc(),
    )
