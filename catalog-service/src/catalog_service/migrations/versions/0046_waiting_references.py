"""References to items that are not there yet: they wait, and become links when these come."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty, and what settles its rows."""
    for statement in (*TABLE, *isolate("waiting_references"), *FUNCTIONS, *TRIGGERS):
        op.execute(statement)


TABLE = (
    """
    CREATE TABLE waiting_references (
        id uuid NOT NULL,
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        kind text NOT NULL CONSTRAINT ck_waiting_references_kind CHECK (kind IN ('link', 'relation')),
        owner_kind text NOT NULL CONSTRAINT ck_waiting_references_owner_kind
            CHECK (owner_kind IN ('requirement', 'test_case')),
        owner_id uuid,
        owner_key varchar(100),
        wanted_kind text NOT NULL CONSTRAINT ck_waiting_references_wanted_kind
            CHECK (wanted_kind IN ('requirement', 'test_case')),
        key varchar(100) NOT NULL,
        link_type text,
        confidence_score double precision,
        notes text,
        source text,
        import_id uuid,
        since timestamptz NOT NULL,
        created_by varchar(100),
        CONSTRAINT pk_waiting_references PRIMARY KEY (id),
        CONSTRAINT uq_waiting_references_ends UNIQUE NULLS NOT DISTINCT
            (project_id, kind, owner_kind, owner_id, owner_key, wanted_kind, key),
        CONSTRAINT ck_waiting_references_owner CHECK (num_nonnulls(owner_id, owner_key) = 1)
    )
    """,
    "CREATE INDEX ix_waiting_references_project_id_since_id ON waiting_references (project_id, since DESC, id)",
    "CREATE INDEX ix_waiting_references_project_id_wanted_kind_key"
    " ON waiting_references (project_id, wanted_kind, key)",
    "CREATE INDEX ix_waiting_references_owner_key ON waiting_references (project_id, owner_kind, owner_key)"
    " WHERE owner_key IS NOT NULL",
    "CREATE INDEX ix_waiting_references_owner_id ON waiting_references (owner_id)",
    "COMMENT ON TABLE waiting_references IS 'references to items that are not there yet'",
    "COMMENT ON COLUMN waiting_references.owner_id IS"
    " 'the requirement or test case that has it; null: none has, owner_key is the key of that end'",
    "COMMENT ON COLUMN waiting_references.key IS 'the external_id that it waits for'",
    "COMMENT ON COLUMN waiting_references.source IS 'where in which file it stands'",
    "COMMENT ON COLUMN import_rows.action IS"
    " 'create, update, unchanged, conflict, error, skip, delete or wait; empty until it is planned'",
    "COMMENT ON COLUMN import_rows.kind IS 'requirement, test_case, link, revision or reference'",
)

FUNCTIONS = (
    """
    CREATE FUNCTION forget_references() RETURNS trigger
    LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM waiting_references WHERE owner_id IN (SELECT id FROM changed);
            RETURN NULL;
        END
        $$
    """,
    """
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
        $$
    """,
    """
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
        END
        $$
    """,
    """
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
        $$
    """,
)

TRIGGERS = (
    """
    CREATE TRIGGER forget_references AFTER DELETE ON requirements
        REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
        EXECUTE FUNCTION forget_references()
    """,
    """
    CREATE TRIGGER forget_references AFTER DELETE ON test_cases
        REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
        EXECUTE FUNCTION forget_references()
    """,
    """
    CREATE TRIGGER settle_created_references AFTER INSERT ON requirements
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
        WHEN (current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
        EXECUTE FUNCTION settle_created_references('requirement')
    """,
    """
    CREATE TRIGGER settle_created_references AFTER INSERT ON test_cases
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
        WHEN (current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
        EXECUTE FUNCTION settle_created_references('test_case')
    """,
    """
    CREATE TRIGGER settle_renamed_references AFTER UPDATE OF external_id ON requirements FOR EACH ROW
        WHEN (new.external_id IS DISTINCT FROM old.external_id AND new.external_id IS NOT NULL
            AND current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
        EXECUTE FUNCTION settle_renamed_references('requirement')
    """,
    """
    CREATE TRIGGER settle_renamed_references AFTER UPDATE OF external_id ON test_cases FOR EACH ROW
        WHEN (new.external_id IS DISTINCT FROM old.external_id AND new.external_id IS NOT NULL
            AND current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
        EXECUTE FUNCTION settle_renamed_references('test_case')
    """,
)
