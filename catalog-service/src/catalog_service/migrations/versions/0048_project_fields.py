"""Fields that items of a project have beside those of all, and the index by which they are found."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty, the functions and the indexes; make search documents of values, too."""
    for statement in (*FUNCTIONS, *STATEMENTS, *isolate("project_fields")):
        op.execute(statement)


FUNCTIONS = (
    r"""
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
    $$
    """,
    r"""
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
    $$
    """,
    r"""
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
    $$
    """,
    r"""
    CREATE OR REPLACE FUNCTION make_search_document_of_requirements() RETURNS trigger
LANGUAGE plpgsql AS $$
    BEGIN
        NEW.search := search_document(NEW.external_id, NEW.title, NEW.tags, NEW.description,
            field_texts(NEW.custom_metadata));
        RETURN NEW;
    END
    $$
    """,
    r"""
    CREATE OR REPLACE FUNCTION make_search_document_of_test_cases() RETURNS trigger
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
    $$
    """,
    """
    DO $$ BEGIN
        IF current_setting('is_superuser')::boolean THEN ALTER FUNCTION field_keys LEAKPROOF; END IF;
    END $$
    """,
)
STATEMENTS = (
    """
    CREATE TABLE project_fields (
        project_id text COLLATE "C" NOT NULL
            DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), ''),
        revision bigint NOT NULL,
        fields json NOT NULL,
        former json NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT pk_project_fields PRIMARY KEY (project_id)
    )
    """,
    "COMMENT ON TABLE project_fields IS"
    " 'the fields that items of a project have beside those of all; as its admins have defined them'",
    "COMMENT ON COLUMN project_fields.revision IS 'another one after each change'",
    "COMMENT ON COLUMN project_fields.fields IS 'in their order'",
    "COMMENT ON COLUMN project_fields.former IS 'what kind those were that were removed, by key'",
    "CREATE INDEX ix_requirements_field_keys ON requirements USING gin (field_keys(custom_metadata))"
    " WHERE (custom_metadata -> 'fields') IS NOT NULL",
    "CREATE INDEX ix_test_cases_field_keys ON test_cases USING gin (field_keys(custom_metadata))"
    " WHERE (custom_metadata -> 'fields') IS NOT NULL",
    "DROP TRIGGER make_search_document ON requirements",
    "DROP TRIGGER make_search_document ON test_cases",
    """
    CREATE TRIGGER make_search_document
        BEFORE INSERT OR UPDATE OF external_id, title, tags, description, custom_metadata, search
        ON requirements FOR EACH ROW WHEN (current_setting('traceline.search_later', true) IS DISTINCT FROM 'on')
        EXECUTE FUNCTION make_search_document_of_requirements()
    """,
    """
    CREATE TRIGGER make_search_document
        BEFORE INSERT OR UPDATE OF external_id, title, tags, description,
            steps, preconditions, postconditions, test_data, custom_metadata, search
        ON test_cases FOR EACH ROW WHEN (current_setting('traceline.search_later', true) IS DISTINCT FROM 'on')
        EXECUTE FUNCTION make_search_document_of_test_cases()
    """,
)
