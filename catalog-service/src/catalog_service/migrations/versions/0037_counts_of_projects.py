"""Counts of rows are kept for the project whose rows they are.

What the deletion of an item takes with it, PostgreSQL deletes as the owner of the tables, who sees all projects: its
links were counted off from whichever project had the first slot. All rows are counted anew.

Writers wait while it runs, a second if there are millions of links.
"""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_COUNTED = ("requirements", "test_cases", "links", "linked_requirements", "linked_test_cases")


def upgrade() -> None:
    """Count each project's rows by themselves, those that are there among them."""
    op.execute("LOCK TABLE requirements, test_cases, links IN SHARE ROW EXCLUSIVE MODE")
    op.execute(COUNT_ROWS)
    op.execute("DELETE FROM row_counts")
    for table in _COUNTED:
        op.execute(
            "INSERT INTO row_counts (project_id, table_name, rows)"
            f" SELECT project_id, '{table}', count(*) FROM {table} GROUP BY project_id"
        )


COUNT_ROWS = """
    CREATE OR REPLACE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        project text;
        difference bigint;
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            DELETE FROM row_counts WHERE table_name = TG_TABLE_NAME;
            RETURN NULL;
        END IF;
        FOR project, difference IN
            SELECT project_id, count(*) * CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END FROM changed GROUP BY project_id
        LOOP
            UPDATE row_counts SET rows = rows + difference
            WHERE project_id = project AND table_name = TG_TABLE_NAME AND slot = (
                SELECT slot FROM row_counts WHERE project_id = project AND table_name = TG_TABLE_NAME
                ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED);
            IF NOT FOUND THEN
                INSERT INTO row_counts (project_id, table_name, rows) VALUES (project, TG_TABLE_NAME, difference);
            END IF;
        END LOOP;
        RETURN NULL;
    END
    $$
"""
