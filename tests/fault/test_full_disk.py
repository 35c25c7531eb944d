"""A disk is full, PostgreSQL's or RabbitMQ's: nothing is said that is not so, and all goes on once there is room."""

import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from acceptance.client import Traceline
from acceptance.faults import invariants
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

MEGABYTES = 320
NEARLY_FULL = 70 << 20
FULL_FOR = 15.0
ALARM_FOR = 20.0


@pytest.mark.long
def test_with_postgresqls_disk_full_nothing_false_is_said(history: History) -> None:
    with (
        fresh_folder() as place,
        small_disk(place / "postgresql"),
        RunningStack(place) as stack,
        Traceline(stack.base_url) as anyone,
    ):
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        with Load(admin, history) as load:
            load.acknowledges(100)
            with full(place / "postgresql"):
                force_a_new_log_file(stack)
                eventually(lambda: "503" in {one.answer for one in history.operations}, "a full disk")
                time.sleep(FULL_FOR)
            stack.wait_ready()
            load.all_go_on_after(time.monotonic())
        assert {operation.answer for operation in history.operations} <= {"200", "201", "204", "404", "503", "507"}, (
            history.summary()
        )
        assert "No space left on device" in stack.log("postgres")
        invariants.hold(stack, admin, history)


@pytest.mark.long
def test_with_rabbitmqs_disk_alarm_every_write_is_answered(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    with Load(admin, history) as load:
        load.acknowledges(50)
        stack.rabbitmqctl("set_disk_free_limit", "1000000GB")
        try:
            time.sleep(ALARM_FOR)
        finally:
            stack.rabbitmqctl("set_disk_free_limit", "200MB")
        load.acknowledges(50)
    assert {operation.answer for operation in history.operations} <= {"200", "201", "204", "404"}, history.summary()
    hold()


@pytest.mark.long
def test_on_a_full_disk_nothing_is_lost_and_one_process_goes_on_once_there_is_room() -> None:
    with fresh_folder() as place, small_disk(place), RunningTraceline(place / "data") as traceline:
        with Traceline(traceline.base_url) as anyone:
            admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
            kept = [create(admin, "before").json()["id"]]
            with full(place, leaving=NEARLY_FULL):
                while (answer := create(admin, f"number {len(kept)}")).status_code == 201:
                    kept.append(answer.json()["id"])
                for refused in (answer, create(admin, "again")):
                    assert (refused.status_code, refused.json()["code"]) == (507, "storage_full"), refused.text
                health = httpx.get(f"{traceline.base_url}/healthz")
                assert (health.status_code, health.json()["status"]) == (200, "degraded")
                assert "Free space" in health.json()["reason"]
                assert admin.read("/requirements", limit=1)["total"] == len(kept)
                anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
            eventually(lambda: is_ok(traceline), "a disk with room")
            kept.append(create(admin, "after").json()["id"])
            assert {admin.get(f"/requirements/{one}").status_code for one in kept} == {200}
            eventually(lambda: told_of(admin) == len(kept), "every change in the audit log")
        assert "Traceback" not in traceline.output


@pytest.mark.long
def test_a_server_that_ended_on_a_full_disk_is_started_again_by_one_process() -> None:
    with fresh_folder() as place, small_disk(place), RunningTraceline(place / "data") as traceline:
        with Traceline(traceline.base_url) as anyone:
            admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
            kept = [create(admin, f"number {number}").json()["id"] for number in range(5)]
            with full(place):
                # As it ends where it cannot write its log; without room it does not come up.
                os.kill(int((place / "data" / "postgresql" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
                eventually(lambda: create(admin, "refused").status_code, "that the disk is full is told", equals=507)
            eventually(lambda: is_ok(traceline), "a server that is there again")
            assert {admin.get(f"/requirements/{one}").status_code for one in kept} == {200}
            assert create(admin, "after").status_code == 201
        assert "Logging error" not in traceline.output


def create(admin: Traceline, title: str) -> httpx.Response:
    """Create a requirement with a long text; return the answer."""
    text = os.urandom(50_000).hex()
    body = {"title": title, "description": text, "type": "functional", "priority": "high"}
    return admin.post("/requirements", json=body)


def told_of(admin: Traceline) -> int:
    """Return of how many created requirements the audit log tells."""
    return int(admin.read("/audit-log", action="requirement.created", limit=1)["total"])


def is_ok(traceline: RunningTraceline) -> bool:
    """Check whether every service has room and is ready."""
    health: dict[str, object] = httpx.get(f"{traceline.base_url}/healthz").json()
    return health["status"] == "ok"


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A file system of its own in memory, of some megabytes."""
    place.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=0700", "tmpfs", str(place)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.fail(f"NOT RUN: a disk that can be filled needs the right to mount ({mounted.stderr.strip()}).")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)  # noqa: S607


@contextmanager
def full(place: Path, *, leaving: int = 0) -> Iterator[None]:
    """Inside there is no room left, but for so many bytes."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while shutil.disk_usage(place).free >= leaving:
                file.write(bytes(65536))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    try:
        yield
    finally:
        ballast.unlink()


def force_a_new_log_file(stack: RunningStack) -> None:
    """The write-ahead log goes on in a new file: without room for it PostgreSQL has to stop at once."""
    with psycopg.connect(stack.database_url("catalog-service"), autocommit=True) as connection:
        for _ in range(8):
            try:
                connection.execute("SELECT pg_switch_wal()")
                connection.execute("CREATE TABLE IF NOT EXISTS room (id int)")
                connection.execute("DROP TABLE room")
            except psycopg.OperationalError:
                return
