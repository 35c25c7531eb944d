"""Traceline as its users see it: a thin client of the public API, and what its answers must look like."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Self
from urllib.parse import urljoin

import httpx
import orjson

from acceptance import texts
from acceptance.waiting import eventually
from contracts.routes import SERVICES

Json = dict[str, Any]

API = "/api/v1"
PASSWORD = "correct horse battery"
_OF_INSTALLATION = {resource for service in SERVICES for resource in service.of_installation}
_OF_INSTALLATION |= {"openapi.json", "version"}


class Traceline:
    """One user of a running Traceline; ``with_token`` gives another user over the same connections.

    The five verbs return the raw ``httpx.Response`` of a path below ``/api/v1``. The other methods are the
    steps that most journeys need: they assert success and return the parsed JSON.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        http: httpx.Client | None = None,
        project: str | None = None,
    ) -> None:
        """Args: ``base_url`` without a path; ``http`` is shared when given (and then closed by its owner). Paths of
        what belongs to a project go to ``project``, by its key; without one they name none.
        """
        self.base_url = base_url
        self.token = token
        self.project = project
        self._http = http or httpx.Client(
            base_url=base_url + API,
            timeout=60,
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=16),
        )

    def with_token(self, token: str | None) -> "Traceline":
        return Traceline(self.base_url, token=token, http=self._http, project=self.project)

    def within(self, project: str | None) -> "Traceline":
        """The same user, in another project."""
        return Traceline(self.base_url, token=self.token, http=self._http, project=project)

    @property
    def api(self) -> str:
        """What stands before the paths of what belongs to a project."""
        return API if self.project is None else f"{API}/projects/{self.project}"

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send any request; ``options`` are those of httpx, and a header of None is left out."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= options.pop("headers", {})
        if path.startswith("/") and re.split("[/?]", path)[1] not in _OF_INSTALLATION:
            path = self.api.removeprefix(API) + path
        return self._http.request(method, path, headers=headers, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> httpx.Response:
        return self.request("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> httpx.Response:
        return self.request("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", path, **options)

    def read(self, path: str, **params: Any) -> Json:
        return ok(self.get(path, params=params))

    def pages(self, path: str, **params: Any) -> Iterator[Json]:
        """The pages of a list, following the ``next`` links as a client of RFC 8288 does."""
        response = self.get(path, params=params)
        while True:
            yield ok(response)
            following = response.links.get("next")
            if following is None:
                return
            response = self.get(urljoin(str(response.url), following["url"]))

    def items(self, path: str, **params: Any) -> list[Json]:
        """All items of a list, page after page."""
        return [item for page in self.pages(path, **params) for item in page["items"]]

    # Accounts

    def register(self, email: str, password: str = PASSWORD, **fields: Any) -> httpx.Response:
        body = {"email": email, "password": password, "full_name": "Kim Person"} | fields
        return self.post("/auth/register", json=body)

    def login(self, email: str, password: str = PASSWORD) -> httpx.Response:
        return self.post("/auth/login", data={"username": email, "password": password})

    def logged_in(self, email: str, password: str = PASSWORD) -> "Traceline":
        """The same connections, as the user who logs in with ``email`` and ``password``."""
        return self.with_token(ok(self.with_token(None).login(email, password))["access_token"])

    def new_user(self, role: str = "viewer") -> "Traceline":
        """As an admin: make a user of this role, and log in as that user."""
        address = texts.email()
        body = {"email": address, "password": PASSWORD, "full_name": f"Kim {role}", "role": role}
        created(self.post("/users", json=body))
        return self.logged_in(address)

    def me(self) -> Json:
        return self.read("/auth/me")

    def new_project(self, **fields: Any) -> str:
        """As an admin: make a project of members alone, unless `fields` say otherwise; return its key."""
        key: str = fields.pop("key", None) or texts.project_key()
        created(self.post("/projects", json={"key": key, "name": f"Project {key}", **fields}))
        return key

    # The record

    def create_requirement(self, **fields: Any) -> Json:
        return created(self.post("/requirements", json=requirement(**fields)))

    def create_test_case(self, **fields: Any) -> Json:
        return created(self.post("/test-cases", json=test_case(**fields)))

    def create_link(self, requirement_id: str, test_case_id: str, **fields: Any) -> Json:
        body = {"requirement_id": requirement_id, "test_case_id": test_case_id} | fields
        return created(self.post("/links", json=body))

    def create_pair(self, **fields: Any) -> tuple[Json, Json]:
        """A requirement and a test case whose texts match each other and nothing else."""
        text = {"title": texts.words(4), "description": texts.words(8)} | fields
        return self.create_requirement(**text), self.create_test_case(**text)

    # Imports

    def plan_import(self, records: Iterable[Json], **params: Any) -> Json:
        """Import records as NDJSON and return the import, planned or applied, however long that takes."""
        content = b"".join(orjson.dumps(record) + b"\n" for record in records)
        headers = {"Content-Type": "application/x-ndjson"}
        return self.wait_for_import(self.post("/imports", content=content, headers=headers, params=params))

    def apply_import(self, planned: Json, **asked: Any) -> Json:
        """Apply a planned import and return it, however long that takes."""
        return self.wait_for_import(self.post(f"/imports/{planned['id']}/apply", json=asked))

    def wait_for_import(self, answer: httpx.Response) -> Json:
        """Return the import of an answer when it waits for nothing any more."""
        assert answer.status_code in {200, 202}, said(answer)
        place = f"/imports/{answer.json()['id']}"
        going_on = {"received", "reading", "applying"}
        if answer.status_code == 202:
            eventually(lambda: self.read(place)["status"] not in going_on, "the end of an import")
        return self.read(place)

    # The review

    def generate(self, **params: Any) -> Json:
        """Generate over everything and return the finished run, however long it takes."""
        answer = self.post("/suggestions/generate", params=params)
        if answer.status_code == 202:
            place = answer.headers["Location"].removeprefix("/api/v1")
            eventually(lambda: self.read(place)["status"] not in {"queued", "running"}, "the end of a run")
            answer = self.get(place)
        run = ok(answer)
        assert run["status"] == "completed", run
        return run

    def suggestions_for(self, requirement_id: str, test_case_id: str, **params: Any) -> list[Json]:
        pair = {"requirement_id": requirement_id, "test_case_id": test_case_id}
        return self.items("/suggestions", **pair, **params)

    def suggested_pair(self, **fields: Any) -> Json:
        """The pending suggestion of a new pair of matching items."""
        requirement, test_case = self.create_pair(**fields)
        self.generate()
        (suggestion,) = self.suggestions_for(requirement["id"], test_case["id"], status="pending")
        return suggestion

    def propose_link(self, requirement: str, test_case: str, **fields: Any) -> Json:
        """The proposal to link two items, once both are known to whom it is told."""
        plain = {"kind": "link", "target": {"requirement": requirement, "test_case": test_case}, "rationale": "Read."}

        def propose() -> httpx.Response | None:
            answer = self.post("/proposals", json=plain | fields)
            return None if answer.status_code == 404 else answer

        return created(eventually(propose, "both items where links are proposed"))

    def unread_count(self) -> int:
        count = self.read("/notifications/unread-count")["unread_count"]
        assert isinstance(count, int)
        return count


def requirement(**fields: Any) -> Json:
    """The body of a valid requirement with words of its own; ``fields`` come on top."""
    text = {"title": texts.words(3), "description": texts.words(6)}
    return text | {"type": "functional", "priority": "medium"} | fields


def test_case(**fields: Any) -> Json:
    """The body of a valid test case with words of its own; ``fields`` come on top."""
    return requirement(**fields)


test_case.__test__ = False  # type: ignore[attr-defined]  # a body, not a test, wherever it is imported


def ok(response: httpx.Response, status: int = 200) -> Json:
    """The JSON object of a successful answer."""
    assert response.status_code == status, f"{said(response)} - expected {status}"
    body = response.json()
    assert isinstance(body, dict), body
    return body


def created(response: httpx.Response) -> Json:
    return ok(response, 201)


def problem(
    response: httpx.Response, status: int | set[int], code: str | None = None, *, field: str | None = None
) -> Json:
    """Assert that the answer is a problem document (RFC 9457) as every error must be, and return it.

    Args:
        response: the answer.
        status: the status it must have, or those it may have.
        code: the stable code it must carry, as a whole or for one of its fields.
        field: a field that one of the ``errors`` must point at.
    """
    statuses = {status} if isinstance(status, int) else status
    assert response.status_code in statuses, f"{said(response)} - expected {sorted(statuses)}"
    assert response.headers["content-type"].split(";")[0] == "application/problem+json", said(response)
    body = response.json()
    assert isinstance(body, dict), body
    for member in ("type", "title", "detail", "instance", "code", "request_id"):
        assert isinstance(body.get(member), str), f"{member} is missing: {body}"
        assert body[member], f"{member} is empty: {body}"
    assert body["status"] == response.status_code
    assert body["request_id"] == response.headers["x-request-id"]
    assert body["code"] == body["code"].lower().replace(" ", "_"), body
    for inside in ("Traceback", "psycopg", "sqlalchemy", "SELECT ", "INSERT "):
        assert inside not in response.text, f"an inside leaks out: {body}"
    errors = body.get("errors", [])
    if response.status_code == 422:
        assert "errors" in body, body
    for error in errors:
        assert set(error) >= {"pointer", "message", "code"}, body
    if code is not None:
        assert code in {body["code"], *(error["code"] for error in errors)}, body
    if field is not None and response.status_code == 422:
        assert any(field in error["pointer"] for error in errors), f"nothing points at {field}: {body}"
    return body


def said(response: httpx.Response) -> str:
    """One line that shows what was asked and what came back, for a failing test."""
    request = response.request
    return f"{request.method} {request.url} answered {response.status_code}: {response.text[:600]}"
