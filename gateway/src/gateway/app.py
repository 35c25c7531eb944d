"""The gateway's ASGI app: its own few addresses, and everything else through the proxy."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.core.internal_tokens import GATEWAY, InternalSigner
from chassis.core.problems import MethodNotAllowed, Unavailable
from chassis.core.request_context import GATEWAY_HEADER, HEADER, gateway_request_id, request_id
from chassis.core.settings import CallingSettings, read
from chassis.server.app import app_of
from chassis.server.process import Process, run
from chassis.server.process.settings import addresses
from chassis.server.worker import Worker
from chassis.web.edge import Edge, Headers
from chassis.web.peers import Peer
from chassis.web.query_names import QueryNames
from chassis.web.responses import answer, etag
from contracts.routes import AUTH, SERVICES
from gateway import tracing
from gateway.auth.credentials import Credentials
from gateway.auth.cross_site import CrossSite
from gateway.auth.hosts import Hosts
from gateway.auth.verifier import TokenVerifier
from gateway.documentation import page as documentation
from gateway.documentation.merging import VERSION_PATH
from gateway.documentation.page import ASSETS_PATH, OPENAPI_PATH, Documentation
from gateway.health import Services
from gateway.mcp import door as mcp
from gateway.mcp.door import Door
from gateway.page import ASSETS, Page, is_of_page
from gateway.routing import head, headers
from gateway.routing.compression import compressing
from gateway.routing.cors import Cors
from gateway.routing.limits import Limits
from gateway.routing.notices import TELL_EVERY, Notices
from gateway.routing.proxy import Proxy
from gateway.routing.security_headers import SecurityHeaders
from gateway.routing.versions import route_of
from gateway.session import endpoints as session
from gateway.session.auth_service import AuthService
from gateway.session.endpoints import Sessions
from gateway.session.schemas import DemoAccount
from gateway.session.single_sign_on import PATHS as SINGLE_SIGN_ON
from gateway.session.single_sign_on import SingleSignOn
from gateway.settings import Settings
from gateway.upstream.client import Upstream

_SERVICES = [service.name for service in SERVICES]
_NO_PARAMETERS = QueryNames(())
_OPENAPI_AT_ROOT = "/openapi.json"
"""Where tools look for the document by themselves."""
_DOCUMENTATION = frozenset({"/docs", OPENAPI_PATH, _OPENAPI_AT_ROOT})
_SESSION = frozenset({session.PATH, f"{session.PATH}/renew"})
_OWN = frozenset({"/healthz", "/livez", "/readyz", VERSION_PATH}) | _DOCUMENTATION | _SESSION
_API = "/api/"
_TELL_USE_EVERY = 60
_STORAGE_FULL = (
    "Nothing can be stored, since the volume of the database is full; what is there is served. Free space on that"
    " volume: it goes on by itself."
)


class Gateway(Edge):
    """The only public address.

    Its own addresses are `/healthz` (503 unless every service is ready; degraded, with the reason, while one of them
    cannot store anything), `/livez`, `/readyz` (503 while it lets no request pass; a balancer must not take it out for
    one service), the version, `/docs`, the merged OpenAPI document, `/session`, `/mcp` for agents, and the web page
    with its files at `/`, `/assets/` and `/p/`.
    """

    def __init__(
        self,
        settings: Settings,
        proxy: Proxy,
        sessions: Sessions,
        services: Mapping[str, Peer],
        page: Page,
    ) -> None:
        super().__init__(self._answer, _route_of, self._complete, is_gateway=True)
        self.notices = proxy.notices
        """To be left at the end, once the worker has stopped: they tell what they still have."""
        self._proxy = proxy
        self._credentials = sessions.credentials
        self._verifier = sessions.verifier
        self._sessions = app_of("gateway", [session.router], {"sessions": sessions})
        self._single_sign_on = SingleSignOn(proxy, sessions.credentials, sessions.verifier)
        self._page = page
        self._services = Services(services)
        self._documentation = Documentation(services)
        self._docs_setting = settings.docs
        self._hosts = Hosts(settings.public_url)
        self._cors = Cors(settings.cors_allowed_origins)
        self._mcp = None
        if settings.mcp == "on":
            self._mcp = Door(proxy, CrossSite(settings.public_url), self._cors, settings.public_url)
        self._security = SecurityHeaders(https=(settings.public_url or "").startswith("https:"))
        self._own: dict[str, Callable[[], Awaitable[Response]]] = {
            "/healthz": self._health,
            "/livez": self._live,
            "/readyz": self._ready,
            VERSION_PATH: self._version,
            "/docs": self._docs,
            OPENAPI_PATH: self._openapi,
            _OPENAPI_AT_ROOT: self._lead_to_openapi,
        }
        if settings.docs == "off":
            for path in _DOCUMENTATION:
                del self._own[path]

    def _answer(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # No coroutine of its own: every request comes through here.
        if scope["method"] == "HEAD":
            if scope["path"] in SINGLE_SIGN_ON:  # where GET begins a sign-in, or ends it
                raise MethodNotAllowed("HEAD", ("GET",), only_reads=False)
            return head.of_get(self._answer, scope, receive, send)
        incoming = headers.read(scope["headers"])
        self._hosts.check(incoming.sent[b"host"])
        preflight = self._cors.preflight(scope)
        if preflight is not None:
            return preflight(scope, receive, send)
        path: str = scope["path"]
        if path in SINGLE_SIGN_ON:
            return self._single_sign_on.answer(scope, incoming, receive, send)
        if path in _SESSION:
            return self._answer_session(incoming, scope, receive, send)
        own = self._own.get(path)
        if own is not None:
            return self._answer_own(own, incoming, scope, receive, send)
        if not path.startswith(_API):
            if self._mcp is not None and mcp.is_here(path):
                return self._mcp.answer(scope, incoming, receive, send)
            if path.startswith(ASSETS_PATH) and self._docs_setting != "off":
                _check_get(scope)
                send = compressing(path, incoming.sent, send)
                return documentation.assets({**scope, "root_path": ASSETS_PATH}, receive, send)
            if self._page.is_here(path):
                _check_get(scope)
                return self._page.answer(path, incoming.sent)(scope, receive, send)
        return self._proxy.forward(scope, incoming, receive, send)

    async def _answer_own(
        self,
        own: Callable[[], Awaitable[Response]],
        incoming: headers.Incoming,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        _check_get(scope)
        if scope["query_string"]:
            _NO_PARAMETERS.check(scope["query_string"])
        if self._docs_setting == "signed-in" and scope["path"] in _DOCUMENTATION:
            await self._verifier.identify(self._credentials.token(scope, incoming.sent))
        await (await own())(scope, receive, compressing(scope["path"], incoming.sent, send))

    async def _answer_session(self, incoming: headers.Incoming, scope: Scope, receive: Receive, send: Send) -> None:
        self._credentials.check_own_page(scope, incoming.sent)
        ids = [(HEADER, request_id.get().encode()), (GATEWAY_HEADER, gateway_request_id.get().encode())]
        bounded = self._proxy.bounded(incoming, receive)
        await self._sessions({**scope, "headers": [*scope["headers"], *ids]}, bounded, send)

    async def check_ready(self) -> None:
        """Raise Unavailable, naming who is not ready, unless everything is."""
        health = await self._services.health()
        services = dict(health.services)
        if not await self._verifier.revocations.has_news():
            services["gateway"] = "away"
        away = [name for name, state in services.items() if state == "away"]
        if away and not (away == ["gateway"] and health.full):  # which then hears nothing of a service without room
            raise Unavailable(
                f"Not ready: {', '.join(away)}.",
                code="not_ready",
                members={"services": services, "version": health.version},
            )

    async def _live(self) -> Response:
        return answer({"status": "ok"})

    async def _ready(self) -> Response:
        if not await self._verifier.revocations.has_news():
            raise Unavailable("Not ready: gateway.", code="not_ready")
        return answer({"status": "ok"})

    async def _health(self) -> Response:
        await self.check_ready()
        health = await self._services.health()
        told: dict[str, Any] = {"status": "ok", "services": health.services, "version": health.version}
        if health.full:
            told |= {"status": "degraded", "reason": f"{_STORAGE_FULL} Without room are: {', '.join(health.full)}."}
        return answer(told)

    async def _version(self) -> Response:
        return answer((await self._services.health()).version)

    async def _docs(self) -> Response:
        return Response(documentation.HTML, headers=documentation.PAGE_HEADERS, media_type="text/html")

    async def _openapi(self) -> Response:
        content = await self._documentation.document()
        return Response(content, headers={"ETag": etag(content)}, media_type="application/json")

    async def _lead_to_openapi(self) -> Response:
        return RedirectResponse(OPENAPI_PATH)

    def _complete(self, scope: Scope, answered: Headers, id_: str) -> Headers:
        added = (*self._security.missing_in(answered, scope), *self._cors.headers(scope))
        if HEADER in dict(answered):  # from the service
            return [*answered, *added]
        return [*answered, *added, (HEADER, id_.encode())]


def _check_get(scope: Scope) -> None:
    if scope["method"] != "GET":
        raise MethodNotAllowed(scope["method"], ("GET",))


def _route_of(scope: Scope) -> str | None:
    return route_of(scope["path"])


def create_gateway(
    settings: Settings,
    services: Mapping[str, ASGIApp],
    peers: Mapping[str, Peer],
    signer: InternalSigner,
    demo: DemoAccount | None = None,
    *,
    patience: float = 0,
    at_hand: bool = False,
) -> tuple[Gateway, Worker]:
    """Return the gateway and the worker that keeps its knowledge of users fresh.

    `services` answer the public requests; `peers` are the same services for the gateway's own questions; both by
    name. `demo` is shown to whoever opens the page: no setting makes it, so that no deployment can have one.
    `patience`: for how many seconds requests wait while the gateway hears nothing of users; `at_hand`: the services are
    in this process.
    """
    verifier = TokenVerifier(peers[AUTH.name], patience=patience, at_hand=at_hand)
    worker = Worker()
    worker.add("gateway access", verifier.run)
    worker.every("gateway use of tokens", _TELL_USE_EVERY, verifier.report_use)
    notices = Notices(peers[AUTH.name])
    worker.every("gateway notices for the audit log", TELL_EVERY, notices.tell)
    credentials = Credentials(settings.public_url)
    proxy = Proxy(
        services,
        credentials,
        verifier,
        signer,
        timeout=settings.gateway_timeout_seconds,
        max_body_bytes=settings.gateway_max_body_bytes,
        limits=Limits.of(
            user=settings.rate_limit_user, token=settings.rate_limit_token, address=settings.rate_limit_address
        ),
        notices=notices,
    )
    sessions = Sessions(AuthService(proxy), credentials, verifier, demo)
    return Gateway(settings, proxy, sessions, peers, Page()), worker


async def _compose(process: Process) -> ASGIApp:
    settings = read(Settings)
    signer = read(CallingSettings).signer(GATEWAY)
    upstreams = {
        name: tracing.of_calls(
            name, await process.open(Upstream(name, url, process.believes, patience=process.patience))
        )
        for name, url in process.urls(_SERVICES).items()
    }
    peers = {peer.name: peer for peer in process.peers(_SERVICES, GATEWAY)}
    gateway, worker = create_gateway(settings, upstreams, peers, signer, patience=process.patience)
    await process.open(gateway.notices)
    await process.use(worker)
    return tracing.of_requests(gateway)


def measured_as(scope: Scope) -> str | None:
    """Return what stands for the address of a request in the metrics: the gateway knows no more of a route."""
    path: str = scope["path"]
    if path in _OWN:
        return path
    if mcp.is_here(path):
        return mcp.PATH
    for files in (ASSETS_PATH, ASSETS):
        if path.startswith(files):
            return files
    return "/" if is_of_page(path) else route_of(path)


if __name__ == "__main__":
    run(GATEWAY, _compose, Settings, addresses(_SERVICES), CallingSettings, route_of=measured_as)
