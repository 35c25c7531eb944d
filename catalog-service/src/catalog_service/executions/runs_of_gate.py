"""Reads the runs that a gate looks at."""

from catalog_service.executions.gate_runs import MOST_RUNS, RunOfGate
from catalog_service.executions.runs import HEALTH, HEALTH_COLUMNS
from catalog_service.verdicts import Basis
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_value

_HAS_RUN_A_TEST = "(r.counts ->> 'tests')::bigint > (r.counts ->> 'skipped')::bigint"
# What people execute has no lanes; of other runs these say first, cheaply, whether there may be such a result.
_RAN_THERE = """
    AND (%(environment)s::text IS NULL OR (r.is_manual OR EXISTS (
        SELECT FROM run_lanes l JOIN run_contexts x ON x.id = l.context_id
        WHERE l.run_id = r.id AND x.environment = %(environment)s)
    ) AND EXISTS (
        SELECT FROM executions e JOIN run_contexts x ON x.id = e.context_id
        WHERE e.run_id = r.id AND e.at = r.at AND e.status <> 'skipped' AND x.environment = %(environment)s))"""


async def read(connection: Connection, basis: Basis) -> list[RunOfGate]:
    """Return the runs of the commit, or without one those of the newest commit of the branch, the newest first."""
    newest = """
        SELECT n.id FROM test_runs n JOIN (
            SELECT r.id, r.commit, r.position FROM test_runs r
            WHERE NOT r.is_manual AND r.branch = %(branch)s AND {environment}
            ORDER BY r.position DESC, r.created_at DESC, r.id DESC LIMIT 1
        ) AS last ON n.id = last.id OR n.commit = last.commit AND n.branch = %(branch)s"""
    # A run of several environments has none itself; one that goes on may come to have any.
    in_environment = """(%(environment)s::text IS NULL OR r.environment = %(environment)s OR r.environment = '' AND (
            r.status = 'running' OR EXISTS (
                SELECT FROM run_lanes l JOIN run_contexts x ON x.id = l.context_id
                WHERE l.run_id = r.id AND x.environment = %(environment)s)))"""
    of_branch = f"r.id IN ({newest.format(environment=in_environment)})"
    found = await fetch_all(
        connection,
        RunOfGate,
        f"""
        SELECT r.id, r.key, r.status, r.at AS started_at, r.finished_at, r.counts, {HEALTH_COLUMNS}
        FROM test_runs r {HEALTH}
        WHERE NOT r.is_manual AND {of_branch if basis.commit is None else "r.commit = %(run_commit)s"}
        AND {in_environment} ORDER BY r.at DESC, r.id LIMIT {MOST_RUNS}
        """,
        basis.parameters,
    )
    return found if basis.environment is None else [_in_environment(run, basis.environment) for run in found]


def _in_environment(run: RunOfGate, environment: str) -> RunOfGate:
    """Return a run with the lanes that it had in an environment: what broke in another one is no harm there."""
    lanes = [lane for lane in run["lanes"] if lane["environment"] == environment]
    of_lanes = {reason for lane in run["lanes"] for reason in lane["health"]}
    reasons = sorted({reason for lane in lanes for reason in lane["health"]} | {*run["health_reasons"]} - of_lanes)
    return {**run, "lanes": lanes, "health_reasons": reasons, "health": "incomplete" if reasons else "ok"}


async def has_environment(connection: Connection, basis: Basis) -> bool:
    """Check whether any result is of the environment that is asked for, if one is."""
    has = "SELECT EXISTS (SELECT FROM run_contexts WHERE environment = %s)"
    return basis.environment is None or bool(await fetch_value(connection, has, (basis.environment,)))


async def has_run(connection: Connection, basis: Basis) -> bool:
    """Check whether any test ran, and was not skipped, at the commit or on the branch that is asked for.

    On the branch, too, where its results may stand for those of the commit. In an environment where one is asked for.
    """
    ran = f"SELECT EXISTS (SELECT FROM test_runs r WHERE {{of}} AND {_HAS_RUN_A_TEST} {_RAN_THERE})"
    of_commit, of_branch = (ran.format(of=of) for of in ("r.commit = %(run_commit)s", "r.branch = %(branch)s"))
    if basis.commit is not None and await fetch_value(connection, of_commit, basis.parameters):
        return True
    asked = basis.commit is None or basis.older
    return asked and bool(await fetch_value(connection, of_branch, basis.parameters))
