"""The chain of the audit log, which shows what was changed in it, taken out or put in; services may only add to it.

Readers and writers wait for a moment. What is there is sealed afterwards, by the worker.
"""

from alembic import op

from chassis.db.isolation import ACROSS, APP, isolate

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, and functions by which entries go whose time is over, or whose project is deleted."""
    for statement in STATEMENTS:
        op.execute(statement)
    for table in ("audit_seals", "audit_heads", "audit_anchors"):
        for statement in isolate(table):
            op.execute(statement)


_PROJECT = """project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), '')"""

# Of each project the last of the seals that go stays, as the anchor of the others.
_MOVE_ANCHORS = """
        INSERT INTO audit_anchors AS known (project_id, place)
        SELECT s.project_id, max(s.place) FROM audit_seals s WHERE s.entry_id = ANY(gone) GROUP BY s.project_id
        ON CONFLICT (project_id) DO UPDATE SET place = greatest(known.place, excluded.place), removed_at = now();
        DELETE FROM audit_seals s USING audit_anchors a WHERE a.project_id = s.project_id AND s.place < a.place;
"""

STATEMENTS = (
    f"""
    CREATE TABLE audit_seals (
        {_PROJECT},
        place bigint NOT NULL,
        entry_id bigint NOT NULL,
        digest bytea NOT NULL,
        hash bytea NOT NULL,
        sealed_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_audit_seals PRIMARY KEY (project_id, place),
        CONSTRAINT uq_audit_seals_entry_id UNIQUE (entry_id)
    )
    """,
    "COMMENT ON COLUMN audit_seals.hash IS 'of the hash before, the place, the id and the digest of the entry'",
    f"""
    CREATE TABLE audit_heads (
        {_PROJECT},
        day date NOT NULL,
        place bigint NOT NULL,
        hash bytea NOT NULL,
        key text NOT NULL,
        signature bytea NOT NULL,
        CONSTRAINT pk_audit_heads PRIMARY KEY (project_id, day)
    )
    """,
    f"""
    CREATE TABLE audit_anchors (
        {_PROJECT},
        place bigint NOT NULL,
        removed_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT pk_audit_anchors PRIMARY KEY (project_id)
    )
    """,
    "COMMENT ON TABLE audit_anchors IS 'up to which place of its chain the entries of a project were removed by age'",
    """
    CREATE TABLE audit_sealing (only_row boolean CONSTRAINT pk_audit_sealing PRIMARY KEY, position bigint NOT NULL)
    """,
    "COMMENT ON COLUMN audit_sealing.position IS 'audit_entries.id up to which each entry has its seal'",
    "INSERT INTO audit_sealing VALUES (true, 0)",
    f"REVOKE UPDATE, DELETE ON audit_entries, audit_seals, audit_heads FROM {APP}, {ACROSS}",
    f"REVOKE INSERT, UPDATE, DELETE ON audit_anchors FROM {APP}, {ACROSS}",
    f"""
    CREATE FUNCTION remove_audit_entries_before(moment timestamptz, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    DECLARE gone bigint[];
    BEGIN
        IF moment > now() - interval '30 days' THEN
            RAISE EXCEPTION 'audit entries are kept for 30 days at least';
        END IF;
        PERFORM pg_advisory_xact_lock(hashtext('audit seals'));
        WITH oldest AS (
            SELECT id, occurred_at FROM audit_entries
            WHERE id <= (SELECT position FROM audit_sealing) ORDER BY id LIMIT most)
        SELECT array_agg(id) INTO gone FROM oldest
        WHERE id < coalesce((SELECT min(id) FROM oldest WHERE occurred_at >= moment), 9223372036854775807);
        {_MOVE_ANCHORS}
        DELETE FROM audit_entries WHERE id = ANY(gone);
        RETURN coalesce(cardinality(gone), 0);
    END
    $$
    """,
    """
    CREATE FUNCTION remove_audit_entries_of(project text, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    DECLARE gone bigint;
    BEGIN
        IF NOT EXISTS (SELECT FROM projects WHERE key = project AND deleted_at IS NOT NULL) THEN
            RAISE EXCEPTION 'project % is not deleted', project;
        END IF;
        DELETE FROM audit_entries WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM audit_entries WHERE project_id = project LIMIT most));
        GET DIAGNOSTICS gone = ROW_COUNT;
        IF gone = 0 THEN
            DELETE FROM audit_seals WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM audit_seals WHERE project_id = project LIMIT most));
            GET DIAGNOSTICS gone = ROW_COUNT;
            DELETE FROM audit_heads WHERE project_id = project;
            DELETE FROM audit_anchors WHERE project_id = project;
        END IF;
        RETURN gone;
    END
    $$
    """,
    *(
        statement
        for function in ("remove_audit_entries_before(timestamptz, integer)", "remove_audit_entries_of(text, integer)")
        for statement in (
            f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC",
            f"GRANT EXECUTE ON FUNCTION {function} TO {ACROSS}",
        )
    ),
)
