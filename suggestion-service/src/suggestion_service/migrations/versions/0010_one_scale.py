"""Runs score pending suggestions anew: whether they do, what that did, and what they withdrew.

`runs.seen` and `runs.background` say which run set the scale of the queue, and for how long it holds;
`suggestions.withdrawn` tells what a run took out of the queue, which may come back, from what expired for good.
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, which take a moment, and an index over no rows yet; writers wait for one look at all rows."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    ALTER TABLE runs ADD COLUMN rescore boolean NOT NULL DEFAULT true,
        ADD COLUMN suggestions_updated bigint NOT NULL DEFAULT 0,
        ADD COLUMN suggestions_withdrawn bigint NOT NULL DEFAULT 0,
        ADD COLUMN background text,
        ADD COLUMN seen bigint
    """,
    "COMMENT ON COLUMN runs.background IS 'AUTO_SUGGESTIONS_ALGORITHM when the run was asked for; unknown before 0010'",
    "COMMENT ON COLUMN runs.seen IS 'items.text_sequence of the latest text that the run looked at; null before that'",
    """
    ALTER TABLE run_parts ADD COLUMN suggestions_updated bigint NOT NULL DEFAULT 0,
        ADD COLUMN suggestions_withdrawn bigint NOT NULL DEFAULT 0
    """,
    "ALTER TABLE suggestions ADD COLUMN withdrawn boolean NOT NULL DEFAULT false",
    "COMMENT ON COLUMN suggestions.withdrawn IS 'expired, since a run scored it below its threshold: it may come back'",
    "CREATE INDEX ix_suggestions_withdrawn ON suggestions (requirement_id, test_case_id) WHERE withdrawn",
)
