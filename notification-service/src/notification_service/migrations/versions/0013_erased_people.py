"""What was taken out of audit entries when people were erased; the chain is followed by it."""

from alembic import op

from chassis.db.isolation import ACROSS, APP, isolate

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table, and the function by which alone entries are rewritten; nothing that is there changes."""
    for statement in STATEMENTS:
        op.execute(statement)
    for statement in isolate("audit_erasures"):
        op.execute(statement)


STATEMENTS = (
    """
    CREATE TABLE audit_erasures (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        erasure uuid NOT NULL,
        entry_id bigint NOT NULL,
        digest bytea NOT NULL,
        CONSTRAINT pk_audit_erasures PRIMARY KEY (erasure, entry_id)
    )
    """,
    "COMMENT ON TABLE audit_erasures IS 'audit entries that an erased person was taken out of, as they are since'",
    "COMMENT ON COLUMN audit_erasures.erasure IS 'details.erasure of an audit entry user.erased'",
    "CREATE INDEX ix_audit_erasures_project_id ON audit_erasures (project_id)",
    f"REVOKE UPDATE ON audit_erasures FROM {APP}, {ACROSS}",
    # `names` and `nobody` are JSON strings, in quotes: a name is replaced where it is a whole value.
    """
    CREATE FUNCTION erase_from_audit_entries(pattern text, pseudonym text, names text[], nobody text)
    RETURNS TABLE (entry_id bigint, entry_project text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    DECLARE one audit_entries; name text;
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('audit seals'));
        FOR one IN SELECT * FROM audit_entries e
            WHERE concat_ws(' ', e.actor, e.resource_title, e.summary, e.resource_id, e.before, e.after, e.details,
                e.resource_ids) ~* pattern ORDER BY e.id
        LOOP
            one.actor := regexp_replace(one.actor, pattern, pseudonym, 'gi');
            one.resource_id := regexp_replace(one.resource_id, pattern, pseudonym, 'gi');
            one.resource_title := regexp_replace(one.resource_title, pattern, pseudonym, 'gi');
            one.summary := regexp_replace(one.summary, pattern, pseudonym, 'gi');
            one.before := regexp_replace(one.before::text, pattern, pseudonym, 'gi')::json;
            one.after := regexp_replace(one.after::text, pattern, pseudonym, 'gi')::json;
            one.details := regexp_replace(one.details::text, pattern, pseudonym, 'gi')::json;
            one.resource_ids := regexp_replace(one.resource_ids::text, pattern, pseudonym, 'gi')::text[];
            FOREACH name IN ARRAY names LOOP
                one.before := replace(one.before::text, name, nobody)::json;
                one.after := replace(one.after::text, name, nobody)::json;
                one.details := replace(one.details::text, name, nobody)::json;
            END LOOP;
            UPDATE audit_entries e SET actor = one.actor, resource_id = one.resource_id,
                resource_title = one.resource_title, summary = one.summary, before = one.before, after = one.after,
                details = one.details, resource_ids = one.resource_ids
            WHERE e.id = one.id;
            entry_id := one.id;
            entry_project := one.project_id;
            RETURN NEXT;
        END LOOP;
    END
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION erase_from_audit_entries(text, text, text[], text) FROM PUBLIC",
    f"GRANT EXECUTE ON FUNCTION erase_from_audit_entries(text, text, text[], text) TO {ACROSS}",
)
