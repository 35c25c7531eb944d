"""What a file holds beside its rows, from its reading until it is applied."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE import_documents (
        job_id uuid NOT NULL,
        document json NOT NULL,
        CONSTRAINT pk_import_documents PRIMARY KEY (job_id),
        CONSTRAINT fk_import_documents_job_id_import_jobs FOREIGN KEY (job_id) REFERENCES import_jobs (id)
            ON DELETE CASCADE
    )
    """,
    "COMMENT ON TABLE import_documents IS 'what reqif_schemas will have of a file once it is applied'",
)
