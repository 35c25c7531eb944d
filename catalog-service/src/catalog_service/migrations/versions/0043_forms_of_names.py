"""Which form the names of the tests of a project have.

Those that are there have none: the next results of the project bring them to the newest.
"""

from alembic import op

from chassis.db.isolation import isolate

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.execute(
        """
        CREATE TABLE forms_of_names (
            project_id text COLLATE "C" NOT NULL
                DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
            form integer NOT NULL,
            CONSTRAINT pk_forms_of_names PRIMARY KEY (project_id)
        )
        """
    )
    op.execute(
        "COMMENT ON TABLE forms_of_names IS"
        " 'the normal form that names of tests have been brought to; see executions.normal_forms'"
    )
    for statement in isolate("forms_of_names"):
        op.execute(statement)
