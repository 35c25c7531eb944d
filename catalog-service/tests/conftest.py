"""catalog-service over its own database, and clients of each role."""

import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from catalog_service.app import create_app
from catalog_service.settings import Settings
from chassis.core.identity import Identity, Role
from chassis.db.database import Database
from contracts.routes import CATALOG
from testing import PostgresServer
from testing.internal import verifier_of
from testing.service import Json, ServiceClient, ServiceUnderTest, ok

REVIEWER = Identity(id=1, email="reviewer@example.test", role=Role.REVIEWER)
VIEWER = Identity(id=2, email="viewer@example.test", role=Role.VIEWER)
SERVICE = Identity(id=None, email="suggestion-service", role=None)


class Catalog(ServiceUnderTest):
    """A running catalog-service and one who calls it; paths are those below /api/v1."""

    def __init__(self, app: Any, database: Database, identity: Identity) -> None:
        super().__init__(app, database)
        self.email = identity.email
        self._http = self.client(identity)

    def being(self, identity: Identity) -> "Catalog":
        """The same service, called by somebody else."""
        return Catalog(self.app, self.database, identity)

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await self._http.request(method, path, **options)

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.request("GET", path, params=params)

    async def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        return await self._send("POST", path, body, headers)

    async def put(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return await self._send("PUT", path, body, headers)

    async def patch(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return await self._send("PATCH", path, body, headers)

    async def delete(self, path: str, **headers: str) -> httpx.Response:
        return await self._send("DELETE", path, None, headers)

    async def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> httpx.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is None:
            return await self.request(method, path, headers=names)
        return await self.request(method, path, json=body, headers=names)

    async def read(self, path: str, **params: Any) -> Json:
        """GET what must be there."""
        return ok(await self.get(path, **params))

    async def create(self, path: str, **fields: Any) -> Json:
        """POST an item of words that must be accepted."""
        return ok(await self.post(path, self.item(**fields)), 201)

    async def requirement(self, **fields: Any) -> Json:
        return await self.create("/requirements", **fields)

    async def test_case(self, **fields: Any) -> Json:
        return await self.create("/test-cases", **fields)

    async def link(self, requirement: Json, test_case: Json, **fields: Any) -> Json:
        pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
        return ok(await self.post("/links", pair | fields), 201)

    async def relation(self, child: Json, parent: Json, **fields: Any) -> Json:
        pair = {"child_id": child["id"], "parent_id": parent["id"]}
        return ok(await self.post("/relations", pair | fields), 201)

    async def pair(self) -> tuple[Json, Json]:
        return await self.requirement(), await self.test_case()

    @staticmethod
    def item(**fields: Any) -> Json:
        """The body of a valid requirement or test case."""
        text = {"title": "Doors close", "description": "All doors shall close before departure."}
        return text | {"type": "functional", "priority": "medium"} | fields

    @staticmethod
    def word() -> str:
        """A word that nobody else has."""
        return uuid.uuid4().hex


def _app(database: Database) -> Any:
    settings = Settings(database_url=database.url)
    return create_app(settings, database, verifier_of(CATALOG))


@pytest.fixture(scope="session")
def viewing() -> Callable[[Database], ServiceClient]:
    """Gives a viewer's client of the service over a database."""
    return lambda database: ServiceClient(_app(database), VIEWER)


@pytest.fixture(scope="module")
async def catalog(postgres: PostgresServer) -> AsyncIterator[Catalog]:
    """The service as a reviewer sees it."""
    async with postgres.opened("catalog_service", pool_size=12) as database:
        yield Catalog(_app(database), database, REVIEWER)


@pytest.fixture(scope="module")
def viewer(catalog: Catalog) -> Catalog:
    return catalog.being(VIEWER)


@pytest.fixture(scope="module")
def service(catalog: Catalog) -> Catalog:
    """Another service, which may call internal addresses."""
    return catalog.being(SERVICE)
