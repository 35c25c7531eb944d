"""Policies of the gate that admins keep, and verdicts as they were at the end of each day."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, empty."""
    for statement in (*STATEMENTS, *isolate("gate_policies"), *isolate("verdict_days")):
        op.execute(statement)


_PROJECT = (
    'project_id text COLLATE "C" NOT NULL'
    " DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), '')"
)

STATEMENTS = (
    f"""
    CREATE TABLE gate_policies (
        id uuid NOT NULL,
        {_PROJECT},
        name text NOT NULL,
        rules json NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT pk_gate_policies PRIMARY KEY (id),
        CONSTRAINT uq_gate_policies_project_id_name UNIQUE (project_id, name)
    )
    """,
    f"""
    CREATE TABLE verdict_days (
        {_PROJECT},
        day date NOT NULL,
        branch text NOT NULL,
        module text NOT NULL,
        uncovered integer NOT NULL,
        failed integer NOT NULL,
        flaky integer NOT NULL,
        partial integer NOT NULL,
        not_run integer NOT NULL,
        stale integer NOT NULL,
        passed integer NOT NULL,
        CONSTRAINT pk_verdict_days PRIMARY KEY (project_id, day, branch, module)
    )
    """,
    "COMMENT ON TABLE verdict_days IS 'requirements by their verdicts at the end of a day, UTC'",
    "COMMENT ON COLUMN verdict_days.module IS 'empty for what is in none'",
)
