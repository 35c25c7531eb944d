"""Names of saved mappings that differ by more than the case of their letters."""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Put a part of its id behind a name that an older mapping has in other letters, and allow no more such names."""
    op.execute(
        "UPDATE import_mappings m SET name = left(m.name, 91) || ' ' || left(m.id::text, 8)"
        " WHERE EXISTS (SELECT FROM import_mappings o WHERE o.project_id = m.project_id"
        " AND lower(o.name) = lower(m.name) AND (o.created_at, o.id) < (m.created_at, m.id))"
    )
    op.execute("CREATE UNIQUE INDEX uq_import_mappings_lower_name ON import_mappings (project_id, lower(name))")
