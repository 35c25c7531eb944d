"""Tests that pass without a parameter that failed: nobody knows whether that is mended, or gone."""

from catalog_service.answer_cache import AnswerCache, state_of_verdicts
from catalog_service.executions.states import WINDOW
from catalog_service.verdicts import Basis
from chassis.core.wording import counted
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_column

_NAMED = 3

# First which tests pass that failed lately: of few of them there is anything to look for. Each test case is looked up,
# since a join would go through all of them.
_LOST = f"""
    WITH passing AS MATERIALIZED (
        SELECT s.test_case_id, s.test_id, s.context_id
        FROM run_contexts x JOIN test_states s ON s.context_id = x.id
        WHERE x.branch = %(branch)s AND (%(environment)s::text IS NULL OR x.environment = %(environment)s)
        AND (%(run_commit)s::text IS NULL OR s.commit = %(run_commit)s)
        AND s.status IN ('passed', 'skipped') AND s.outcomes ~ '[34]'
    ), named AS MATERIALIZED (
        SELECT DISTINCT s.test_id, s.context_id FROM passing s
        JOIN automated_test_cases c ON (c.test_id, c.test_case_id) = (s.test_id, s.test_case_id)
        WHERE c.iterations IS NOT NULL AND (SELECT true FROM test_cases k WHERE k.id = s.test_case_id)
    )
    SELECT DISTINCT concat_ws('.', nullif(t.class_name, ''), t.name) AS name
    FROM named s JOIN automated_tests t ON t.id = s.test_id
    WHERE EXISTS (
        SELECT FROM (
            SELECT e.at, e.iterations FROM executions e
            WHERE e.test_id = s.test_id AND e.context_id = s.context_id ORDER BY e.at DESC LIMIT {WINDOW}
        ) AS f CROSS JOIN LATERAL jsonb_each_text(f.iterations) AS i
        WHERE outcome_status(i.value) = 'failed' AND NOT EXISTS (
            SELECT FROM executions n WHERE n.test_id = s.test_id AND n.context_id = s.context_id
            AND n.at > f.at AND n.iterations ? i.key))
    ORDER BY name
"""


_cache: AnswerCache[list[str]] = AnswerCache(256)


async def warn(database: Database, connection: Connection, basis: Basis) -> list[dict[str, str]]:
    """Warn of tests that pass, and have not run again with a parameter that failed in one of their last runs."""
    names = await _cache.get(
        database,
        (basis.branch, basis.environment, basis.commit),
        await state_of_verdicts(connection),
        lambda: fetch_column(connection, _LOST, basis.parameters),
    )
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    has = counted(len(names), "test passes and has", "tests pass and have")
    message = f"{has} not run again with a parameter that failed: {', '.join(names[:_NAMED])}{more}."
    return [{"code": "iteration_gone", "message": message}]
