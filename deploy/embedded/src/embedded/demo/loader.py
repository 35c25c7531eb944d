"""Loads the demo project through the public API, once, and finishes a load that was cut off."""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

import httpx

from embedded.data_folder import DataFolder
from embedded.demo.project import DemoProject, Json, read_project

CONCURRENCY = 8
PAGE = 500


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


async def tell_of_demo(folder: DataFolder, base_url: str, email: str, password: str | None) -> str:
    """Load the demo project into the Traceline of `folder`, unless it is there; return a sentence that says so."""
    if folder.has_demo:
        return "The demo project is there already."
    try:
        summary = await load_demo(base_url, email, password or "")
    except DemoError as error:
        return f"The demo project was not loaded: {error}"
    folder.demo_is_loaded()
    return "The demo project is there already." if summary is None else str(summary)


async def load_demo(base_url: str, email: str, password: str) -> DemoSummary | None:
    """Load the demo project into the Traceline at `base_url`, as the reviewer or admin given.

    Returns:
        What is there now, or None when the demo had been loaded before and nothing was done.

    Raises:
        DemoError: Traceline did not answer, refused something, or holds requirements or test cases of others.
    """
    # Not through a proxy of the environment: this talks to its own machine.
    async with httpx.AsyncClient(
        base_url=f"{base_url.rstrip('/')}/api/v1",
        timeout=httpx.Timeout(30, pool=None),
        limits=httpx.Limits(max_connections=CONCURRENCY),
        trust_env=False,
    ) as http:
        loader = _Loader(http, read_project())
        await loader.log_in(email, password)
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

    async def log_in(self, email: str, password: str) -> None:
        token = await self._send("POST", "/auth/login", data={"username": email, "password": password})
        self._http.headers["Authorization"] = f"Bearer {token['access_token']}"

    async def is_loaded(self) -> bool:
        found = await self._send("GET", "/requirements", params={"external_id": self._project.seal["external_id"]})
        return bool(found["total"])

    async def refuse_other_data(self) -> None:
        for path, items in (("/requirements", self._project.requirements), ("/test-cases", self._project.test_cases)):
            ours = {item["external_id"] for item in items}
            found = (await self._send("GET", path, params={"limit": 1}))["total"]
            if found - len(ours & set(await self._by_external_id(path))):
                raise DemoError(f"there are {path.strip('/').replace('-', ' ')} that are not the demo's.")

    async def load(self) -> None:
        project = self._project
        everything_else = [item for item in project.requirements if item is not project.seal]
        await _together(
            [
                *(self._create("/requirements", item) for item in everything_else),
                *(self._create("/test-cases", item) for item in project.test_cases),
            ]
        )
        requirements = await self._by_external_id("/requirements")
        test_cases = await self._by_external_id("/test-cases")

        def pair(link: Json) -> Json:
            return {
                "requirement_id": requirements[link["requirement"]]["id"],
                "test_case_id": test_cases[link["test_case"]]["id"],
            }

        await _together(self._link(link, pair(link)) for link in project.links)
        for amendment in project.amendments:
            await self._amend(requirements[amendment["requirement"]], amendment["description"])
        for confirmation in project.confirmations:
            await self._confirm(pair(confirmation))
        await self._create("/requirements", project.seal)
        # The background gets there as well, in its own time. A run over everything answers when all that was
        # just written has been scored; one that takes longer than 20 s goes on without being waited for.
        await self._send("POST", "/suggestions/generate")

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

    async def _create(self, path: str, item: Json) -> None:
        await self._send("POST", path, json=item, unless="external_id_taken")

    async def _by_external_id(self, path: str) -> dict[str, Json]:
        found: dict[str, Json] = {}
        skip, total = 0, 1
        while skip < total:
            page = await self._send("GET", path, params={"sort": "external_id:asc", "skip": skip, "limit": PAGE})
            found |= {item["external_id"]: item for item in page["items"]}
            skip, total = skip + PAGE, page["total"]
        return found

    async def _link(self, link: Json, pair: Json) -> None:
        fields = {name: link[name] for name in ("link_type", "notes") if name in link}
        await self._send("POST", "/links", json=pair | fields, unless="link_exists")

    async def _amend(self, requirement: Json, description: str) -> None:
        # Only the text that came with the demo: what somebody has written since is theirs.
        original = next(
            item for item in self._project.requirements if item["external_id"] == requirement["external_id"]
        )
        if requirement["description"] == original["description"]:
            await self._send("PATCH", f"/requirements/{requirement['id']}", json={"description": description})

    async def _confirm(self, pair: Json) -> None:
        suspect = await self._send("GET", "/links", params=pair | {"suspect": True})
        for link in suspect["items"]:
            await self._send("POST", f"/links/{link['id']}/confirm")

    async def _send(self, method: str, path: str, *, unless: str | None = None, **options: Any) -> Json:
        """Send one request and return its answer; a refusal with the code `unless` is fine."""
        try:
            response = await self._http.request(method, path, **options)
            answer: Json = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise DemoError(
                f"{method} {path} got no usable answer from {self._http.base_url} ({type(error).__name__})."
            ) from error
        if response.is_success or (unless is not None and answer.get("code") == unless):
            return answer
        what = (options.get("json") or {}).get("external_id", f"{method} {path}")
        raise DemoError(f"{what} was refused with {response.status_code}: {answer.get('detail', 'no reason given')}")


async def _together(jobs: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run the jobs at once (the client's pool bounds them); the first failure ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(job)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures
