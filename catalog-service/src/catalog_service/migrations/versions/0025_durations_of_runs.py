"""How long the tests of a run took, beside its counts: a trend reads runs, of which there are few."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and add up the runs that are there."""
    op.execute("ALTER TABLE test_runs ADD COLUMN duration_ms bigint NOT NULL DEFAULT 0")
    op.execute("COMMENT ON COLUMN test_runs.duration_ms IS 'of its tests together'")
    op.execute(
        "UPDATE test_runs r SET duration_ms = e.duration_ms FROM ("
        " SELECT run_id, sum(duration_ms) AS duration_ms FROM executions GROUP BY run_id) AS e"
        " WHERE e.run_id = r.id AND e.duration_ms > 0"
    )
