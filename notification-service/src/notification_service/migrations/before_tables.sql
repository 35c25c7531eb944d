-- What triggers call, and the only ways in which entries of the audit log change. See `chassis.db.creation`: executed
-- before the tables are made.

CREATE FUNCTION count_audit_entries() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'INSERT' THEN
        INSERT INTO audit_entry_counts AS counted (project_id, hour, total, activity)
        SELECT project_id, date_trunc('hour', occurred_at, 'UTC') AS hour, sum(n),
            coalesce(sum(n) FILTER (WHERE resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL), 0)
        FROM (SELECT *, 1 AS n FROM added) changed
        GROUP BY project_id, hour
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL) <> 0
        ORDER BY project_id, hour
        ON CONFLICT (project_id, hour) DO UPDATE
        SET total = counted.total + excluded.total, activity = counted.activity + excluded.activity;
        ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO audit_entry_counts AS counted (project_id, hour, total, activity)
        SELECT project_id, date_trunc('hour', occurred_at, 'UTC') AS hour, sum(n),
            coalesce(sum(n) FILTER (WHERE resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL), 0)
        FROM (SELECT *, 1 AS n FROM added UNION ALL SELECT *, -1 AS n FROM removed) changed
        GROUP BY project_id, hour
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL) <> 0
        ORDER BY project_id, hour
        ON CONFLICT (project_id, hour) DO UPDATE
        SET total = counted.total + excluded.total, activity = counted.activity + excluded.activity;
        ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO audit_entry_counts AS counted (project_id, hour, total, activity)
        SELECT project_id, date_trunc('hour', occurred_at, 'UTC') AS hour, sum(n),
            coalesce(sum(n) FILTER (WHERE resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL), 0)
        FROM (SELECT *, -1 AS n FROM removed) changed
        GROUP BY project_id, hour
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE resource_type <> 'user' AND resource_type <> 'project' AND batch_id IS NULL) <> 0
        ORDER BY project_id, hour
        ON CONFLICT (project_id, hour) DO UPDATE
        SET total = counted.total + excluded.total, activity = counted.activity + excluded.activity;
        ELSE
            DELETE FROM audit_entry_counts;
        END IF;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION count_notifications() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'INSERT' THEN
        INSERT INTO notification_counts AS counted (project_id, user_id, total, unread)
        SELECT project_id, user_id, sum(n), coalesce(sum(n) FILTER (WHERE read_at IS NULL), 0)
        FROM (SELECT *, 1 AS n FROM added) changed
        GROUP BY project_id, user_id
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE read_at IS NULL) <> 0
        ORDER BY user_id, project_id
        ON CONFLICT (user_id, project_id) DO UPDATE
        SET total = counted.total + excluded.total, unread = counted.unread + excluded.unread;
        ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO notification_counts AS counted (project_id, user_id, total, unread)
        SELECT project_id, user_id, sum(n), coalesce(sum(n) FILTER (WHERE read_at IS NULL), 0)
        FROM (SELECT *, 1 AS n FROM added UNION ALL SELECT *, -1 AS n FROM removed) changed
        GROUP BY project_id, user_id
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE read_at IS NULL) <> 0
        ORDER BY user_id, project_id
        ON CONFLICT (user_id, project_id) DO UPDATE
        SET total = counted.total + excluded.total, unread = counted.unread + excluded.unread;
        ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO notification_counts AS counted (project_id, user_id, total, unread)
        SELECT project_id, user_id, sum(n), coalesce(sum(n) FILTER (WHERE read_at IS NULL), 0)
        FROM (SELECT *, -1 AS n FROM removed) changed
        GROUP BY project_id, user_id
        HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE read_at IS NULL) <> 0
        ORDER BY user_id, project_id
        ON CONFLICT (user_id, project_id) DO UPDATE
        SET total = counted.total + excluded.total, unread = counted.unread + excluded.unread;
        ELSE
            DELETE FROM notification_counts;
        END IF;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION erase_from_audit_entries(pattern text, pseudonym text, names text[], nobody text) RETURNS TABLE(entry_id bigint, entry_project text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    DECLARE one audit_entries; name text;
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('audit seals'));
        FOR one IN SELECT * FROM audit_entries e
            WHERE concat_ws(' ', e.actor, e.resource_title, e.summary, e.resource_id, e.before, e.after, e.details,
                e.resource_ids) ~* pattern ORDER BY e.id
        LOOP
            one.actor := regexp_replace(one.actor, pattern, pseudonym, 'gi');
            one.resource_id := regexp_replace(one.resource_id, pattern, pseudonym, 'gi');
            one.resource_title := regexp_replace(one.resource_title, pattern, pseudonym, 'gi');
            one.summary := regexp_replace(one.summary, pattern, pseudonym, 'gi');
            one.before := regexp_replace(one.before::text, pattern, pseudonym, 'gi')::json;
            one.after := regexp_replace(one.after::text, pattern, pseudonym, 'gi')::json;
            one.details := regexp_replace(one.details::text, pattern, pseudonym, 'gi')::json;
            one.resource_ids := regexp_replace(one.resource_ids::text, pattern, pseudonym, 'gi')::text[];
            FOREACH name IN ARRAY names LOOP
                one.before := replace(one.before::text, name, nobody)::json;
                one.after := replace(one.after::text, name, nobody)::json;
                one.details := replace(one.details::text, name, nobody)::json;
            END LOOP;
            UPDATE audit_entries e SET actor = one.actor, resource_id = one.resource_id,
                resource_title = one.resource_title, summary = one.summary, before = one.before, after = one.after,
                details = one.details, resource_ids = one.resource_ids
            WHERE e.id = one.id;
            entry_id := one.id;
            entry_project := one.project_id;
            RETURN NEXT;
        END LOOP;
    END
    $$;

