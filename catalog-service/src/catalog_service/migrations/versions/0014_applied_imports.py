"""What applying an import needs: search documents made later, how far it came, and coverage judged at its end.

Writers wait while it runs, about a second each 100,000 items; readers wait a moment.
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let a transaction leave search documents to the worker, which finds what is left by an index; add the columns."""
    for statement in STATEMENTS:
        op.execute(statement)
    for table, columns in (
        ("requirements", "external_id, title, tags, description"),
        (
            "test_cases",
            "external_id, title, tags, description, steps, preconditions, postconditions, test_data",
        ),
    ):
        op.execute(f"DROP TRIGGER make_search_document ON {table}")
        op.execute(
            f"CREATE TRIGGER make_search_document BEFORE INSERT OR UPDATE OF {columns}, search ON {table} FOR EACH ROW"
            " WHEN (current_setting('traceline.search_later', true) IS DISTINCT FROM 'on')"
            f" EXECUTE FUNCTION make_search_document_of_{table}()"
        )
        op.execute(f"CREATE INDEX ix_{table}_unsearched ON {table} (id) WHERE search IS NULL")


STATEMENTS = (
    "ALTER TABLE import_jobs ADD COLUMN applied_step integer NOT NULL DEFAULT 0",
    "COMMENT ON COLUMN import_jobs.applied_step IS 'the step that applied_up_to is of, from 1; 0 before the first'",
    "ALTER TABLE coverage_state ADD COLUMN open_imports uuid[] NOT NULL DEFAULT '{}'",
    "COMMENT ON COLUMN coverage_state.open_imports IS 'those whose end the projection has not seen'",
)
