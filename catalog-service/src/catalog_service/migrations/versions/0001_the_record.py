"""The record: requirements, test cases, links."""

from alembic import op

from chassis.messaging.migration import create_tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the messaging tables and those of the record."""
    create_tables()
    for statement in STATEMENTS:
        op.execute(statement)


ITEM_COLUMNS = """
        id uuid NOT NULL,
        external_id varchar(100),
        title varchar(500) NOT NULL,
        description text NOT NULL,
        type text NOT NULL,
        priority text NOT NULL,
        status text NOT NULL,
        module varchar(100),
        tags text[] NOT NULL DEFAULT '{}',
        custom_metadata json,
        source_system varchar(50),
        source_url text,
        created_by varchar(100),
        version integer NOT NULL DEFAULT 1,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        search tsvector GENERATED ALWAYS AS
            (search_document(external_id::text, title::text, tags, description)) STORED
"""

STATEMENTS = (
    # A tsvector holds 1 MiB at most, and a text of short, distinct words needs more room in it than as a text:
    # what comes after 80,000 characters is kept but not searched.
    """
    CREATE FUNCTION search_document(external_id text, title text, tags text[], description text)
    RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT setweight(to_tsvector('english', coalesce(external_id, '') || ' ' || title), 'A')
            || setweight(to_tsvector('english', left(array_to_string(tags, ' '), 10000)), 'B')
            || setweight(to_tsvector('english', left(description, 80000)), 'C')
    $$
    """,
    f"""
    CREATE TABLE requirements ({ITEM_COLUMNS},
        CONSTRAINT pk_requirements PRIMARY KEY (id),
        CONSTRAINT uq_requirements_external_id UNIQUE (external_id),
        CONSTRAINT ck_requirements_title CHECK (title <> ''),
        CONSTRAINT ck_requirements_description CHECK (description <> ''),
        CONSTRAINT ck_requirements_type CHECK (type IN ('functional', 'non_functional', 'technical')),
        CONSTRAINT ck_requirements_priority CHECK (priority IN ('critical', 'high', 'medium', 'low')),
        CONSTRAINT ck_requirements_status CHECK
            (status IN ('draft', 'approved', 'implemented', 'tested', 'closed')),
        CONSTRAINT ck_requirements_version CHECK (version >= 1)
    )
    """,
    "CREATE INDEX ix_requirements_created_at_id ON requirements (created_at DESC, id)",
    "CREATE INDEX ix_requirements_module ON requirements (module)",
    "CREATE INDEX ix_requirements_external_id_prefix ON requirements (lower(external_id) text_pattern_ops)",
    "CREATE INDEX ix_requirements_search ON requirements USING gin (search)",
    f"""
    CREATE TABLE test_cases ({ITEM_COLUMNS},
        steps json,
        preconditions text,
        postconditions text,
        test_data json,
        automation_status text NOT NULL,
        execution_time_minutes integer,
        CONSTRAINT pk_test_cases PRIMARY KEY (id),
        CONSTRAINT uq_test_cases_external_id UNIQUE (external_id),
        CONSTRAINT ck_test_cases_title CHECK (title <> ''),
        CONSTRAINT ck_test_cases_description CHECK (description <> ''),
        CONSTRAINT ck_test_cases_type CHECK
            (type IN ('functional', 'integration', 'performance', 'security', 'ui', 'regression')),
        CONSTRAINT ck_test_cases_priority CHECK (priority IN ('critical', 'high', 'medium', 'low')),
        CONSTRAINT ck_test_cases_status CHECK
            (status IN ('draft', 'ready', 'executing', 'passed', 'failed', 'blocked', 'deprecated')),
        CONSTRAINT ck_test_cases_version CHECK (version >= 1),
        CONSTRAINT ck_test_cases_automation_status CHECK
            (automation_status IN ('manual', 'automated', 'automatable')),
        CONSTRAINT ck_test_cases_execution_time_minutes CHECK (execution_time_minutes >= 0)
    )
    """,
    "CREATE INDEX ix_test_cases_created_at_id ON test_cases (created_at DESC, id)",
    "CREATE INDEX ix_test_cases_module ON test_cases (module)",
    "CREATE INDEX ix_test_cases_external_id_prefix ON test_cases (lower(external_id) text_pattern_ops)",
    "CREATE INDEX ix_test_cases_search ON test_cases USING gin (search)",
    """
    CREATE TABLE item_revisions (
        item_id uuid NOT NULL,
        version integer NOT NULL,
        changed_fields text[] NOT NULL,
        changed_at timestamptz NOT NULL,
        CONSTRAINT pk_item_revisions PRIMARY KEY (item_id, version)
    )
    """,
    "COMMENT ON COLUMN item_revisions.item_id IS 'a requirement''s or a test case''s'",
    """
    CREATE TABLE links (
        id uuid NOT NULL,
        requirement_id uuid NOT NULL,
        test_case_id uuid NOT NULL,
        link_type text NOT NULL,
        link_source text NOT NULL,
        confidence_score double precision,
        notes text,
        created_at timestamptz NOT NULL,
        created_by varchar(100),
        confirmed_at timestamptz,
        confirmed_by varchar(100),
        requirement_version integer NOT NULL,
        test_case_version integer NOT NULL,
        CONSTRAINT pk_links PRIMARY KEY (id),
        CONSTRAINT fk_links_requirement_id_requirements
            FOREIGN KEY (requirement_id) REFERENCES requirements (id) ON DELETE CASCADE,
        CONSTRAINT fk_links_test_case_id_test_cases
            FOREIGN KEY (test_case_id) REFERENCES test_cases (id) ON DELETE CASCADE,
        CONSTRAINT uq_requirement_test_case UNIQUE (requirement_id, test_case_id),
        CONSTRAINT ck_links_link_type CHECK (link_type IN ('covers', 'verifies', 'validates', 'related')),
        CONSTRAINT ck_links_link_source CHECK
            (link_source IN ('manual', 'ai_suggested', 'ai_confirmed', 'imported')),
        CONSTRAINT ck_links_confidence_score CHECK (confidence_score BETWEEN 0 AND 1)
    )
    """,
    "COMMENT ON COLUMN links.requirement_version IS 'when made or last confirmed'",
    "COMMENT ON COLUMN links.test_case_version IS 'when made or last confirmed'",
    "CREATE INDEX ix_links_test_case_id ON links (test_case_id)",
    "CREATE INDEX ix_links_created_at_id ON links (created_at DESC, id)",
    """
    CREATE TABLE accepted_suggestions (
        suggestion_id uuid NOT NULL,
        link_id uuid NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_accepted_suggestions PRIMARY KEY (suggestion_id)
    )
    """,
    "COMMENT ON COLUMN accepted_suggestions.link_id IS 'stays when the link is deleted'",
)
