"""Imports: the job, the file, its rows as they are to become, saved mappings; and what deleted items leave behind."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, empty."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE import_jobs (
        id uuid NOT NULL,
        status text NOT NULL,
        phase text,
        progress double precision NOT NULL DEFAULT 0,
        format text,
        kind text NOT NULL,
        file_name text,
        size bigint,
        sha256 text,
        options json NOT NULL,
        counts json,
        summary json,
        rows_read integer NOT NULL DEFAULT 0,
        plan_hash text,
        record_position bigint,
        apply_options json,
        applied_up_to integer NOT NULL DEFAULT 0,
        search_ready boolean NOT NULL DEFAULT false,
        cancel_requested boolean NOT NULL DEFAULT false,
        error json,
        created_by text NOT NULL,
        created_by_id integer,
        correlation_id text NOT NULL,
        gateway_request_id text,
        created_at timestamptz NOT NULL,
        planned_at timestamptz,
        applied_at timestamptz,
        expires_at timestamptz,
        claim uuid,
        claimed_until timestamptz,
        attempts integer NOT NULL DEFAULT 0,
        CONSTRAINT pk_import_jobs PRIMARY KEY (id),
        CONSTRAINT ck_import_jobs_status CHECK (status IN (
            'received', 'reading', 'planned', 'applying', 'applied', 'failed', 'cancelled', 'expired'))
    )
    """,
    "COMMENT ON COLUMN import_jobs.progress IS '0..1'",
    "COMMENT ON COLUMN import_jobs.options IS 'the query and the mapping that it was sent with'",
    "COMMENT ON COLUMN import_jobs.summary IS 'problems and warnings by code, and what else a person has to know'",
    "COMMENT ON COLUMN import_jobs.apply_options IS 'of POST /imports/{id}/apply'",
    "COMMENT ON COLUMN import_jobs.applied_up_to IS 'position in import_rows, where it is not all or nothing'",
    "CREATE INDEX ix_import_jobs_created_at_id ON import_jobs (created_at DESC, id)",
    """
    CREATE INDEX ix_import_jobs_open ON import_jobs (created_at)
    WHERE status IN ('received', 'reading', 'planned', 'applying')
    """,
    """
    CREATE TABLE import_chunks (
        job_id uuid NOT NULL,
        number integer NOT NULL,
        data bytea NOT NULL,
        CONSTRAINT pk_import_chunks PRIMARY KEY (job_id, number),
        CONSTRAINT fk_import_chunks_job_id_import_jobs FOREIGN KEY (job_id)
            REFERENCES import_jobs (id) ON DELETE CASCADE
    )
    """,
    "ALTER TABLE import_chunks ALTER COLUMN data SET STORAGE EXTERNAL",
    # Unlogged: lost in a crash, it is read again from the chunks.
    """
    CREATE UNLOGGED TABLE import_rows (
        job_id uuid NOT NULL,
        position integer NOT NULL,
        kind text NOT NULL,
        row integer,
        line integer,
        fields json,
        given text[],
        version integer,
        problems json,
        warnings json,
        source json,
        action text,
        code text,
        target_id uuid,
        target_version integer,
        changes json,
        CONSTRAINT pk_import_rows PRIMARY KEY (job_id, position)
    )
    """,
    "COMMENT ON TABLE import_rows IS 'what a file holds, and what is to become of it: the plan'",
    "COMMENT ON COLUMN import_rows.kind IS 'requirement, test_case, link or revision'",
    "COMMENT ON COLUMN import_rows.row IS 'as a person counts the rows or objects of the file, from 1'",
    """
    COMMENT ON COLUMN import_rows.fields IS
        'by the names of the API; of an item all, as it is stored, of a link its ends'
    """,
    "COMMENT ON COLUMN import_rows.given IS 'the fields that the file has; empty: it stands for all'",
    "COMMENT ON COLUMN import_rows.version IS 'of a native file: of the item when it was exported'",
    "COMMENT ON COLUMN import_rows.source IS 'the cells as they were sent'",
    """
    COMMENT ON COLUMN import_rows.action IS
        'create, update, unchanged, conflict, error, skip or delete; empty until it is planned'
    """,
    "COMMENT ON COLUMN import_rows.code IS 'why it is a conflict, an error or skipped'",
    "COMMENT ON COLUMN import_rows.target_id IS 'of the item or link that it changes, or that it becomes'",
    "COMMENT ON COLUMN import_rows.changes IS 'of an update: each field before and after'",
    """
    CREATE TABLE import_mappings (
        id uuid NOT NULL,
        name text NOT NULL,
        description text,
        mapping json NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT pk_import_mappings PRIMARY KEY (id),
        CONSTRAINT uq_import_mappings_name UNIQUE (name)
    )
    """,
    "CREATE INDEX ix_import_mappings_created_at_id ON import_mappings (created_at DESC, id)",
    """
    CREATE TABLE deleted_items (
        kind text NOT NULL,
        id uuid NOT NULL,
        external_id text,
        source_system text,
        deleted_at timestamptz NOT NULL,
        deleted_by text NOT NULL,
        CONSTRAINT pk_deleted_items PRIMARY KEY (kind, id)
    )
    """,
    "COMMENT ON TABLE deleted_items IS 'so that no import brings back what people have deleted; for 400 days'",
    "CREATE INDEX ix_deleted_items_kind_external_id ON deleted_items (kind, external_id)",
    "CREATE INDEX ix_deleted_items_deleted_at ON deleted_items (deleted_at)",
    """
    CREATE TABLE reqif_schemas (
        job_id uuid NOT NULL,
        document json NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_reqif_schemas PRIMARY KEY (job_id)
    )
    """,
    "COMMENT ON TABLE reqif_schemas IS 'types and tool extensions of imported ReqIF files, to be written out again'",
)
