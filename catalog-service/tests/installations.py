"""Installations of catalog-service with a worker that imports, and what their records say."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
from any_records import AnyRecord

from catalog_service.app import create_app
from catalog_service.exchange.import_loop import ImportLoop
from catalog_service.exchange.planning.staging import Limits
from catalog_service.settings import Settings
from chassis.core.identity import Identity, Role
from chassis.core.tasks import cancel_and_wait
from chassis.messaging import outbox
from contracts.routes import CATALOG
from testing import PostgresServer
from testing.internal import verifier_of
from testing.service import ServiceClient, ok

ADMIN = Identity(id=9, email="admin@example.test", role=Role.ADMIN)
REVIEWER = Identity(id=1, email="reviewer@example.test", role=Role.REVIEWER)
KINDS = ("requirements", "test_cases", "links", "relations")
_LIMITS = Limits(rows=1000, memory_bytes=1024**3, cpu_seconds=60)
_LISTS = ("/requirements", "/test-cases", "/links", "/relations")
_ENDS = ("requirement_id", "test_case_id", "child_id", "parent_id")
_OURS = {
    "id",
    "position",
    "version",
    "etag",
    "created_at",
    "updated_at",
    "confirmed_at",
    "confirmed_by",
    "suspect",
    "suspect_reason",
    "requirement_version",
    "test_case_version",
    "child_version",
    "parent_version",
}
_RECORD = (
    *("links", "requirement_relations", "requirements", "test_cases", "item_revisions", "item_changes"),
    *("deleted_items", "reqif_schemas", "waiting_references", "sections"),
)


class Installation:
    """An installation with a worker of its own."""

    def __init__(self, database: Any) -> None:
        self.database = database
        settings = Settings(database_url=database.url)
        app = create_app(settings, database, verifier_of(CATALOG))
        self.admin, self.reviewer = ServiceClient(app, ADMIN), ServiceClient(app, REVIEWER)

    async def bring(self, content: bytes, **options: Any) -> Any:
        """Import a document and return the import."""
        return await self._end_of(await self.admin.post("/imports", content=content, params=options))

    async def take(self, content: bytes, **options: Any) -> Any:
        """Import a document and apply it."""
        job = await self.bring(content, **options)
        assert job["status"] == "planned", job
        return await self.apply(job)

    async def apply(self, job: Any, **asked: Any) -> Any:
        """Apply a planned import and return it."""
        return await self._end_of(await self.admin.post(f"/imports/{job['id']}/apply", json=asked))

    async def _end_of(self, answer: httpx.Response) -> Any:
        """Return an import once it waits for nothing any more: a busy machine takes longer than an answer does."""
        assert answer.status_code in {200, 202}, answer.text
        job = answer.json()
        while job["status"] in {"received", "reading", "applying"}:
            await asyncio.sleep(0.1)
            job = ok(await self.admin.get(f"/imports/{job['id']}"))
        return job

    async def exported(self, **options: Any) -> bytes:
        """Return the record as a file."""
        answer = await self.admin.get("/exports", params=options)
        assert answer.status_code == 200, answer.text
        return answer.content

    async def store(self, record: AnyRecord) -> None:
        """Make a record as people do, by the API."""
        paths = {"/requirements": record.requirements, "/test-cases": record.test_cases}
        made = {path: [ok(await self.admin.post(path, json=body), 201) for body in paths[path]] for path in paths}
        linked = []
        for (one, other), body in record.links.items():
            ends = {
                "requirement_id": made["/requirements"][one]["id"],
                "test_case_id": made["/test-cases"][other]["id"],
            }
            linked.append(ok(await self.admin.post("/links", json={**ends, **body}), 201))
        for (child, parent), body in record.relations.items():
            pair = {
                "child_id": made["/requirements"][child]["id"],
                "parent_id": made["/requirements"][parent]["id"],
            }
            ok(await self.admin.post("/relations", json={**pair, **body}), 201)
        await self.take(b"".join(orjson.dumps(one) + b"\n" for one in _references(made)))
        for item in (item for number, item in enumerate(made["/test-cases"]) if number in record.renamed):
            ok(await self.admin.patch(f"/test-cases/{item['id']}", json={"title": "Another title"}))
        for link in (link for number, link in enumerate(linked) if number in record.confirmed):
            ok(await self.admin.post(f"/links/{link['id']}/confirm"))

    async def everything(self) -> dict[str, Any]:
        """Return every item and link, with its ETag, by its address, and the matrix."""
        found: dict[str, Any] = {}
        for path in _LISTS:
            for row in (await self.admin.read(path, limit=500))["items"]:
                answer = await self.admin.get(f"{path}/{row['id']}")
                found[f"{path}/{row['id']}"] = (answer.headers["etag"], answer.content)
        found["references"] = (await self.admin.read("/references", limit=500))["items"]
        matrix = (await self.admin.get("/reports/traceability-matrix")).json()
        del matrix["made_at"]
        return {**found, "matrix": matrix}

    async def described(self, *, in_tables: bool = False) -> list[Any]:
        """Return what is the same in another installation with the same record, where links name their ends.

        `in_tables`: without relations, for which tables have no place.
        """
        names: dict[str, Any] = {}
        rows: list[Any] = []
        for path in _LISTS[: 3 if in_tables else None]:
            for row in (await self.admin.read(path, limit=500))["items"]:
                names[row["id"]] = [row.get("external_id"), row.get("title")]
                ends = {end: names[row[end]] for end in _ENDS if end in row}
                said = {name: value for name, value in row.items() if name not in _OURS}
                rows.append([path, {**said, **ends}])
        return sorted(rows, key=_sorted)

    async def head(self) -> int:
        """Return how many events there are."""
        async with self.database.connection() as connection:
            row = await (await connection.execute("SELECT count(*) AS count FROM outbox")).fetchone()
        return int(row["count"])

    async def contents(self) -> dict[str, str]:
        """Return a hash of each table that is not of imports; events have their places in the feed."""
        await outbox.number(self.database)
        async with self.database.connection() as connection:
            found = {}
            for name in await _tables(connection, "table_name NOT LIKE 'import%'"):
                query = f"SELECT md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) AS hash FROM {name} t"
                hashed = await (await connection.execute(query)).fetchone()
                found[name] = hashed["hash"]
        return found

    async def empty(self) -> None:
        """Forget the record."""
        async with self.database.transaction() as connection:
            for table in _RECORD:
                await connection.execute(f"DELETE FROM {table}")


def _references(made: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield links that wait: of each item, and one that neither end of is there."""
    for path, end in (("/requirements", "requirement"), ("/test-cases", "test_case")):
        other = "test_case" if end == "requirement" else "requirement"
        for number, item in enumerate(made[path]):
            yield {"kind": "link", end: {"id": item["id"]}, other: f"later-{number}", "notes": item["title"]}
    yield {"kind": "relation", "child": {"id": made["/requirements"][0]["id"]}, "parent": "later-P", "role": "up"}
    yield {"kind": "link", "requirement": "later-R", "test_case": "later-T", "confidence_score": 1}


@asynccontextmanager
async def two_installations(postgres: PostgresServer) -> AsyncIterator[tuple[Installation, Installation]]:
    """Open two installations whose workers import."""
    async with postgres.opened("catalog_service") as one, postgres.opened("catalog_service") as other:
        loops = [ImportLoop(database, _LIMITS) for database in (one, other)]
        working = [asyncio.create_task(work()) for loop in loops for work in (loop.read, loop.apply)]
        yield Installation(one), Installation(other)
        await cancel_and_wait(*working)


async def _tables(connection: Any, condition: str) -> list[str]:
    query = f"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND {condition} ORDER BY 1"
    return [row["table_name"] for row in await (await connection.execute(query)).fetchall()]


def _sorted(row: Any) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS)
