"""Relations: which requirement stands above which."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty, and what counts its rows."""
    for statement in (*TABLE, *isolate("requirement_relations"), *TRIGGERS):
        op.execute(statement)


TABLE = (
    """
    CREATE TABLE requirement_relations (
        id uuid NOT NULL,
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        child_id uuid NOT NULL,
        parent_id uuid NOT NULL,
        relation_type text NOT NULL,
        role varchar(100),
        notes text,
        source text NOT NULL,
        created_at timestamptz NOT NULL,
        created_by varchar(100),
        confirmed_at timestamptz,
        confirmed_by varchar(100),
        updated_at timestamptz NOT NULL,
        child_version integer NOT NULL,
        parent_version integer NOT NULL,
        CONSTRAINT pk_requirement_relations PRIMARY KEY (id),
        CONSTRAINT uq_requirement_relations_ends UNIQUE (child_id, parent_id),
        CONSTRAINT fk_requirement_relations_child_id_requirements FOREIGN KEY (child_id)
            REFERENCES requirements (id) ON DELETE CASCADE,
        CONSTRAINT fk_requirement_relations_parent_id_requirements FOREIGN KEY (parent_id)
            REFERENCES requirements (id) ON DELETE CASCADE,
        CONSTRAINT ck_requirement_relations_ends CHECK (child_id <> parent_id),
        CONSTRAINT ck_requirement_relations_relation_type CHECK (
            relation_type IN ('refines', 'derives_from', 'depends_on', 'conflicts_with', 'related')),
        CONSTRAINT ck_requirement_relations_source CHECK (source IN ('manual', 'imported', 'proposed'))
    )
    """,
    "CREATE INDEX ix_requirement_relations_parent_id ON requirement_relations (parent_id)",
    "CREATE INDEX ix_requirement_relations_project_id_created_at_id"
    " ON requirement_relations (project_id, created_at, id DESC)",
    "CREATE INDEX ix_requirement_relations_project_id_updated_at_id"
    " ON requirement_relations (project_id, updated_at, id DESC)",
    "COMMENT ON TABLE requirement_relations IS 'requirements above requirements'",
    "COMMENT ON COLUMN requirement_relations.role IS 'what another tool calls it'",
    "COMMENT ON COLUMN requirement_relations.child_version IS 'when made or last confirmed'",
    "COMMENT ON COLUMN requirement_relations.parent_version IS 'when made or last confirmed'",
)

TRIGGERS = (
    """
    CREATE TRIGGER count_deleted AFTER DELETE ON requirement_relations
        REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
        EXECUTE FUNCTION count_rows()
    """,
    """
    CREATE TRIGGER count_inserted AFTER INSERT ON requirement_relations
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
        EXECUTE FUNCTION count_rows()
    """,
    """
    CREATE TRIGGER count_truncated AFTER TRUNCATE ON requirement_relations FOR EACH STATEMENT
        EXECUTE FUNCTION count_rows()
    """,
)
