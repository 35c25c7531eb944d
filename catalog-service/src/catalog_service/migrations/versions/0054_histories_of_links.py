"""What happened to links after they were made, and which suggestions were rejected.

As far as the feed still has them, changes of before are taken from there.
"""

from alembic import op

from chassis.db.isolation import isolate

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

_OWNER = """project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), '')"""


def upgrade() -> None:
    """Create the tables, the columns and what fills them."""
    for statement in (*_STATEMENTS, *isolate("link_changes"), *isolate("suggestion_reviews")):
        op.execute(statement)


_STATEMENTS = (
    "ALTER TABLE item_changes ADD COLUMN import_id uuid",
    "COMMENT ON COLUMN item_changes.import_id IS 'of the import that did it, if one did'",
    f"""
    CREATE TABLE link_changes (
        {_OWNER},
        id bigint GENERATED ALWAYS AS IDENTITY,
        link_id uuid NOT NULL,
        requirement_id uuid NOT NULL,
        test_case_id uuid NOT NULL,
        action text NOT NULL,
        actor text NOT NULL,
        occurred_at timestamptz NOT NULL,
        told json NOT NULL,
        import_id uuid,
        CONSTRAINT pk_link_changes PRIMARY KEY (id)
    )
    """,
    "COMMENT ON TABLE link_changes IS"
    " 'what happened to links after they were made; written by a trigger of their events'",
    "COMMENT ON COLUMN link_changes.link_id IS 'stays when the link is deleted'",
    "COMMENT ON COLUMN link_changes.action IS 'updated, deleted'",
    "COMMENT ON COLUMN link_changes.told IS 'the changes; of a deletion, the link as it was'",
    "COMMENT ON COLUMN link_changes.import_id IS 'of the import that did it, if one did'",
    "CREATE INDEX ix_link_changes_requirement_id ON link_changes (requirement_id)",
    "CREATE INDEX ix_link_changes_test_case_id ON link_changes (test_case_id)",
    f"""
    CREATE TABLE suggestion_reviews (
        {_OWNER},
        suggestion_id uuid NOT NULL,
        reviewed_at timestamptz NOT NULL,
        requirement_id uuid NOT NULL,
        test_case_id uuid NOT NULL,
        actor text NOT NULL,
        score double precision NOT NULL,
        note text,
        CONSTRAINT pk_suggestion_reviews PRIMARY KEY (suggestion_id, reviewed_at)
    )
    """,
    "COMMENT ON TABLE suggestion_reviews IS 'suggestions that were rejected; accepted ones are links'",
    "CREATE INDEX ix_suggestion_reviews_requirement_id ON suggestion_reviews (requirement_id)",
    "CREATE INDEX ix_suggestion_reviews_test_case_id ON suggestion_reviews (test_case_id)",
    """
    INSERT INTO link_changes
        (project_id, link_id, requirement_id, test_case_id, action, actor, occurred_at, told, import_id)
    SELECT coalesce(event ->> 'project', 'MAIN'), (link ->> 'id')::uuid, (link ->> 'requirement_id')::uuid,
        (link ->> 'test_case_id')::uuid, action, event ->> 'actor', (event ->> 'time')::timestamptz,
        CASE action WHEN 'deleted' THEN link ELSE event -> 'data' -> 'changes' END, (event ->> 'batchid')::uuid
    FROM (
        SELECT id, split_part(wire_name, '.', 3) AS action, envelope::json AS event,
            envelope::json -> 'data' -> 'link' AS link
        FROM outbox WHERE wire_name IN ('catalog.link.updated', 'catalog.link.deleted')
    ) AS told ORDER BY id
    """,
    """
    CREATE OR REPLACE FUNCTION remember_item_change(wire_name text, event json) RETURNS void
LANGUAGE plpgsql AS $$
    DECLARE
        kind text := split_part(wire_name, '.', 2);
        action text := split_part(wire_name, '.', 3);
        item json := event -> 'data' -> kind;
    BEGIN
        INSERT INTO item_changes (item_id, kind, action, actor, occurred_at, version, told, import_id)
        VALUES (
            (item ->> 'id')::uuid, kind, action, event ->> 'actor', (event ->> 'time')::timestamptz,
            (item ->> 'version')::integer,
            CASE action WHEN 'updated' THEN event -> 'data' -> 'changes' WHEN 'deleted' THEN item ELSE '{}' END,
            (event ->> 'batchid')::uuid
        );
    END
    $$
    """,
    """
    CREATE FUNCTION remember_told_link_change() RETURNS trigger
LANGUAGE plpgsql AS $$
    DECLARE
        event json := NEW.envelope::json;
        action text := split_part(NEW.wire_name, '.', 3);
        link json := event -> 'data' -> 'link';
    BEGIN
        INSERT INTO link_changes (link_id, requirement_id, test_case_id, action, actor, occurred_at, told, import_id)
        VALUES (
            (link ->> 'id')::uuid, (link ->> 'requirement_id')::uuid, (link ->> 'test_case_id')::uuid, action,
            event ->> 'actor', (event ->> 'time')::timestamptz,
            CASE action WHEN 'deleted' THEN link ELSE event -> 'data' -> 'changes' END, (event ->> 'batchid')::uuid
        );
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE TRIGGER remember_link_change AFTER INSERT ON outbox FOR EACH ROW
    WHEN (new.wire_name IN ('catalog.link.updated', 'catalog.link.deleted'))
    EXECUTE FUNCTION remember_told_link_change()
    """,
)
