"""Service accounts: users that are no people, each of one project."""

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table, empty."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    """
    CREATE TABLE service_accounts (
        user_id integer CONSTRAINT pk_service_accounts PRIMARY KEY,
        project_key text NOT NULL,
        name text NOT NULL,
        created_at timestamptz NOT NULL,
        created_by integer,
        deleted_at timestamptz,
        CONSTRAINT fk_service_accounts_user_id_users FOREIGN KEY (user_id) REFERENCES users (id)
    )
    """,
    "CREATE UNIQUE INDEX ix_service_accounts_name ON service_accounts (project_key, name) WHERE deleted_at IS NULL",
)
