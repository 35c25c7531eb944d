"""A database that answers and refuses: what it means is said, and a full disk is a state that ends by itself."""

import errno
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psycopg
import pytest
from fastapi import APIRouter

from chassis.core.full_disks import Volume
from chassis.db import storage
from chassis.db.database import Database, Db
from chassis.observability.databases import of_storage
from chassis.server.app import create_app
from testing.internal import trusting
from testing.postgres import as_owner
from testing.service import problem

_MAKE_FULL = (
    "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
    " RAISE 'could not extend file \"base/1/1\": No space left on device' USING ERRCODE = '53100'; END $$",
    "CREATE EVENT TRIGGER no_room ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION refuse()",
)
"""Has a real PostgreSQL refuse what needs a new file, as it does on a full disk."""

router = APIRouter()


@router.post("/raise/{code}")
async def refused(code: str, database: Db) -> None:
    async with database.transaction() as connection:
        await connection.execute(f"DO $$ BEGIN RAISE 'no' USING ERRCODE = '{code}'; END $$")


@router.post("/quota")
async def beyond_quota(database: Db) -> None:
    async with database.transaction() as connection:
        await connection.execute(
            "DO $$ BEGIN RAISE 'could not write: Disk quota exceeded' USING ERRCODE='XX000'; END $$"
        )


@router.post("/read-only")
async def read_only(database: Db) -> None:
    async with database.transaction() as connection:
        await connection.execute("SET TRANSACTION READ ONLY")
        await connection.execute("INSERT INTO effects (what) VALUES ('x')")


@router.post("/files/{code}")
async def own_file(code: int) -> None:
    raise OSError(code, "of a file")


@router.post("/effects")
async def store(database: Db) -> None:
    async with database.transaction() as connection:
        await connection.execute("INSERT INTO effects (what) VALUES ('x')")


@router.get("/effects")
async def read(database: Db) -> int:
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT count(*) AS n FROM effects")).fetchone()
    assert row is not None
    return int(row["n"])


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    async with as_owner(database) as connection:
        await connection.execute("CREATE TABLE alembic_version AS SELECT '0001' AS version_num")
        await connection.execute("GRANT SELECT ON alembic_version TO PUBLIC")
    app = create_app("Things", [router], database=database, verifier=trusting("things", {}), schema_version="0001")
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://things") as client:
        yield client


async def is_told_as_full(database: Database) -> bool:
    (gauge,) = await of_storage(database).read()
    return gauge.samples[0].value == 1


@pytest.mark.parametrize("path", ["/raise/53100", "/quota"])
async def test_a_full_disk_is_a_problem_of_its_own(client: httpx.AsyncClient, path: str) -> None:
    refused = problem(await client.post(path), 507, "storage_full")
    assert "nothing of this request was stored" in refused["detail"]
    assert "frees space" in refused["detail"]


@pytest.mark.parametrize(
    ("path", "status", "code", "what_to_do"),
    [
        ("/raise/53200", 503, "database_out_of_memory", "gives PostgreSQL more"),
        ("/raise/53300", 503, "too_many_connections", "DATABASE_POOL_SIZE"),
        ("/raise/53400", 503, "database_limit", "raises the limit"),
        ("/raise/58030", 503, "database_files", "PostgreSQL's log"),
        ("/read-only", 503, "database_read_only", "primary"),
        ("/raise/57014", 504, "timed_out", "ask for less"),
        (f"/files/{errno.EACCES}", 500, "folder_not_writable", "does not help"),
        (f"/files/{errno.EROFS}", 500, "folder_not_writable", "does not help"),
        (f"/files/{errno.ENOSPC}", 507, "storage_full", "TMPDIR"),
        (f"/files/{errno.EDQUOT}", 507, "storage_full", "TMPDIR"),
    ],
)
async def test_where_trying_again_does_not_help_it_is_said_what_does(
    client: httpx.AsyncClient, path: str, status: int, code: str, what_to_do: str
) -> None:
    refused = problem(await client.post(path), status, code)
    assert what_to_do in refused["detail"]
    assert "try again" not in refused["detail"]


async def test_a_full_disk_lasts_until_something_can_be_stored_again(
    client: httpx.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(storage, "_LOOK_AGAIN", 0)
    assert (await client.get("/readyz")).json()["storage"] == "ok"
    async with as_owner(database) as connection:
        for statement in _MAKE_FULL:
            await connection.execute(statement)
    for _ in range(3):
        problem(await client.post("/raise/53100"), 507, "storage_full")
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["storage"]) == (200, "full"), "what is there is read"
    assert await is_told_as_full(database)
    # What is small may be stored all the same.
    assert (await client.post("/effects")).status_code == 200
    assert (await client.get("/readyz")).json()["storage"] == "full"
    async with as_owner(database) as connection:
        await connection.execute("DROP EVENT TRIGGER no_room")
    assert (await client.get("/readyz")).json()["storage"] == "ok"
    assert not await is_told_as_full(database)
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(told) == 2, "once when it begins, once when it is over"


async def test_the_reserve_of_a_volume_is_left_to_the_server(database: Database, tmp_path: Path) -> None:
    without_room = Database(database.url, volume=Volume(tmp_path, reserve=1 << 62))
    await without_room.open()
    try:
        app = create_app(
            "Things", [router], database=without_room, verifier=trusting("things", {}), schema_version="0001"
        )
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://things") as client:
            problem(await client.post("/effects"), 507, "storage_full")
            assert (await client.get("/effects")).json() == 0
            assert await is_told_as_full(without_room)
    finally:
        await without_room.close()


async def test_that_a_server_takes_no_more_connections_is_said(database: Database) -> None:
    role = f"crowded_{database.name}"
    async with as_owner(database) as connection:
        await connection.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 1 IN ROLE traceline_app")
    crowded = Database(database.url.replace("//postgres@", f"//{role}@"), pool_size=2)
    await crowded.open()
    try:
        async with crowded.connection():
            with pytest.raises(psycopg.errors.TooManyConnections):
                async with crowded.connection():
                    pass
    finally:
        await crowded.close()
        async with as_owner(database) as connection:
            await connection.execute(f"DROP ROLE {role}")
