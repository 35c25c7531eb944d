"""Table `accepted_failures`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from psycopg.errors import UniqueViolation

from catalog_service.verdicts import accepted_now
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_one, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

NEWEST_FIRST = Order("created_at:desc", (By("a.created_at", datetime, descending=True), By("a.id", UUID)))
PASSES = 3
"""So many whole runs in a row that a test passes end the acceptance of its failure."""

ACTIVE = accepted_now("a")
_IS_OVER = "a.ended_at IS NULL AND a.until <= %(now)s"
# What has ended by its time says so from then on, whether that has been written or not.
_COLUMNS = f"""
    a.id, a.test_id AS automated_test_id, t.test AS automated_test, a.test_case_id, c.test_case, a.reason, a.until,
    a.issue_url, {ACTIVE} AS active, a.created_by, a.created_at,
    CASE WHEN {_IS_OVER} THEN a.until ELSE a.ended_at END AS ended_at, a.ended_by,
    CASE WHEN {_IS_OVER} THEN 'until' ELSE a.ended_because END AS ended_because
"""
_JOINED = """
    LEFT JOIN LATERAL (
        SELECT json_build_object('id', t.id, 'class_name', t.class_name, 'name', t.name, 'by_hand', t.is_manual) AS test
        FROM automated_tests t WHERE t.id = a.test_id
    ) AS t ON true LEFT JOIN LATERAL (
        SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'title', c.title, 'module', c.module)
            AS test_case
        FROM test_cases c WHERE c.id = a.test_case_id
    ) AS c ON true
"""

_FAILS = "(s.test_id = a.test_id OR s.test_case_id = a.test_case_id) AND s.status IN ('failed', 'flaky')"

# Where each of its tests has passed three whole runs in a row since, by the order of commits, and does not fail now.
# What people execute is whole; a failure counts whatever its run is. At the commit of a failure that was known when it
# was accepted, and at older ones, a pass says nothing.
_SETTLED = f"""
WITH accepted AS MATERIALIZED (
    SELECT a.id, a.created_at, a.settled, m.test_id FROM accepted_failures a CROSS JOIN LATERAL (
        SELECT a.test_id WHERE a.test_id IS NOT NULL
        UNION ALL SELECT m.test_id FROM automated_test_cases m WHERE m.test_case_id = a.test_case_id
    ) AS m WHERE {ACTIVE} AND EXISTS (SELECT FROM executions e WHERE e.run_id = %(run)s AND e.test_id = m.test_id)
), since AS (
    SELECT a.id, o.context_id, string_agg(o.outcome, '' ORDER BY o.position, o.at) AS outcomes
    FROM accepted a CROSS JOIN LATERAL (
        SELECT e.context_id, r.position, e.at, CASE WHEN e.status = 'passed' THEN 'p' ELSE 'f' END AS outcome
        FROM executions e JOIN test_runs r ON r.id = e.run_id
        WHERE e.test_id = a.test_id AND r.created_at > a.created_at AND e.status <> 'skipped'
        AND e.context_id IN (SELECT x.context_id FROM executions x WHERE x.run_id = %(run)s)
        AND e.context_id <> ALL(a.settled)
        AND (e.status <> 'passed' OR r.is_manual OR EXISTS (
            SELECT FROM run_lanes l WHERE l.run_id = r.id AND l.context_id = e.context_id AND l.is_whole))
        AND NOT EXISTS (
            SELECT FROM executions x JOIN test_runs before ON before.id = x.run_id
            WHERE x.test_id = e.test_id AND x.context_id = e.context_id AND x.status IN ('failed', 'flaky')
            AND before.created_at <= a.created_at AND before.position >= r.position)
    ) AS o GROUP BY a.id, a.test_id, o.context_id
)
SELECT a.id, array_agg(p.context_id ORDER BY p.context_id) AS contexts FROM (
    SELECT id, context_id FROM since
    GROUP BY id, context_id HAVING bool_and(position(repeat('p', {PASSES}) IN outcomes) > 0)
) AS p JOIN accepted_failures a ON a.id = p.id
WHERE NOT EXISTS (SELECT FROM test_states s WHERE {_FAILS} AND s.context_id = p.context_id)
GROUP BY a.id ORDER BY a.id
"""

# It is needed as long as one of its tests fails where it is not settled; what is missing there may fail again.
_NO_LONGER_NEEDED = f"""
UPDATE accepted_failures a SET ended_at = %(now)s, ended_because = 'no_longer_needed'
WHERE a.id = ANY(%(ids)s) AND {ACTIVE} AND NOT EXISTS (
    SELECT FROM test_states s WHERE {_FAILS} AND s.context_id <> ALL(a.settled))
RETURNING a.id
"""


class Accepted(TypedDict):
    """An acceptance that is stored."""

    id: UUID
    test_id: int | None
    test_case_id: UUID | None
    reason: str
    until: datetime
    issue_url: str | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    ended_because: str | None
    class_name: str | None
    name: str | None
    by_hand: bool | None
    test_case_external_id: str | None
    test_case_title: str | None


async def page(connection: Connection, conditions: Conditions, wanted: PageRequest, now: datetime) -> Fetched:
    """Return a page of the acceptances `a` under conditions."""
    conditions.parameters["now"] = now
    return await fetch_page(connection, _COLUMNS, "accepted_failures a", conditions, wanted, joined=_JOINED)


async def find(connection: Connection, acceptance_id: UUID, now: datetime) -> Row | None:
    """Return an acceptance as it is answered."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM accepted_failures a {_JOINED} WHERE a.id = %(id)s", {"id": acceptance_id, "now": now}
    )
    return await cursor.fetchone()


