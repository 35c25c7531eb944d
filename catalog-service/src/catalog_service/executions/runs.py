"""Runs: made or found by their key, ended, shown, deleted."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict
from uuid import UUID, uuid4

from psycopg.types.json import Json

from chassis.core.problems import Conflict, NotFound
from chassis.core.wording import shown
from chassis.db.database import Connection
from chassis.db.rows import fetch_one, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

NO_TESTS = {"tests": 0, "passed": 0, "failed": 0, "flaky": 0, "skipped": 0}
NEWEST_FIRST = Order("started_at:desc", (By("r.at", datetime, True, member="started_at"), By("r.id", UUID)))
_NAMES = (
    *("id", "key", "name", "branch", "commit", "environment", "build_url", "status", "shards", "counts"),
    *("started_at", "finished_at", "created_by", "created_at", "updated_at"),
)
_ANSWERED = ", ".join(
    {"environment": "nullif(r.environment, '') AS environment", "started_at": "r.at AS started_at"}.get(
        name, f"r.{name}"
    )
    for name in _NAMES
)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a caller says of a run. `key` None: a run of its own. `at`: when it began, None where nobody says."""

    key: str | None
    branch: str
    name: str | None = None
    commit: str | None = None
    environment: str | None = None
    build_url: str | None = None
    at: datetime | None = None
    shards: int | None = None


class StoredRun(TypedDict):
    """A run as it is stored."""

    id: UUID
    key: str
    branch: str
    commit: str | None
    environment: str
    context_id: int
    at: datetime
    status: str
    shards: int | None


_STORED = ", ".join(StoredRun.__annotations__)


async def open_run(
    connection: Connection, spec: RunSpec, created_by: str, now: datetime, *, is_manual: bool = False
) -> tuple[StoredRun, bool]:
    """Return the run of a key, locked, and whether it is new; raise Conflict where the key is of another commit."""
    key = str(uuid4()) if spec.key is None else spec.key
    environment = spec.environment or ""
    at = spec.at or now
    context_id = await find_context(connection, spec.branch, environment, at)
    row: Row = {
        "id": uuid4(),
        "key": key,
        "name": spec.name,
        "context_id": context_id,
        "branch": spec.branch,
        "environment": environment,
        "commit": spec.commit,
        "build_url": spec.build_url,
        "at": at,
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
    return {**run, "commit": run["commit"] or spec.commit, "context_id": context_id}, False


def _taken(run: StoredRun, what: str, value: str | None) -> Conflict:
    return Conflict(
        f"The run {shown(run['key'])} is of the {what} {shown(value)}; give this one another key.",
        code="run_key_taken",
        members={"run_id": run["id"]},
    )


async def find_context(connection: Connection, branch: str, environment: str, at: datetime) -> int:
    """Return the id of a branch and environment, made where it is new."""
    parameters = {"branch": branch, "environment": environment, "at": at}
    find = "SELECT id FROM run_contexts WHERE branch = %(branch)s AND environment = %(environment)s"
    context_id = await fetch_value(connection, find, parameters)
    if context_id is None:
        await connection.execute(
            "INSERT INTO run_contexts (branch, environment, last_run_at)"
            " VALUES (%(branch)s, %(environment)s, %(at)s) ON CONFLICT DO NOTHING",
            parameters,
        )
        context_id = await fetch_value(connection, find, parameters)
    else:
        # Not each time: all runs of a branch would wait for one another.
        await connection.execute(
            "UPDATE run_contexts SET last_run_at = %(at)s"
            " WHERE id = %(id)s AND last_run_at < %(at)s - interval '1 hour'",
            {**parameters, "id": context_id},
        )
    assert isinstance(context_id, int), "it is there now"
    return context_id


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
                WHERE run_id = %s AND shards IS NOT NULL GROUP BY shards) AS jobs
            """,
            (run_id,),
        )
    )


async def has_same_part(
    connection: Connection, run_id: UUID, shard: int, shards: int | None, attempt: int, file_name: str | None
) -> bool:
    """Check whether a run has a file of this name already that came as this shard of this attempt.

    One of another name is another file of the job: a job may have several.
    """
    return bool(
        await fetch_value(
            connection,
            """
            SELECT EXISTS (
                SELECT FROM run_uploads WHERE run_id = %s AND shard = %s AND shards IS NOT DISTINCT FROM %s
                AND attempt = %s AND file_name IS NOT DISTINCT FROM %s)
            """,
            (run_id, shard, shards, attempt, file_name),
        )
    )


async def is_of_others(connection: Connection, run_id: UUID, context_id: int) -> bool:
    """Check whether all that a run has executed was in other environments."""
    executed = "SELECT EXISTS (SELECT FROM executions WHERE run_id = %(run)s)"
    here = "EXISTS (SELECT FROM executions WHERE run_id = %(run)s AND context_id = %(context)s)"
    parameters = {"run": run_id, "context": context_id}
    return bool(await fetch_value(connection, f"{executed} AND NOT {here}", parameters))


async def end(connection: Connection, run_id: UUID, now: datetime) -> None:
    """Say that a run is complete."""
    await connection.execute(
        "UPDATE test_runs SET status = 'completed', finished_at = %(now)s, updated_at = %(now)s"
        " WHERE id = %(run)s AND status = 'running'",
        {"run": run_id, "now": now},
    )


async def read(connection: Connection, run_id: UUID) -> Row:
    """Return a run as it is answered, with its uploads; raise NotFound."""
    cursor = await connection.execute(f"SELECT {_ANSWERED} FROM test_runs r WHERE r.id = %s", (run_id,))
    row = await cursor.fetchone()
    if row is None:
        raise not_found()
    uploads = await connection.execute(
        "SELECT id, sha256, shard, shards, attempt, format, file_name, size, counts, warnings, created_by, created_at"
        " FROM run_uploads WHERE run_id = %s ORDER BY attempt, shard, created_at, id",
        (run_id,),
    )
    return {**row, "uploads": await uploads.fetchall()}


async def page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of runs under conditions on `test_runs r`."""
    return await fetch_page(connection, _ANSWERED, "test_runs r", conditions, wanted)


def not_found() -> NotFound:
    """Return the problem of an id that no run has."""
    return NotFound("There is no test run with this id.", code="test_run_not_found")
