"""What happened to items, for their history: kept apart from the feed, which need not be kept for ever.

Writers wait while it runs, some seconds each 100,000 changes; readers do not.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep changes by a trigger, which older programs cannot forget, and take those of the past from the feed."""
    for statement in STATEMENTS:
        op.execute(statement)


_KEPT = """
    'catalog.requirement.updated', 'catalog.requirement.deleted',
    'catalog.test_case.updated', 'catalog.test_case.deleted'
"""

STATEMENTS = (
    """
    CREATE TABLE item_changes (
        item_id uuid NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        kind text NOT NULL,
        action text NOT NULL,
        actor text NOT NULL,
        occurred_at timestamptz NOT NULL,
        version integer NOT NULL,
        told json NOT NULL,
        CONSTRAINT pk_item_changes PRIMARY KEY (item_id, id)
    )
    """,
    "COMMENT ON TABLE item_changes IS 'what happened to items; written by a trigger of their events'",
    "COMMENT ON COLUMN item_changes.item_id IS 'a requirement''s or a test case''s; stays when it is deleted'",
    "COMMENT ON COLUMN item_changes.kind IS 'requirement or test_case'",
    "COMMENT ON COLUMN item_changes.action IS 'updated, deleted; created where created_by names another'",
    "COMMENT ON COLUMN item_changes.version IS 'of the item after it'",
    "COMMENT ON COLUMN item_changes.told IS 'the changes; of a deletion, the item as it was'",
    # Of a creation only who it was, and only where the item does not say so: creating must stay as fast as it is.
    """
    CREATE FUNCTION remember_item_change(wire_name text, event json) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        kind text := split_part(wire_name, '.', 2);
        action text := split_part(wire_name, '.', 3);
        item json := event -> 'data' -> kind;
    BEGIN
        INSERT INTO item_changes (item_id, kind, action, actor, occurred_at, version, told)
        VALUES (
            (item ->> 'id')::uuid, kind, action, event ->> 'actor', (event ->> 'time')::timestamptz,
            (item ->> 'version')::integer,
            CASE action WHEN 'updated' THEN event -> 'data' -> 'changes' WHEN 'deleted' THEN item ELSE '{}' END
        );
    END
    $$
    """,
    """
    CREATE FUNCTION remember_told_item_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM remember_item_change(NEW.wire_name, NEW.envelope::json);
        RETURN NULL;
    END
    $$
    """,
    # From here on nobody else tells events until the past is taken over, too.
    f"""
    CREATE TRIGGER remember_item_change AFTER INSERT ON outbox FOR EACH ROW
    WHEN (NEW.wire_name IN ({_KEPT})) EXECUTE FUNCTION remember_told_item_change()
    """,
    f"""
    SELECT remember_item_change(wire_name, envelope::json) FROM (
        SELECT wire_name, envelope FROM outbox WHERE wire_name IN ({_KEPT})
        OR wire_name = 'catalog.requirement.created'
            AND envelope::json ->> 'actor' IS DISTINCT FROM envelope::json -> 'data' -> 'requirement' ->> 'created_by'
        OR wire_name = 'catalog.test_case.created'
            AND envelope::json ->> 'actor' IS DISTINCT FROM envelope::json -> 'data' -> 'test_case' ->> 'created_by'
        ORDER BY id
    ) AS past
    """,
)
