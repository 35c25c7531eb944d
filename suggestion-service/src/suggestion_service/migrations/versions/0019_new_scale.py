"""Scores mean something new: the texts of each project of now are read, and its pending suggestions scored anew, once.

`tfidf` and `keyword` become probabilities, as `hybrid` was, and terms are read otherwise.
"""

from alembic import op

from chassis.db.isolation import isolate

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Note the projects, and add a column; both take a moment."""
    for statement in STATEMENTS:
        op.execute(statement)
    for statement in isolate("outdated_scales"):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE outdated_scales (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        position uuid,
        CONSTRAINT pk_outdated_scales PRIMARY KEY (project_id)
    )
    """,
    "COMMENT ON TABLE outdated_scales IS 'projects whose terms and pending suggestions are of an older version'",
    "COMMENT ON COLUMN outdated_scales.position IS 'items.id up to which the terms are read anew'",
    "INSERT INTO outdated_scales (project_id) SELECT project_id FROM corpus_head WHERE head > 0",
    "ALTER TABLE runs ADD COLUMN pending_only boolean NOT NULL DEFAULT false",
    "COMMENT ON COLUMN runs.pending_only IS 'scores pending suggestions anew for a new scale, and suggests nothing'",
)
