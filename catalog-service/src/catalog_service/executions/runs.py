"""Runs: made or found by their key, ended, shown, deleted."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict
from uuid import UUID, uuid4

from psycopg.types.json import Json

from catalog_service.executions import lanes, states
from chassis.core.problems import Conflict, Invalid, NotFound
from chassis.core.wording import shown
from chassis.db.database import Connection
from chassis.db.rows import fetch_one, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

HEALTH = """
    LEFT JOIN LATERAL (
        SELECT coalesce(array_agg(DISTINCT reason ORDER BY reason), '{}') AS reasons FROM (
            SELECT unnest(l.health) AS reason FROM run_lanes l WHERE l.run_id = r.id
            UNION ALL SELECT 'not_finished' WHERE r.status = 'running' OR r.is_forgotten
            UNION ALL SELECT 'no_results' WHERE r.status = 'completed' AND NOT r.is_manual
                AND NOT EXISTS (SELECT FROM run_lanes l WHERE l.run_id = r.id)
        ) AS found
    ) AS h ON true
    LEFT JOIN LATERAL (
        SELECT coalesce(json_agg(json_build_object('lane', x.lane, 'environment', nullif(x.environment, ''),
            'health', l.health, 'partial', l.is_partial, 'whole', l.is_whole) ORDER BY x.lane, x.environment), '[]')
            AS lanes
        FROM run_lanes l JOIN run_contexts x ON x.id = l.context_id WHERE l.run_id = r.id
    ) AS parts ON true"""
"""Joins to runs `r` why they do not tell the whole, and what they say of each lane that they had."""
HEALTH_COLUMNS = """
    CASE WHEN h.reasons = '{}' THEN 'ok' ELSE 'incomplete' END AS health, h.reasons AS health_reasons, parts.lanes"""
_PART_OF_JOB = re.compile(r" \d+/\d+$")
MOST_ATTEMPTS = 100
"""Tries of a job in a run."""
NO_TESTS = {"tests": 0, "passed": 0, "failed": 0, "flaky": 0, "skipped": 0}
NEWEST_FIRST = Order("started_at:desc", (By("r.at", datetime, True, member="started_at"), By("r.id", UUID)))
_NAMES = (
    *("id", "key", "name", "branch", "commit", "environment", "build_url", "status", "shards", "counts"),
    *("started_at", "finished_at", "created_by", "created_at", "updated_at"),
)
_SHOWN = ", ".join(
    {"environment": "nullif(r.environment, '') AS environment", "started_at": "r.at AS started_at"}.get(
        name, f"r.{name}"
    )
    for name in _NAMES
)
_ANSWERED = f"{_SHOWN}, {HEALTH_COLUMNS}"


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a caller says of a run. `key` None: a run of its own. `at`: when it began, None where nobody says.

    `lane` None: that of the format of each file. `commit_time`: when the commit was made.
    """

    key: str | None
    branch: str
    name: str | None = None
    commit: str | None = None
    environment: str | None = None
    build_url: str | None = None
    at: datetime | None = None
    shards: int | None = None
    lane: str | None = None
    is_partial: bool = False
    commit_time: datetime | None = None

    @property
    def is_selection(self) -> bool:
        """Whether it tells nothing of tests that it does not have.

        Neither does a file that is a run of its own, of which nobody says a lane or a commit.
        """
        return self.is_partial or (self.key is None and self.lane is None and self.commit is None)


class StoredRun(TypedDict):
    """A run as it is stored."""

    id: UUID
    key: str
    branch: str
    commit: str | None
    at: datetime
    status: str
    shards: int | None
    ended_by_shards: bool
    is_forgotten: bool
    is_manual: bool


_STORED = ", ".join(StoredRun.__annotations__)


