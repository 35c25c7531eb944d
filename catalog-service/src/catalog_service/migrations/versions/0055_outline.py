"""Levels of requirements, and where items stand in their outline.

What is there already stands in no section, in the order in which it was created.
"""

from alembic import op

from chassis.db.isolation import isolate

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the functions, the tables, and the columns of items with their indexes."""
    for statement in (*FUNCTIONS, *TABLES, *COLUMNS):
        op.execute(statement)
    for table in ("project_levels", "sections"):
        for statement in isolate(table):
            op.execute(statement)


FUNCTIONS = (
    """
    CREATE FUNCTION position_key(moment timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT lpad(to_hex((extract(epoch FROM moment) * 1000000)::bigint), 13, '0')
    $$
    """,
    """
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
    $$
    """,
    """
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
    $$
    """,
)

_PROJECT = (
    'project_id text COLLATE "C" NOT NULL'
    " DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), '')"
)
TABLES = (
    f"""
    CREATE TABLE project_levels (
        {_PROJECT},
        key varchar(40) NOT NULL,
        place integer NOT NULL,
        name varchar(100) NOT NULL,
        needs text[] NOT NULL,
        CONSTRAINT pk_project_levels PRIMARY KEY (project_id, key)
    )
    """,
    "COMMENT ON TABLE project_levels IS 'levels of the requirements of projects, as their admins have defined them'",
    "COMMENT ON COLUMN project_levels.place IS 'from the top, 1 on'",
    f"""
    CREATE TABLE sections (
        {_PROJECT},
        item_kind text NOT NULL,
        above text COLLATE "C" NOT NULL,
        title varchar(300) NOT NULL,
        position text COLLATE "C" NOT NULL,
        section_text text,
        CONSTRAINT pk_sections PRIMARY KEY (project_id, item_kind, above, title),
        CONSTRAINT ck_sections_item_kind CHECK (item_kind IN ('requirement', 'test_case'))
    )
    """,
    "COMMENT ON TABLE sections IS 'sections of the outline; one without items is as if it were not there'",
    "COMMENT ON COLUMN sections.above IS 'position of the section that it is in'",
    "COMMENT ON COLUMN sections.position IS 'what positions of its items begin with'",
    "CREATE INDEX ix_sections_project_id_item_kind_position ON sections (project_id, item_kind, position)",
)


def _outline(table: str) -> tuple[str, ...]:
    return (
        f"ALTER TABLE {table} ADD COLUMN section text[] NOT NULL DEFAULT '{{}}'",
        f'ALTER TABLE {table} ADD COLUMN position text COLLATE "C"',
        # One pass over the table: an update of each row would leave as many dead ones.
        f'ALTER TABLE {table} ALTER COLUMN position TYPE text COLLATE "C" USING position_key(created_at)',
        f"ALTER TABLE {table} ALTER COLUMN position SET DEFAULT position_key(clock_timestamp()),"
        " ALTER COLUMN position SET NOT NULL",
        f"COMMENT ON COLUMN {table}.position IS 'keys of the sections that it is in, and its own, with / between them'",
        f"CREATE INDEX ix_{table}_position ON {table} (project_id, position, id)",
    )


COLUMNS = (
    *_outline("requirements"),
    *_outline("test_cases"),
    "ALTER TABLE requirements ADD COLUMN level varchar(40), ADD COLUMN derived boolean NOT NULL DEFAULT false,"
    " ADD COLUMN rationale text",
    "ALTER TABLE requirements ADD CONSTRAINT fk_requirements_level FOREIGN KEY (project_id, level)"
    " REFERENCES project_levels (project_id, key) ON DELETE SET NULL (level)",
    "DROP INDEX ix_requirements_filters",
    "CREATE INDEX ix_requirements_filters ON requirements"
    " (project_id, status, priority, type, module, created_by, level, derived)",
    "CREATE INDEX ix_requirements_level ON requirements (project_id, level) WHERE level IS NOT NULL",
)
