"""References that wait become relations, too, when their other requirement comes."""

from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what a relation is called, and make the functions anew."""
    for statement in STATEMENTS:
        op.execute(statement)


STATEMENTS = (
    "ALTER TABLE waiting_references ADD COLUMN role varchar(100)",
    "COMMENT ON COLUMN waiting_references.role IS 'what another tool calls a relation'",
    """
    CREATE FUNCTION settle_relations(concerned uuid[], item_kind text, head json) RETURNS void
    LANGUAGE plpgsql AS $$
        DECLARE
            ready record;
            moment timestamptz := clock_timestamp();
            written text := to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
        BEGIN
            IF NOT EXISTS (
                SELECT FROM waiting_references w JOIN requirements p ON p.external_id = w.key
                WHERE w.id = ANY(concerned) AND w.kind = 'relation' AND w.owner_id IS NOT NULL
            ) THEN
                RETURN;
            END IF;
            -- Items first, then the lock of all who make relations.
            PERFORM FROM requirements WHERE id IN (
                SELECT unnest(ARRAY[w.owner_id, p.id])
                FROM waiting_references w JOIN requirements p ON p.external_id = w.key
                WHERE w.id = ANY(concerned) AND w.kind = 'relation' AND w.owner_id IS NOT NULL
            ) ORDER BY id FOR KEY SHARE;
            PERFORM pg_advisory_xact_lock(
                hashtextextended('relations of ' || coalesce(current_setting('traceline.project', true), 'MAIN'), 0));
            FOR ready IN
                SELECT w.id AS reference_id, gen_random_uuid() AS id, c.id AS child_id, p.id AS parent_id,
                    coalesce(w.link_type, 'refines') AS relation_type, w.role, w.notes, w.created_by,
                    c.version AS child_version, p.version AS parent_version, c.title AS child_title,
                    p.title AS parent_title, c.external_id AS child_external_id, p.external_id AS parent_external_id
                FROM waiting_references w
                JOIN requirements c ON c.id = w.owner_id JOIN requirements p ON p.external_id = w.key
                WHERE w.id = ANY(concerned) AND w.kind = 'relation' ORDER BY w.id
            LOOP
                -- What would close a circle, or be one parent too many, goes on to wait: it can be given up.
                CONTINUE WHEN ready.child_id = ready.parent_id;
                CONTINUE WHEN (SELECT count(*) FROM requirement_relations WHERE child_id = ready.child_id) >= 100;
                CONTINUE WHEN ready.relation_type IN ('refines', 'derives_from') AND EXISTS (
                    WITH RECURSIVE above AS (
                        SELECT ready.parent_id AS id
                        UNION
                        SELECT n.parent_id FROM above JOIN requirement_relations n ON n.child_id = above.id
                        WHERE n.relation_type IN ('refines', 'derives_from')
                    ) SELECT FROM above WHERE id = ready.child_id);
                DELETE FROM waiting_references WHERE id = ready.reference_id;
                INSERT INTO requirement_relations (id, child_id, parent_id, relation_type, role, notes, source,
                    created_at, created_by, updated_at, child_version, parent_version)
                VALUES (ready.id, ready.child_id, ready.parent_id, ready.relation_type, ready.role, ready.notes,
                    'imported', moment, ready.created_by, moment, ready.child_version, ready.parent_version)
                ON CONFLICT DO NOTHING;
                CONTINUE WHEN NOT FOUND;
                INSERT INTO outbox (event_id, wire_name, envelope)
                SELECT event_id, 'catalog.relation.created', left(json_strip_nulls(json_build_object(
                        'specversion', '1.0', 'id', event_id, 'source', '/traceline/catalog',
                        'type', 'catalog.relation.created', 'subject', ready.id, 'time', written,
                        'datacontenttype', 'application/json',
                        'correlationid', told -> 'correlationid', 'actor', told -> 'actor',
                        'actorid', told -> 'actorid',
                        'project', told -> 'project', 'gatewayrequestid', told -> 'gatewayrequestid',
                        'traceparent', told -> 'traceparent', 'batchid', told -> 'batchid'))::text, -1)
                    || ',"data":{"relation":' || (SELECT row_to_json(state) FROM (SELECT
                        ready.id, ready.child_id, ready.parent_id, ready.relation_type, ready.role, ready.notes,
                        'imported' AS source, written AS created_at, ready.created_by, NULL AS confirmed_at,
                        NULL AS confirmed_by, written AS updated_at, ready.child_title, ready.parent_title,
                        ready.child_external_id, ready.parent_external_id) AS state)
                    || '}}'
                FROM (SELECT gen_random_uuid() AS event_id, coalesce(head, (
                    SELECT envelope::json FROM (
                        SELECT id, envelope FROM outbox
                        WHERE feed_seq IS NULL AND wire_name IN (
                            'catalog.' || item_kind || '.created', 'catalog.' || item_kind || '.updated')
                        ORDER BY id DESC LIMIT 5000
                    ) AS newest
                    WHERE envelope::json ->> 'subject' IN (ready.child_id::text, ready.parent_id::text)
                    ORDER BY id DESC LIMIT 1
                ), '{"correlationid": "", "actor": "system"}') AS told OFFSET 0) AS one;
            END LOOP;
        END
        $$
    """,
    """
    CREATE OR REPLACE FUNCTION settle_references(item_kind text, keys text[], head json) RETURNS void
    LANGUAGE plpgsql AS $$
        DECLARE
            concerned uuid[];
            arrived uuid[];
            arrived_keys text[];
            ready uuid[];
            requirement_ids uuid[];
            test_case_ids uuid[];
            moment timestamptz := clock_timestamp();
            written text := to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
        BEGIN
            concerned := ARRAY(
                SELECT id FROM waiting_references WHERE wanted_kind = item_kind AND key = ANY(keys)
                UNION SELECT id FROM waiting_references WHERE owner_kind = item_kind AND owner_key = ANY(keys));
            IF concerned = '{}' THEN
                RETURN;
            END IF;
            -- In one order. Who waits here for another finds what that other has left.
            PERFORM FROM waiting_references WHERE id = ANY(concerned) ORDER BY id FOR UPDATE;
            IF item_kind = 'requirement' THEN
                SELECT array_agg(id), array_agg(external_id) INTO arrived, arrived_keys
                FROM requirements WHERE external_id = ANY(keys);
            ELSE
                SELECT array_agg(id), array_agg(external_id) INTO arrived, arrived_keys
                FROM test_cases WHERE external_id = ANY(keys);
            END IF;

            -- What no item had belongs to the end that has come, unless that has it already.
            DELETE FROM waiting_references w USING waiting_references own, unnest(arrived, arrived_keys) AS i (id, key)
            WHERE w.id = ANY(concerned) AND w.owner_id IS NULL AND w.owner_kind = item_kind AND w.owner_key = i.key
                AND own.owner_id = i.id AND own.kind = w.kind AND own.wanted_kind = w.wanted_kind AND own.key = w.key;
            UPDATE waiting_references w SET owner_id = i.id, owner_key = NULL
            FROM unnest(arrived, arrived_keys) AS i (id, key)
            WHERE w.id = ANY(concerned) AND w.owner_id IS NULL AND w.owner_kind = item_kind AND w.owner_key = i.key;
            DELETE FROM waiting_references w USING waiting_references own, unnest(arrived, arrived_keys) AS i (id, key)
            WHERE w.id = ANY(concerned) AND w.kind = 'link' AND w.owner_id IS NULL AND w.wanted_kind = item_kind
                AND w.key = i.key AND own.owner_id = i.id AND own.kind = w.kind AND own.wanted_kind = w.owner_kind
                AND own.key = w.owner_key;
            UPDATE waiting_references w SET owner_kind = w.wanted_kind, owner_id = i.id, wanted_kind = w.owner_kind,
                key = w.owner_key, owner_key = NULL
            FROM unnest(arrived, arrived_keys) AS i (id, key)
            WHERE w.id = ANY(concerned) AND w.kind = 'link' AND w.owner_id IS NULL AND w.wanted_kind = item_kind
                AND w.key = i.key;

            SELECT array_agg(pair.id), array_agg(pair.requirement_id), array_agg(pair.test_case_id)
            INTO ready, requirement_ids, test_case_ids
            FROM (
                SELECT w.id, w.owner_id AS requirement_id, t.id AS test_case_id
                FROM waiting_references w JOIN test_cases t ON t.external_id = w.key
                WHERE w.id = ANY(concerned) AND w.kind = 'link' AND w.owner_kind = 'requirement'
                    AND w.owner_id IS NOT NULL
                UNION ALL
                SELECT w.id, r.id, w.owner_id
                FROM waiting_references w JOIN requirements r ON r.external_id = w.key
                WHERE w.id = ANY(concerned) AND w.kind = 'link' AND w.owner_kind = 'test_case'
                    AND w.owner_id IS NOT NULL
            ) AS pair;
            -- Both ends stay for the transaction; the statement after knows which of them another was deleting.
            PERFORM FROM requirements WHERE id = ANY(requirement_ids) ORDER BY id FOR KEY SHARE;
            PERFORM FROM test_cases WHERE id = ANY(test_case_ids) ORDER BY id FOR KEY SHARE;

            WITH told AS MATERIALIZED (
                SELECT DISTINCT ON (subject) subject, envelope FROM (
                    SELECT id, envelope::json ->> 'subject' AS subject, envelope::json AS envelope FROM (
                        SELECT id, envelope FROM outbox
                        WHERE feed_seq IS NULL AND wire_name IN (
                            'catalog.' || item_kind || '.created', 'catalog.' || item_kind || '.updated')
                        ORDER BY id DESC LIMIT CASE WHEN head IS NULL THEN 5000 ELSE 0 END
                    ) AS newest
                ) AS event ORDER BY subject, id DESC
            ), new AS MATERIALIZED (
                SELECT w.id AS reference_id, gen_random_uuid() AS id, pair.requirement_id, pair.test_case_id,
                    coalesce(w.link_type, 'covers') AS link_type, w.confidence_score, w.notes, w.created_by,
                    r.version AS requirement_version, t.version AS test_case_version,
                    r.title AS requirement_title, t.title AS test_case_title,
                    r.external_id AS requirement_external_id, t.external_id AS test_case_external_id,
                    coalesce(head, (
                        SELECT envelope FROM told WHERE subject IN (pair.requirement_id::text, pair.test_case_id::text)
                    ), '{"correlationid": "", "actor": "system"}') AS told
                FROM unnest(ready, requirement_ids, test_case_ids) AS pair (id, requirement_id, test_case_id)
                JOIN waiting_references w ON w.id = pair.id
                JOIN requirements r ON r.id = pair.requirement_id JOIN test_cases t ON t.id = pair.test_case_id
            ), made AS (
                INSERT INTO links (id, requirement_id, test_case_id, link_type, link_source, confidence_score, notes,
                    created_at, created_by, updated_at, requirement_version, test_case_version)
                SELECT id, requirement_id, test_case_id, link_type, 'imported', confidence_score, notes,
                    moment, created_by, moment, requirement_version, test_case_version
                FROM new ORDER BY requirement_id, test_case_id
                ON CONFLICT DO NOTHING RETURNING id
            ), settled AS (
                DELETE FROM waiting_references WHERE id IN (SELECT reference_id FROM new)
            )
            INSERT INTO outbox (event_id, wire_name, envelope)
            SELECT event_id, 'catalog.link.created', left(json_strip_nulls(json_build_object(
                    'specversion', '1.0', 'id', event_id, 'source', '/traceline/catalog',
                    'type', 'catalog.link.created', 'subject', new.id, 'time', written,
                    'datacontenttype', 'application/json',
                    'correlationid', told -> 'correlationid', 'actor', told -> 'actor', 'actorid', told -> 'actorid',
                    'project', told -> 'project', 'gatewayrequestid', told -> 'gatewayrequestid',
                    'traceparent', told -> 'traceparent', 'batchid', told -> 'batchid'))::text, -1)
                || ',"data":{"link":' || (SELECT row_to_json(state) FROM (SELECT
                    new.id, requirement_id, test_case_id, link_type, 'imported' AS link_source,
                    CASE WHEN confidence_score IN (0, 1) THEN (confidence_score || '.0')::json
                        ELSE to_json(confidence_score) END AS confidence_score,
                    notes, written AS created_at, created_by, NULL AS confirmed_at, NULL AS confirmed_by,
                    written AS updated_at, requirement_title, test_case_title, requirement_external_id,
                    test_case_external_id) AS state)
                || ',"suggestion_id": null}}'
            FROM new JOIN made ON made.id = new.id
            CROSS JOIN LATERAL (SELECT gen_random_uuid() AS event_id OFFSET 0) AS one
            ORDER BY requirement_id, test_case_id;

            PERFORM settle_relations(concerned, item_kind, head);
        END
        $$
    """,
)
