"""Embeddings of the items: the model in use, and where the server has pgvector, the vectors."""

import sqlalchemy as sa
from alembic import op

from suggestion_service.embeddings import tables

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables. Without pgvector, or the right to install it, there is no table of vectors."""
    for statement in STATEMENTS:
        op.execute(statement)
    connection = op.get_bind()
    if connection.execute(sa.text(tables.AVAILABLE)).first() is None:
        return
    if connection.execute(sa.text(_MAY_INSTALL)).scalar_one():
        for statement in tables.STATEMENTS:
            op.execute(statement)


_MAY_INSTALL = """
SELECT to_regtype('halfvec') IS NOT NULL OR NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')
    AND ((SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
        OR has_database_privilege(current_database(), 'CREATE')
            AND EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'vector' AND trusted))
"""

STATEMENTS = (
    """
    CREATE TABLE embedding_model (
        only_row boolean CONSTRAINT pk_embedding_model PRIMARY KEY,
        model text,
        in_use boolean NOT NULL
    )
    """,
    "COMMENT ON COLUMN embedding_model.in_use IS"
    " 'the vectors of all items are there, and hybrid scores are made of them'",
    "INSERT INTO embedding_model VALUES (true, NULL, false)",
)
