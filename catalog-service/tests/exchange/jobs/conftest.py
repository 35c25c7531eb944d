"""A catalog-service whose worker reads, plans and applies imports."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from catalog_service.exchange.import_loop import ImportLoop
from catalog_service.exchange.jobs.repository import WAITING
from catalog_service.exchange.planning.staging import Limits
from chassis.core.tasks import cancel_and_wait
from testing.service import Json, ok

LIMITS = Limits(rows=1000, memory_bytes=1024**3, cpu_seconds=60, source_url_schemes=("doors",))


class Imports:
    """Sends files to a catalog-service, and looks at what becomes of them."""

    def __init__(self, catalog: Any) -> None:
        self.catalog = catalog

    async def send(self, *records: Json, headers: dict[str, str] | None = None, **options: Any) -> Any:
        """POST records as NDJSON; return the response."""
        return await self.send_file(b"".join(orjson.dumps(record) + b"\n" for record in records), headers, **options)

    async def send_file(self, content: bytes, headers: dict[str, str] | None = None, **options: Any) -> Any:
        """POST a file that says it is NDJSON; return the response."""
        whole = {"content-type": "application/x-ndjson", **(headers or {})}
        return await self.catalog.request("POST", "/imports", content=content, headers=whole, params=options)

    async def plan(self, *records: Json, **options: Any) -> Json:
        """Send records as NDJSON; return the import, which must be planned."""
        job = ok(await self.send(*records, **options))
        assert job["status"] == "planned", job
        return job

    async def apply(self, job: Json, **asked: Any) -> Json:
        """Apply a planned import; return it, applied."""
        applied = ok(await self.catalog.post(f"/imports/{job['id']}/apply", asked))
        assert applied["status"] == "applied", applied
        return applied

    async def load(self, *records: Json, **options: Any) -> Json:
        """Plan and apply records; return the import."""
        return await self.apply(await self.plan(*records, **options))

    async def rows(self, job: Json, **filters: Any) -> list[Json]:
        """Return the rows of an import's report."""
        rows: list[Json] = (await self.catalog.read(f"/imports/{job['id']}/rows", **filters))["items"]
        return rows

    async def row(self, record: Json, **options: Any) -> Json:
        """Plan one record; return its row."""
        (row,) = await self.rows(await self.plan(record, **options))
        return row

    def requirement(self, **fields: Any) -> Json:
        """Return a requirement of a file, with an external_id of its own."""
        return {"kind": "requirement", "external_id": self.catalog.word(), **self.catalog.item(**fields)}

    def test_case(self, **fields: Any) -> Json:
        """Return a test case of a file, with an external_id of its own."""
        return {"kind": "test_case", "external_id": self.catalog.word(), **self.catalog.item(**fields)}


@pytest.fixture(scope="module")
async def imports(catalog: Any) -> AsyncIterator[Imports]:
    """Imports of a reviewer, which a worker reads, plans and applies."""
    # What other tests left without a worker would wait for ever, and only so many may wait.
    await catalog.rows(f"DELETE FROM import_jobs WHERE {WAITING}")
    loop = ImportLoop(catalog.database, LIMITS)
    working = [asyncio.create_task(work()) for work in (loop.read, loop.apply)]
    yield Imports(catalog)
    await cancel_and_wait(*working)
