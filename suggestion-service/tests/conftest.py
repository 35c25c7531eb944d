"""suggestion-service over its own database, driven step by step, and a stand-in for what catalog promises it."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import orjson
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from chassis.core.identity import Identity, Role
from chassis.core.projects import MAIN
from chassis.db.database import Database
from chassis.messaging.bus.in_process import InProcessBus
from chassis.messaging.events import Actor, NewEvent, sequenced
from chassis.messaging.feed import Feed
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Payload
from chassis.web.peers import Peer
from contracts import catalog as told
from contracts.routes import SUGGESTION, ignored_by
from suggestion_service.app import create_app
from suggestion_service.handlers import handlers
from suggestion_service.proposals import reviewing
from suggestion_service.review import acceptance, following, withdrawal
from suggestion_service.review.undoing import Undoing
from suggestion_service.review_model.trainer import Trainer
from suggestion_service.scale import Scales
from suggestion_service.scoring.corpora import Corpora
from suggestion_service.scoring.jobs import ScoringJobs
from suggestion_service.scoring.on_change import ChangeScoring
from suggestion_service.scoring.rescore_sweep import RescoreSweep
from suggestion_service.scoring.run_loop import RunLoop
from suggestion_service.settings import Settings
from suggestion_service.worker import create_worker
from testing import PostgresServer, factories
from testing.feeds import page
from testing.internal import SIGNERS, verifier_of
from testing.service import Json, ServiceClient, ServiceUnderTest, ok

REVIEWER = Identity(id=1, email="reviewer@example.test", role=Role.REVIEWER)
VIEWER = Identity(id=2, email="viewer@example.test", role=Role.VIEWER)
AUTHOR = Actor(7, "author@example.test")


class Catalog:
    """What suggestion-service knows of catalog: its events, its feed, and one link a suggestion."""

    def __init__(self) -> None:
        self.feed: list[bytes] = []
        self.items: dict[uuid.UUID, Json] = {}
        self.links: dict[uuid.UUID, Json] = {}
        self.puts: list[list[Json]] = []
        self.undone: list[list[Json]] = []
        self.touched: set[uuid.UUID] = set()
        self.applied: dict[uuid.UUID, Json] = {}
        self.refusal: Json | None = None
        self.before: Json | None = None
        self.new_target: Json = {}
        self.not_understood: set[uuid.UUID] = set()
        self.answers_with: int | None = None
        self.caller_dies = False
        self.batch_id: uuid.UUID | None = None
        self.app = Starlette(
            routes=[
                Route("/internal/changes", self._changes),
                Route("/internal/links/by-suggestion", self._put_links, methods=["PUT"]),
                Route("/internal/links/undone-by-suggestion", self._undo_links, methods=["PUT"]),
                Route("/internal/proposals/checked", self._check_proposals, methods=["PUT"]),
                Route("/internal/proposals/applied", self._apply_proposals, methods=["PUT"]),
                Route("/internal/proposals/undone", self._take_proposals_back, methods=["PUT"]),
            ]
        )

    def peer(self) -> Peer:
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app=self.app), base_url="http://catalog")
        return Peer("catalog-service", client, SIGNERS[SUGGESTION.name])

    def tell(self, payload: Payload, subject: uuid.UUID, actor: Actor = AUTHOR) -> bytes:
        new = NewEvent(payload, str(subject), actor, batch_id=self.batch_id)
        event = sequenced(len(self.feed) + 1, new.envelope())
        self.feed.append(event)
        return event

    def requirement(self, title: str, description: str | None = None, **fields: Any) -> uuid.UUID:
        state = factories.requirement(**self._new(title, description, fields))
        self.items[state.id] = state.model_dump()
        self.tell(told.RequirementCreated(requirement=state), state.id)
        return state.id

    def test_case(self, title: str, description: str | None = None, **fields: Any) -> uuid.UUID:
        state = factories.test_case(**{"steps": None} | self._new(title, description, fields))
        self.items[state.id] = state.model_dump()
        self.tell(told.TestCaseCreated(test_case=state), state.id)
        return state.id

    def change(self, item_id: uuid.UUID, actor: Actor = AUTHOR, **fields: Any) -> None:
        before = self.items[item_id]
        after = self.items[item_id] = before | fields
        changes = {name: told.Change(before=before[name], after=value) for name, value in fields.items()}
        if "steps" in after:
            state = told.TestCaseState(**after)
            self.tell(told.TestCaseUpdated(test_case=state, changes=changes), item_id, actor)
        else:
            requirement = told.RequirementState(**after)
            self.tell(told.RequirementUpdated(requirement=requirement, changes=changes), item_id, actor)

    def delete(self, item_id: uuid.UUID) -> None:
        state = self.items.pop(item_id)
        if "steps" in state:
            self.tell(told.TestCaseDeleted(test_case=told.TestCaseState(**state)), item_id)
        else:
            self.tell(told.RequirementDeleted(requirement=told.RequirementState(**state)), item_id)

    def link(
        self, requirement_id: uuid.UUID, test_case_id: uuid.UUID, suggestion_id: uuid.UUID | None = None, **fields: Any
    ) -> Json:
        made = factories.link(
            requirement_id=requirement_id,
            test_case_id=test_case_id,
            link_source="manual" if suggestion_id is None else "ai_confirmed",
            **fields,
        ).model_dump()
        self.links[suggestion_id or made["id"]] = made
        self.tell(told.LinkCreated(link=told.LinkState(**made), suggestion_id=suggestion_id), made["id"])
        return made

    @contextmanager
    def importing(self, *, suggest: bool = True) -> Iterator[uuid.UUID]:
        """Let what is told within be changes by an import."""
        import_id = self.batch_id = uuid.uuid4()
        yield import_id
        self.tell(
            told.ImportApplied(
                import_id=import_id, format="csv", file_name=None, sha256=None, counts={}, suggest=suggest
            ),
            import_id,
        )
        self.batch_id = None

    def unlink(self, link: Json) -> None:
        self.tell(told.LinkDeleted(link=told.LinkState(**link)), link["id"])

    def _new(self, title: str, description: str | None, fields: Json) -> Json:
        plain = {"external_id": None, "priority": "medium", "tags": [], "custom_metadata": None}
        text = {"title": title, "description": title if description is None else description}
        now = datetime.now(UTC)
        return plain | text | {"created_by": AUTHOR.email, "created_at": now, "updated_at": now} | fields

    async def _changes(self, request: Request) -> Response:
        if self.answers_with is not None:
            return Response(status_code=self.answers_with)
        after, limit = int(request.query_params["after"]), int(request.query_params["limit"])
        return Response(page(self.feed, after, limit), media_type="application/json")

    async def _put_links(self, request: Request) -> Response:
        accepted = orjson.loads(await request.body())["accepted"]
        self.puts.append(accepted)
        if self.answers_with is not None:
            return JSONResponse({"code": "whatever"}, self.answers_with)
        if any(uuid.UUID(one["suggestion_id"]) in self.not_understood for one in accepted):
            return JSONResponse({"code": "invalid_request"}, 422)
        items = [self._accepted(one) for one in accepted]
        if self.caller_dies:
            raise asyncio.CancelledError
        return JSONResponse({"items": items})

    async def _undo_links(self, request: Request) -> Response:
        undone = orjson.loads(await request.body())["undone"]
        self.undone.append(undone)
        if self.answers_with is not None:
            return JSONResponse({"code": "whatever"}, self.answers_with)
        items = [self._undone(one) for one in undone]
        if self.caller_dies:
            raise asyncio.CancelledError
        return JSONResponse({"items": items})

    async def _check_proposals(self, request: Request) -> Response:
        if self.answers_with is not None:
            return JSONResponse({"code": "whatever"}, self.answers_with)
        proposed = orjson.loads(await request.body())["proposed"]
        fine = {"before": self.before, "target": None, "code": None}
        return JSONResponse({"items": [{**fine, "target": one["target"], **(self.refusal or {})} for one in proposed]})

    async def _apply_proposals(self, request: Request) -> Response:
        if self.answers_with is not None:
            return JSONResponse({"code": "whatever"}, self.answers_with)
        items = []
        for one in orjson.loads(await request.body())["accepted"]:
            if self.refusal is None:
                self.applied.setdefault(uuid.UUID(one["proposal_id"]), one)
            items.append({"made_id": one["proposal_id"], "code": None, **(self.refusal or {})})
        if self.caller_dies:
            raise asyncio.CancelledError
        return JSONResponse({"items": items})

    async def _take_proposals_back(self, request: Request) -> Response:
        items = []
        for one in orjson.loads(await request.body())["undone"]:
            applied = self.applied.get(uuid.UUID(one["proposal_id"]))
            if self.refusal is None and applied is not None:
                assert one["review_id"] == applied["review_id"]
                del self.applied[uuid.UUID(one["proposal_id"])]
            items.append({"target": self.new_target, "code": None, **(self.refusal or {})})
        if self.caller_dies:
            raise asyncio.CancelledError
        return JSONResponse({"items": items})

    def _undone(self, one: Json) -> Json:
        pair = uuid.UUID(one["requirement_id"]), uuid.UUID(one["test_case_id"])
        if pair[0] not in self.items or pair[1] not in self.items:
            return {"code": "requirement_not_found", "link_id": None}
        for key, link in self.links.items():
            if (link["requirement_id"], link["test_case_id"]) == pair:
                if one["link_id"] is None:
                    return {"code": "link_exists", "link_id": str(link["id"])}
                if str(link["id"]) != one["link_id"] or link["id"] in self.touched:
                    return {"code": "link_changed", "link_id": str(link["id"])}
                self.unlink(self.links.pop(key))
                break
        return {"code": None, "link_id": None}

    def _accepted(self, one: Json) -> Json:
        suggestion_id = uuid.UUID(one["suggestion_id"])
        if suggestion_id in self.links:
            return {"link_id": str(self.links[suggestion_id]["id"]), "code": None}
        if one["link_id"] is not None:
            return {"link_id": None, "code": "acceptance_undone"}
        pair = uuid.UUID(one["requirement_id"]), uuid.UUID(one["test_case_id"])
        for name, item_id in zip(("requirement", "test_case"), pair, strict=True):
            if item_id not in self.items:
                return {"link_id": None, "code": f"{name}_not_found"}
        if any((link["requirement_id"], link["test_case_id"]) == pair for link in self.links.values()):
            return {"link_id": None, "code": "link_exists"}
        made = self.link(*pair, suggestion_id, confidence_score=one["confidence_score"], link_type=one["link_type"])
        return {"link_id": str(made["id"]), "code": None}


class Auth:
    """What suggestion-service knows of auth: a feed, in which nothing happens."""

    def __init__(self) -> None:
        self.app = Starlette(routes=[Route("/internal/changes", self._changes)])

    def peer(self) -> Peer:
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app=self.app), base_url="http://auth")
        return Peer("auth-service", client, SIGNERS[SUGGESTION.name])

    async def _changes(self, _: Request) -> Response:
        return JSONResponse({"head": 0, "events": []})


class Service(ServiceUnderTest):
    """suggestion-service, its loops turned by hand; paths are those below /api/v1."""

    def __init__(self, settings: Settings, database: Database, catalog: Catalog) -> None:
        self.peer = catalog.peer()
        super().__init__(create_app(settings, database, verifier_of(SUGGESTION), self.peer), database)
        self.settings = settings
        self.catalog = catalog
        self.http = self.client(REVIEWER)
        self.start()

    def start(self) -> None:
        """Begin as a process begins: with nothing in memory."""
        self.corpora = Corpora(self.database, 2**30)
        self.scales = Scales.of(self.settings)
        self.scoring = ChangeScoring(self.database, self.corpora, self.scales)
        self.rescore_sweep = RescoreSweep(self.database, self.corpora, self.scales)
        self.trainer = Trainer(self.database)
        self.jobs = ScoringJobs(self.database, InProcessBus())
        table = handlers(scales=self.scales, queued=self.jobs.queued)
        self.inbox = Inbox("suggestion", self.database, table, ignored_by("suggestion"))
        self.feed = Feed("catalog", self.peer, self.inbox)
        self.runs = RunLoop(self.database, self.corpora, self.feed, InProcessBus())

    @asynccontextmanager
    async def working(self) -> AsyncIterator[InProcessBus]:
        """A worker as a process runs it; gives the bus that it listens to."""
        bus = InProcessBus()
        worker = create_worker(self.settings, self.database, bus, Auth().peer(), self.peer)
        await bus.start()
        running = asyncio.create_task(worker.run())
        try:
            yield bus
        finally:
            await bus.stop()
            running.cancel()
            await asyncio.wait([running])

    async def follow(self) -> None:
        """Receive everything that catalog has told."""
        await self.inbox.receive(self.catalog.feed)

    async def score(self) -> None:
        """Follow catalog and score what is queued."""
        await self.follow()
        while await self.scoring.score_waiting():
            pass

    async def generate(self, **params: Any) -> Json:
        """Ask for a run, work it off, and return it as it is then."""
        response = await self.http.post("/suggestions/generate", params=params, headers={"Prefer": "respond-async"})
        run = ok(response, 202)
        while await self.runs.work_off_next():
            pass
        return await self.read(f"/suggestions/runs/{run['id']}")

    async def read(self, path: str, **params: Any) -> Json:
        return await self.http.read(path, **params)

    async def suggestions(self, **params: Any) -> list[Json]:
        return (await self.read("/suggestions", **params))["items"]

    async def pair(self, text: str = "the pump stops when the tank is full") -> Json:
        """The pending suggestion of a new pair with this text."""
        requirement_id = self.catalog.requirement(text)
        self.catalog.test_case(text)
        await self.score()
        (found,) = await self.suggestions(requirement_id=str(requirement_id), status="pending")
        return found

    async def post(self, path: str, body: Any = None, status: int = 200) -> Json:
        return ok(await self.http.post(path, **({} if body is None else {"json": body})), status)

    async def reconcile(self) -> None:
        """Finish acceptances, and what is undone, as if their patience were over."""
        for intents in ("accept_intents", "undo_intents", "proposal_intents"):
            await self.rows(f"UPDATE {intents} SET due_at = now()")
        await acceptance.reconcile(self.database, self.peer)
        await reviewing.reconcile(self.database, self.peer)
        await Undoing(self.database, self.peer, self.scales).reconcile()

    async def withdraw_old(self) -> None:
        await withdrawal.withdraw_old(self.database)
        await following.end_old(self.database)

    @asynccontextmanager
    async def stalling_after(
        self, number: int, change: str = "INSERT", such: str = "true"
    ) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Let nobody store suggestions once there are so many, until the block ends; gives what waits for that.

        Or nobody change any, with `UPDATE`, once there are so many of a kind.
        """
        await self.rows(
            "CREATE OR REPLACE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF (SELECT count(*) FROM suggestions WHERE {such}) >= {number}"
            " THEN PERFORM pg_advisory_xact_lock(4711); END IF; RETURN NULL; END $$"
        )
        await self.rows(
            f"CREATE OR REPLACE TRIGGER stall BEFORE {change} ON suggestions"
            " FOR EACH STATEMENT EXECUTE FUNCTION stall()"
        )

        async def stalled() -> None:
            waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"
            await wait_for(lambda: self.rows(waiting))

        async with self.database.transaction() as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(4711)")
            yield stalled


async def wait_for(look: Callable[[], Awaitable[Any]]) -> Any:
    """Look until there is something to see, and return that."""
    for _ in range(1000):
        if seen := await look():
            return seen
        await asyncio.sleep(0.02)
    raise AssertionError("It did not come.")


@pytest.fixture
def eventually() -> Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]:
    return wait_for


@pytest.fixture
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture
async def serve(postgres: PostgresServer, catalog: Catalog) -> AsyncIterator[Callable[..., Awaitable[Service]]]:
    """Gives a service with these settings."""
    async with AsyncExitStack() as databases:

        async def make(project: str = MAIN, **settings: Any) -> Service:
            opened = postgres.opened("suggestion_service", project=project, pool_size=10)
            database = await databases.enter_async_context(opened)
            given = Settings(database_url=database.url, **settings)
            return Service(given, database, catalog)

        yield make


@pytest.fixture
async def service(serve: Callable[..., Awaitable[Service]]) -> Service:
    return await serve()


@pytest.fixture
def viewer(service: Service) -> ServiceClient:
    return service.client(VIEWER)
