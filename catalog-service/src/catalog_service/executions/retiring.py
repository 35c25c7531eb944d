"""Retires missing tests: a person says that they are gone for good from the lanes that do not have them any more.

They count again where they run again (`lanes.bring_back`).
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple, TypedDict
from uuid import UUID

from catalog_service.authorship import author
from catalog_service.executions import lanes, states
from catalog_service.executions.states import Affected
from catalog_service.executions.tests import missing_tests, not_found
from catalog_service.verdict_states import CONTEXTS, DROPPED
from chassis.core.problems import Conflict, Problem
from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column, fetch_one
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from contracts.catalog import AutomatedTestsRetired, RetiredTest

_AT_ONCE = 500

_AS_ASKED = """
    (%(branch)s::text IS NULL OR c.branch = %(branch)s) AND (%(lane)s::text IS NULL OR c.lane = %(lane)s)"""
_LANE = "concat_ws(', ', {0}.branch, nullif({0}.environment, ''), {0}.lane) AS lane"
# Nothing can be missing of what people execute: where it has not failed, they may say that nobody does so any more.
_TO_RETIRE = f"""
    WITH contexts AS MATERIALIZED ({CONTEXTS})
    SELECT s.test_id, s.context_id, {_LANE.format("c")}, EXISTS (
        SELECT FROM test_states o WHERE (o.test_id, o.context_id) = (s.test_id, s.context_id)
        AND o.position >= c.missing_before) AS runs
    FROM test_states s JOIN contexts c ON c.id = s.context_id
    WHERE s.test_id = ANY(%(ids)s) AND {_AS_ASKED}
    AND (s.position < c.missing_before OR c.lane = '{lanes.MANUAL}' AND s.status IN ('passed', 'skipped')
         AND EXISTS (SELECT FROM automated_tests t WHERE t.id = s.test_id AND t.is_manual))
    UNION
    SELECT s.test_id, d.context_id, {_LANE.format("d")}, false
    FROM test_states s JOIN contexts k ON k.id = s.context_id AND k.branch = %(default_branch)s
    CROSS JOIN LATERAL ({DROPPED} AND {_AS_ASKED}) AS d WHERE s.test_id = ANY(%(ids)s)
    ORDER BY test_id, context_id
