"""A power cut in the middle of much work: what was answered is there, and every event arrives once."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, ok
from acceptance.faults.databases import events_kept_back
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-SAFE-2")

CREATES, ACCEPTS, DELETES = 80, 60, 60
THREADS = 8


class Work:
    """200 writes in random order, and which of them were answered before the process was gone."""

    def __init__(self, user: Traceline, suggestions: list[Json], doomed: list[Json]) -> None:
        self.user = user
        self.external_ids = [texts.word() for _ in range(CREATES)]
        self.suggestions = {suggestion["id"]: suggestion for suggestion in suggestions}
        self.doomed = [item["id"] for item in doomed]
        self.created: dict[str, str] = {}
        self.accepted: set[str] = set()
        self.deleted: set[str] = set()
        self.enough = threading.Event()
        self._lock = threading.Lock()

    def answered(self) -> int:
        return len(self.created) + len(self.accepted) + len(self.deleted)

    def jobs(self) -> list[Callable[[], None]]:
        jobs: list[Callable[[], None]] = [
            *(lambda name=name: self._create(name) for name in self.external_ids),
            *(lambda id_=id_: self._accept(id_) for id_ in self.suggestions),
            *(lambda id_=id_: self._delete(id_) for id_ in self.doomed),
        ]
        random.Random(20).shuffle(jobs)
        return jobs

    def run(self, job: Callable[[], None]) -> None:
        """Do one job; a connection that breaks is what a power cut looks like from outside."""
        try:
            job()
        except httpx.TransportError:
            return
        if self.answered() >= (CREATES + ACCEPTS + DELETES) // 2:
            self.enough.set()

    def _create(self, external_id: str) -> None:
        made = self.user.create_requirement(external_id=external_id)
        with self._lock:
            self.created[external_id] = made["id"]

    def _accept(self, suggestion_id: str) -> None:
        ok(self.user.post(f"/suggestions/{suggestion_id}/accept"))
        with self._lock:
            self.accepted.add(suggestion_id)

    def _delete(self, requirement_id: str) -> None:
        assert self.user.delete(f"/requirements/{requirement_id}").status_code == 204
        with self._lock:
            self.deleted.add(requirement_id)


def prepared(user: Traceline) -> Work:
    with ThreadPoolExecutor(THREADS) as pool:
        pairs = list(pool.map(lambda _: user.create_pair(), range(ACCEPTS)))
        doomed = list(pool.map(lambda _: user.create_requirement(), range(DELETES)))
    user.generate()
    found = {
        (suggestion["requirement_id"], suggestion["test_case_id"]): suggestion
        for suggestion in user.items("/suggestions", status="pending", limit=500)
    }
    return Work(user, [found[requirement["id"], test_case["id"]] for requirement, test_case in pairs], doomed)


def test_nothing_answered_is_lost_and_every_event_arrives_once(unused: Path) -> None:
    with (
        fresh_folder(unused) as place,
        RunningTraceline(place) as server,
        Traceline(server.base_url) as client,
    ):
        user = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD).new_user("reviewer")
        work = prepared(user)
        with ThreadPoolExecutor(THREADS) as pool:
            running = [pool.submit(work.run, job) for job in work.jobs()]
            assert work.enough.wait(timeout=600)
            server.kill()
        for job in running:
            job.result()
        assert work.answered() < CREATES + ACCEPTS + DELETES, "the power cut came too late"

        server.start()
        admin = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        everything_answered_is_there(user, work)
        every_event_has_arrived_once(admin, user, work)
        assert events_kept_back(server) == []


@pytest.mark.long
def test_runs_are_done_though_their_process_was_killed_three_times(unused: Path) -> None:
    """One that was scored each time after a quiet time, and one that waited for its turn meanwhile."""
    with (
        fresh_folder(unused) as place,
        RunningTraceline(place) as server,
        Traceline(server.base_url) as client,
    ):
        admin = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        askers = [admin.new_user("reviewer") for _ in range(2)]
        requirement, test_case = admin.create_pair()
        with nothing_stored(server):
            runs = [asked_for(asker) for asker in askers]
            eventually(lambda: begun(server, runs[0]), "scoring", equals=1)
            server.kill()
        for times in (2, 3):
            with nothing_stored(server):
                server.start()
                eventually(lambda times=times: begun(server, runs[0]), "scoring, once more", equals=times)
                server.kill()
        server.start()
        user = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        states = [user.read(f"/suggestions/runs/{run}")["status"] for run in runs]
        assert states == ["running", "queued"]
        with psycopg.connect(server.database_url("suggestion-service"), autocommit=True) as connection:
            connection.execute("UPDATE run_parts SET claimed_until = now() - interval '6 minutes'")
        for run in runs:
            eventually(
                lambda run=run: user.read(f"/suggestions/runs/{run}")["status"] not in {"queued", "running"},
                "the end of a run",
            )
        assert [user.read(f"/suggestions/runs/{run}")["status"] for run in runs] == ["completed", "completed"]
        assert len(user.suggestions_for(requirement["id"], test_case["id"])) == 1


@contextmanager
def nothing_stored(server: RunningTraceline) -> Iterator[None]:
    """Let scoring find no end within the block: no suggestion can be stored."""
    with psycopg.connect(server.database_url("suggestion-service")) as connection:
        connection.execute("LOCK TABLE suggestions IN EXCLUSIVE MODE")
        yield


def asked_for(user: Traceline) -> str:
    run: str = ok(user.post("/suggestions/generate", headers={"Prefer": "respond-async"}), 202)["id"]
    return run


def begun(server: RunningTraceline, run: str) -> int | None:
    """Return how often the part of a run was begun, None for one that was not cut."""
    with psycopg.connect(server.database_url("suggestion-service")) as connection:
        row = connection.execute("SELECT attempts FROM run_parts WHERE run_id = %s", (run,)).fetchone()
    return None if row is None else int(row[0])


def everything_answered_is_there(user: Traceline, work: Work) -> None:
    stored = {item["external_id"]: item["id"] for item in user.items("/requirements", limit=500)}
    assert {name: stored.get(name) for name in work.created} == work.created
    assert not work.deleted & set(stored.values())

    def halves() -> list[str]:
        """Suggestions of which only one half, the review or the link, has happened so far."""
        linked = {
            (link["requirement_id"], link["test_case_id"])
            for link in user.items("/links", link_source="ai_confirmed", limit=500)
        }
        accepted = {item["id"] for item in user.items("/suggestions", status="accepted", limit=500)}
        assert work.accepted <= accepted
        return [
            id_
            for id_, item in work.suggestions.items()
            if ((item["requirement_id"], item["test_case_id"]) in linked) != (id_ in accepted)
        ]

    eventually(lambda: halves(), "the end of every accept that was cut in two", equals=[])


def once(items: list[Json]) -> list[Json]:
    """The items without those that moved to the next page while the pages were read."""
    return list({item["id"]: item for item in items}.values())


def every_event_has_arrived_once(admin: Traceline, user: Traceline, work: Work) -> None:
    """Compare what is stored with what the audit log and the notifications say has happened."""
    requirements = {item["id"] for item in user.items("/requirements", limit=500)}
    test_cases = {item["id"] for item in user.items("/test-cases", limit=500)}
    links = {item["id"] for item in user.items("/links", limit=500)}
    accepted = {item["id"] for item in user.items("/suggestions", status="accepted", limit=500)}
    gone = set(work.doomed) - requirements
    expected = Counter(
        [("requirement", "created", id_) for id_ in requirements | gone]
        + [("requirement", "deleted", id_) for id_ in gone]
        + [("test_case", "created", id_) for id_ in test_cases]
        + [("link", "created", id_) for id_ in links]
        + [("suggestion", "accepted", id_) for id_ in accepted]
    )
    steps = {"created", "deleted", "accepted"}

    def audited() -> Counter[tuple[str, str, str]]:
        return Counter(
            (entry["resource_type"], step, entry["resource_id"])
            for entry in once(admin.items("/audit-log", actor=user.me()["email"], limit=500))
            for step in steps
            if step in entry["action"] and entry["resource_type"] != "run"
        )

    eventually(lambda: expected <= audited(), "every change in the audit log")

    def notified() -> Counter[str]:
        return Counter(item["type"] for item in once(user.items("/notifications", limit=100)))

    due = Counter(
        requirement_created=len(requirements | gone),
        test_case_created=len(test_cases),
        suggestion_reviewed=len(accepted),
    )
    eventually(lambda: due <= notified(), "every notification")

    user.create_link(user.create_requirement()["id"], user.create_test_case()["id"])  # the feeds go on
    due.update(requirement_created=1, test_case_created=1)
    eventually(lambda: due <= notified(), "the notifications after that")

    def is_even() -> bool:
        # An accept that was cut off before its link is finished in its own time.
        due["suggestion_reviewed"] = user.read("/suggestions", status="accepted", limit=1)["total"]
        return {kind: notified()[kind] for kind in due} == dict(due)

    eventually(is_even, "each notification to be there once, an event may have arrived twice")
    doubled = {entry: count for entry, count in audited().items() if count > 1}
    assert doubled == {}
