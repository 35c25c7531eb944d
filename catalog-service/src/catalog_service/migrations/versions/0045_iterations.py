"""How each iteration of a test ended in a run, and which iterations of it name a test case.

Of what is there nobody knows: it stays as if the whole test had run, and had named its test cases.
"""

from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_MERGED = """
    CREATE FUNCTION merged_iterations(parts jsonb[], attempts_before integer) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
        SELECT jsonb_object_agg(name, outcomes) FROM (
            SELECT name, repeat('0', attempts_before) || string_agg(outcome, '' ORDER BY n) AS outcomes FROM (
                SELECT e.key AS name, n, max(substr(e.value, n, 1)) AS outcome
                FROM unnest(parts) AS part CROSS JOIN LATERAL jsonb_each_text(part) AS e
                CROSS JOIN LATERAL generate_series(1, length(e.value)) AS n GROUP BY e.key, n
            ) AS attempts GROUP BY name
        ) AS merged
    $$
"""
_STATUS = """
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
    $$
"""
_RAN = """
    CREATE FUNCTION ran_iterations(iterations jsonb, names text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
        SELECT iterations IS NULL OR names IS NULL OR EXISTS (
            SELECT FROM jsonb_object_keys(iterations) AS key
            WHERE split_part(key, '.', 1) = ANY(array_append(names, '')))
    $$
"""


def upgrade() -> None:
    """Add the columns and what puts them together."""
    op.execute("ALTER TABLE executions ADD COLUMN iterations jsonb")
    op.execute(
        "COMMENT ON COLUMN executions.iterations IS"
        " 'outcomes of each iteration by a hash of its name, then a dot and one of its job; null: no names'"
    )
    op.execute("ALTER TABLE automated_test_cases ADD COLUMN iterations text[]")
    op.execute(
        "COMMENT ON COLUMN automated_test_cases.iterations IS"
        " 'hashes of the names of the iterations that name it; null: the whole test does'"
    )
    op.execute(_MERGED)
    op.execute(_STATUS)
    op.execute(_RAN)
