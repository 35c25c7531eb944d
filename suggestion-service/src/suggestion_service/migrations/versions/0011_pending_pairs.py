"""Which pairs are pending, told to who keeps a copy of them.

Writers wait while it runs, about a second each 100,000 pending suggestions; readers do not.
"""

from alembic import op

from chassis.db.count_triggers import count_trigger

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Tell what is pending now, and by triggers, which older programs cannot forget, what becomes of it."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    # Nobody else changes suggestions until what is pending is told.
    "LOCK TABLE suggestions IN SHARE ROW EXCLUSIVE MODE",
    # As `chassis.messaging.events.NewEvent` writes an event. 500 pairs each: a page of the feed is held in memory.
    """
    CREATE FUNCTION tell_pending_pairs(pending boolean, requirements uuid[], test_cases uuid[]) RETURNS void
    LANGUAGE sql AS $$
        INSERT INTO outbox (event_id, wire_name, envelope)
        SELECT event_id, 'suggestion.pending_pairs.changed', json_build_object(
            'specversion', '1.0', 'id', event_id, 'source', '/traceline/suggestion',
            'type', 'suggestion.pending_pairs.changed', 'subject', 'pending_pairs',
            'time', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'datacontenttype', 'application/json', 'correlationid', '', 'actor', 'system',
            'data', json_build_object('pending', pending, 'pairs', pairs)
        )::text
        FROM (
            SELECT gen_random_uuid() AS event_id, json_object_agg(requirement_id, test_case_ids) AS pairs
            FROM (
                SELECT batch, requirement_id, json_agg(test_case_id) AS test_case_ids
                FROM (
                    SELECT *, (row_number() OVER (ORDER BY requirement_id) - 1) / 500 AS batch
                    FROM unnest(requirements, test_cases) AS pair (requirement_id, test_case_id)
                ) AS batched
                GROUP BY batch, requirement_id
            ) AS by_requirement
            GROUP BY batch ORDER BY batch
        ) AS events
    $$
    """,
    """
    CREATE FUNCTION tell_inserted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(true, array_agg(requirement_id), array_agg(test_case_id))
        FROM inserted WHERE status = 'pending' HAVING count(*) > 0;
        RETURN NULL;
    END
    $$
    """,
    # Not those that a review takes out of the queue: its own event names them.
    """
    CREATE FUNCTION tell_updated_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(u.status = 'pending', array_agg(u.requirement_id), array_agg(u.test_case_id))
        FROM updated u JOIN previous p ON p.id = u.id
        WHERE u.status = 'pending' AND p.status <> 'pending' OR p.status = 'pending' AND u.status = 'expired'
        GROUP BY u.status;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE FUNCTION tell_deleted_suggestions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(false, array_agg(requirement_id), array_agg(test_case_id))
        FROM deleted WHERE status = 'pending' HAVING count(*) > 0;
        RETURN NULL;
    END
    $$
    """,
    count_trigger("suggestions", "INSERT", "tell_inserted_suggestions", new="inserted", name="tell"),
    count_trigger("suggestions", "UPDATE", "tell_updated_suggestions", old="previous", new="updated", name="tell"),
    count_trigger("suggestions", "DELETE", "tell_deleted_suggestions", old="deleted", name="tell"),
    """
    SELECT tell_pending_pairs(true, array_agg(requirement_id), array_agg(test_case_id))
    FROM suggestions WHERE status = 'pending' HAVING count(*) > 0
    """,
)