CREATE FUNCTION erase_from_audit_entries(pattern text, pseudonym text, names text, nobody text) RETURNS TABLE(entry_id bigint, entry_project text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('audit seals'));
        RETURN QUERY UPDATE audit_entries e SET actor = regexp_replace(regexp_replace(e.actor::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::text, resource_id = regexp_replace(regexp_replace(e.resource_id::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::text, resource_title = regexp_replace(regexp_replace(e.resource_title::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::text, summary = regexp_replace(regexp_replace(e.summary::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::text, before = regexp_replace(regexp_replace(e.before::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::json, after = regexp_replace(regexp_replace(e.after::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::json, details = regexp_replace(regexp_replace(e.details::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::json, resource_ids = regexp_replace(regexp_replace(e.resource_ids::text, pattern, pseudonym, 'gi'), names, nobody, 'g')::text[]
        WHERE concat_ws(' ', e.actor, e.resource_title, e.summary, e.resource_id, e.before, e.after, e.details,
            e.resource_ids) ~* pattern
        RETURNING e.id, e.project_id;
    END
    $$;

CREATE FUNCTION remove_audit_entries_before(moment timestamp with time zone, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    DECLARE gone bigint[];
    BEGIN
        IF moment > now() - interval '30 days' THEN
            RAISE EXCEPTION 'audit entries are kept for 30 days at least';
        END IF;
        PERFORM pg_advisory_xact_lock(hashtext('audit seals'));
        WITH oldest AS (
            SELECT id, occurred_at FROM audit_entries
            WHERE id <= (SELECT position FROM audit_sealing) ORDER BY id LIMIT most)
        SELECT array_agg(id) INTO gone FROM oldest
        WHERE id < coalesce((SELECT min(id) FROM oldest WHERE occurred_at >= moment), 9223372036854775807);

        INSERT INTO audit_anchors AS known (project_id, place)
        SELECT s.project_id, max(s.place) FROM audit_seals s WHERE s.entry_id = ANY(gone) GROUP BY s.project_id
        ON CONFLICT (project_id) DO UPDATE SET place = greatest(known.place, excluded.place), removed_at = now();
        DELETE FROM audit_seals s USING audit_anchors a WHERE a.project_id = s.project_id AND s.place < a.place;

        DELETE FROM audit_entries WHERE id = ANY(gone);
        RETURN coalesce(cardinality(gone), 0);
    END
    $$;

CREATE FUNCTION remove_audit_entries_of(project text, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    DECLARE gone bigint;
    BEGIN
        IF NOT EXISTS (SELECT FROM projects WHERE key = project AND deleted_at IS NOT NULL) THEN
            RAISE EXCEPTION 'project % is not deleted', project;
        END IF;
        DELETE FROM audit_entries WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM audit_entries WHERE project_id = project LIMIT most));
        GET DIAGNOSTICS gone = ROW_COUNT;
        IF gone = 0 THEN
            DELETE FROM audit_seals WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM audit_seals WHERE project_id = project LIMIT most));
            GET DIAGNOSTICS gone = ROW_COUNT;
            DELETE FROM audit_heads WHERE project_id = project;
            DELETE FROM audit_anchors WHERE project_id = project;
        END IF;
        RETURN gone;
    END
    $$;
