"""Of several workers over one database one leads, and all hear of each other's commits."""

import asyncio
from collections.abc import Awaitable, Callable

from chassis.db.database import Database
from chassis.db.replicas import Replicas
from chassis.server.worker import Worker
from testing.postgres import as_owner


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not is_so():  # noqa: ASYNC110 - what is looked at tells nobody when it changes
            await asyncio.sleep(0.01)


class Replica:
    """A worker whose two loops tell whether they run."""

    def __init__(self, database: Database) -> None:
        self.leads = False
        self.shares = False
        worker = Worker()
        worker.add("alone", self._hold("leads"), leader_only=True)
        worker.add("shared", self._hold("shares"))
        self.running = asyncio.create_task(worker.run(Replicas(database)))

    def _hold(self, name: str) -> Callable[[], Awaitable[None]]:
        async def hold() -> None:
            setattr(self, name, True)
            try:
                await asyncio.Event().wait()
            finally:
                setattr(self, name, False)

        return hold

    async def end(self) -> None:
        self.running.cancel()
        await asyncio.wait([self.running])


async def test_one_of_several_leads_and_another_takes_over_when_it_ends(database: Database) -> None:
    first = Replica(database)
    await eventually(lambda: first.leads)
    second = Replica(database)
    await eventually(lambda: second.shares)
    await asyncio.sleep(1.5)  # longer than it takes to look for the leader's place
    assert not second.leads

    await first.end()
    assert not first.leads
    await eventually(lambda: second.leads)
    await second.end()


async def test_a_leader_without_its_connection_stops_leading(database: Database) -> None:
    first = Replica(database)
    await eventually(lambda: first.leads)
    second = Replica(database)

    async with as_owner(database) as connection:
        await connection.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    await eventually(lambda: not first.leads)
    await eventually(lambda: first.leads or second.leads)
    assert not (first.leads and second.leads)
    await first.end()
    await second.end()


async def test_without_others_everything_runs_here(database: Database) -> None:
    ran: set[str] = set()
    worker = Worker()

    async def note(name: str) -> None:
        ran.add(name)

    worker.every("alone", 60, lambda: note("alone"), leader_only=True)
    worker.every("shared", 60, lambda: note("shared"))
    running = asyncio.create_task(worker.run())
    await eventually(lambda: ran == {"alone", "shared"})
    running.cancel()


async def test_a_commit_of_another_process_wakes_who_listens(database: Database) -> None:
    other = Database(database.url)
    await other.open()
    announcing = asyncio.create_task(Replicas(other).notify_commits())
    replica = Replica(database)
    await eventually(lambda: replica.leads)
    committed = database.commits.listener()
    committed.clear()

    async with other.transaction() as connection:
        await connection.execute("INSERT INTO effects (what) VALUES ('a')")
    async with asyncio.timeout(120):
        await committed.wait()

    await replica.end()
    announcing.cancel()
    await asyncio.wait([announcing])
    await other.close()