async def open_run(
    connection: Connection, spec: RunSpec, created_by: str, now: datetime, *, is_manual: bool = False
) -> tuple[StoredRun, bool]:
    """Return the run of a key, locked, and whether it is new; raise Conflict where the key is of another commit."""
    key = str(uuid4()) if spec.key is None else spec.key
    environment = spec.environment or ""
    at = spec.at or now
    # No commit stands behind its runs.
    placed_at = min(at, spec.at or spec.commit_time or now)
    row: Row = {
        "id": uuid4(),
        "key": key,
        "name": spec.name,
        "branch": spec.branch,
        "environment": environment,
        "commit": spec.commit,
        "build_url": spec.build_url,
        "at": at,
        "placed_at": placed_at,
        "position": placed_at,
        "started_at": spec.at,
        "status": "running",
        "is_manual": is_manual,
        "shards": spec.shards,
        "counts": Json(NO_TESTS),
        "created_by": created_by,
        "created_at": now,
        "updated_at": now,
    }
    await connection.execute(
        f"INSERT INTO test_runs ({', '.join(row)}) VALUES ({', '.join(f'%({name})s' for name in row)})"
        " ON CONFLICT (project_id, key) DO NOTHING",
        row,
    )
    run = await fetch_one(connection, StoredRun, f"SELECT {_STORED} FROM test_runs WHERE key = %s FOR UPDATE", (key,))
    assert run is not None, "it was there, or is now"
    if run["id"] == row["id"]:
        await _place(connection, run, spec)
        return run, True
    if run["branch"] != spec.branch:
        raise _taken(run, "branch", run["branch"])
    if None not in (run["commit"], spec.commit) and run["commit"] != spec.commit:
        raise _taken(run, "commit", run["commit"])
    # What the uploads of a run say of it together does not depend on which came first.
    await connection.execute(
        """
        UPDATE test_runs SET commit = coalesce(commit, %(commit)s), name = coalesce(name, %(name)s),
            build_url = coalesce(build_url, %(build_url)s), shards = greatest(shards, %(shards)s),
            environment = CASE WHEN environment = %(environment)s THEN environment ELSE '' END, updated_at = %(now)s
        WHERE id = %(id)s
        """,
        {**row, "id": run["id"], "now": now},
    )
    if run["commit"] is None:
        await _place(connection, run, spec)
    return {**run, "commit": run["commit"] or spec.commit}, False


async def _place(connection: Connection, run: StoredRun, spec: RunSpec) -> None:
    if spec.commit is not None and not run["is_manual"]:
        await states.refresh(connection, await lanes.place(connection, run["id"]))


def _taken(run: StoredRun, what: str, value: str | None) -> Conflict:
    return Conflict(
        f"The run {shown(run['key'])} is of the {what} {shown(value)}; give this one another key.",
        code="run_key_taken",
        members={"run_id": run["id"]},
    )


async def lock(connection: Connection, run_id: UUID) -> StoredRun:
    """Return a run, locked; raise NotFound."""
    run = await fetch_one(connection, StoredRun, f"SELECT {_STORED} FROM test_runs WHERE id = %s FOR UPDATE", (run_id,))
    if run is None:
        raise not_found()
    return run


async def has_all_shards(connection: Connection, run_id: UUID) -> bool:
    """Check whether each shard that uploads of a run speak of has come: jobs of a pipeline may have so many each."""
    return bool(
        await fetch_value(
            connection,
            """
            SELECT bool_and(come = shards) FROM (
                SELECT shards, count(DISTINCT shard) AS come FROM run_uploads
                WHERE run_id = %s AND shards IS NOT NULL GROUP BY context_id, shards) AS jobs
            """,
            (run_id,),
        )
    )


async def has_same_part(
    connection: Connection,
    run_id: UUID,
    context_id: int,
    shard: int,
    shards: int | None,
    attempt: int,
    file_name: str | None,
) -> bool:
    """Check whether a lane of a run has a file of this name already that came as this shard of this attempt.

    One of another name is another file of the job: a job may have several.
    """
    return bool(
        await fetch_value(
            connection,
            """
            SELECT EXISTS (
                SELECT FROM run_uploads WHERE run_id = %s AND context_id = %s AND shard = %s
                AND shards IS NOT DISTINCT FROM %s AND attempt = %s AND file_name IS NOT DISTINCT FROM %s)
            """,
            (run_id, context_id, shard, shards, attempt, file_name),
        )
    )


