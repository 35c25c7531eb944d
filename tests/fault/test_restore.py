"""Everything is lost, and restored from a backup that was made under load, with the commands that the runbook names."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml

from acceptance.client import Traceline, ok
from acceptance.faults import invariants, operating
from acceptance.faults.databases import FOLLOWERS, SERVICES, query, value
from acceptance.faults.history import History
from acceptance.faults.load import Load
from acceptance.own_postgres import OwnPostgres, own_postgres
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from acceptance.waiting import eventually
from testing.postgres import with_database

DEPLOY = Path(__file__).parents[2] / "deploy"

Counts = dict[str, dict[str, int]]
"""The number of rows of each table, by service."""


@contextmanager
def traceline_on(server: OwnPostgres) -> Iterator[tuple[RunningStack, Traceline]]:
    """A stack over the databases of a server, with a broker of its own, and its admin."""
    with (
        fresh_folder() as place,
        RunningStack(place, DATABASE_URL=server.url) as stack,
        Traceline(stack.base_url) as anyone,
    ):
        yield stack, anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


def run(script: str, folder: Path, server: OwnPostgres) -> subprocess.CompletedProcess[str]:
    """Run one of the two scripts as an operator does, who says by libpq's variables where the server is."""
    url = urlsplit(server.url)
    where = {"PGHOST": str(url.hostname), "PGPORT": str(url.port), "PGUSER": str(url.username)}
    path = f"{server.programs}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [DEPLOY / script, folder],
        env={**os.environ, **where, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def backed_up(folder: Path, server: OwnPostgres) -> Counts:
    """What the dumps themselves hold."""
    counts: Counts = {}
    for service in SERVICES:
        command = [server.programs / "pg_restore", "--data-only", "--file=-", folder / f"{service}.dump"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        counts[service] = {}
        table = ""
        for line in text.splitlines():
            if line.startswith("COPY public."):
                table = line.removeprefix("COPY public.").partition(" ")[0]
                counts[service][table] = 0
            elif line == "\\.":
                table = ""
            elif table:
                counts[service][table] += 1
    return counts


def stored(server: OwnPostgres) -> Counts:
    """What the databases hold; a partitioned table has its rows in its partitions, as in a dump."""
    tables_with_rows = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    counts: Counts = {}
    for service in SERVICES:
        with psycopg.connect(with_database(server.url, f"{service}_service")) as connection:
            tables = connection.execute(tables_with_rows).fetchall()
            counts[service] = {
                table: (connection.execute(f'SELECT count(*) FROM "{table}"').fetchone() or (0,))[0]
                for (table,) in tables
            }
    return counts


def test_whoever_reads_events_is_backed_up_before_those_who_tell_them(tmp_path: Path) -> None:
    instead = tmp_path / "instead"
    instead.write_text(f'#!/bin/sh\necho "$3" >> {tmp_path}/dumped\n')
    instead.chmod(0o700)
    subprocess.run([DEPLOY / "backup.sh", tmp_path / "backup"], env=os.environ | {"PG_RUN": str(instead)}, check=True)
    dumped = [database.removesuffix("_service") for database in (tmp_path / "dumped").read_text().split()]
    databases = (DEPLOY / "k8s" / "components" / "cloudnative-pg" / "databases.yaml").read_text()
    at = {
        each["spec"]["cluster"]["name"].removesuffix("-database"): int(each["spec"]["schedule"].split()[1])
        for each in yaml.safe_load_all(databases)
        if each["kind"] == "ScheduledBackup"
    }
    for order in (dumped, sorted(at, key=lambda service: at[service])):
        assert sorted(order) == sorted(SERVICES)
        for follower, sources in FOLLOWERS.items():
            if follower == "catalog":
                continue  # its copy of pending pairs is read again after a restore; see the RUNBOOK
            assert all(order.index(follower) < order.index(source) for source in sources), order


def test_half_a_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "auth.dump").write_text("something")
    done = subprocess.run([DEPLOY / "restore.sh", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path} is no whole backup: catalog.dump is missing. Nothing was done.\n"


@pytest.mark.long
def test_a_backup_under_load_is_restored_whole_and_works_on(history: History, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with own_postgres() as server, traceline_on(server) as (stack, admin):
        with Load(admin, history) as load:
            load.acknowledges(300)
            before = {thing.id for thing in history.of_kind("requirement") if thing.is_there}
            done = run("backup.sh", backup, server)
            assert done.returncode == 0, done.stderr
            known = {thing.id for thing in history.of_kind("requirement")}
            load.acknowledges(100)
        refused = run("restore.sh", backup, server)
        assert refused.returncode != 0
        assert "is being accessed by other users" in refused.stderr
        later = {thing.id for thing in history.of_kind("requirement") if thing.is_there} - known
        assert later, "nothing was lost: this test would show nothing"
        stack.kill_everything()
    # The servers, their data, the broker and its messages are gone.

    with own_postgres() as server:
        done = run("restore.sh", backup, server)
        assert done.returncode == 0, done.stderr
        assert stored(server) == backed_up(backup, server)
        with traceline_on(server) as (stack, admin):
            there = {item["id"] for item in admin.items("/requirements", limit=500)}
            gone_since = {thing.id for thing in history.of_kind("requirement") if not thing.is_there}
            assert before - gone_since <= there
            assert not later & there
            invariants.hold(stack, admin, History())
            works_on(stack, admin)
            invariants.hold(stack, admin, History())
    shutil.rmtree(backup)


def works_on(stack: RunningStack, admin: Traceline) -> None:
    """A new pair is suggested by itself, accepted, linked, told of; no id that was given before is given again."""
    reviewer = admin.new_user("reviewer")
    requirement, test_case = reviewer.create_pair()
    ids = requirement["id"], test_case["id"]
    (suggestion,) = eventually(lambda: reviewer.suggestions_for(*ids, status="pending"), "a suggestion")
    accepted = ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept"))
    link = reviewer.read(f"/links/{accepted['link_id']}")
    assert (link["requirement_id"], link["test_case_id"]) == ids

    def told() -> list[str]:
        return [one["type"] for one in reviewer.items("/notifications")]

    eventually(lambda: len(told()) >= 3, "notifications of the create and of the review")


@pytest.mark.long
def test_a_service_that_is_ahead_of_a_restored_source_is_found_out_and_put_right(
    history: History, tmp_path: Path
) -> None:
    """Only catalog's database was lost, and is restored: the others know of what catalog forgot."""
    with own_postgres() as server, traceline_on(server) as (stack, admin):
        with Load(admin, history) as load:
            load.acknowledges(100)
            done = run("backup.sh", tmp_path / "backup", server)
            assert done.returncode == 0, done.stderr
            load.acknowledges(100)
        invariants.hold(stack, admin, history)
        restore_catalog_alone(stack, tmp_path / "backup", server)
        admin.create_pair()
        for service in ("suggestion", "notification"):
            shown = operating.admin(stack, service, "feed")
            assert "restored to an older state than was received" in shown, shown
            operating.admin(stack, service, "reread", "catalog")
        eventually(lambda: _lags(stack), "the feed read again", equals={0})
        operating.admin(stack, "suggestion", "rebuild", "suggestion_service")
        found = [*invariants.copies.violations(stack)]
        assert found == []
        works_on(stack, admin)


def restore_catalog_alone(stack: RunningStack, backup: Path, server: OwnPostgres) -> None:
    with operating.stopped(stack, "catalog-worker", "catalog-service"):
        command = [server.programs / "pg_restore", "--create", "--clean", "--if-exists", "--exit-on-error"]
        subprocess.run([*command, f"--dbname={server.url}", backup / "catalog.dump"], check=True)
    stack.wait_ready()


def _lags(stack: RunningStack) -> set[int]:
    head = value(stack, "catalog", "SELECT head FROM feed_head")
    return {
        head - row["position"]
        for service in ("suggestion", "notification")
        for row in query(stack, service, "SELECT position FROM inbox_positions WHERE source = 'catalog'")
    }
