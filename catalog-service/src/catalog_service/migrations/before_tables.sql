-- What the tables and queries of the record call. See `chassis.db.creation`: executed before the tables are made.

-- Words are kept as they are written, without those that stand in every sentence.
CREATE TEXT SEARCH DICTIONARY search_words (TEMPLATE = pg_catalog.simple, STOPWORDS = english);
CREATE TEXT SEARCH CONFIGURATION search_words (COPY = pg_catalog.simple);
ALTER TEXT SEARCH CONFIGURATION search_words ALTER MAPPING REPLACE simple WITH search_words;

CREATE FUNCTION analyze_import_rows() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    BEGIN
        ANALYZE import_rows;
    END
    $$;

CREATE FUNCTION analyze_record() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    BEGIN
        ANALYZE requirements, test_cases, links, linked_requirements, linked_test_cases;
    END
    $$;

CREATE FUNCTION changes_of(outcomes text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
        SELECT greatest(length(regexp_replace(translate(outcomes, '31', '2'), '(.)\1+', '\1', 'g')) - 1, 0)
    $$;

CREATE FUNCTION count_links() RETURNS trigger
LANGUAGE plpgsql AS $$
    DECLARE
        difference integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            DELETE FROM linked_requirements;
            DELETE FROM linked_test_cases;
            RETURN NULL;
        END IF;

        INSERT INTO linked_requirements AS linked (requirement_id, links)
        SELECT requirement_id, difference * count(*) FROM changed GROUP BY requirement_id ORDER BY requirement_id
        ON CONFLICT (requirement_id) DO UPDATE SET links = linked.links + excluded.links;
        IF difference < 0 THEN
            DELETE FROM linked_requirements WHERE links = 0 AND requirement_id IN (SELECT requirement_id FROM changed);
        END IF;


        INSERT INTO linked_test_cases AS linked (test_case_id, links)
        SELECT test_case_id, difference * count(*) FROM changed GROUP BY test_case_id ORDER BY test_case_id
        ON CONFLICT (test_case_id) DO UPDATE SET links = linked.links + excluded.links;
        IF difference < 0 THEN
            DELETE FROM linked_test_cases WHERE links = 0 AND test_case_id IN (SELECT test_case_id FROM changed);
        END IF;

        RETURN NULL;
    END
    $$;

CREATE FUNCTION count_rows() RETURNS trigger
LANGUAGE plpgsql AS $$
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
    $$;

CREATE FUNCTION count_state_changes() RETURNS trigger
LANGUAGE plpgsql AS $$
    DECLARE
        own text := coalesce(current_setting('traceline.project', true), 'MAIN');
        project text;
    BEGIN
        FOR project IN SELECT DISTINCT project_id FROM state_changes WHERE own = '' UNION SELECT own WHERE own <> ''
        LOOP
            UPDATE state_changes SET changes = changes + 1 WHERE project_id = project AND slot = (
                SELECT slot FROM state_changes WHERE project_id = project
                ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED);
            IF NOT FOUND THEN
                INSERT INTO state_changes (project_id, changes) VALUES (project, 1);
            END IF;
        END LOOP;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION drop_execution_months(before timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DECLARE
        part text;
        dropped integer := 0;
    BEGIN
        FOR part IN
            SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
            JOIN pg_class parent ON parent.oid = inhparent
            WHERE parent.oid IN ('executions'::regclass, 'execution_failures'::regclass)
            AND to_date(right(child.relname, 6), 'YYYYMM') + interval '1 month' <= before AT TIME ZONE 'UTC'
        LOOP
            EXECUTE format('DROP TABLE %I', part);
            dropped := dropped + 1;
        END LOOP;
        RETURN dropped;
    END $$;

CREATE FUNCTION field_keys(metadata json) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        said json := metadata -> 'fields';
    BEGIN
        IF said IS NULL OR json_typeof(said) <> 'object' THEN
            RETURN NULL;
        END IF;
        RETURN (
            SELECT array_agg(DISTINCT key) FROM json_each(said) AS member (name, value), LATERAL (
                SELECT name WHERE json_typeof(value) <> 'null'
                UNION ALL
                SELECT name || '=' || left(CASE json_typeof(value)
                    WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text ELSE value #>> '{}' END, 300)
                WHERE json_typeof(value) IN ('string', 'number', 'boolean')
                UNION ALL
                (SELECT name || '=' || left(one, 300)
                FROM json_array_elements_text(CASE json_typeof(value) WHEN 'array' THEN value ELSE '[]' END) AS one
                LIMIT 1000)
            ) AS keys (key)
            WHERE name ~ '^[a-z][a-z0-9_]{0,39}$'
        );
    END
    $$;

CREATE FUNCTION field_texts(metadata json) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        said json := metadata -> 'fields';
    BEGIN
        IF said IS NULL OR json_typeof(said) <> 'object' THEN
            RETURN NULL;
        END IF;
        RETURN (
            SELECT string_agg(CASE json_typeof(value) WHEN 'string' THEN value #>> '{}'
                ELSE regexp_replace(value::text, '\\(u[[:xdigit:]]{4}|.)|[][",]', ' ', 'g') END, ' ')
            FROM json_each(said) AS member (name, value) WHERE json_typeof(value) IN ('string', 'number', 'array')
        );
    END
    $$;

CREATE FUNCTION fields_as_at(expected bigint) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
    DECLARE
        present bigint := (SELECT revision FROM project_fields);
    BEGIN
        IF coalesce(present, 0) <> expected THEN
            RAISE EXCEPTION 'the fields of the project are at revision %', present USING ERRCODE = 'TL001';
        END IF;
        RETURN 0;
    END
    $$;

CREATE FUNCTION make_execution_months(moment timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    DECLARE
        first date := date_trunc('month', moment AT TIME ZONE 'UTC');
        parent text;
    BEGIN
        FOREACH parent IN ARRAY ARRAY['executions', 'execution_failures'] LOOP
            IF to_regclass(format('%s_%s', parent, to_char(first, 'YYYYMM'))) IS NULL THEN
                PERFORM pg_advisory_xact_lock(hashtext('months of executions'));
                EXECUTE format(
                    'CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                    format('%s_%s', parent, to_char(first, 'YYYYMM')), parent,
                    first::timestamp AT TIME ZONE 'UTC', (first + interval '1 month') AT TIME ZONE 'UTC');
                EXECUTE format(
                    'ALTER TABLE %I ENABLE ROW LEVEL SECURITY', format('%s_%s', parent, to_char(first, 'YYYYMM')));
            END IF;
        END LOOP;
    END $$;

CREATE FUNCTION make_search_document_of_requirements() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        NEW.search := search_document(NEW.external_id, NEW.title, NEW.tags, NEW.description,
            field_texts(NEW.custom_metadata));
        RETURN NEW;
    END
    $$;

CREATE FUNCTION make_search_document_of_test_cases() RETURNS trigger
LANGUAGE plpgsql AS $$
    DECLARE
        steps text;
    BEGIN
        IF json_typeof(NEW.steps) = 'object' THEN
            steps := (SELECT string_agg(value, ' ') FROM json_each_text(NEW.steps));
        END IF;
        NEW.search := search_document(NEW.external_id, NEW.title, NEW.tags, NEW.description,
            concat_ws(' ', steps, NEW.preconditions, NEW.postconditions,
                      regexp_replace(NEW.test_data::text, '\\(u[[:xdigit:]]{4}|.)', ' ', 'g'),
                      field_texts(NEW.custom_metadata)));
        RETURN NEW;
    END
    $$;

CREATE FUNCTION merge_search_entries() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    BEGIN
        PERFORM gin_clean_pending_list('ix_requirements_search');
        PERFORM gin_clean_pending_list('ix_test_cases_search');
    END
    $$;

CREATE FUNCTION merged_iterations(parts jsonb[], attempts_before integer) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
        SELECT jsonb_object_agg(name, outcomes) FROM (
            SELECT name, repeat('0', attempts_before) || string_agg(outcome, '' ORDER BY n) AS outcomes FROM (
                SELECT e.key AS name, n, max(substr(e.value, n, 1)) AS outcome
                FROM unnest(parts) AS part CROSS JOIN LATERAL jsonb_each_text(part) AS e
                CROSS JOIN LATERAL generate_series(1, length(e.value)) AS n GROUP BY e.key, n
            ) AS attempts GROUP BY name
        ) AS merged
    $$;

CREATE FUNCTION merged_outcomes(one text, other text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
        SELECT string_agg(greatest(substr(one, n, 1), substr(other, n, 1)), '' ORDER BY n)
        FROM generate_series(1, greatest(length(one), length(other))) n
    $$;

CREATE FUNCTION outcome_status(outcomes text) RETURNS text
LANGUAGE sql IMMUTABLE AS $_$
        SELECT CASE substring(outcomes from '([234])[^234]*$')
            WHEN '4' THEN 'failed'
            WHEN '3' THEN 'flaky'
            WHEN '2' THEN CASE WHEN outcomes ~ '[34]' THEN 'flaky' ELSE 'passed' END
            ELSE 'skipped'
        END
    $_$;

CREATE FUNCTION ran_iterations(iterations jsonb, names text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
        SELECT iterations IS NULL OR names IS NULL OR EXISTS (
            SELECT FROM jsonb_object_keys(iterations) AS key
            WHERE split_part(key, '.', 1) = ANY(array_append(names, '')))
    $$;

CREATE FUNCTION remember_item_change(wire_name text, event json) RETURNS void
LANGUAGE plpgsql AS $$
    DECLARE
        kind text := split_part(wire_name, '.', 2);
        action text := split_part(wire_name, '.', 3);
        item json := event -> 'data' -> kind;
    BEGIN
        INSERT INTO item_changes (item_id, kind, action, actor, occurred_at, version, told, import_id)
        VALUES (
            (item ->> 'id')::uuid, kind, action, event ->> 'actor', (event ->> 'time')::timestamptz,
            (item ->> 'version')::integer,
            CASE action WHEN 'updated' THEN event -> 'data' -> 'changes' WHEN 'deleted' THEN item ELSE '{}' END,
            (event ->> 'batchid')::uuid
        );
    END
    $$;

CREATE FUNCTION remember_told_item_change() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM remember_item_change(NEW.wire_name, NEW.envelope::json);
        RETURN NULL;
    END
    $$;

CREATE FUNCTION remember_told_link_change() RETURNS trigger
LANGUAGE plpgsql AS $$
    DECLARE
        event json := NEW.envelope::json;
        action text := split_part(NEW.wire_name, '.', 3);
        link json := event -> 'data' -> 'link';
    BEGIN
        INSERT INTO link_changes (link_id, requirement_id, test_case_id, action, actor, occurred_at, told, import_id)
        VALUES (
            (link ->> 'id')::uuid, (link ->> 'requirement_id')::uuid, (link ->> 'test_case_id')::uuid, action,
            event ->> 'actor', (event ->> 'time')::timestamptz,
            CASE action WHEN 'deleted' THEN link ELSE event -> 'data' -> 'changes' END, (event ->> 'batchid')::uuid
        );
        RETURN NULL;
    END
    $$;

CREATE FUNCTION search_document(external_id text, title text, tags text[], description text, more text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        name text := concat_ws(' ', external_id, title);
        apart text;
        document tsvector;
    BEGIN
        IF external_id ~ '[0-9]' THEN
            apart := regexp_replace(external_id, '([[:alpha:]])(?=[0-9])|([0-9])(?=[[:alpha:]])', '\1\2 ', 'g');
            IF apart <> external_id THEN
                name := name || ' ' || apart;
            END IF;
            IF apart ~ '0[1-9]' THEN
                name := name || ' ' || regexp_replace(apart, '(?<![0-9])0+(?=[1-9])', '', 'g');
            END IF;
            IF external_id ~ '[0-9][[:alpha:]]' THEN
                name := name || ' ' || regexp_replace(
                    external_id, '([[:alpha:]])(?=[0-9])|(?<![0-9])0+(?=[1-9])', '\1 ', 'g');
            END IF;
        END IF;
        document := setweight(
            to_tsvector('search_words', search_text(name)) || to_tsvector('simple', search_parts(name)), 'A');
        IF tags <> '{}' THEN
            document := document || setweight(to_tsvector('search_words',
                left(search_text(left(array_to_string(tags, ' '), 10000)), 10000)), 'B');
        END IF;
        document := document || setweight(to_tsvector('search_words',
            left(search_text(left(description, 80000)), 80000)), 'C');
        IF more <> '' THEN
            document := document || to_tsvector('search_words', left(search_text(left(more, 60000)), 60000));
        END IF;
        RETURN document || to_tsvector('simple', search_parts(concat_ws(' ',
            left(array_to_string(tags, ' '), 10000), left(description, 80000), left(more, 60000))));
    END
    $$;

CREATE FUNCTION search_parts(said text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        found text := '';
    BEGIN
        IF said !~ '[a-z][0-9]*[A-Z]|[A-Z][A-Z]' THEN
            RETURN '';
        END IF;
        IF said ~ '[a-z][0-9]*[A-Z]|[A-Z][A-Z][a-z][a-z]' THEN
            found := coalesce((
                SELECT string_agg(array_to_string(parts[place:], ''), ' ')
                FROM regexp_matches(
                         regexp_replace(said, '([a-z][0-9]*)(?=[A-Z])|([A-Z])(?=[A-Z][a-z][a-z])', E'\\1\\2\x01', 'g'),
                         '[A-Za-z0-9]+\x01[A-Za-z0-9\x01]+', 'g') AS word,
                     LATERAL (SELECT string_to_array(left(word[1], 60), E'\x01') AS parts) AS split,
                     generate_series(2, cardinality(parts)) AS place
            ), '');
        END IF;
        IF said ~ '\m[A-Z]{2,6}\M' THEN
            found := found || ' ' || coalesce((
                SELECT string_agg(word[1], ' ') FROM regexp_matches(said, '\m[A-Z]{2,6}\M', 'g') AS word
                WHERE ts_lexize('search_words', lower(word[1])) = '{}'
            ), '');
        END IF;
        RETURN lower(left(found, 20000));
    END
    $$;

CREATE FUNCTION search_text(said text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
        said := lower(said COLLATE pg_catalog.pg_c_utf8);
        IF octet_length(said) <> length(said) THEN
            said := regexp_replace(replace(normalize(said, NFKD), 'ß', 'ss'), '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]', '', 'g');
            said := lower(translate(normalize(said, NFKC), 'øłđðıħς', 'olddihσ') COLLATE pg_catalog.pg_c_utf8);
            said := replace(replace(replace(said, 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
            said := regexp_replace(regexp_replace(said, '[\u00a1-\u00bf\u00d7\u00f7\u05be\u060c\u061b\u061f\u0964\u0965\u2000-\u206f\u2190-\u24ff\u2500-\u259f\u2900-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u30fb]+', ' ', 'g'), '([\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]+)', ' \1 ', 'g');
            said := regexp_replace(said, '([\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff])', '\1 \1', 'g');
        END IF;
        RETURN replace(replace(replace(replace(replace(replace(replace(replace(
            said, '-', ' '), '.', ' '), '/', ' '), '@', ' '), '<', ' '), '&', ' '), '+', ' '), '_', ' ');
    END
    $$;

CREATE FUNCTION status_of_iterations(parts jsonb[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
        SELECT CASE max(CASE WHEN has_failed AND has_passed THEN 3 WHEN has_failed THEN 4
                        WHEN has_passed THEN 2 ELSE 1 END)
            WHEN 4 THEN 'failed' WHEN 3 THEN 'flaky' WHEN 2 THEN 'passed' ELSE 'skipped' END
        FROM (
            SELECT bool_or(s.status IN ('failed', 'flaky')) AS has_failed,
                   bool_or(s.status IN ('passed', 'flaky')) AS has_passed
            FROM unnest(parts) AS part CROSS JOIN LATERAL jsonb_each_text(part) AS e
            CROSS JOIN LATERAL (SELECT outcome_status(e.value) AS status) AS s GROUP BY e.key
        ) AS iterations
    $$;

CREATE FUNCTION tag_keys(tags text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
        IF octet_length(array_to_string(tags, '')) <= 2000 THEN
            RETURN tags;
        END IF;
        RETURN ARRAY(SELECT left(tag, 500) FROM unnest(tags) AS tag);
    END
    $$;

-- Conditions that are not leakproof are no conditions of an index under row-level security; that takes a superuser.
DO $$ BEGIN
    IF current_setting('is_superuser')::boolean THEN
        ALTER FUNCTION tag_keys LEAKPROOF;
        ALTER FUNCTION field_keys LEAKPROOF;
    END IF;
END $$;

CREATE FUNCTION position_key(moment timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT lpad(to_hex((extract(epoch FROM moment) * 1000000)::bigint), 13, '0')
    $$;

CREATE FUNCTION section_key(of_kind text, titles text[], moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
    DECLARE
        key text := '';
        known text;
        one text;
    BEGIN
        FOREACH one IN ARRAY titles LOOP
            SELECT position INTO known FROM sections WHERE item_kind = of_kind AND above = key AND title = one;
            IF NOT FOUND THEN
                INSERT INTO sections (item_kind, above, title, position)
                VALUES (of_kind, key, one, key || position_key(moment) || '/')
                ON CONFLICT DO NOTHING;
                SELECT position INTO known FROM sections WHERE item_kind = of_kind AND above = key AND title = one;
            END IF;
            key := known;
        END LOOP;
        RETURN key;
    END
    $$;

CREATE FUNCTION item_position(of_kind text, titles text[], given text, moment timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
    DECLARE
        keys text[] := string_to_array(given, '/');
        depth integer := cardinality(titles);
    BEGIN
        IF keys IS NULL OR cardinality(keys) <> depth + 1 THEN
            RETURN section_key(of_kind, titles, moment) || position_key(moment);
        END IF;
        FOR at IN 1 .. depth LOOP
            INSERT INTO sections (item_kind, above, title, position)
            VALUES (of_kind, CASE at WHEN 1 THEN '' ELSE array_to_string(keys[1:at - 1], '/') || '/' END, titles[at],
                array_to_string(keys[1:at], '/') || '/')
            ON CONFLICT DO NOTHING;
        END LOOP;
        RETURN given;
    END
    $$;

CREATE FUNCTION forget_references() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM waiting_references WHERE owner_id IN (SELECT id FROM changed);
        RETURN NULL;
    END
    $$;

CREATE FUNCTION settle_created_references() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        -- Who stores references that wait looks once more under the exclusive lock: none is missed by both.
        PERFORM pg_advisory_xact_lock_shared(
            hashtextextended('references of ' || coalesce(current_setting('traceline.project', true), 'MAIN'), 0));
        IF EXISTS (SELECT FROM waiting_references) THEN
            PERFORM settle_references(
                TG_ARGV[0], ARRAY(SELECT external_id FROM changed WHERE external_id IS NOT NULL), NULL);
        END IF;
        RETURN NULL;
    END
    $$;

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
    $$;

CREATE FUNCTION settle_references(item_kind text, keys text[], head json) RETURNS void
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
    $$;

CREATE FUNCTION settle_renamed_references() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(
            hashtextextended('references of ' || coalesce(current_setting('traceline.project', true), 'MAIN'), 0));
        IF EXISTS (SELECT FROM waiting_references) THEN
            PERFORM settle_references(TG_ARGV[0], ARRAY[NEW.external_id]::text[], NULL);
        END IF;
        RETURN NULL;
    END
    $$;
