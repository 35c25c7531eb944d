"""Automated tests: what CI runs, which test cases it counts for, and under which other names it has run."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from catalog_service.executions import renames, states, storing
from catalog_service.executions.states import Affected
from catalog_service.items import repository as items
from catalog_service.items.kinds import TEST_CASE
from catalog_service.verdict_states import CONTEXTS, DROPPED
from chassis.core.problems import NotFound
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

BY_NAME = Order("class_name:asc", (By("t.class_name", str), By("t.name", str), By("t.id", int)))

_COLUMNS = f"""
    t.id, t.class_name, t.name, t.suite, t.file, known.test_case_id, known.matched_by,
    coalesce(known.test_cases, '[]') AS test_cases, t.first_seen,
    {storing.LAST_SEEN.format(test="t", id="t.id")} AS last_seen, NULL::bigint AS suspected_rename,
    gone.retired
"""
_MISSING = """
    SELECT DISTINCT s.test_id, s.context_id, s.position, s.at, c.branch, c.environment, c.lane, c.is_gone
    FROM test_states s JOIN contexts c ON c.id = s.context_id
    WHERE s.position < c.missing_before"""
_DROPPED = """
    SELECT DISTINCT s.test_id, d.context_id, d.position, s.at, d.branch, d.environment, d.lane, d.is_gone
    FROM test_states s JOIN contexts k ON k.id = s.context_id AND k.branch = %(default_branch)s
    CROSS JOIN LATERAL ({dropped}) AS d"""


def missing_tests(also: str, *, with_dropped: bool) -> str:
    """Return common table expressions that end with `missing`: the tests that are, with where each is missing.

    `also` narrows the branches, environments and lanes `c`. `with_dropped`: with what these lack of the
    `default_branch`, a parameter.
    """
    dropped = f"UNION ALL {_DROPPED.format(dropped=f'{DROPPED} {also}')}" if with_dropped else ""
    return f"contexts AS MATERIALIZED ({CONTEXTS}), missing AS MATERIALIZED ({_MISSING} {also} {dropped})"


_JOINED = """
    LEFT JOIN LATERAL (
        SELECT (array_agg(m.test_case_id ORDER BY c.external_id, c.id))[1] AS test_case_id,
               (array_agg(m.matched_by ORDER BY c.external_id, c.id))[1] AS matched_by,
               json_agg(json_build_object('id', c.id, 'external_id', c.external_id, 'title', c.title,
                                          'module', c.module) ORDER BY c.external_id, c.id) AS test_cases
        FROM automated_test_cases m JOIN test_cases c ON c.id = m.test_case_id WHERE m.test_id = t.id
    ) AS known ON true CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(json_build_object(
            'branch', x.branch, 'environment', nullif(x.environment, ''), 'lane', x.lane, 'retired_at', d.retired_at,
            'retired_by', d.retired_by, 'note', d.note) ORDER BY x.branch, x.environment, x.lane), '[]') AS retired
        FROM retired_tests d JOIN run_contexts x ON x.id = d.context_id WHERE d.test_id = t.id
    ) AS gone
"""
_NOT_ASKED = "NULL::json AS missing"
# As the reasons of verdicts say it: with the whole runs of the lane since its last result.
_MISSING_IN = """
    CROSS JOIN LATERAL (
        SELECT json_agg(json_build_object(
            'branch', m.branch, 'environment', nullif(m.environment, ''), 'lane', m.lane, 'lane_gone', m.is_gone,
            'last_run_at', m.at, 'missed_runs', missed.runs, 'missed_run', missed.key, 'missed_since', missed.at
        ) ORDER BY m.branch, m.environment, m.lane) AS missing
        FROM missing m CROSS JOIN LATERAL (
            SELECT count(*) AS runs, (array_agg(r.key ORDER BY l.position DESC, r.at DESC))[1] AS key, min(r.at) AS at
            FROM run_lanes l JOIN test_runs r ON r.id = l.run_id
            WHERE l.context_id = m.context_id AND l.is_whole AND l.position > m.position
        ) AS missed WHERE m.test_id = t.id
    ) AS lacking
