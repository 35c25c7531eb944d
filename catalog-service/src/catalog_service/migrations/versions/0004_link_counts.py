"""What reports need of links: how many each item has, kept and not counted, and which items have changed at all.

Writers wait while it runs, some seconds each 100,000 items; readers do not.
"""

from alembic import op

from chassis.db.count_triggers import count_trigger

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count the links, keep the counts by triggers, which older programs cannot forget, and add the indexes."""
    # Nobody else changes links until the counts are there and kept.
    op.execute("LOCK TABLE links IN SHARE ROW EXCLUSIVE MODE")
    for item in ("requirement", "test_case"):
        for statement in TABLES:
            op.execute(statement.format(item=item))
    for statement in (FUNCTION, *TRIGGERS):
        op.execute(statement)
    for table in ("requirements", "test_cases"):
        for index in INDEXES:
            op.execute(index.format(table=table))


TABLES = (
    """
    CREATE TABLE linked_{item}s (
        {item}_id uuid NOT NULL,
        links integer NOT NULL,
        CONSTRAINT pk_linked_{item}s PRIMARY KEY ({item}_id)
    )
    """,
    "COMMENT ON TABLE linked_{item}s IS 'each {item} that has links, and how many; kept by triggers'",
    "INSERT INTO linked_{item}s ({item}_id, links) SELECT {item}_id, count(*) FROM links GROUP BY {item}_id",
    "INSERT INTO row_counts (table_name, slot, rows) SELECT 'linked_{item}s', 0, count(*) FROM linked_{item}s",
    count_trigger("linked_{item}s", "INSERT", "count_rows", new="changed"),
    count_trigger("linked_{item}s", "DELETE", "count_rows", old="changed"),
)

_COUNT = """
        INSERT INTO linked_{item}s AS linked ({item}_id, links)
        SELECT {item}_id, difference * count(*) FROM changed GROUP BY {item}_id ORDER BY {item}_id
        ON CONFLICT ({item}_id) DO UPDATE SET links = linked.links + excluded.links;
        IF difference < 0 THEN
            DELETE FROM linked_{item}s WHERE links = 0 AND {item}_id IN (SELECT {item}_id FROM changed);
        END IF;
"""

# Always in the same order, of kinds and of items: so that no two writers wait for each other.
FUNCTION = f"""
    CREATE FUNCTION count_links() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        difference integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            DELETE FROM linked_requirements;
            DELETE FROM linked_test_cases;
            RETURN NULL;
        END IF;
        {_COUNT.format(item="requirement")}
        {_COUNT.format(item="test_case")}
        RETURN NULL;
    END
    $$
"""

TRIGGERS = (
    count_trigger("links", "INSERT", "count_links", new="changed", name="count_links"),
    count_trigger("links", "DELETE", "count_links", old="changed", name="count_links"),
    count_trigger("links", "TRUNCATE", "count_links", name="count_links"),
)

INDEXES = (
    # Only an item that has changed can have made a link suspect.
    "CREATE INDEX ix_{table}_changed ON {table} (id, version) WHERE version > 1",
    # Sorted by priority, the most urgent first.
    """
    CREATE INDEX ix_{table}_priority_id
    ON {table} (array_position(ARRAY['low', 'medium', 'high', 'critical'], priority) DESC, id)
    """,
)
