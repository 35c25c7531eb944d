"""Loads the demo project through the public API, once, and finishes a load that was cut off."""

import asyncio
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

import httpx

from auth_service.settings import Settings
from auth_service.startup import admin_token
from chassis.db.database import Database
from contracts.projects import DEMO
from embedded.data_folder import DataFolder
from embedded.demo.project import DemoProject, Json, read_project

_LOOK_AGAIN = 0.2
_UNTIL_KNOWN = 10
_OF_PROJECT = f"/projects/{DEMO}"
_NIGHT = time(2, 10, tzinfo=UTC)
_BY_HAND = (
    ("TC-NOTI-002", "passed", "Looked at two phones: it says that a parcel has arrived, and no more."),
    ("TC-OPS-001", "passed", "Looked at the console for an hour."),
    ("TC-LOCK-011", "failed", "3 of 20 faded labels were not read."),
)
_PEOPLE = {"mia.brandt@dropwick.example": "Mia Brandt", "jonas.weber@dropwick.example": "Jonas Weber"}


class DemoError(Exception):
    """The demo could not be loaded; the message is one sentence for the person who started it."""


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """What the record holds after a load; `coverage` is 0..1."""

    requirements: int
    test_cases: int
    links: int
    suspect_links: int
    coverage: float
    suggestions_pending: int

    def __str__(self) -> str:
        return (
            f"The demo project is loaded: {self.requirements} requirements, {self.test_cases} test cases,"
            f" {self.links} links ({self.suspect_links} suspect), coverage {self.coverage:.0%},"
            f" {self.suggestions_pending} suggestions waiting."
        )


async def tell_of_demo(folder: DataFolder, base_url: str, auth: Settings, database: Database) -> str:
    """Load the demo project into the Traceline of `folder`, unless it is there; return a sentence that says so.

    `auth` and `database` are those of auth-service: the run itself loads it, whatever the admin's password is by now.
    """
    if folder.has_demo:
        return "The demo project is there already."
    try:
        summary = await load_demo(base_url, await admin_token(auth, database))
    except DemoError as error:
        return f"The demo project was not loaded: {error}"
    folder.demo_is_loaded()
    return "The demo project is there already." if summary is None else str(summary)


async def load_demo(base_url: str, token: str) -> DemoSummary | None:
    """Load the demo into a project of its own, DEMO, of the Traceline at `base_url`, as the admin of an access token.

    Returns:
        What is there now, or None when the demo had been loaded before and nothing was done.

    Raises:
        DemoError: Traceline did not answer, refused something, or the project holds items that are not the demo's.
    """
    # Not through a proxy of the environment: this talks to its own machine.
    async with httpx.AsyncClient(
        base_url=f"{base_url.rstrip('/')}/api/v1",
        timeout=30,
        trust_env=False,
        headers={"Authorization": f"Bearer {token}"},
    ) as http:
        loader = _Loader(http, read_project())
        await loader.make_project()
        if await loader.is_loaded():
            return None
        await loader.refuse_other_data()
        await loader.load()
        return await loader.summary()


