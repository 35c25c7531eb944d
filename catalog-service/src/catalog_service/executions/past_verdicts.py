"""The verdicts of days of which none were kept, worked out from what is there now: runs, links and versions.

A day before the first requirement came here has the requirements and links of that first day: an imported record is
older than its import, and so are its results.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from catalog_service.answer_cache import AnswerCache, state, state_of_results
from catalog_service.verdict_states import Severity, severity_of
from catalog_service.verdicts import BIT, COUNTS_FOR, OF_REQUIREMENT, Basis, TestCaseVerdict, Verdict
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_only
from chassis.web.listing import Row

_MOST_ROWS = 600_000
"""So many requirements a day, of all days together, are looked at; of more, not every day is worked out."""


class _Begin(NamedTuple):
    """When the record began, how large it is, when it first ran, and since when verdicts are kept."""

    record: date | None
    requirements: int
    ran: date | None
    kept: date | None


_BEGIN = """
    SELECT (SELECT min(created_at) AT TIME ZONE 'UTC' FROM requirements)::date AS record,
           (SELECT coalesce(sum(rows), 0)::bigint FROM row_counts WHERE table_name = 'requirements') AS requirements,
           (SELECT min(at) AT TIME ZONE 'UTC' FROM test_runs WHERE branch = %(branch)s)::date AS ran,
           (SELECT min(day) FROM verdict_days WHERE branch = %(branch)s) AS kept
"""

# How each test ended last on each day that it ran, and until which day that was so.
_ENDS = """
    ran AS (
        SELECT DISTINCT ON (e.test_id, e.context_id, (e.at AT TIME ZONE 'UTC')::date)
            e.test_id, e.context_id, (e.at AT TIME ZONE 'UTC')::date AS day, e.status, e.at,
            max(e.at) FILTER (WHERE e.status IN ('passed', 'flaky')) OVER (
                PARTITION BY e.test_id, e.context_id ORDER BY e.at) AS last_pass_at
        FROM executions e
        WHERE e.context_id IN (SELECT id FROM run_contexts WHERE branch = %(branch)s)
        AND e.at >= %(looked_from)s AND e.at < %(until)s
        ORDER BY e.test_id, e.context_id, (e.at AT TIME ZONE 'UTC')::date, e.at DESC
    ), ends AS (
        SELECT *, lead(day) OVER (PARTITION BY test_id, context_id ORDER BY day) AS next_day FROM ran
    )"""


def _changed_by(item: str) -> str:
    """Return when an item had changed last at the end of `days.day`; null: never."""
    return f"""CASE WHEN {item}.version > 1 THEN (SELECT max(v.changed_at) FROM item_revisions v
        WHERE v.item_id = {item}.id AND v.changed_at < days.ends_at) END"""


_PAST = f"""
    WITH days AS (
        SELECT day::date AS day, (day + interval '1 day') AT TIME ZONE 'UTC' AS ends_at,
               (greatest(day, %(record)s::date::timestamp) + interval '1 day') AT TIME ZONE 'UTC' AS there_before
        FROM generate_series(%(first)s::timestamp, %(last)s::timestamp, %(step)s * interval '1 day') AS day
    ), {_ENDS}, results AS (
        SELECT days.day, m.test_case_id, max({severity_of("e.status")}) AS severity,
               min(e.last_pass_at) AS last_pass_at
        FROM days JOIN ends e ON e.day <= days.day AND (e.next_day IS NULL OR days.day < e.next_day)
        JOIN automated_test_cases m ON m.test_id = e.test_id GROUP BY 1, 2
    ), standing AS MATERIALIZED (
        SELECT days.day, s.test_case_id, s.last_pass_at, CASE s.severity
            WHEN {Severity.FAILED} THEN {BIT[TestCaseVerdict.FAILED]}
            WHEN {Severity.FLAKY} THEN {BIT[TestCaseVerdict.FLAKY]}
            WHEN {Severity.SKIPPED} THEN {BIT[TestCaseVerdict.SKIPPED]}
            ELSE CASE WHEN s.last_pass_at < greatest(days.ends_at - %(stale_after)s, {_changed_by("t")})
                THEN {BIT[TestCaseVerdict.STALE]} ELSE {BIT[TestCaseVerdict.PASSED]} END END AS verdict
        FROM results s JOIN days USING (day) JOIN test_cases t ON t.id = s.test_case_id
    ), counting AS MATERIALIZED (
        SELECT l.requirement_id, l.test_case_id, l.created_at
        FROM links l JOIN test_cases t ON t.id = l.test_case_id WHERE {COUNTS_FOR}
    ), known AS (
        SELECT days.day, r.id, bit_or(CASE WHEN l.test_case_id IS NULL THEN NULL
            WHEN s.verdict = {BIT[TestCaseVerdict.PASSED]} AND s.last_pass_at < {_changed_by("r")}
                THEN {BIT[TestCaseVerdict.STALE]}
            ELSE coalesce(s.verdict, {BIT[TestCaseVerdict.NOT_RUN]}) END) AS verdicts
        FROM days JOIN requirements r ON r.created_at < days.there_before
        LEFT JOIN counting l ON l.requirement_id = r.id AND l.created_at < days.there_before
        LEFT JOIN standing s ON s.day = days.day AND s.test_case_id = l.test_case_id
        GROUP BY days.day, r.id
    )
    SELECT day, {", ".join(f"count(*) FILTER (WHERE verdict = '{one}') AS {one}" for one in Verdict)}
    FROM (SELECT day, {OF_REQUIREMENT} AS verdict FROM known) AS v GROUP BY day ORDER BY day
"""

_cache: AnswerCache[dict[date, Row]] = AnswerCache(64)


async def work_out(
    database: Database, connection: Connection, basis: Basis, first: date, known: Iterable[date]
) -> dict[date, Row]:
    """Return how many requirements had which verdict at the end of days from `first` on, before the first kept one.

    Days that are `known`, and those before anything was there, are left out; where the record is very large, some more.
    """
    begin = await fetch_only(connection, _Begin, _BEGIN, {"branch": basis.branch})
    today = basis.now.date()
    if begin.record is None:
        return {}
    since = max(first, min(day for day in (begin.record, begin.ran) if day is not None))
    last = min(begin.kept or today, today) - timedelta(days=1)
    if since > last:
        return {}
    # What is linked today changes no day before, but where the record itself is of today.
    record = (await state(connection))["changes"] if begin.record == today else None
    found = await _cache.get(
        database,
        (basis.question, since, last),
        (record, begin.requirements, await state_of_results(connection)),
        lambda: _work_out(connection, basis, begin, since, last),
    )
    return {day: verdicts for day, verdicts in found.items() if day not in {*known}}


async def _work_out(connection: Connection, basis: Basis, begin: _Begin, since: date, last: date) -> dict[date, Row]:
    days = (last - since).days + 1
    step = max(1, -(-days * begin.requirements // _MOST_ROWS))
    first = last - timedelta(days=(days - 1) // step * step)
    rows = await connection.execute(
        _PAST,
        {
            "branch": basis.branch,
            "record": begin.record,
            "first": first,
            "last": last,
            "step": step,
            "looked_from": datetime.combine(first, time(), UTC) - basis.stale_after,
            "until": datetime.combine(last, time(), UTC) + timedelta(days=1),
            "stale_after": basis.stale_after,
        },
        prepare=False,
    )
    return {row.pop("day"): row for row in await rows.fetchall()}
