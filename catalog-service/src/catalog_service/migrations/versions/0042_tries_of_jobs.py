"""Which try of which job sent a file, by what CI calls both.

Of files that are there nobody knows: they keep the attempt that they came as.
"""

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.execute("ALTER TABLE run_uploads ADD COLUMN job text, ADD COLUMN job_try text")
    op.execute(
        "COMMENT ON COLUMN run_uploads.job IS 'the job of CI that sent it, by a name that no other job of the run has'"
    )
    op.execute("COMMENT ON COLUMN run_uploads.job_try IS 'what tells tries of that job apart'")
