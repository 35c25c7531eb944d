"""What is exported and imported again is what it was: as a restore with ids and versions, else by external ids."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from catalog_service.app import create_app
from catalog_service.exchange.import_loop import ImportLoop
from catalog_service.exchange.planning.staging import Limits
from catalog_service.settings import Settings
from chassis.core.identity import Identity, Role
from chassis.core.tasks import cancel_and_wait
from testing import PostgresServer
from testing.service import SECRET, TOKENS, ServiceClient, ok, problem

ADMIN = Identity(id=9, email="admin@example.test", role=Role.ADMIN)
REVIEWER = Identity(id=1, email="reviewer@example.test", role=Role.REVIEWER)
LIMITS = Limits(rows=1000, memory_bytes=1024**3, cpu_seconds=60)
TEXTS = ("'=1+1", "a\r\nb\u2028c", "x" * 40_000, "🚂 Tür", "\x01\x1f", ' "q", ', "\t=x")


class Installation:
    """An installation with a worker of its own."""

    def __init__(self, database: Any) -> None:
        self.database = database
        settings = Settings(database_url=database.url, internal_token_secret=SECRET)
        app = create_app(settings, database, TOKENS)
        self.admin, self.reviewer = ServiceClient(app, ADMIN), ServiceClient(app, REVIEWER)

    async def bring(self, content: bytes, **options: Any) -> Any:
        """Import a document and return the import."""
        return ok(await self.admin.post("/imports", content=content, params=options))

    async def take(self, content: bytes, **options: Any) -> Any:
        """Import a document and apply it."""
        job = await self.bring(content, **options)
        assert job["status"] == "planned", job
        return ok(await self.admin.post(f"/imports/{job['id']}/apply", json={}))

    async def everything(self) -> dict[str, Any]:
        """Return every item and link, with its ETag, by its address, and the matrix."""
        found: dict[str, Any] = {}
        for path in ("/requirements", "/test-cases", "/links"):
            for row in (await self.admin.read(path, limit=500))["items"]:
                answer = await self.admin.get(f"{path}/{row['id']}")
                found[f"{path}/{row['id']}"] = (answer.headers["etag"], answer.content)
        matrix = (await self.admin.get("/reports/traceability-matrix")).json()
        del matrix["made_at"]
        return {**found, "matrix": matrix}

    async def head(self) -> int:
        """Return how many events there are."""
        async with self.database.connection() as connection:
            row = await (await connection.execute("SELECT count(*) AS count FROM outbox")).fetchone()
        return int(row["count"])


@pytest.fixture
async def installations(postgres: PostgresServer) -> AsyncIterator[tuple[Installation, Installation]]:
    async with postgres.opened("catalog_service") as one, postgres.opened("catalog_service") as other:
        loops = [ImportLoop(database, LIMITS) for database in (one, other)]
        working = [asyncio.create_task(work()) for loop in loops for work in (loop.read, loop.apply)]
        yield Installation(one), Installation(other)
        await cancel_and_wait(*working)


async def fill(installation: Installation) -> None:
    """Put a small record with everything into an installation: odd texts, newer versions, suspect links."""
    client = installation.admin
    body = {"type": "functional", "priority": "high", "tags": ["a", "b,c"]}
    metadata = {"z": 1.0, "a": {"y": None, "b": [1, 2.50]}}
    requirements, test_cases = [], []
    for number, text in enumerate(TEXTS):
        more = {**body, "title": f"T {number}", "description": text, "external_id": f"R-{number}"}
        answer = await client.post("/requirements", json={**more, "custom_metadata": metadata, "module": "M"})
        requirements.append(ok(answer, 201))
        more |= {"external_id": f"T-{number}", "steps": {"1": text, "2": "Then"}, "test_data": metadata}
        test_cases.append(ok(await client.post("/test-cases", json=more), 201))
    for requirement, test_case in zip(requirements, test_cases, strict=True):
        pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"], "notes": "N\n"}
        ok(await client.post("/links", json=pair), 201)
    ok(await client.patch(f"/requirements/{requirements[0]['id']}", json={"title": "Newer", "created_by": None}))
    ok(await client.patch(f"/requirements/{requirements[1]['id']}", json={"status": "approved"}))


async def exported(installation: Installation, **options: Any) -> bytes:
    answer = await installation.admin.get("/exports", params=options)
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.parametrize("format_name", ["ndjson", "json"])
async def test_a_restored_record_is_the_same_to_the_byte(installations: Any, format_name: str) -> None:
    one, other = installations
    await fill(one)
    content = await exported(one, format=format_name)
    job = await other.take(content, mode="restore")
    assert job["status"] == "applied", job
    assert await other.everything() == await one.everything()
    again = await other.bring(content, mode="restore")
    assert [again["counts"][kind]["create"] for kind in ("requirements", "test_cases", "links")] == [0, 0, 0]
    assert again["summary"]["clean"], again["summary"]
    problem(await other.reviewer.post("/imports", content=content, params={"mode": "restore"}), 403, "role_too_low")


@pytest.mark.parametrize("profile", ["native", "plain"])
async def test_an_import_elsewhere_is_equal_and_again_changes_nothing(installations: Any, profile: str) -> None:
    one, other = installations
    await fill(one)
    content = await exported(one, format="ndjson", profile=profile)
    await other.take(content)
    assert described(await other.everything()) == described(await one.everything())
    head = await other.head()
    again = await other.take(content)
    for kind in ("requirements", "test_cases", "links"):
        assert again["counts"][kind] == {**dict.fromkeys(again["counts"][kind], 0), "unchanged": len(TEXTS)}
    assert await other.head() == head + 1


async def test_a_plan_leaves_no_trace_but_its_own(installations: Any) -> None:
    one, other = installations
    await fill(one)
    content = await exported(one, format="ndjson")
    before = await contents(other.database)
    await other.bring(content)
    assert await contents(other.database) == before


async def contents(database: Any) -> dict[str, str]:
    """Return a hash of each table that is not of imports."""
    async with database.connection() as connection:
        names = await (
            await connection.execute(
                "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
                " AND table_name NOT LIKE 'import%' ORDER BY 1"
            )
        ).fetchall()
        found = {}
        for row in names:
            query = f"SELECT md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) AS hash FROM {row['name']} t"
            hashed = await (await connection.execute(query)).fetchone()
            found[row["name"]] = hashed["hash"]
    return found


def described(everything: dict[str, Any]) -> list[Any]:
    """Return what is equal in two installations, by external id."""
    ours = {"id", "version", "created_at", "updated_at", "confirmed_at", "confirmed_by", "suspect", "suspect_reason"}
    names, rows = {}, []
    for address, found in everything.items():
        if address != "matrix":
            body = orjson.loads(found[1])
            names[body["id"]] = body.get("external_id")
            rows.append(body)
    for row in rows:
        for end in ("requirement_id", "test_case_id"):
            if end in row:
                row[end] = names[row[end]]
    kept = [{name: value for name, value in row.items() if name not in ours | {"created_by"}} for row in rows]
    return sorted(kept, key=lambda row: orjson.dumps(row, option=orjson.OPT_SORT_KEYS))
