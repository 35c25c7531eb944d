"""Imports of the relations that requirements keep as further data: a file of the service's own."""

import hashlib
import itertools
import tempfile
from collections.abc import AsyncIterator
from typing import IO, cast
from uuid import UUID, uuid4

import orjson

from catalog_service.exchange.jobs import repository
from catalog_service.exchange.jobs.options import ApplyWhen, ImportQuery
from catalog_service.exchange.jobs.service import check_waiting
from catalog_service.exchange.kept.finding import Kept, kept_relations
from catalog_service.exchange.native.writing import NativeLines
from chassis.core.identity import Identity
from chassis.core.request_context import gateway_request_id, request_id
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_column

_FILE = "relations-from-further-data.ndjson"
_ROWS_AT_ONCE = 200
_CHUNK = 1 << 20
_IN_MEMORY = 8 << 20
"""Bytes of the file that are held before it goes to disk."""


async def begin(database: Database, caller: Identity, *, dry_run: bool, most_own: int, most: int) -> UUID:
    """Have relations planned, and applied unless it is a `dry_run`; return the id of the import.

    Raises TooManyRequests.
    """
    job_id = uuid4()
    query = ImportQuery(format="ndjson", apply=ApplyWhen.NEVER if dry_run else ApplyWhen.ALWAYS)
    options = {**query.stored(), "media_type": "application/x-ndjson"}
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('receiving imports'))")
        await check_waiting(connection, caller, most_own, most)
        await repository.begin(
            connection,
            job_id=job_id,
            kind=query.kind.value,
            options=options,
            created_by=caller.email,
            created_by_id=caller.id,
            correlation_id=request_id.get(),
            gateway_request_id=gateway_request_id.get() or None,
        )
        size, sha256 = await _store(connection, job_id)
        file = {"file_name": _FILE, "size": size, "sha256": sha256, "options": options}
        await repository.receive(connection, job_id, file)
    return job_id


async def _store(connection: Connection, job_id: UUID) -> tuple[int, str]:
    """Store all relations as the file of a job; return its size and hash."""
    sha256 = hashlib.sha256()
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
        document = NativeLines(cast("IO[bytes]", file), {"profile": "plain"})
        async for lines in _lines(connection):
            document.write("relation", lines)
        document.finish()
        size = file.tell()
        file.seek(0)
        for number in itertools.count():
            data = file.read(_CHUNK)
            if not data:
                return size, sha256.hexdigest()
            sha256.update(data)
            await repository.add_chunk(connection, job_id, number, data)
    raise AssertionError("a file ends")


async def _lines(connection: Connection) -> AsyncIterator[list[str]]:
    """Yield the relations of some requirements at a time, as JSON; what names a test case is none."""
    tests = set(await fetch_column(connection, "SELECT external_id FROM test_cases WHERE external_id IS NOT NULL"))
    async with connection.cursor(name="kept_relations") as cursor:
        await cursor.execute(
            "SELECT id, external_id, custom_metadata FROM requirements WHERE custom_metadata IS NOT NULL ORDER BY id"
        )
        while rows := await cursor.fetchmany(_ROWS_AT_ONCE):
            yield [
                _line(row["id"], one)
                for row in rows
                for one in kept_relations(row["custom_metadata"])
                if one.parent not in tests and one.parent != row["external_id"]
            ]


def _line(child: UUID, kept: Kept) -> str:
    ends = {"child": {"id": str(child)}, "parent": {"external_id": kept.parent}}
    return orjson.dumps({"kind": "relation", **ends, "relation_type": kept.relation_type, "role": kept.role}).decode()
