"""Results of tests: runs, what they executed, what that says of test cases, and how often it was so each day."""

from alembic import op

from chassis.db.isolation import isolate

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, empty, and the functions that put outcomes together."""
    for statement in (*STATEMENTS, *(statement for table in TABLES for statement in isolate(table))):
        op.execute(statement)


TABLES = (
    *("run_contexts", "test_runs", "run_uploads", "automated_tests", "automated_test_cases"),
    *("executions", "execution_failures", "test_case_state", "daily_counts"),
)
_PROJECT = (
    'project_id text COLLATE "C" NOT NULL'
    " DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), '')"
)

STATEMENTS = (
    f"""
    CREATE TABLE run_contexts (
        id integer GENERATED ALWAYS AS IDENTITY,
        {_PROJECT},
        branch text NOT NULL,
        environment text NOT NULL,
        last_run_at timestamptz NOT NULL,
        CONSTRAINT pk_run_contexts PRIMARY KEY (id),
        CONSTRAINT uq_run_contexts_project_id_branch_environment UNIQUE (project_id, branch, environment)
    )
    """,
    "COMMENT ON TABLE run_contexts IS 'branches and environments that runs were of'",
    "COMMENT ON COLUMN run_contexts.environment IS 'empty where runs name none'",
    f"""
    CREATE TABLE test_runs (
        id uuid NOT NULL,
        {_PROJECT},
        key text NOT NULL,
        name text,
        context_id integer NOT NULL,
        branch text NOT NULL,
        environment text NOT NULL,
        commit text,
        build_url text,
        at timestamptz NOT NULL,
        started_at timestamptz,
        finished_at timestamptz,
        status text NOT NULL,
        is_manual boolean NOT NULL DEFAULT false,
        shards integer,
        counts json NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT pk_test_runs PRIMARY KEY (id),
        CONSTRAINT uq_test_runs_project_id_key UNIQUE (project_id, key),
        CONSTRAINT ck_test_runs_status CHECK (status IN ('running', 'completed'))
    )
    """,
    "COMMENT ON COLUMN test_runs.key IS 'what the pipeline calls it, such as github:owner/name:run'",
    "COMMENT ON COLUMN test_runs.at IS 'where it stands among others: when it started, else when it was made'",
    "COMMENT ON COLUMN test_runs.shards IS 'how many uploads of an attempt end it'",
    "COMMENT ON COLUMN test_runs.counts IS 'tests by how they ended'",
    "CREATE INDEX ix_test_runs_at_id ON test_runs (project_id, at DESC, id)",
    "CREATE INDEX ix_test_runs_context_id_at ON test_runs (context_id, at DESC)",
    "CREATE INDEX ix_test_runs_commit ON test_runs (project_id, commit)",
    "CREATE INDEX ix_test_runs_running ON test_runs (updated_at) WHERE status = 'running'",
    f"""
    CREATE TABLE run_uploads (
        id uuid NOT NULL,
        {_PROJECT},
        run_id uuid NOT NULL,
        sha256 text NOT NULL,
        shard integer,
        shards integer,
        attempt integer NOT NULL,
        format text NOT NULL,
        file_name text,
        size bigint NOT NULL,
        counts json NOT NULL,
        warnings json NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_run_uploads PRIMARY KEY (id),
        CONSTRAINT uq_run_uploads_run_id_sha256 UNIQUE (run_id, sha256),
        CONSTRAINT fk_run_uploads_run_id_test_runs FOREIGN KEY (run_id) REFERENCES test_runs (id) ON DELETE CASCADE
    )
    """,
    "COMMENT ON COLUMN run_uploads.counts IS 'results of the file by how they ended'",
    f"""
    CREATE TABLE automated_tests (
        id bigint GENERATED ALWAYS AS IDENTITY,
        {_PROJECT},
        fingerprint bytea NOT NULL,
        class_name text NOT NULL,
        name text NOT NULL,
        suite text NOT NULL,
        file text NOT NULL,
        is_manual boolean NOT NULL DEFAULT false,
        merged_into bigint,
        first_seen timestamptz NOT NULL,
        last_seen timestamptz NOT NULL,
        CONSTRAINT pk_automated_tests PRIMARY KEY (id),
        CONSTRAINT uq_automated_tests_project_id_fingerprint UNIQUE (project_id, fingerprint)
    )
    """,
    """
    COMMENT ON TABLE automated_tests IS
        'tests as CI names them; manual ones stand for test cases that people execute'
    """,
    "COMMENT ON COLUMN automated_tests.merged_into IS 'another test that it was renamed to'",
    "CREATE INDEX ix_automated_tests_name ON automated_tests (project_id, class_name, name, id)",
    f"""
    CREATE TABLE automated_test_cases (
        {_PROJECT},
        test_id bigint NOT NULL,
        test_case_id uuid NOT NULL,
        matched_by text NOT NULL,
        named_at timestamptz NOT NULL,
        CONSTRAINT pk_automated_test_cases PRIMARY KEY (test_id, test_case_id),
        CONSTRAINT ck_automated_test_cases_matched_by CHECK (
            matched_by IN ('named', 'name', 'automation_id', 'person', 'created')),
        CONSTRAINT fk_automated_test_cases_test_id_automated_tests FOREIGN KEY (test_id)
            REFERENCES automated_tests (id) ON DELETE CASCADE
    )
    """,
    "COMMENT ON TABLE automated_test_cases IS 'which test cases the results of a test count for'",
    "COMMENT ON COLUMN automated_test_cases.named_at IS 'of the newest run that named it, or when a person did'",
    "CREATE INDEX ix_automated_test_cases_test_case_id ON automated_test_cases (test_case_id)",
    f"""
    CREATE TABLE executions (
        test_id bigint NOT NULL,
        context_id integer NOT NULL,
        at timestamptz NOT NULL,
        run_id uuid NOT NULL,
        {_PROJECT},
        duration_ms integer,
        status text NOT NULL,
        outcomes text NOT NULL,
        CONSTRAINT pk_executions PRIMARY KEY (test_id, context_id, at, run_id)
    ) PARTITION BY RANGE (at)
    """,
    """
    COMMENT ON COLUMN executions.outcomes IS
        'of each attempt: 0 not run, 1 skipped, 2 passed, 3 passed in the end, 4 failed'
    """,
    "CREATE INDEX ix_executions_run_id ON executions (run_id)",
    f"""
    CREATE TABLE execution_failures (
        test_id bigint NOT NULL,
        at timestamptz NOT NULL,
        run_id uuid NOT NULL,
        {_PROJECT},
        attempt integer NOT NULL,
        message text,
        trace text,
        iterations text[] NOT NULL,
        CONSTRAINT pk_execution_failures PRIMARY KEY (test_id, at, run_id)
    ) PARTITION BY RANGE (at)
    """,
    "CREATE INDEX ix_execution_failures_run_id ON execution_failures (run_id)",
    f"""
    CREATE TABLE test_case_state (
        test_case_id uuid NOT NULL,
        context_id integer NOT NULL,
        {_PROJECT},
        status text NOT NULL,
        run_id uuid NOT NULL,
        commit text,
        at timestamptz NOT NULL,
        test_case_version integer NOT NULL,
        last_pass_at timestamptz,
        outcomes text NOT NULL,
        flips integer NOT NULL,
        CONSTRAINT pk_test_case_state PRIMARY KEY (test_case_id, context_id)
    )
    """,
    "COMMENT ON TABLE test_case_state IS 'how a test case ended last on a branch and environment'",
    "COMMENT ON COLUMN test_case_state.outcomes IS 'of the last 20 runs that had it, the newest last'",
    "COMMENT ON COLUMN test_case_state.flips IS 'changes without a change of commit among the last 10'",
    "CREATE INDEX ix_test_case_state_context_id ON test_case_state (context_id)",
    f"""
    CREATE TABLE daily_counts (
        day date NOT NULL,
        context_id integer NOT NULL,
        test_id bigint NOT NULL,
        {_PROJECT},
        passed integer NOT NULL,
        failed integer NOT NULL,
        flaky integer NOT NULL,
        skipped integer NOT NULL,
        duration_ms bigint NOT NULL,
        CONSTRAINT pk_daily_counts PRIMARY KEY (day, context_id, test_id)
    )
    """,
    # Partitions are made and dropped by their owner, as whom no service runs. By themselves they show nothing.
    """
    CREATE FUNCTION make_execution_months(moment timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
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
    END $$
    """,
    """
    CREATE FUNCTION drop_execution_months(before timestamptz) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
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
    END $$
    """,
    """
    CREATE FUNCTION merged_outcomes(one text, other text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
        SELECT string_agg(greatest(substr(one, n, 1), substr(other, n, 1)), '' ORDER BY n)
        FROM generate_series(1, greatest(length(one), length(other))) n
    $$
    """,
    """
    CREATE FUNCTION outcome_status(outcomes text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
        SELECT CASE substring(outcomes from '([234])[^234]*$')
            WHEN '4' THEN 'failed'
            WHEN '3' THEN 'flaky'
            WHEN '2' THEN CASE WHEN outcomes ~ '[34]' THEN 'flaky' ELSE 'passed' END
            ELSE 'skipped'
        END
    $$
    """,
    """
    CREATE INDEX ix_test_cases_automation_id ON test_cases ((custom_metadata ->> 'automation_id'))
    WHERE (custom_metadata ->> 'automation_id') IS NOT NULL
    """,
)
