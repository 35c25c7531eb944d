"""Whether test cases stand otherwise than before, so that what was worked out of it need not be worked out again."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, and the trigger that counts from now on."""
    for statement in (*STATEMENTS, *isolate("state_changes")):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE state_changes (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        slot integer NOT NULL GENERATED ALWAYS AS IDENTITY,
        changes bigint NOT NULL,
        CONSTRAINT pk_state_changes PRIMARY KEY (project_id, slot)
    )
    """,
    "COMMENT ON TABLE state_changes IS"
    " 'how many statements have changed test_case_state: the sum over slots; kept by a trigger'",
    "INSERT INTO state_changes (project_id, changes) SELECT DISTINCT project_id, 0 FROM run_contexts",
    # A slot that no other transaction holds, else a new one, so nobody waits here. What works across projects counts
    # for each of those that it finds.
    """
    CREATE FUNCTION count_state_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        own text := coalesce(current_setting('traceline.project', true), 'MAIN');
        project text;
    BEGIN
        FOR project IN SELECT DISTINCT project_id FROM state_changes WHERE own = '' UNION SELECT own WHERE own <> ''
        LOOP
            UPDATE state_changes SET changes = changes + 1 WHERE project_id = project AND slot = (
                SELECT slot FROM state_changes WHERE project_id = project
                ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED);
            IF NOT FOUND THEN
                INSERT INTO state_changes (project_id, changes) VALUES (project, 1);
            END IF;
        END LOOP;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE TRIGGER count_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON test_case_state
    FOR EACH STATEMENT EXECUTE FUNCTION count_state_changes()
    """,
)
