"""The door at `/mcp`: who may come in, in what form, and what is said of it to clients that look for a way in."""

import re
from collections.abc import Mapping

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from chassis.core.identity import Identity
from chassis.core.problems import Forbidden, MethodNotAllowed, NotFound, Problem, Unauthenticated, UnsupportedMediaType
from chassis.core.projects import NONE
from chassis.core.request_context import actor_id
from chassis.core.wording import NO_ADDRESS
from chassis.web.responses import answer
from contracts.projects import KEY
from contracts.routes import AUTH
from gateway.auth.cross_site import CrossSite
from gateway.mcp import protocol
from gateway.mcp.methods import Methods
from gateway.mcp.protocol import Call, Fault, Json
from gateway.mcp.record import Record
from gateway.routing.cors import Cors
from gateway.routing.headers import Incoming
from gateway.routing.proxy import Proxy
from gateway.routing.versions import Address, Version

PATH = "/mcp"
METADATA = "/.well-known/oauth-protected-resource"
_OF_PROJECT = re.compile(rf"{PATH}/projects/({KEY.pattern})")
_ADDRESS = Address(Version("/", {}), AUTH, PATH[1:], PATH[1:], NONE)
"""How the audit log names where a token was refused."""
_NO_STORE = {"Cache-Control": "no-store"}
_JSON = b"application/json"


class Door:
    """Answers everything at `/mcp`, `/mcp/projects/{key}` and where RFC 9728 has clients look for what these need.

    A token in the header Authorization is the only way in: no cookie is read, so no page of others can use one.
    """

    def __init__(self, proxy: Proxy, cross_site: CrossSite, cors: Cors, public_url: str | None) -> None:
        self._proxy = proxy
        self._cross_site = cross_site
        self._cors = cors
        self._public_url = public_url

    async def answer(self, scope: Scope, incoming: Incoming, receive: Receive, send: Send) -> None:
        """Answer one request; raise the Problem that it meets before it is a message of the protocol."""
        path: str = scope["path"]
        about = path.removeprefix(METADATA) if path.startswith(METADATA) else path
        found = _OF_PROJECT.fullmatch(about)
        if about != PATH and found is None:
            raise NotFound(NO_ADDRESS, code="route_not_found")
        if about is not path:
            response = self._metadata(scope, incoming, about)
        else:
            response = await self._message(scope, incoming, receive, found[1] if found else None)
        await response(scope, receive, send)

    def _metadata(self, scope: Scope, incoming: Incoming, path: str) -> Response:
        if scope["method"] != "GET":
            raise MethodNotAllowed(scope["method"], ("GET",))
        here = self._here(scope, incoming)
        return answer(
            {
                "resource": f"{here}{path}",
                "resource_name": "Traceline",
                "resource_documentation": f"{here}/docs",
                "bearer_methods_supported": ["header"],
            }
        )

    async def _message(self, scope: Scope, incoming: Incoming, receive: Receive, project: str | None) -> Response:
        if scope["method"] != "POST":
            raise MethodNotAllowed(scope["method"], ("POST",))
        sent = incoming.sent
        self._check_origin(scope, sent)
        _check_form(incoming)
        token, identity = await self._let_in(scope, incoming)
        actor_id.set(identity.id)
        body = await _read(self._proxy.bounded(incoming, receive))
        call: Call | None = None
        try:
            call = protocol.read(body, sent)
            if call is None:
                return Response(status_code=202, headers=_NO_STORE)
            agent = sent.get(b"user-agent", b"")

            def record_of(key: str | None, client: str | None) -> Record:
                return Record(self._proxy, scope, token, client.encode() if client else agent, key)

            message = call.answer(await Methods(record_of, project).answer(call))
        except Fault as fault:
            return _faulty(fault, call)
        except Unauthenticated as problem:
            raise self._with_way_in(problem, scope, incoming) from None
        return Response(orjson.dumps(message, option=orjson.OPT_UTC_Z), 200, _NO_STORE, "application/json")

    async def _let_in(self, scope: Scope, incoming: Incoming) -> tuple[str, Identity]:
        try:
            return await self._proxy.let_in(scope, incoming, _ADDRESS)
        except Unauthenticated as problem:
            raise self._with_way_in(problem, scope, incoming) from None

    def _with_way_in(self, problem: Problem, scope: Scope, incoming: Incoming) -> Problem:
        where = f"{self._here(scope, incoming)}{METADATA}{scope['path']}"
        problem.headers["WWW-Authenticate"] = f'Bearer resource_metadata="{where}"'
        return problem

    def _here(self, scope: Scope, incoming: Incoming) -> str:
        return self._public_url or f"{scope.get('scheme', 'http')}://{incoming.sent[b'host'].decode('latin-1')}"

    def _check_origin(self, scope: Scope, sent: Mapping[bytes, bytes]) -> None:
        """Raise Forbidden for what a page of another site has a browser send."""
        origin = sent.get(b"origin")
        if origin is None or self._cors.allows(origin):
            return
        if not self._cross_site.is_own(origin, scope.get("scheme", "http"), sent[b"host"]):
            raise Forbidden(
                "Pages of other origins may not call this; name theirs in CORS_ALLOWED_ORIGINS if they are to.",
                code="cross_site_request",
            )


def is_here(path: str) -> bool:
    """Check whether an address is one that clients of the protocol ask."""
    return path == PATH or path.startswith((f"{PATH}/", METADATA))


def _check_form(incoming: Incoming) -> None:
    headers = dict(incoming.forwarded)
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != _JSON:
        raise UnsupportedMediaType("Messages are sent as Content-Type: application/json.")


def _faulty(fault: Fault, call: Call | None) -> Response:
    if call is not None:
        fault.id = call.id
    # What clients of the era before understand stands in the message alone, once it could be read.
    status = 200 if call is not None and not call.is_stateless else fault.status
    message: Json = fault.answer()
    return Response(orjson.dumps(message), status, _NO_STORE, "application/json")


async def _read(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)