"""


async def page(
    connection: Connection,
    conditions: Conditions,
    wanted: PageRequest,
    missing: Conditions | None,
    default_branch: str | None,
    *,
    renamed: bool,
) -> Fetched:
    """Return a page of tests under conditions on `t`.

    With `missing`: of those that are missing in a context `c` under its conditions; with a `default_branch`, of those
    of it that others lack, too, which is much to ask of all branches. `renamed`: of new names, with the tests that had
    old ones.
    """
    former = await renames.read(connection) if renamed else {}
    if renamed:
        conditions.add("t.id = ANY(%(renamed)s)", renamed=[*former])
    columns, joined, common = f"{_COLUMNS}, {_NOT_ASKED}", _JOINED, ""
    if missing is not None:
        conditions.add("t.id IN (SELECT test_id FROM missing)", **missing.parameters)
        columns, joined = f"{_COLUMNS}, lacking.missing", _JOINED + _MISSING_IN
        conditions.parameters["default_branch"] = default_branch
        common = f"WITH {missing_tests(missing.also, with_dropped=default_branch is not None)}"
    found = await fetch_page(connection, columns, "automated_tests t", conditions, wanted, joined=joined, common=common)
    for row in found.rows:
        row["suspected_rename"] = former.get(row["id"])
    return found


async def read(connection: Connection, test_id: int) -> Row:
    """Return a test as it is answered; raise NotFound."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS}, {_NOT_ASKED} FROM automated_tests t {_JOINED}"
        " WHERE t.id = %s AND NOT t.is_manual AND t.merged_into IS NULL",
        (test_id,),
    )
    row = await cursor.fetchone()
    if row is None:
        raise not_found()
    return row


async def of_ids(connection: Connection, ids: Sequence[int]) -> dict[int, Row]:
    """Return tests as they are answered, by their ids."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS}, {_NOT_ASKED} FROM automated_tests t {_JOINED} WHERE t.id = ANY(%s)",
        (list(ids),),
    )
    return {row["id"]: row for row in await cursor.fetchall()}


def not_found() -> NotFound:
    """Return the problem of an id that no test has."""
    return NotFound("There is no automated test with this id.", code="automated_test_not_found")


async def lock(connection: Connection, *ids: int) -> None:
    """Lock tests in the order in which files lock them; raise NotFound for one that is none, or is merged."""
    found = await fetch_column(
        connection,
        "SELECT id FROM automated_tests WHERE id = ANY(%s) AND NOT is_manual AND merged_into IS NULL"
        " ORDER BY fingerprint FOR UPDATE",
        (list(ids),),
    )
    if len(found) < len({*ids}):
        raise not_found()


async def assign(connection: Connection, test_id: int, test_case_id: UUID | None, now: datetime) -> Row:
    """Have the results of a test, those that there are among them, count for one test case, or for none."""
    await lock(connection, test_id)
    if test_case_id is not None and await items.find(connection, TEST_CASE, test_case_id, "") is None:
        raise TEST_CASE.not_found()
    before = await affected(connection, test_id)
    await connection.execute("DELETE FROM automated_test_cases WHERE test_id = %s", (test_id,))
    if test_case_id is not None:
        await connection.execute(
            "INSERT INTO automated_test_cases (test_id, test_case_id, matched_by, named_at)"
            " VALUES (%s, %s, 'person', %s)",
            (test_id, test_case_id, now),
        )
    await states.refresh(connection, {*before, *await affected(connection, test_id)})
    return await read(connection, test_id)


async def affected(connection: Connection, *ids: int) -> list[Affected]:
    """Return the states that tests have, for each test case that they count for."""
    return await fetch_all(
        connection,
        Affected,
        "SELECT DISTINCT c.test_case_id, c.test_id, e.context_id FROM automated_test_cases c"
        " JOIN executions e ON e.test_id = c.test_id WHERE c.test_id = ANY(%s)",
        (list(ids),),
    )
