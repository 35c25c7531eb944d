"""Runs that nobody has ended, and the same bytes as another part of a run.

Of runs that have ended before nobody knows how: they stay as they are.
"""

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and let bytes come again as another shard or attempt."""
    op.execute("ALTER TABLE test_runs ADD COLUMN is_forgotten boolean NOT NULL DEFAULT false")
    op.execute(
        "COMMENT ON COLUMN test_runs.is_forgotten IS"
        " 'it is over since nothing came for long: nobody has said that it has all its files'"
    )
    op.execute("ALTER TABLE run_uploads DROP CONSTRAINT uq_run_uploads_run_id_sha256_context_id")
    op.execute(
        "ALTER TABLE run_uploads ADD CONSTRAINT uq_run_uploads_run_id_sha256_context_id_shard_shards_attempt"
        " UNIQUE (run_id, sha256, context_id, shard, shards, attempt)"
    )
