"""What stands behind a gateway under test: an auth-service of a few routes, and services that tell what came."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import httpx
import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fastapi import FastAPI, Form, Request, Response
from fastapi.responses import StreamingResponse
from servers import serving
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.core.identity import Identity
from chassis.core.internal_tokens import GATEWAY
from chassis.core.problems import Forbidden, Problem, TooManyRequests, Unauthenticated
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.payloads import Payload
from chassis.web.event_stream import EventStream, event
from chassis.web.peers import Peer
from chassis.web.rendering import render
from contracts import tokens
from contracts.routes import AUTH, SERVICES
from gateway.app import Gateway
from gateway.auth.credentials import Credentials
from gateway.auth.verifier import TokenVerifier
from gateway.page import Page
from gateway.routing.limits import Limits
from gateway.routing.notices import Notices
from gateway.routing.proxy import Proxy
from gateway.session.auth_service import AuthService
from gateway.session.endpoints import Sessions
from gateway.session.schemas import DemoAccount
from gateway.settings import Settings
from gateway.upstream.client import Upstream
from testing.internal import SIGNERS, trusting

NO_PAGE = Path(__file__).parent / "no page was built here"
PASSWORD = "correct horse battery"
MAIN_PROJECT = {"key": "MAIN", "visibility": "open", "archived": False, "members": {}}


@dataclass
class Issuer:
    """Signs user tokens and tells what happens to users, as auth-service does."""

    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    key_id: str = "k1"
    events: list[bytes] = field(default_factory=list)
    pruned: int = 0
    ended_tokens: list[dict[str, Any]] = field(default_factory=list)
    key_requests: int = 0
    ready_requests: int = 0
    away: bool = False
    owners: list[dict[str, Any]] = field(default_factory=list)
    api_tokens: list[dict[str, Any]] = field(default_factory=list)
    projects: list[dict[str, Any]] = field(default_factory=lambda: [MAIN_PROJECT])
    next_event: Any = None
    """What a request to make a project or an API token leads to."""
    used: list[dict[str, Any]] = field(default_factory=list)
    """What was told of the use of tokens."""
    noticed: list[dict[str, Any]] = field(default_factory=list)
    """What was told for the audit log."""
    came: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """The public requests that it got: address and headers."""

    def token(self, user_id: int = 7, role: str = "reviewer", kind: str | None = tokens.TYPE, **changed: Any) -> str:
        now = time.time()
        claims = {
            "iss": tokens.ISSUER,
            "aud": tokens.AUDIENCE,
            "sub": str(user_id),
            "role": role,
            "email": f"u{user_id}@traceline.test",
            "iat": now,
            "exp": int(now) + 600,
            "jti": uuid.uuid4().hex,
        } | changed
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(claims, self.key, algorithm="EdDSA", headers={"kid": self.key_id, "typ": kind})

    def tell(self, payload: Payload) -> None:
        envelope = NewEvent(payload, "1", SYSTEM).envelope()
        self.events.append(sequenced(len(self.events) + 1, envelope))

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.middleware("http")
        async def refuse_when_away(request: Request, call_next: Any) -> Response:
            if self.away:
                return Response(status_code=503)
            response: Response = await call_next(request)
            return response

        @app.get("/api/v1/auth/jwks.json")
        async def keys() -> dict[str, Any]:
            self.key_requests += 1
            key = orjson.loads(jwt.algorithms.OKPAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [key | {"kid": self.key_id, "alg": "EdDSA", "use": "sig"}]}

        @app.post("/api/v1/auth/login")
        async def log_in(request: Request, username: Annotated[str, Form()], password: Annotated[str, Form()]) -> Any:
            self.came.append((request.url.path, dict(request.headers)))
            if username.startswith("locked"):
                return render(TooManyRequests("Too many.", retry_after=77), request.scope)
            if username.startswith("inactive"):
                return render(Forbidden("This account is not active.", code="account_inactive"), request.scope)
            if password != PASSWORD:
                return render(Unauthenticated("It is wrong.", code="invalid_credentials"), request.scope)
            return {"access_token": self.token(email=username), "token_type": "bearer", "expires_in": 600}

        @app.post("/api/v1/auth/renew")
        async def renew(request: Request) -> dict[str, Any]:
            self.came.append((request.url.path, dict(request.headers)))
            return {"access_token": self.token(), "token_type": "bearer", "expires_in": 600}

        @app.post("/api/v1/auth/logout")
        async def log_out(request: Request) -> Response:
            self.came.append((request.url.path, dict(request.headers)))
            return Response(status_code=204)

        @app.get("/api/v1/auth/me")
        async def me(request: Request) -> dict[str, Any]:
            self.came.append((request.url.path, dict(request.headers)))
            return {"id": 7, "email": "u7@traceline.test", "full_name": "U", "role": "reviewer", "is_active": True}

        @app.get("/internal/access-changes")
        async def access_changes() -> dict[str, Any]:
            return {
                "head": len(self.events),
                "users": self.owners,
                "ended_tokens": self.ended_tokens,
                "api_tokens": self.api_tokens,
            }

        @app.post("/api/v1/projects")
        @app.post("/api/v1/auth/tokens")
        async def make(request: Request) -> dict[str, Any]:
            self.tell(self.next_event)
            return {}

        @app.get("/internal/projects")
        async def projects() -> dict[str, Any]:
            return {"projects": self.projects}

        @app.put("/internal/access-use")
        async def use(request: Request) -> Response:
            self.used.append(await request.json())
            return Response(status_code=204)

        @app.put("/internal/access-notices")
        async def take(request: Request) -> Response:
            self.noticed.append(await request.json())
            return Response(status_code=204)

        @app.get("/internal/changes")
        async def changes(after: int, limit: int) -> Response:
            page = b",".join(self.events[max(after, self.pruned) : after + limit])
            return Response(b'{"head":%d,"pruned":%d,"events":[%s]}' % (len(self.events), self.pruned, page))

        @app.get("/readyz")
        async def ready() -> dict[str, str]:
            self.ready_requests += 1
            return {"status": "ok", "schema": "0003"}

        return app


def telling_app(ended: asyncio.Event | None = None) -> ASGIApp:
    """A service that answers with what reached it, sleeps at .../slow and fails at .../crash.

    At .../endless and /events it answers until it is stopped, and then sets `ended`. At /imports/inspect it takes
    nothing until somebody sets that.
    """
    app = FastAPI()

    @app.get("/api/v1/links/endless")
    async def tell_on() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x" * 1000
                    await asyncio.sleep(0)
            finally:
                if ended is not None:
                    ended.set()

        return StreamingResponse(parts())

    @app.get("/api/v1/events")
    async def follow(request: Request) -> EventStream:
        async def chunks() -> AsyncGenerator[bytes, None]:
            try:
                position = int(request.headers.get("last-event-id", 0))
                while True:
                    position += 1
                    yield event(position, "told", b"{}")
                    await asyncio.sleep(0.01)
            finally:
                if ended is not None:
                    ended.set()

        return EventStream(chunks())

    @app.exception_handler(Problem)
    async def answer_problem(request: Request, problem: Problem) -> Response:
        return render(problem, request.scope)

    @app.get("/readyz")
    async def ready() -> dict[str, str]:
        return {"status": "ok", "schema": "0007"}

    @app.post("/api/v1/links/made")
    async def make(response: Response) -> dict[str, Any]:
        response.status_code = 201
        response.headers["Location"] = "/api/v1/links/7"
        response.headers["Link"] = '</api/v1/links?after=x>; rel="next", </api/v1/links?skip=0>; rel="prev"'
        return {}

    @app.post("/api/v1/imports")
    async def take(request: Request) -> dict[str, int]:
        return {"body_length": sum([len(part) async for part in request.stream()])}

    @app.post("/api/v1/imports/inspect")
    async def take_later(request: Request) -> dict[str, int]:
        if ended is not None:
            await ended.wait()
        return await take(request)

    @app.get("/api/v1/exports")
    async def export() -> Response:
        return Response(b"id", headers={"Content-Disposition": 'attachment; filename="record.csv"'})

    @app.post("/api/v1/links/forbidden")
    async def forbid() -> Response:
        raise Forbidden("This needs the role admin.", code="role_too_low")

    @app.api_route("/api/v1/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    async def tell(request: Request) -> dict[str, Any]:
        if "slow" in request.url.path:
            await asyncio.sleep(60)
        body = await request.body()
        return {"path": request.url.path, "headers": request.headers.items(), "body_length": len(body)}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].endswith("crash"):
            raise RuntimeError("secret detail")
        await app(scope, receive, send)

    return answer


def identity_of(internal: str) -> Identity:
    """Return whom a token of the gateway names to the service that it is for."""
    service: str = jwt.decode(internal, options={"verify_signature": False})["aud"]
    return trusting(service).verify(internal)


@dataclass
class Running:
    """A gateway under test."""

    client: httpx.AsyncClient
    issuer: Issuer
    verifier: TokenVerifier
    gateway: Gateway
    endless: asyncio.Event
    notices: Notices
    watching: asyncio.Task[None]
    """What reads the news of users."""

    async def get(self, path: str, token: str | None = None, **parts: Any) -> httpx.Response:
        headers = parts.pop("headers", {})
        if token is not None:
            headers = {**headers, "Authorization": f"Bearer {token}"}
        return await self.client.request(parts.pop("method", "GET"), path, headers=headers, **parts)


@asynccontextmanager
async def running_gateway(
    *,
    deployed: bool = False,
    patience: float = 10,
    news_patience: float = 0,
    at_hand: bool = False,
    static: Path = NO_PAGE,
    demo: DemoAccount | None = None,
    projects: Sequence[dict[str, Any]] = (MAIN_PROJECT,),
    **settings: Any,
) -> AsyncIterator[Running]:
    """Run a gateway before services in its own process, or behind a server each when `deployed`.

    `static`: the folder of the built page; `news_patience`: for how long requests wait for news of users.
    """
    issuer = Issuer(projects=[*projects])
    endless = asyncio.Event()
    signer = SIGNERS[GATEWAY]
    apps: dict[str, ASGIApp] = {
        service.name: issuer.app() if service is AUTH else telling_app(endless) for service in SERVICES
    }
    async with AsyncExitStack() as stack:
        services = apps
        if deployed:
            services = {}
            for name, app in apps.items():
                address = await stack.enter_async_context(serving(app))
                services[name] = await stack.enter_async_context(Upstream(name, address))
        clients = {
            name: httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service")
            for name, app in apps.items()
        }
        for client in clients.values():
            await stack.enter_async_context(client)
        peers = {name: Peer(name, client, signer) for name, client in clients.items()}
        verifier = TokenVerifier(peers[AUTH.name], patience=news_patience, at_hand=at_hand)
        read = Settings(**settings)
        credentials = Credentials(read.public_url)
        limits = Limits.of(user=read.rate_limit_user, token=read.rate_limit_token, address=read.rate_limit_address)
        notices = Notices(peers[AUTH.name])
        proxy = Proxy(
            services,
            credentials,
            verifier,
            signer,
            timeout=patience,
            max_body_bytes=1000,
            limits=limits,
            notices=notices,
        )
        sessions = Sessions(AuthService(proxy), credentials, verifier, demo)
        gateway = Gateway(read, proxy, sessions, peers, Page(static))
        watching = asyncio.create_task(verifier.run())
        stack.callback(watching.cancel)
        async with asyncio.timeout(120):
            while not verifier.revocations.is_fresh():  # noqa: ASYNC110 - this is what a caller would see
                await asyncio.sleep(0.01)
        transport = httpx.ASGITransport(app=gateway)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield Running(client, issuer, verifier, gateway, endless, notices, watching)
