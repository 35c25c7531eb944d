-- What the triggers call, and pgvector's types where the server has them. See `chassis.db.creation`: executed before
-- the tables are made.

DO $$ BEGIN
    IF EXISTS (
        SELECT FROM pg_available_extension_versions
        WHERE name = 'vector' AND string_to_array(version, '.')::integer[] >= '{0,7}'
    ) AND (
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
        OR has_database_privilege(current_database(), 'CREATE')
            AND EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'vector' AND trusted)
    ) THEN
        CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
END $$;

CREATE FUNCTION count_deleted_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(project_id, status, -count(*)) FROM deleted GROUP BY project_id, status;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION count_inserted_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(project_id, status, count(*)) FROM inserted GROUP BY project_id, status;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION count_no_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM suggestion_counts;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION count_suggestions(of_project text, of_status text, more bigint) RETURNS void
LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE suggestion_counts SET rows = rows + more WHERE slot = (
            SELECT slot FROM suggestion_counts WHERE project_id = of_project AND status = of_status
            ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO suggestion_counts (project_id, status, rows) VALUES (of_project, of_status, more);
        END IF;
    END
    $$;

CREATE FUNCTION count_updated_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM count_suggestions(project_id, status, sum(difference)::bigint) FROM (
            SELECT project_id, status, 1 AS difference FROM updated
            UNION ALL SELECT project_id, status, -1 FROM previous
        ) changes GROUP BY project_id, status HAVING sum(difference) <> 0;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION tell_deleted_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(project_id, false, array_agg(requirement_id), array_agg(test_case_id))
        FROM deleted WHERE status = 'pending' AND NOT EXISTS
            (SELECT FROM projects WHERE projects.project_id = deleted.project_id AND projects.deleted)
        GROUP BY project_id;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION tell_inserted_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(project_id, true, array_agg(requirement_id), array_agg(test_case_id))
        FROM inserted WHERE status = 'pending' GROUP BY project_id;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION tell_pending_pairs(of_project text, pending boolean, requirements uuid[], test_cases uuid[]) RETURNS void
LANGUAGE sql AS $$
        INSERT INTO outbox (project_id, event_id, wire_name, envelope)
        SELECT of_project, event_id, 'suggestion.pending_pairs.changed', json_build_object(
            'specversion', '1.0', 'id', event_id, 'source', '/traceline/suggestion',
            'type', 'suggestion.pending_pairs.changed', 'subject', 'pending_pairs',
            'time', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'datacontenttype', 'application/json', 'correlationid', '', 'actor', 'system', 'project', of_project,
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
    $$;

CREATE FUNCTION tell_updated_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM tell_pending_pairs(
            u.project_id, u.status = 'pending', array_agg(u.requirement_id), array_agg(u.test_case_id))
        FROM updated u JOIN previous p ON p.id = u.id
        WHERE u.status = 'pending' AND p.status <> 'pending' OR p.status = 'pending' AND u.status = 'expired'
        GROUP BY u.project_id, u.status;
        RETURN NULL;
    END
    $$;
