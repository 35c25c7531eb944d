"""How each automated test stands, by the lanes of its runs, in place of how each test case does.

The runs that are there say no lane. What a pipeline of GitHub, Jenkins, Azure DevOps or TeamCity was called is the lane
of its runs, of others the format of their files; what people executed has a lane of its own. States are worked out
anew, executions and runs stay.

Takes half a minute a million executions, in which results wait. `test_case_state` goes one version later.
"""

from alembic import op

from chassis.db.isolation import isolate

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

TABLES = ("run_lanes", "test_states", "retired_tests")


def upgrade() -> None:
    """Make the tables, and fill them from the runs and executions that are there."""
    for statement in (*SCHEMA, *(one for table in TABLES for one in isolate(table)), *TAKE_OVER):
        op.execute(statement)


_PROJECT = (
    'project_id text COLLATE "C" NOT NULL'
    " DEFAULT nullif(coalesce(current_setting('traceline.project', true), 'MAIN'), '')"
)

SCHEMA = (
    "ALTER TABLE run_contexts ADD COLUMN lane text NOT NULL DEFAULT ''",
    "ALTER TABLE run_contexts ADD COLUMN is_former boolean NOT NULL DEFAULT false",
    "ALTER TABLE run_contexts DROP CONSTRAINT uq_run_contexts_project_id_branch_environment",
    "ALTER TABLE run_contexts ADD CONSTRAINT uq_run_contexts_project_id_branch_environment_lane"
    " UNIQUE (project_id, branch, environment, lane)",
    "COMMENT ON TABLE run_contexts IS 'branches, environments and lanes that runs were of'",
    "COMMENT ON COLUMN run_contexts.lane IS 'the line of runs: workflow and job, manual, else the format of its files'",
    "COMMENT ON COLUMN run_contexts.is_former IS"
    " 'of runs from before lanes: what a lane has of its tests takes their place'",
    "ALTER TABLE test_runs ADD COLUMN position timestamptz",
    "UPDATE test_runs r SET position = CASE WHEN r.is_manual OR r.commit IS NULL THEN r.at ELSE ("
    " SELECT min(s.at) FROM test_runs s WHERE s.project_id = r.project_id AND s.branch = r.branch"
    " AND s.commit = r.commit AND NOT s.is_manual) END",
    "ALTER TABLE test_runs ALTER COLUMN position SET DEFAULT now()",
    "ALTER TABLE test_runs ALTER COLUMN position SET NOT NULL",
    "ALTER TABLE test_runs ADD COLUMN ended_by_shards boolean NOT NULL DEFAULT false",
    "COMMENT ON COLUMN test_runs.ended_by_shards IS 'it goes on if a lane begins of which shards are missing'",
    "ALTER TABLE test_runs ADD COLUMN placed_at timestamptz",
    "COMMENT ON COLUMN test_runs.placed_at IS"
    " 'when its commit began, as this run knows it: its own start, else the time of the commit'",
    "COMMENT ON COLUMN test_runs.position IS"
    " 'where its commit stands among those of the branch: where the first run of it there puts it'",
    "CREATE INDEX ix_test_runs_branch_position ON test_runs (project_id, branch, position DESC)",
    "ALTER TABLE run_uploads ADD COLUMN context_id integer",
    "ALTER TABLE run_uploads ADD COLUMN is_partial boolean NOT NULL DEFAULT false",
    "ALTER TABLE run_uploads ADD COLUMN health text[] NOT NULL DEFAULT '{}'",
    "ALTER TABLE run_uploads DROP CONSTRAINT uq_run_uploads_run_id_sha256",
    "ALTER TABLE run_uploads ADD CONSTRAINT uq_run_uploads_run_id_sha256_context_id"
    " UNIQUE (run_id, sha256, context_id)",
    "ALTER TABLE test_runs ALTER COLUMN context_id DROP NOT NULL",
    "COMMENT ON COLUMN test_runs.context_id IS 'not used any more: a run may have several'",
    "COMMENT ON COLUMN run_uploads.health IS 'why the file does not tell the whole'",
    f"""
    CREATE TABLE run_lanes (
        run_id uuid NOT NULL,
        context_id integer NOT NULL,
        {_PROJECT},
        position timestamptz NOT NULL,
        health text[] NOT NULL,
        is_partial boolean NOT NULL,
        is_whole boolean NOT NULL,
        CONSTRAINT pk_run_lanes PRIMARY KEY (run_id, context_id),
        CONSTRAINT fk_run_lanes_run_id_test_runs FOREIGN KEY (run_id) REFERENCES test_runs (id) ON DELETE CASCADE
    )
    """,
    "COMMENT ON TABLE run_lanes IS 'what a run says of each branch, environment and lane that it had'",
    "COMMENT ON COLUMN run_lanes.health IS 'why it does not tell the whole'",
    "COMMENT ON COLUMN run_lanes.is_partial IS 'it ran a selection of the tests, as its caller says'",
    "COMMENT ON COLUMN run_lanes.is_whole IS 'a test that it did not have is missing'",
    "CREATE INDEX ix_run_lanes_context_id_position ON run_lanes (context_id, position)",
    "CREATE INDEX ix_run_lanes_whole ON run_lanes (context_id, position) WHERE is_whole",
    f"""
    CREATE TABLE test_states (
        test_case_id uuid NOT NULL,
        test_id bigint NOT NULL,
        context_id integer NOT NULL,
        {_PROJECT},
        status text NOT NULL,
        run_id uuid NOT NULL,
        commit text,
        position timestamptz NOT NULL,
        at timestamptz NOT NULL,
        last_pass_at timestamptz,
        outcomes text NOT NULL,
        changes integer NOT NULL,
        CONSTRAINT pk_test_states PRIMARY KEY (test_case_id, test_id, context_id)
    )
    """,
    "COMMENT ON TABLE test_states IS"
    " 'how a test ended last on a branch, environment and lane, for each test case that it counts for'",
    "COMMENT ON COLUMN test_states.status IS 'of all its executions of the last commit together'",
    "COMMENT ON COLUMN test_states.position IS 'of the last commit that had it; see test_runs'",
    "COMMENT ON COLUMN test_states.outcomes IS 'of the last 20 runs that had it, the newest last'",
    "COMMENT ON COLUMN test_states.changes IS 'how often it passed after a failure or failed after a pass among these'",
    "CREATE INDEX ix_test_states_context_id ON test_states (context_id)",
    "CREATE INDEX ix_test_states_test_id ON test_states (test_id)",
    f"""
    CREATE TABLE retired_tests (
        test_id bigint NOT NULL,
        context_id integer NOT NULL,
        {_PROJECT},
        retired_at timestamptz NOT NULL,
        retired_by text NOT NULL,
        note text NOT NULL,
        CONSTRAINT pk_retired_tests PRIMARY KEY (test_id, context_id),
        CONSTRAINT fk_retired_tests_test_id_automated_tests FOREIGN KEY (test_id)
            REFERENCES automated_tests (id) ON DELETE CASCADE
    )
    """,
    "COMMENT ON TABLE retired_tests IS"
    " 'missing tests that a person has taken out of a branch, environment and lane, until they run there again'",
    """
    CREATE FUNCTION changes_of(outcomes text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
        SELECT greatest(length(regexp_replace(translate(outcomes, '31', '2'), '(.)\\1+', '\\1', 'g')) - 1, 0)
    $$
    """,
    *(
        f"CREATE TRIGGER count_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}"
        " FOR EACH STATEMENT EXECUTE FUNCTION count_state_changes()"
        for table in ("test_states", "run_lanes")
    ),
    "COMMENT ON TABLE state_changes IS"
    " 'how many statements have changed test_states and run_lanes: the sum over slots; kept by a trigger'",
)