async def find_attempt(
    connection: Connection, run_id: UUID, context_id: int, job: str | None, job_try: str | None
) -> int:
    """Return which try of its job in a lane of a run this is, counted in the order in which tries have come.

    It is the first where nobody says which job and which try it is. One that comes after a later try, by its number,
    counts together with that. Raise Invalid after the last that there may be.
    """
    if job is None or job_try is None:
        return 1
    attempt: int = await fetch_value(
        connection,
        """
        SELECT coalesce(
            min(attempt) FILTER (WHERE job_try = %(try)s),
            min(attempt) FILTER (WHERE job_try ~ '^[1-9][0-9]*$' AND %(try)s ~ '^[1-9][0-9]*$'
                AND (length(job_try), job_try COLLATE "C") > (length(%(try)s), %(try)s COLLATE "C")),
            max(attempt) + 1, 1)
        FROM run_uploads WHERE run_id = %(run)s AND context_id = %(context)s AND job = %(job)s
        """,
        {"run": run_id, "context": context_id, "job": job, "try": job_try},
    )
    if attempt > MOST_ATTEMPTS:
        detail = (
            f"A job counts for at most {MOST_ATTEMPTS} tries in a run, and {shown(job)} has so many; begin a new run."
        )
        raise Invalid.field("/query/job_try", detail, "too_many")
    return attempt


def name_other_job(job: str | None, first: str | None) -> str:
    """Return a job, without which of its parallel parts it is, where another one ran `first` in its lane; else "".

    What one job ran again mends nothing of what another one did.
    """
    if job is None or first is None:
        return ""
    own = _PART_OF_JOB.sub("", job)
    return "" if _PART_OF_JOB.sub("", first) == own else own


async def take_for_whole(connection: Connection, run_id: UUID, upload_id: UUID) -> None:
    """Take a file that came as a selection of the tests for all of them, as somebody says now."""
    cursor = await connection.execute(
        "UPDATE run_uploads SET is_partial = false WHERE id = %s AND is_partial", (upload_id,)
    )
    if cursor.rowcount:
        await lanes.judge(connection, run_id)


async def end(
    connection: Connection, run_id: UUID, now: datetime, *, by_shards: bool = False, is_forgotten: bool = False
) -> None:
    """Say that a run is over: since all its shards have come, as somebody says, or since nothing came for long."""
    await connection.execute(
        "UPDATE test_runs SET status = 'completed', finished_at = coalesce(finished_at, %(now)s), updated_at = %(now)s,"
        " ended_by_shards = %(by_shards)s, is_forgotten = %(is_forgotten)s WHERE id = %(run)s",
        {"run": run_id, "now": now, "by_shards": by_shards, "is_forgotten": is_forgotten},
    )
    await lanes.judge(connection, run_id)


async def go_on(connection: Connection, run_id: UUID) -> None:
    """Say that a run is not over: a shard has come of which others are missing, or a file that nobody waited for."""
    await connection.execute(
        "UPDATE test_runs SET status = 'running', finished_at = NULL, ended_by_shards = false, is_forgotten = false"
        " WHERE id = %s",
        (run_id,),
    )


async def read(connection: Connection, run_id: UUID) -> Row:
    """Return a run as it is answered, with its uploads; raise NotFound."""
    cursor = await connection.execute(f"SELECT {_ANSWERED} FROM test_runs r {HEALTH} WHERE r.id = %s", (run_id,))
    row = await cursor.fetchone()
    if row is None:
        raise not_found()
    uploads = await connection.execute(
        "SELECT u.id, u.sha256, x.lane, nullif(x.environment, '') AS environment, u.shard, u.shards, u.attempt,"
        " u.format, u.file_name, u.size, u.counts, u.warnings, u.health, u.is_partial AS partial, u.created_by,"
        " u.created_at"
        " FROM run_uploads u LEFT JOIN run_contexts x ON x.id = u.context_id"
        " WHERE u.run_id = %s ORDER BY u.attempt, u.shard, u.created_at, u.id",
        (run_id,),
    )
    return {**row, "uploads": await uploads.fetchall()}


async def page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of runs under conditions on `test_runs r`."""
    return await fetch_page(connection, _ANSWERED, "test_runs r", conditions, wanted, joined=HEALTH)


def not_found() -> NotFound:
    """Return the problem of an id that no run has."""
    return NotFound("There is no test run with this id.", code="test_run_not_found")