"""


class Retired(NamedTuple):
    """What became of each of some tests: those that are retired, and why others are not."""

    ids: list[int]
    problems: Mapping[int, Problem]


class _Test(TypedDict):
    id: int
    class_name: str
    name: str
    is_manual: bool


class _Lane(TypedDict):
    """Where a test is missing; `runs`: but for iterations of it which name some of its test cases."""

    test_id: int
    context_id: int
    lane: str
    runs: bool


async def missing_in(connection: Connection, branch: str, lane: str, default_branch: str) -> list[int]:
    """Return the tests that are missing in a lane of a branch, in the order of their ids."""
    missing = missing_tests("AND c.branch = %(branch)s AND c.lane = %(lane)s", with_dropped=True)
    return await fetch_column(
        connection,
        f"WITH {missing} SELECT DISTINCT test_id FROM missing ORDER BY test_id",
        {"branch": branch, "lane": lane, "default_branch": default_branch},
    )


async def retire(
    connection: Connection,
    ids: Collection[int],
    note: str,
    actor: Actor,
    now: datetime,
    default_branch: str,
    branch: str | None = None,
    lane: str | None = None,
) -> Retired:
    """Retire tests where they are missing, of a branch and lane if these are given, and tell it."""
    tests = {test["id"]: test for test in await _lock(connection, ids)}
    where: dict[int, list[_Lane]] = defaultdict(list)
    asked = {"ids": [*tests], "branch": branch, "lane": lane, "default_branch": default_branch}
    for one in await fetch_all(connection, _Lane, _TO_RETIRE, asked):
        where[one["test_id"]].append(one)
    pairs = [one for some in where.values() for one in some]
    affected = await _affected(connection, pairs)
    await _forget_iterations(connection, [one for one in pairs if one["runs"]])
    await connection.execute(
        """
        INSERT INTO retired_tests (test_id, context_id, retired_at, retired_by, note)
        SELECT one.test_id, one.context_id, %(at)s, %(by)s, %(note)s
        FROM unnest(%(tests)s::bigint[], %(contexts)s::integer[]) AS one (test_id, context_id)
        ON CONFLICT (test_id, context_id) DO NOTHING
        """,
        {**_columns([one for one in pairs if not one["runs"]]), "at": now, "by": author(actor), "note": note},
    )
    await states.refresh(connection, affected)
    await _tell(connection, tests, where, affected, note, actor)
    problems: dict[int, Problem] = {}
    for test_id in dict.fromkeys(ids):
        if test_id not in tests:
            problems[test_id] = not_found()
        elif test_id not in where:
            problems[test_id] = await _not_missing(connection, tests[test_id])
    return Retired([test_id for test_id in dict.fromkeys(ids) if test_id in where], problems)


async def _forget_iterations(connection: Connection, pairs: Sequence[_Lane]) -> None:
    """Have tests that run count no more for the test cases that iterations which do not run have named."""
    await connection.execute(
        f"""
        WITH contexts AS MATERIALIZED ({CONTEXTS})
        DELETE FROM automated_test_cases k USING test_states s, contexts c,
            unnest(%(tests)s::bigint[], %(contexts)s::integer[]) AS one (test_id, context_id)
        WHERE (s.test_id, s.context_id) = (one.test_id, one.context_id) AND c.id = one.context_id
        AND s.position < c.missing_before AND (k.test_id, k.test_case_id) = (s.test_id, s.test_case_id)
        """,
        _columns(pairs),
    )


async def _lock(connection: Connection, ids: Collection[int]) -> list[_Test]:
    # As files lock the tests that they have: one that comes meanwhile brings its tests back, or is seen here.
    return await fetch_all(
        connection,
        _Test,
        "SELECT id, class_name, name, is_manual FROM automated_tests WHERE id = ANY(%s) AND merged_into IS NULL"
        " ORDER BY fingerprint FOR UPDATE",
        (list(ids),),
    )


def _columns(pairs: Sequence[_Lane]) -> dict[str, list[int]]:
    return {"tests": [one["test_id"] for one in pairs], "contexts": [one["context_id"] for one in pairs]}


async def _affected(connection: Connection, pairs: Sequence[_Lane]) -> list[Affected]:
    return await fetch_all(
        connection,
        Affected,
        """
        SELECT c.test_case_id, one.test_id, one.context_id
        FROM unnest(%(tests)s::bigint[], %(contexts)s::integer[]) AS one (test_id, context_id)
        JOIN automated_test_cases c ON c.test_id = one.test_id
        """,
        _columns(pairs),
    )


async def _tell(
    connection: Connection,
    tests: Mapping[int, _Test],
    where: Mapping[int, Sequence[_Lane]],
    affected: Sequence[Affected],
    note: str,
    actor: Actor,
) -> None:
    cases: dict[int, set[UUID]] = defaultdict(set)
    for one in affected:
        cases[one.test_id].add(one.test_case_id)
    retired = iter(
        [
            RetiredTest(
                id=one, name=_name(tests[one]), lanes=[of["lane"] for of in some], test_case_ids=sorted(cases[one])
            )
            for one, some in where.items()
        ]
    )
    while part := list(islice(retired, _AT_ONCE)):
        event = AutomatedTestsRetired(note=note, tests=part)
        await outbox.record(connection, [NewEvent(event, str(part[0].id) if len(part) == 1 else "many", actor)])


def _name(test: _Test) -> str:
    return "by hand" if test["is_manual"] else ".".join(filter(None, (test["class_name"], test["name"])))


class _LastRun(TypedDict):
    key: str
    at: datetime
    lane: str
    branch: str
    status: str


async def _not_missing(connection: Connection, test: _Test) -> Conflict:
    last = await fetch_one(
        connection,
        _LastRun,
        """
        SELECT r.key, e.at, x.lane, x.branch, e.status FROM executions e JOIN test_runs r ON r.id = e.run_id
        JOIN run_contexts x ON x.id = e.context_id WHERE e.test_id = %s ORDER BY e.at DESC, e.run_id DESC LIMIT 1
        """,
        (test["id"],),
    )
    name = _name(test)
    if last is None:
        detail = f"{name} has no result that is kept, so nothing of it counts."
    elif test["is_manual"]:
        detail = (
            f"It was executed by hand on {last['branch']} on {last['at']:%Y-%m-%d} and has {last['status']}: execute it"
            " again. What has passed or was skipped can be retired."
        )
    else:
        detail = (
            f"{name} is not missing: it ran last in the run {last['key']} of {last['lane']} on {last['branch']},"
            f" {last['at']:%Y-%m-%d %H:%M} UTC. A test can be retired where a whole run of its lane has not had it."
        )
    return Conflict(detail, code="test_not_missing")