class _Loader:
    """The steps of a load. Each may be repeated: what is there already stays as it is."""

    def __init__(self, http: httpx.AsyncClient, project: DemoProject) -> None:
        self._http = http
        self._project = project

    async def make_project(self) -> None:
        """Make the project of the demo, unless it is there; it is for everybody who is signed in."""
        found = await self._send("GET", "/projects", params={"q": DEMO, "fields": "key"})
        if {"key": DEMO} not in found["items"]:
            project = {"key": DEMO, "name": "Dropwick, the demo", "visibility": "open"}
            await self._send("POST", "/projects", json=project)
        deadline = asyncio.get_running_loop().time() + _UNTIL_KNOWN
        while not await self._is_known():  # by each gateway that may answer
            if asyncio.get_running_loop().time() > deadline:
                raise DemoError(f"its project is not there {_UNTIL_KNOWN} seconds after it was made.")
            await asyncio.sleep(_LOOK_AGAIN)

    async def _is_known(self) -> bool:
        try:
            await self._count("/requirements")
        except DemoError:
            return False
        return True

    async def is_loaded(self) -> bool:
        return bool(await self._count("/requirements", self._project.seal))

    async def refuse_other_data(self) -> None:
        for path, items in (("/requirements", self._project.requirements), ("/test-cases", self._project.test_cases)):
            if await self._count(path) > await self._count(path, *items):
                raise DemoError(f"there are {path.strip('/').replace('-', ' ')} that are not the demo's.")

    async def load(self) -> None:
        project = self._project
        if not await self._count("/requirements"):  # all of it is imported, or nothing
            items = [item for item in project.requirements if item is not project.seal]
            await self._import({"requirements": items, "test_cases": project.test_cases, "links": project.links})
        before, *after = project.runs
        for run in project.history:
            await self._send_run(_make_run(run, before), run["days_ago"])
        await self._send_run(before, 1)
        for amendment in project.amendments:
            await self._amend(amendment["requirement"], amendment["description"])
        for confirmation in project.confirmations:
            await self._confirm(confirmation)
        for run in after:
            await self._send_run(run)
        await self._send("POST", "/requirements", json=project.seal)
        # The background gets there as well, in its own time. A run over everything answers when all that was
        # just written has been scored; one that takes longer than 20 s goes on without being waited for.
        await self._send("POST", "/suggestions/generate")
        await self._have_people_work()

    async def summary(self) -> DemoSummary:
        matrix = await self._send("GET", "/reports/traceability-matrix", params={"limit": 1})
        pending = await self._send("GET", "/suggestions", params={"status": "pending", "limit": 1})
        totals = matrix["summary"]
        return DemoSummary(
            requirements=totals["total_requirements"],
            test_cases=totals["total_test_cases"],
            links=totals["total_links"],
            suspect_links=totals["suspect_links"],
            coverage=totals["coverage"],
            suggestions_pending=pending["total"],
        )

    async def _count(self, path: str, *items: Json) -> int:
        """Return how many items there are, or how many of these."""
        of_these = {"external_id": ",".join(item["external_id"] for item in items)} if items else {}
        total: int = (await self._send("GET", path, params={"limit": 1, **of_these}))["total"]
        return total

    async def _import(self, record: Json) -> None:
        job = await self._send("POST", "/imports", params={"format": "json", "apply": "if_clean"}, json=record)
        while job["status"] not in ("planned", "applied", "failed"):
            await asyncio.sleep(_LOOK_AGAIN)
            job = await self._send("GET", f"/imports/{job['id']}")
        if job["status"] != "applied":
            raise DemoError(f"the import of it is {job['status']}: {job['error'] or job['counts']}.")

    async def _item(self, path: str, external_id: str) -> Json:
        (item,) = (await self._send("GET", path, params={"external_id": external_id}))["items"]
        found: Json = item
        return found

    async def _amend(self, external_id: str, description: str) -> None:
        # Only the text that came with the demo: what somebody has written since is theirs.
        (original,) = (item for item in self._project.requirements if item["external_id"] == external_id)
        requirement = await self._item("/requirements", external_id)
        if requirement["description"] == original["description"]:
            await self._send("PATCH", f"/requirements/{requirement['id']}", json={"description": description})

    async def _confirm(self, link: Json) -> None:
        requirement = await self._item("/requirements", link["requirement"])
        test_case = await self._item("/test-cases", link["test_case"])
        pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
        for suspect in (await self._send("GET", "/links", params=pair | {"suspect": True}))["items"]:
            await self._send("POST", f"/links/{suspect['id']}/confirm")

    async def _send_run(self, run: Json, days_ago: int = 0) -> None:
        """Send what CI has executed, this night or so many days ago; what was sent before changes nothing."""
        params = {"run": run["run"], "name": run["run"], "branch": "main", "commit": run["commit"], "format": "ctrf"}
        if days_ago:
            night = datetime.combine(datetime.now(UTC).date() - timedelta(days=days_ago), _NIGHT)
            params["started_at"] = night.isoformat()
        for attempt, tests in enumerate(run["attempts"], start=1):
            report = {"results": {"tool": {"name": "dropwick"}, "tests": tests}}
            sent = await self._send("POST", "/test-results", params={**params, "attempt": attempt}, json=report)
        await self._send("POST", f"/test-runs/{sent['run']['id']}/complete")

    async def _have_people_work(self) -> None:
        """Have people accept and reject suggestions and execute test cases by hand, unless they cannot."""
        mia, jonas = [await self._sign_up(email, name) for email, name in _PEOPLE.items()]
        if mia is None or jonas is None:
            return
        best = {"status": "pending", "sort": "score:desc", "limit": 4}
        for suggestion in (await self._send("GET", "/suggestions", params=best))["items"]:
            await self._send(
                "POST", f"/suggestions/{suggestion['id']}/accept", json={"feedback": "Tests just this."}, headers=mia
            )
        worst = {"status": "pending", "sort": "score:asc", "limit": 1}
        for suggestion in (await self._send("GET", "/suggestions", params=worst))["items"]:
            await self._send("POST", f"/suggestions/{suggestion['id']}/reject", headers=jonas)
        for external_id, status, notes in _BY_HAND:
            test_case = await self._item("/test-cases", external_id)
            body = {"status": status, "notes": notes}
            await self._send("POST", f"/test-cases/{test_case['id']}/results", json=body, headers=jonas)

    async def _sign_up(self, email: str, name: str) -> dict[str, str] | None:
        """Make an account with a password that nobody knows; return the headers of its requests.

        None: there is such an account already, or people sign in by other ways alone.
        """
        password = secrets.token_urlsafe(24)
        account = {"email": email, "full_name": name, "password": password, "role": "reviewer"}
        made = await self._http.post("/users", json=account | {"must_change_password": False})
        answer = await self._http.post("/auth/login", data={"username": email, "password": password})
        if not (made.is_success and answer.is_success):
            return None
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}

    async def _send(self, method: str, path: str, **options: Any) -> Json:
        """Send one request and return its answer; what is no project is of the demo's."""
        if not path.startswith("/projects"):
            path = _OF_PROJECT + path
        try:
            response = await self._http.request(method, path, **options)
            answer: Json = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise DemoError(
                f"{method} {path} got no usable answer from {self._http.base_url} ({type(error).__name__})."
            ) from error
        if response.is_success:
            return answer
        why = answer.get("detail", "no reason given")
        raise DemoError(f"{method} {path} was refused with {response.status_code}: {why}")


def _make_run(past: Json, whole: Json) -> Json:
    """Return a run of a past night: those tests of a whole run whose suites there were then."""
    tests = []
    for test in whole["attempts"][0]:
        if test["suite"] in past["suites"]:
            message = past["failed"].get(test.get("labels", {}).get("test_case"))
            about = {name: value for name, value in test.items() if name not in ("message", "trace", "status")}
            ended = {"status": "passed"} if message is None else {"status": "failed", "message": message}
            tests.append(about | ended)
    return {"run": past["run"], "commit": past["commit"], "attempts": [tests]}
