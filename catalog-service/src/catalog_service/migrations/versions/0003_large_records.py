"""What a large record needs: how many rows there are, kept and not counted, and an index for each way to ask.

Writers wait while it runs, some seconds each 100,000 items; readers do not.
"""

from alembic import op

from chassis.db.count_triggers import count_trigger

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count the rows, keep the counts by triggers, which older programs cannot forget, and add the indexes."""
    for statement in STATEMENTS:
        op.execute(statement)
    for table in ("requirements", "test_cases", "links"):
        op.execute(count_trigger(table, "INSERT", "count_rows", new="changed"))
        op.execute(count_trigger(table, "DELETE", "count_rows", old="changed"))
        op.execute(count_trigger(table, "TRUNCATE", "count_rows"))
        op.execute(f"INSERT INTO row_counts (table_name, slot, rows) SELECT '{table}', 0, count(*) FROM {table}")
    for table, more in (("requirements", ""), ("test_cases", ", automation_status")):
        for index in INDEXES:
            op.execute(index.format(table=table, more=more))
    # Last: readers wait for it, too. The index of the reports' order does its work.
    for table in ("requirements", "test_cases"):
        op.execute(f"DROP INDEX ix_{table}_module")


STATEMENTS = (
    # Many rows a table, so that writers seldom wait for one another; room in the page for those to come.
    """
    CREATE TABLE row_counts (
        table_name text NOT NULL,
        slot integer NOT NULL,
        rows bigint NOT NULL,
        CONSTRAINT pk_row_counts PRIMARY KEY (table_name, slot)
    ) WITH (fillfactor = 20)
    """,
    "COMMENT ON TABLE row_counts IS 'how many rows a table has: the sum over its slots; kept by triggers'",
    """
    CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        difference bigint;
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            DELETE FROM row_counts WHERE table_name = TG_TABLE_NAME;
            RETURN NULL;
        ELSIF TG_OP = 'INSERT' THEN
            SELECT count(*) INTO difference FROM changed;
        ELSE
            SELECT -count(*) INTO difference FROM changed;
        END IF;
        IF difference <> 0 THEN
            INSERT INTO row_counts AS counted (table_name, slot, rows)
            VALUES (TG_TABLE_NAME, pg_backend_pid() % 32, difference)
            ON CONFLICT (table_name, slot) DO UPDATE SET rows = counted.rows + excluded.rows;
        END IF;
        RETURN NULL;
    END
    $$
    """,
    "CREATE INDEX ix_links_link_source_link_type ON links (link_source, link_type)",
)

INDEXES = (
    # Reports: their order, and all that they ask of an item, without the item itself.
    """
    CREATE INDEX ix_{table}_module_external_id_id ON {table} (module, external_id, id) INCLUDE (version)
    """,
    # Filters in whatever combination: read as a whole it is a twentieth of the table.
    """
    CREATE INDEX ix_{table}_filters ON {table} (status, priority, type, module, created_by{more})
    """,
    "CREATE INDEX ix_{table}_tags ON {table} USING gin (tags)",
    "CREATE INDEX ix_{table}_updated_at_id ON {table} (updated_at DESC, id)",
    "CREATE INDEX ix_{table}_lower_title_id ON {table} (lower(title), id)",
)