async def lock(connection: Connection, ids: Sequence[UUID]) -> list[Accepted]:
    """Return acceptances with the names of what they are of, locked in the order of their ids."""
    return await fetch_all(
        connection,
        Accepted,
        """
        SELECT a.id, a.test_id, a.test_case_id, a.reason, a.until, a.issue_url, a.created_by, a.created_at, a.ended_at,
               a.ended_by, a.ended_because, t.class_name, t.name, t.is_manual AS by_hand,
               c.external_id AS test_case_external_id, c.title AS test_case_title
        FROM accepted_failures a LEFT JOIN automated_tests t ON t.id = a.test_id
        LEFT JOIN test_cases c ON c.id = a.test_case_id
        WHERE a.id = ANY(%s) ORDER BY a.id FOR UPDATE OF a
        """,
        (list(ids),),
    )


async def insert(connection: Connection, row: dict[str, Any]) -> bool:
    """Store an acceptance; return whether nothing is accepted of the same test or test case yet.

    Of a test that fails now, it is what fails of it: iterations that fail later are not accepted.
    """
    try:
        async with connection.transaction():
            await connection.execute(
                """
                INSERT INTO accepted_failures
                    (id, test_id, test_case_id, reason, until, issue_url, created_by, created_at, iterations)
                SELECT %(id)s, %(test_id)s, %(test_case_id)s, %(reason)s, %(until)s, %(issue_url)s, %(created_by)s,
                       %(created_at)s, array_agg(DISTINCT split_part(i.key, '.', 1))
                FROM test_states s JOIN executions e USING (test_id, context_id, at)
                CROSS JOIN LATERAL jsonb_each_text(coalesce(e.iterations, jsonb_build_object('', e.outcomes))) AS i
                WHERE s.test_id = %(test_id)s AND outcome_status(i.value) IN ('failed', 'flaky')
                """,
                row,
            )
    except UniqueViolation:
        return False
    return True


async def end(
    connection: Connection, ids: Sequence[UUID], ended_at: datetime, because: str, by: str | None = None
) -> None:
    """Store that acceptances have ended, which are locked; what its time has ended, at that."""
    await connection.execute(
        """
        UPDATE accepted_failures SET ended_at = CASE WHEN %(because)s = 'until' THEN until ELSE %(at)s END,
            ended_because = %(because)s, ended_by = %(by)s
        WHERE id = ANY(%(ids)s) AND ended_at IS NULL
        """,
        {"ids": list(ids), "at": ended_at, "because": because, "by": by},
    )


async def over(
    connection: Connection, now: datetime, *, test_id: int | None = None, test_case_id: UUID | None = None
) -> list[UUID]:
    """Return the acceptances whose time is over and that are not stored as ended: of one test or test case, or all."""
    rows = await fetch_all(
        connection,
        _Id,
        f"""
        SELECT a.id FROM accepted_failures a WHERE {_IS_OVER}
        AND (%(test)s::bigint IS NULL OR a.test_id = %(test)s)
        AND (%(test_case)s::uuid IS NULL OR a.test_case_id = %(test_case)s) ORDER BY a.id LIMIT 500
        """,
        {"now": now, "test": test_id, "test_case": test_case_id},
    )
    return [row["id"] for row in rows]


class _Id(TypedDict):
    id: UUID


async def active_of(connection: Connection, test_id: int | None, test_case_id: UUID | None) -> UUID | None:
    """Return the acceptance of a test or test case that is not stored as ended."""
    found = await fetch_one(
        connection,
        _Id,
        "SELECT id FROM accepted_failures WHERE ended_at IS NULL AND (test_id = %s OR test_case_id = %s)",
        (test_id, test_case_id),
    )
    return None if found is None else found["id"]


async def any_active(connection: Connection, now: datetime) -> bool:
    """Check whether any failure is accepted."""
    query = f"SELECT EXISTS (SELECT FROM accepted_failures a WHERE {ACTIVE})"
    return bool(await fetch_value(connection, query, {"now": now}))


class _Settled(TypedDict):
    id: UUID
    contexts: list[int]


async def settle(connection: Connection, run_id: UUID, now: datetime) -> list[UUID]:
    """Store where a run was the third that tests have passed since their failure was accepted; end what nobody needs.

    Return the acceptances that have ended.
    """
    settled = await fetch_all(connection, _Settled, _SETTLED, {"run": run_id, "now": now})
    for one in settled:
        await connection.execute(
            "UPDATE accepted_failures SET settled = settled || %s::integer[] WHERE id = %s",
            (one["contexts"], one["id"]),
        )
    ended = await fetch_all(connection, _Id, _NO_LONGER_NEEDED, {"ids": [one["id"] for one in settled], "now": now})
    return [one["id"] for one in ended]
