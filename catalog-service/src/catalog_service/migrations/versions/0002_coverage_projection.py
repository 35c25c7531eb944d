"""What coverage is judged by: a projection of the service's own feed."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the projection, empty: it is built from the beginning of the feed."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE coverage_state (
        only_row boolean NOT NULL,
        position bigint NOT NULL,
        total_requirements integer NOT NULL,
        covered_requirements integer NOT NULL,
        reached boolean NOT NULL,
        CONSTRAINT pk_coverage_state PRIMARY KEY (only_row),
        CONSTRAINT ck_coverage_state_counts CHECK (covered_requirements BETWEEN 0 AND total_requirements)
    )
    """,
    "COMMENT ON COLUMN coverage_state.reached IS 'coverage is, or was when last decided, at the threshold or above'",
    "INSERT INTO coverage_state VALUES (true, 0, 0, 0, false)",
    """
    CREATE TABLE coverage_requirements (
        requirement_id uuid NOT NULL,
        links integer NOT NULL,
        CONSTRAINT pk_coverage_requirements PRIMARY KEY (requirement_id),
        CONSTRAINT ck_coverage_requirements_links CHECK (links >= 0)
    )
    """,
)
