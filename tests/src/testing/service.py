"""A service under test: called in process as the gateway calls it, over a real database."""

from typing import Any, cast

import httpx
import orjson

from chassis.core.identity import Identity
from chassis.db.database import Database
from testing.internal import token
from testing.postgres import as_owner

Json = dict[str, Any]


class ServiceClient(httpx.AsyncClient):
    """One caller of a service; a path is whole or below /api/v1."""

    def __init__(self, app: Any, caller: Identity | None = None) -> None:
        super().__init__(transport=httpx.ASGITransport(app=app), base_url="http://service")
        self.app = app
        self.caller = caller

    def build_request(self, method: str, url: httpx.URL | str, **options: Any) -> httpx.Request:
        """See httpx."""
        if self.caller is not None:
            audience = self.app.state.internal_verifier.service
            self.headers["authorization"] = f"Bearer {token(self.caller, audience)}"  # it lives for a minute
        whole = str(url).startswith(("/api/", "/internal/", "http"))
        return super().build_request(method, url if whole else f"/api/v1{url}", **options)

    async def read(self, path: str, **params: Any) -> Json:
        """GET what must be there; return its body."""
        return ok(await self.get(path, params=params))


class ServiceUnderTest:
    """The app of a service, and what its database says."""

    def __init__(self, app: Any, database: Database) -> None:
        self.app = app
        self.database = database

    def client(self, caller: Identity | None = None) -> ServiceClient:
        """Return a client of this caller."""
        return ServiceClient(self.app, caller)

    async def rows(self, query: str, *parameters: Any) -> list[Json]:
        """Execute a statement as the owner of the tables; return its rows, if it has any."""
        async with as_owner(self.database) as connection:
            cursor = await connection.execute(query, parameters or None)
            return await cursor.fetchall() if cursor.description is not None else []

    async def events(self, wire_name: str | None = None, *, subject: str | None = None, after: int = 0) -> list[Json]:
        """Return the events that were recorded, in order, each with its `position` in the outbox."""
        rows = await self.rows(
            "SELECT id, wire_name, envelope FROM outbox WHERE id > %s AND wire_name = coalesce(%s, wire_name)"
            " ORDER BY id",
            after,
            wire_name,
        )
        events = [orjson.loads(row["envelope"]) | {"position": row["id"]} for row in rows]
        return [event for event in events if subject in (None, event["subject"])]


def ok(response: httpx.Response, status: int = 200) -> Json:
    """Check that a request succeeded; return the body of the answer."""
    assert response.status_code == status, response.text
    return cast(Json, response.json())


def problem(response: httpx.Response, status: int, code: str | None = None, field: str | None = None) -> Json:
    """Check that the answer is this problem; return its document.

    Args:
        field: the JSON pointer of one of the `errors`, or of what it is in.
    """
    document = ok(response, status)
    assert response.headers["content-type"] == "application/problem+json"
    assert code in (None, document["code"]), document
    if field is not None:
        assert any(f"{error['pointer']}/".startswith(f"{field}/") for error in document["errors"]), document
    return document
