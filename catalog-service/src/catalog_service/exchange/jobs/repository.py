"""The SQL of jobs and of what they keep of their file."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from catalog_service.exchange.jobs.job import COLUMNS, Job
from catalog_service.items.kinds import KINDS
from chassis.db.database import Connection
from chassis.db.rows import fetch_one
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page

NEWEST_FIRST = Order("created_at:desc", (By("j.created_at", datetime, True), By("j.id", UUID)))
WAITING = (
    "status IN ('received', 'reading', 'applying') AND (size IS NOT NULL OR created_at > now() - interval '15 minutes')"
)
IS_RECEIVED = "size IS NOT NULL"
# By LIMIT, so that it ends at the first item for each row instead of being joined with all of all projects.
_FROM_REQIF = ", ".join(
    f"(SELECT true FROM {kind.table} i WHERE i.project_id = reqif_schemas.project_id"
    " AND i.custom_metadata -> 'reqif' IS NOT NULL LIMIT 1)"
    for kind in KINDS
)

ANSWERED = (
    "id",
    "status",
    "progress",
    "phase",
    "format",
    "file_name",
    "size",
    "sha256",
    "options",
    "counts",
    "summary",
    "rows_read",
    "plan_hash",
    "record_position",
    "search_ready",
    "created_by",
    "created_at",
    "planned_at",
    "applied_at",
    "expires_at",
    "error",
)
_ANSWER = ", ".join(f"j.{name}" for name in ANSWERED)


async def begin(
    connection: Connection,
    *,
    job_id: UUID,
    kind: str,
    options: dict[str, Any],
    created_by: str,
    created_by_id: int | None,
    correlation_id: str,
    gateway_request_id: str | None,
) -> None:
    """Insert a job whose file is still to come."""
    await connection.execute(
        "INSERT INTO import_jobs (id, status, phase, kind, options, created_by, created_by_id, correlation_id,"
        " gateway_request_id, created_at) VALUES (%s, 'received', 'receiving', %s, %s, %s, %s, %s, %s, now())",
        (job_id, kind, Json(options), created_by, created_by_id, correlation_id, gateway_request_id),
    )


async def add_chunk(connection: Connection, job_id: UUID, number: int, data: bytes) -> None:
    """Insert a part of a file."""
    await connection.execute(
        "INSERT INTO import_chunks (job_id, number, data) VALUES (%s, %s, %s)", (job_id, number, data)
    )


async def chunk(connection: Connection, job_id: UUID, number: int) -> bytes | None:
    """Return a part of a file, None behind its last."""
    cursor = connection.cursor(binary=True)
    await cursor.execute("SELECT data FROM import_chunks WHERE job_id = %s AND number = %s", (job_id, number))
    row = await cursor.fetchone()
    return None if row is None else bytes(row["data"])


async def receive(connection: Connection, job_id: UUID, file: dict[str, Any]) -> None:
    """Have a job whose file is there be worked on; `file`: file_name, size, sha256, options."""
    await connection.execute(
        "UPDATE import_jobs SET phase = 'waiting', file_name = %(file_name)s, size = %(size)s, sha256 = %(sha256)s,"
        " options = %(options)s WHERE id = %(id)s",
        {**file, "options": Json(file["options"]), "id": job_id},
    )


async def forget(connection: Connection, job_id: UUID) -> None:
    """Delete a job whose file did not come, with what came of it."""
    await connection.execute("DELETE FROM import_jobs WHERE id = %s", (job_id,))


async def waiting(connection: Connection, user_id: int | None) -> tuple[int, int]:
    """Return how many jobs of a user wait or are worked on, and how many there are of all users."""
    cursor = await connection.execute(
        f"SELECT count(*) FILTER (WHERE created_by_id IS NOT DISTINCT FROM %s) AS own, count(*) AS all"
        f" FROM import_jobs WHERE {WAITING}",
        (user_id,),
    )
    row = await cursor.fetchone()
    assert row is not None
    return row["own"], row["all"]


async def find(connection: Connection, job_id: UUID) -> Job | None:
    """Return a job whose file is there, or None."""
    return await fetch_one(
        connection, Job, f"SELECT {COLUMNS} FROM import_jobs WHERE id = %s AND {IS_RECEIVED}", (job_id,)
    )


async def page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the jobs under conditions on `import_jobs j`."""
    return await fetch_page(connection, _ANSWER, "import_jobs j", conditions, wanted)


async def has_rows(connection: Connection, job_id: UUID) -> bool:
    """Check whether rows of a job are there; a crash of the database takes them."""
    cursor = await connection.execute("SELECT FROM import_rows WHERE job_id = %s LIMIT 1", (job_id,))
    return cursor.rowcount > 0


async def delete_packed_files(connection: Connection) -> None:
    """Delete files in which no text can be looked for, as XLSX; what was read of them stays, and so do their plans."""
    await connection.execute(
        "DELETE FROM import_chunks WHERE job_id IN"
        " (SELECT job_id FROM import_chunks WHERE position('\\x00'::bytea IN data) > 0)"
    )


async def clear_up(connection: Connection) -> None:
    """Delete files of jobs that are over, rows a while later, uploads that ended on the way, old tombstones."""
    ended = "SELECT id FROM import_jobs WHERE status IN ('applied', 'failed', 'cancelled', 'expired')"
    over = f"{ended} AND expires_at < now()"
    await connection.execute(f"DELETE FROM import_chunks WHERE job_id IN ({ended})")
    await connection.execute(f"DELETE FROM import_rows WHERE job_id IN ({over})")
    await connection.execute(f"DELETE FROM import_documents WHERE job_id IN ({over})")
    await connection.execute("DELETE FROM import_jobs WHERE size IS NULL AND created_at < now() - interval '1 hour'")
    await connection.execute("DELETE FROM deleted_items WHERE deleted_at < now() - interval '400 days'")


async def clear_up_schemas(connection: Connection) -> None:
    """Delete what imports of ReqIF have left in projects that have no item from ReqIF any more."""
    # A day: so that none goes that an import under way has found to be there, and means to leave.
    await connection.execute(
        f"DELETE FROM reqif_schemas WHERE created_at < now() - interval '1 day' AND NOT coalesce({_FROM_REQIF}, false)"
    )
