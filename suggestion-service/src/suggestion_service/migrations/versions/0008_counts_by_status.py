"""What the review queue needs when it is long: how many suggestions have a status, kept and not counted, and its order.

Writers wait while it runs, about a second each 100,000 suggestions; readers do not.
"""

from alembic import op

from chassis.db.count_triggers import count_trigger

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count the suggestions, keep the counts by triggers, which older programs cannot forget, and add the index."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    # Nobody else changes suggestions until the counts are there and kept.
    "LOCK TABLE suggestions IN SHARE ROW EXCLUSIVE MODE",
    # Room in the page for the rows to come: each count is changed all the time.
    """
    CREATE TABLE suggestion_counts (
        slot bigint GENERATED ALWAYS AS IDENTITY,
        status text NOT NULL,
        rows bigint NOT NULL,
        CONSTRAINT pk_suggestion_counts PRIMARY KEY (slot)
    ) WITH (fillfactor = 20)
    """,
    "COMMENT ON TABLE suggestion_counts IS"
    " 'how many suggestions have a status: the sum over its slots; kept by triggers'",
    "INSERT INTO suggestion_counts (status, rows) SELECT status, count(*) FROM suggestions GROUP BY status",
    # A slot that no other transaction holds, else a new one: writers never wait for each other here, so not in a circle
    # either, whatever they lock before and after. There are as many slots as there ever were writers at once.
    """
    CREATE FUNCTION count_suggestions(of_status text, more bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE suggestion_counts SET rows = rows + more WHERE slot = (
            SELECT slot FROM suggestion_counts WHERE status = of_status ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO suggestion_counts (status, rows) VALUES (of_status, more);
        END IF;
    END
    $$
    """,
    """
    CREATE FUNCTION count_inserted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(status, count(*)) FROM inserted GROUP BY status;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE FUNCTION count_updated_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(status, sum(difference)::bigint) FROM (
            SELECT status, 1 AS difference FROM updated UNION ALL SELECT status, -1 FROM previous
        ) changes GROUP BY status HAVING sum(difference) <> 0;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE FUNCTION count_deleted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(status, -count(*)) FROM deleted GROUP BY status;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE FUNCTION count_no_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM suggestion_counts;
        RETURN NULL;
    END
    $$
    """,
    count_trigger("suggestions", "INSERT", "count_inserted_suggestions", new="inserted"),
    count_trigger("suggestions", "UPDATE", "count_updated_suggestions", old="previous", new="updated"),
    count_trigger("suggestions", "DELETE", "count_deleted_suggestions", old="deleted"),
    count_trigger("suggestions", "TRUNCATE", "count_no_suggestions"),
    # Reviewed suggestions are mostly the best: whoever looks for pending ones in the order of all reads past them.
    "CREATE INDEX ix_suggestions_status_similarity_score_id ON suggestions (status, similarity_score, id)",
    # Last: readers wait for it, too. The new index does its work.
    "DROP INDEX ix_suggestions_status_similarity_score",
)
