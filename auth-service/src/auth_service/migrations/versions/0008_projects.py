"""Projects and their members; MAIN, in which everything from before belongs, is open to all."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the tables, with MAIN."""
    for statement in _STATEMENTS:
        op.execute(statement)


_STATEMENTS = (
    """
    CREATE TABLE projects (
        key text COLLATE "C" NOT NULL,
        name text NOT NULL,
        description text NOT NULL,
        visibility text NOT NULL,
        archived boolean NOT NULL,
        settings jsonb NOT NULL,
        created_at timestamptz NOT NULL,
        created_by integer,
        deleted_at timestamptz,
        CONSTRAINT pk_projects PRIMARY KEY (key),
        CONSTRAINT ck_projects_visibility CHECK (visibility IN ('open', 'members'))
    )
    """,
    "COMMENT ON COLUMN projects.created_by IS 'the id of a user; none of MAIN'",
    "COMMENT ON COLUMN projects.deleted_at IS 'the row stays: a key is never used again'",
    """
    CREATE TABLE project_members (
        project_key text COLLATE "C" NOT NULL,
        user_id integer NOT NULL,
        role text NOT NULL,
        since timestamptz NOT NULL,
        CONSTRAINT pk_project_members PRIMARY KEY (project_key, user_id),
        CONSTRAINT fk_project_members_project_key_projects FOREIGN KEY (project_key) REFERENCES projects,
        CONSTRAINT fk_project_members_user_id_users FOREIGN KEY (user_id) REFERENCES users,
        CONSTRAINT ck_project_members_role CHECK (role IN ('admin', 'reviewer', 'viewer'))
    )
    """,
    "CREATE INDEX ix_project_members_user_id ON project_members (user_id)",
    """
    INSERT INTO projects (key, name, description, visibility, archived, settings, created_at)
    VALUES ('MAIN', 'Main project', '', 'open', false, '{}', now())
    """,
)
