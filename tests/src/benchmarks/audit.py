"""How long `verify-audit` takes for a long audit log, and whether it finds what was put in, changed and removed."""

import argparse
import asyncio
import os
import subprocess
import sys
import time

import psutil
import uvloop

from benchmarks.cpu import used_by_postgres
from benchmarks.events import creates
from benchmarks.texts import Texts
from chassis.db import sealing
from chassis.db.database import Database
from chassis.db.rows import fetch_value
from chassis.messaging.events import sequenced
from chassis.messaging.inbox import Inbox
from contracts.routes import NOTIFICATION
from notification_service.handlers import HANDLERS
from testing.internal import KEYS
from testing.postgres import PostgresServer, as_owner, postgres_of_the_wheel

_GOAL = 60.0
_TOLD = 1000
_COLUMNS = (
    "occurred_at, actor, actor_id, action, resource_type, resource_id, resource_title, summary, before, after, details,"
    " request_id, gateway_request_id, resource_ids, batch_id"
)
_REPEAT = f"INSERT INTO audit_entries ({_COLUMNS}) SELECT {_COLUMNS} FROM audit_entries, generate_series(2, %s)"

# Each is found before those above it, and all near the end: what comes before them is followed.
_TAMPERING = {
    "one put in": f"INSERT INTO audit_entries (id, {_COLUMNS}) OVERRIDING SYSTEM VALUE SELECT -1, {_COLUMNS}"
    " FROM audit_entries WHERE id = 1",
    "one changed": "UPDATE audit_entries SET actor = 'eve' WHERE id = (SELECT max(id) FROM audit_entries)",
    "one removed": "DELETE FROM audit_entries WHERE id = (SELECT max(id) - 1 FROM audit_entries)",
}


async def _measure(postgres: PostgresServer, entries: int) -> bool:
    """Print the table; return whether the goal is met."""
    async with postgres.opened("notification_service") as database:
        await _fill(database, entries)
        async with as_owner(database) as connection:
            size = await fetch_value(connection, "SELECT pg_total_relation_size('audit_entries') / 1e6")
            server = psutil.Process(await fetch_value(connection, "SELECT pg_backend_pid()")).parent()
        assert server is not None, "a backend has one"
        print(f"verify-audit of {entries:,} entries, {size:,.0f} MB; seconds")
        print(f"{'':14}{'took':>8}{'goal':>6}{'CPU':>8}{'of PostgreSQL':>15}")
        took = await asyncio.to_thread(_verify, database.url, server, "nothing")
        for what, statement in _TAMPERING.items():
            async with as_owner(database) as connection:
                await connection.execute(statement)
            await asyncio.to_thread(_verify, database.url, server, what)
    return took <= _GOAL


async def _fill(database: Database, entries: int) -> None:
    """Have events told as services tell them, and repeat their entries; seal all as the worker does."""
    events = enumerate(creates(Texts(5), _TOLD), 1)
    inbox = Inbox(NOTIFICATION.name, database, HANDLERS)
    await inbox.receive([sequenced(place, event.envelope()) for place, event in events])
    async with as_owner(database) as connection:
        await connection.execute("SET statement_timeout = 0")
        await connection.execute(_REPEAT, (max(1, entries // _TOLD),))
    while await sealing.seal_some(database):
        pass
    async with as_owner(database) as connection:
        await connection.execute("VACUUM ANALYZE")


def _verify(url: str, server: psutil.Process, what: str) -> float:
    """Print what the command took where `what` was done to the log, and what it says; return its seconds."""
    settings = {"DATABASE_URL": url, "INTERNAL_SIGNING_KEY": KEYS[NOTIFICATION.name]}
    command = [sys.executable, "-m", "chassis.admin", "verify-audit"]
    before, used, began = os.times(), used_by_postgres(server), time.perf_counter()
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    took, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    verdict = done.stdout.splitlines()[1]
    used = used_by_postgres(server) - used
    print(f"{what:14}{took:8.1f}{_GOAL:6.0f}{cpu:8.1f}{used:15.1f}   {verdict}", flush=True)
    return took


def main() -> int:
    """Return the exit code: 1 when the goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000, help="of the log (default: 1000000)")
    entries = parser.parse_args().entries
    with postgres_of_the_wheel() as url:
        return 0 if uvloop.run(_measure(PostgresServer(url), entries)) else 1


if __name__ == "__main__":
    sys.exit(main())
