"""Verdicts day by day, and what was executed each day."""

from datetime import date, datetime, timedelta
from typing import Any

from catalog_service.executions import past_verdicts
from catalog_service.figures import figures
from catalog_service.settings import Settings
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis, Verdict, requirement_verdicts
from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_column
from chassis.web.listing import Row

_VERDICTS = ", ".join(f"count(*) FILTER (WHERE v.verdict = '{one}') AS {one}" for one in Verdict)
_EXECUTED = ", ".join(
    f"sum((counts ->> '{one}')::integer)::bigint AS {one}" for one in ("passed", "failed", "flaky", "skipped")
)


async def keep_today(database: Database, settings: Settings, now: datetime) -> None:
    """Store how many requirements of each module have which verdict on the default branch, for each project."""
    async with database.across() as connection:
        keys = await fetch_column(connection, "SELECT DISTINCT project_id FROM run_contexts ORDER BY project_id")
    for key in keys:
        with projects.within(key):
            async with database.transaction() as connection:
                await _keep(connection, settings.basis(now))


async def _keep(connection: Connection, basis: Basis) -> None:
    parameters: dict[str, Any] = {**basis.parameters, "day": basis.now.date()}
    await connection.execute("DELETE FROM verdict_days WHERE day = %(day)s", parameters)
    await connection.execute(
        f"""
        WITH {requirement_verdicts(None, basis)}
        INSERT INTO verdict_days (day, branch, module, {", ".join(Verdict)})
        SELECT %(day)s, %(branch)s, coalesce(r.module, ''), {_VERDICTS}
        FROM verdicts v JOIN requirements r ON r.id = v.requirement_id GROUP BY 3
        """,
        parameters,
    )


async def trend(database: Database, settings: Settings, branch: str, days: int, now: datetime) -> list[Row]:
    """Return the last days with what was executed on a branch, and of the default branch the verdicts at their end.

    Those of days before verdicts were kept are worked out.
    """
    first = now.date() - timedelta(days=days - 1)
    async with snapshot(database) as connection:
        executed = await connection.execute(
            f"""
            SELECT (at AT TIME ZONE 'UTC')::date AS day, {_EXECUTED}, sum(duration_ms)::bigint AS duration_ms
            FROM test_runs WHERE branch = %(branch)s AND at >= %(first)s::timestamp AT TIME ZONE 'UTC'
            GROUP BY 1 HAVING sum((counts ->> 'tests')::integer) > 0
            """,
            {"branch": branch, "first": first},
        )
        counts = {row.pop("day"): row for row in await executed.fetchall()}
        verdicts, past = {}, {}
        if branch == settings.results_default_branch:
            verdicts = await _verdicts(database, connection, settings, first, now)
            past = await past_verdicts.work_out(database, connection, settings.basis(now), first, verdicts)
    nothing = {"passed": 0, "failed": 0, "flaky": 0, "skipped": 0, "duration_ms": 0}
    return [
        {
            "date": day,
            "results": counts.get(day, nothing),
            "requirements": verdicts.get(day) or past.get(day),
            "worked_out": day in past,
        }
        for day in sorted({*counts, *verdicts, *past})
    ]


async def _verdicts(
    database: Database, connection: Connection, settings: Settings, first: date, now: datetime
) -> dict[date, Row]:
    branch = settings.results_default_branch
    stored = await connection.execute(
        f"SELECT day, {', '.join(f'sum({one})::bigint AS {one}' for one in Verdict)} FROM verdict_days"
        " WHERE branch = %s AND day >= %s AND day < %s GROUP BY day",
        (branch, first, now.date()),
    )
    found = {row.pop("day"): row for row in await stored.fetchall()}
    today = await figures(database, connection, None, {}, settings.basis(now))
    return {**found, now.date(): today.by_verdict}
