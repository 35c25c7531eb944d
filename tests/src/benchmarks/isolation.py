"""What row-level security costs catalog-service: the same requests with it and without, in turns, in CPU time.

Without it, the database has no policies, and no index begins with the project: as before there were projects.
"""

import argparse
import sys
import time
from statistics import median

import psutil
import uvloop
from psycopg.sql import SQL, Identifier

from benchmarks.texts import Texts
from catalog_service.app import create_app
from catalog_service.settings import Settings
from chassis.core.identity import Identity, Role
from chassis.db.database import Database
from chassis.db.rows import fetch_column
from contracts.routes import CATALOG
from testing.internal import verifier_of
from testing.postgres import PostgresServer, as_owner, postgres_of_the_wheel
from testing.service import ServiceClient, ok

REVIEWER = Identity(id=1, email="reviewer@example.test", role=Role.REVIEWER)
_GOAL = 1.05
_ROUNDS = 10
_TIMES = 300
"""Requests of a kind, of one database, in a round."""
_POLICIES = "SELECT oid::regclass::text FROM pg_class WHERE relrowsecurity AND relnamespace = 'public'::regnamespace"
_INDEXES = (
    "SELECT replace(pg_get_indexdef(indexrelid), '(project_id, ', '(')"
    " FROM pg_index JOIN pg_class t ON t.oid = indrelid WHERE t.relkind = 'r'"
    " AND pg_get_indexdef(indexrelid) LIKE '%(project_id, %'"
    " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
)


class Catalog:
    """The service over one of the databases, asked by one client, one request after the other."""

    def __init__(self, database: Database) -> None:
        app = create_app(Settings(database_url=database.url), database, verifier_of(CATALOG))
        self._client = ServiceClient(app, REVIEWER)
        self._database = database
        self._texts = Texts(1)
        self._made = 0
        self._id = ""

    async def create(self) -> None:
        """Create a requirement, the one that is read from then on."""
        self._made += 1
        body = self._texts.requirement(self._made, "B")
        self._id = ok(await self._client.post("/requirements", json=body), 201)["id"]

    async def read(self) -> None:
        """Read one."""
        await self._client.read(f"/requirements/{self._id}")

    async def list(self) -> None:
        """List 20."""
        await self._client.read("/requirements", limit=20)

    async def cpu(self, what: str) -> float:
        """Return the milliseconds of CPU, of this process and of the database's, that a request takes."""
        before = await self._used()
        for _ in range(_TIMES):
            await getattr(self, what)()
        return (await self._used() - before) / _TIMES * 1000

    async def _used(self) -> float:
        async with self._database.connection() as connection:
            backends = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            pids = await fetch_column(connection, backends)
        times = [psutil.Process(pid).cpu_times() for pid in pids]
        of_database: float = sum(each.user + each.system for each in times)
        return time.process_time() + of_database


async def _take_away(database: Database) -> None:
    """Take row-level security from a database, and the project from the beginning of its indexes."""
    async with as_owner(database) as connection:
        for table in await fetch_column(connection, _POLICIES):
            await connection.execute(SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(Identifier(table)))
        for definition in await fetch_column(connection, _INDEXES):
            name = definition.partition(" ON ")[0].rpartition(" ")[2]
            await connection.execute(SQL("DROP INDEX {}").format(Identifier(name)))
            await connection.execute(SQL(definition))


async def _analyze(database: Database) -> None:
    async with as_owner(database) as connection:
        await connection.execute("ANALYZE")


async def _measure(server: PostgresServer, items: int) -> bool:
    """Print the table; return whether the goal is met."""
    async with server.opened("catalog_service") as isolated, server.opened("catalog_service") as open_to_all:
        await _take_away(open_to_all)
        with_it, without = Catalog(isolated), Catalog(open_to_all)
        for _ in range(items):
            await with_it.create()
            await without.create()
        for database in (isolated, open_to_all):
            await _analyze(database)
        print(f"CPU of a request among {items:,} requirements; the median of {_ROUNDS} rounds")
        print(f"{'':20}{'with, ms':>10}{'without, ms':>13}{'ratio':>8}{'goal':>7}")
        is_met = True
        for what in ("list", "read", "create"):
            rounds = [(await with_it.cpu(what), await without.cpu(what)) for _ in range(_ROUNDS)]
            ratio = median(cost / free for cost, free in rounds)
            costs, frees = zip(*rounds, strict=True)
            print(f"{what:20}{median(costs):10.2f}{median(frees):13.2f}{ratio:8.2f}{_GOAL:7.2f}", flush=True)
            is_met &= ratio <= _GOAL
    return is_met


def main() -> int:
    """Return the exit code: 1 when the goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.isolation", description=__doc__)
    parser.add_argument("--items", type=int, default=5000, help="requirements that are there (default: 5000)")
    items = parser.parse_args().items
    with postgres_of_the_wheel() as url:
        return 0 if uvloop.run(_measure(PostgresServer(url), items)) else 1


if __name__ == "__main__":
    sys.exit(main())
