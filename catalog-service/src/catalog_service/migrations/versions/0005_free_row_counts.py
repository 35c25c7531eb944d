"""Writers that count rows wait for each other no more: two who waited for what the other had were both held up.

Readers and writers wait while it runs, some milliseconds.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Number new slots by themselves, and have each writer take one that is free."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    # Until now a slot was the process's number modulo 32.
    "ALTER TABLE row_counts ALTER COLUMN slot ADD GENERATED ALWAYS AS IDENTITY (START WITH 32)",
    # A slot that no other transaction holds, else a new one, so nobody waits here, whatever they lock before and after.
    # There are as many slots as there ever were writers at once.
    """
    CREATE OR REPLACE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
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
            UPDATE row_counts SET rows = rows + difference WHERE table_name = TG_TABLE_NAME AND slot = (
                SELECT slot FROM row_counts WHERE table_name = TG_TABLE_NAME
                ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED);
            IF NOT FOUND THEN
                INSERT INTO row_counts (table_name, rows) VALUES (TG_TABLE_NAME, difference);
            END IF;
        END IF;
        RETURN NULL;
    END
    $$
    """,
)