_NAMED = "r.name IS NOT NULL AND r.key ~ '^(github|jenkins|azure|teamcity):'"
# Of a branch and environment the lane that most runs are of keeps the context, so that few executions move.
TAKE_OVER = (
    "LOCK TABLE test_runs, run_uploads, automated_test_cases IN SHARE ROW EXCLUSIVE MODE",
    f"""
    CREATE TEMP TABLE lanes_of_runs ON COMMIT DROP AS
    SELECT r.id AS run_id, r.project_id, CASE WHEN r.is_manual THEN 'manual' WHEN {_NAMED} THEN r.name
        ELSE coalesce((SELECT min(u.format) FROM run_uploads u WHERE u.run_id = r.id), 'unknown') END AS lane
    FROM test_runs r
    """,
    "ALTER TABLE lanes_of_runs ADD PRIMARY KEY (run_id)",
    """
    CREATE TEMP TABLE parts_of_runs ON COMMIT DROP AS
    SELECT l.run_id, e.context_id, l.lane, count(*) AS executions
    FROM executions e JOIN lanes_of_runs l USING (run_id) GROUP BY 1, 2, 3
    """,
    """
    CREATE TEMP TABLE lanes_of_contexts ON COMMIT DROP AS
    SELECT context_id, lane, row_number() OVER (
        PARTITION BY context_id ORDER BY lane = 'manual', sum(executions) DESC, lane) AS place,
        NULL::integer AS new_id
    FROM parts_of_runs GROUP BY context_id, lane
    """,
    """
    UPDATE run_contexts c SET lane = l.lane, is_former = l.lane <> 'manual'
    FROM lanes_of_contexts l WHERE l.context_id = c.id AND l.place = 1
    """,
    """
    WITH made AS (
        INSERT INTO run_contexts (project_id, branch, environment, last_run_at, lane, is_former)
        SELECT c.project_id, c.branch, c.environment, c.last_run_at, l.lane, l.lane <> 'manual'
        FROM lanes_of_contexts l JOIN run_contexts c ON c.id = l.context_id WHERE l.place > 1
        RETURNING id, project_id, branch, environment, lane
    )
    UPDATE lanes_of_contexts l SET new_id = made.id FROM made JOIN run_contexts c
        ON (c.project_id, c.branch, c.environment) = (made.project_id, made.branch, made.environment)
    WHERE l.context_id = c.id AND l.lane = made.lane AND l.place > 1
    """,
    """
    UPDATE executions e SET context_id = l.new_id
    FROM parts_of_runs p JOIN lanes_of_contexts l USING (context_id, lane)
    WHERE l.new_id IS NOT NULL AND e.run_id = p.run_id AND e.context_id = p.context_id
    """,
    """
    UPDATE daily_counts d SET context_id = l.new_id
    FROM automated_tests t, lanes_of_contexts l
    WHERE t.id = d.test_id AND t.is_manual AND l.context_id = d.context_id AND l.lane = 'manual'
    AND l.new_id IS NOT NULL
    """,
    """
    UPDATE run_uploads u SET context_id = p.context_id FROM (
        SELECT p.run_id, min(coalesce(l.new_id, p.context_id)) AS context_id
        FROM parts_of_runs p JOIN lanes_of_contexts l USING (context_id, lane) GROUP BY p.run_id
    ) AS p WHERE p.run_id = u.run_id
    """,
    # A file that was sent without a key and a commit was a run of its own: it says nothing of other tests.
    """
    INSERT INTO run_lanes (project_id, run_id, context_id, position, health, is_partial, is_whole)
    SELECT r.project_id, r.id, p.context_id, r.position, h.health, r.is_sole,
           r.status = 'completed' AND NOT r.is_manual AND NOT r.is_sole AND h.health = '{}'
    FROM (
        SELECT r.*, r.commit IS NULL AND r.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AS is_sole
        FROM test_runs r
    ) AS r JOIN (
        SELECT p.run_id, coalesce(l.new_id, p.context_id) AS context_id
        FROM parts_of_runs p JOIN lanes_of_contexts l USING (context_id, lane)
    ) AS p ON p.run_id = r.id CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(DISTINCT CASE code WHEN 'unfinished' THEN 'crashed' ELSE code END
            ORDER BY CASE code WHEN 'unfinished' THEN 'crashed' ELSE code END)
            FILTER (WHERE code IS NOT NULL), '{}') AS health
        FROM (
            SELECT w ->> 'code' AS code FROM run_uploads u CROSS JOIN LATERAL json_array_elements(u.warnings) AS w
            WHERE u.run_id = r.id AND w ->> 'code' IN (
                'no_results', 'plan_not_kept', 'crashed', 'unfinished', 'suite_failed', 'errors_of_run')
            UNION ALL
            SELECT 'shards_missing' FROM run_uploads u WHERE u.run_id = r.id AND u.shards IS NOT NULL
            GROUP BY u.shards HAVING count(DISTINCT u.shard) < u.shards
        ) AS found
    ) AS h
    """,
    "ANALYZE test_runs",
    "ANALYZE run_lanes",
    """
    INSERT INTO test_states (project_id, test_case_id, test_id, context_id, status, run_id, commit, position, at,
                             last_pass_at, outcomes, changes)
    SELECT c.project_id, c.test_case_id, p.test_id, p.context_id, s.status, s.run_id, last.commit, last.position, s.at,
           coalesce(s.last_pass_at, before.at), shown.outcomes, changes_of(shown.outcomes)
    FROM (SELECT test_id, context_id FROM executions GROUP BY test_id, context_id) AS p
    JOIN automated_test_cases c ON c.test_id = p.test_id
    CROSS JOIN LATERAL (
        SELECT r.position FROM executions e JOIN test_runs r ON r.id = e.run_id
        WHERE e.test_id = p.test_id AND e.context_id = p.context_id ORDER BY e.at DESC LIMIT 1
    ) AS newest CROSS JOIN LATERAL (
        SELECT r.position, r.commit, r.id FROM executions e JOIN test_runs r ON r.id = e.run_id
        WHERE e.test_id = p.test_id AND e.context_id = p.context_id AND e.at >= newest.position
        ORDER BY r.position DESC, r.created_at DESC, r.id DESC LIMIT 1
    ) AS last CROSS JOIN LATERAL (
        SELECT CASE WHEN bool_or(e.status = 'flaky')
                      OR bool_or(e.status = 'failed') AND bool_or(e.status = 'passed') THEN 'flaky'
                    WHEN bool_or(e.status = 'failed') THEN 'failed' WHEN bool_or(e.status = 'passed') THEN 'passed'
                    ELSE 'skipped' END AS status,
               (array_agg(e.run_id ORDER BY e.at DESC, e.run_id DESC))[1] AS run_id, max(e.at) AS at,
               max(e.at) FILTER (WHERE e.status IN ('passed', 'flaky')) AS last_pass_at
        FROM executions e JOIN test_runs r ON r.id = e.run_id
        WHERE e.test_id = p.test_id AND e.context_id = p.context_id AND e.at >= last.position
        AND (r.id = last.id OR r.position = last.position AND r.commit = last.commit)
    ) AS s LEFT JOIN LATERAL (
        SELECT e.at FROM executions e WHERE s.last_pass_at IS NULL AND e.test_id = p.test_id
        AND e.context_id = p.context_id AND e.at < s.at AND e.status IN ('passed', 'flaky') ORDER BY e.at DESC LIMIT 1
    ) AS before ON true CROSS JOIN LATERAL (
        SELECT string_agg(o.outcome, '' ORDER BY o.at, o.run_id) AS outcomes FROM (
            SELECT e.at, e.run_id, CASE e.status WHEN 'failed' THEN '4' WHEN 'flaky' THEN '3' WHEN 'passed' THEN '2'
                                   ELSE '1' END AS outcome
            FROM executions e WHERE e.test_id = p.test_id AND e.context_id = p.context_id
            ORDER BY e.at DESC, e.run_id DESC LIMIT 20) AS o
    ) AS shown
    """,
    "ANALYZE test_states",
)
