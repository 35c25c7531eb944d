"""The way of every request through the gateway to a service."""

import asyncio
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.core.identity import ANONYMOUS, Identity
from chassis.core.internal_tokens import InternalSigner
from chassis.core.problems import (
    Forbidden,
    MalformedBody,
    NotFound,
    Problem,
    TimedOut,
    Unauthenticated,
    Unavailable,
)
from chassis.core.request_context import GATEWAY_HEADER, HEADER, PATH_HEADER, actor_id, gateway_request_id, request_id
from chassis.core.turns import let_others_in
from chassis.core.wording import NO_ADDRESS
from chassis.web.body_limits import bounded, bounded_file
from gateway.auth import bearer
from gateway.auth.credentials import Credentials
from gateway.auth.verifier import TokenVerifier
from gateway.routing import badges
from gateway.routing.compression import begun
from gateway.routing.headers import Incoming
from gateway.routing.limits import Limits, Told
from gateway.routing.notices import LOOKED_AT, Asked, Notices
from gateway.routing.streams import Streams
from gateway.routing.versions import VALUES, Address, find, without_project

_log = logging.getLogger(__name__)
_HIDDEN = re.compile(rb"%(2f|5c|2e|00)|\\|//|/\.{1,2}(/|$)", re.IGNORECASE)
"""What makes a path mean one thing here and another behind: encoded or doubled separators, dot segments, NUL."""
_HIDDEN_IN_VALUE = re.compile(rb"\0|(^|[/\\])\.{1,2}([/\\]|$)")
"""The same of a value at the end of a path, decoded: what somebody on the way might take for a step out of it."""


class Proxy:
    """Sends a request to the service that answers it, as the caller that its token proves.

    A service is an ASGI app: the service itself within one process, or a client of one elsewhere.
    """

    def __init__(
        self,
        services: Mapping[str, ASGIApp],
        credentials: Credentials,
        verifier: TokenVerifier,
        signer: InternalSigner,
        *,
        timeout: float,
        max_body_bytes: int,
        limits: Limits,
        notices: Notices,
    ) -> None:
        """`timeout`: seconds that a service has to take the next part of a body, and then to begin its answer.

        How slowly a caller may send is the server's to say (`chassis.server.protocol`).
        """
        self._services = services
        self._credentials = credentials
        self._verifier = verifier
        self._signer = signer
        self._timeout = timeout
        self._max_body_bytes = max_body_bytes
        self._limits = limits
        self.notices = notices
        self._streams = Streams(verifier)

    async def forward(self, scope: Scope, incoming: Incoming, receive: Receive, send: Send) -> None:
        """Answer one request; raise the Problem that it meets before the service has begun to answer."""
        address = _found(scope)
        in_address = None
        if address.resource == badges.RESOURCE:
            scope, in_address = badges.take_token(scope)
        forwarded = incoming.forwarded
        forwarded.append((HEADER, request_id.get().encode()))
        forwarded.append((GATEWAY_HEADER, gateway_request_id.get().encode()))
        client = scope.get("client")
        address_of_caller = client[0] if client else "unknown"
        forwarded.append((b"x-forwarded-for", address_of_caller.encode()))
        agent = incoming.sent.get(b"user-agent", b"")
        method = scope["method"]
        identity: Identity | None = None
        access_token = ""
        try:
            if address.is_public(method):
                limit_headers = self._limits.take_unknown(address_of_caller)
                identity = ANONYMOUS  # only so that the service believes where they are
            else:
                try:
                    access_token = in_address or self._credentials.token(scope, incoming.sent)
                    identity = await self._verifier.permit(
                        access_token,
                        method,
                        address.path,
                        address.project,
                        writes=address.writes(method),
                        in_address=in_address is not None,
                    )
                    identity = replace(identity, at_page=b"authorization" not in incoming.sent)
                except Unauthenticated:
                    self._limits.take_unknown(address_of_caller)  # who guesses tokens gets no more answers than that
                    raise
                limit_headers = self._limits.take_known(identity)
                actor_id.set(identity.id)
                self._verifier.seen(identity, address_of_caller, agent)
                if not identity.session_id:
                    self.notices.used(identity, address_of_caller, agent)
        except Problem as problem:
            if identity is None and isinstance(problem, (Forbidden, NotFound)):
                identity = await self._holder(access_token)
            self.notices.refused(problem, Asked(scope, address, identity, agent))
            if address.resource == badges.RESOURCE and isinstance(problem, (Unauthenticated, Forbidden, NotFound)):
                raise badges.hide_badge() from None
            raise
        asked = Asked(scope, address, identity, agent)
        token = self._signer.sign(identity, address.service.name)
        forwarded.append((b"authorization", b"Bearer " + token.encode()))
        if address.takes_file:
            receive = bounded_file(receive, incoming.content_length)
        else:
            receive = self.bounded(incoming, receive)
        scope = {**scope, "headers": forwarded}
        if address.taken_off:
            forwarded.append((PATH_HEADER, scope["raw_path"]))
            scope["path"] = address.version.prefix + address.path
            scope["raw_path"] = without_project(scope["raw_path"])[1]
        if address.is_stream:
            async with self._streams.open(access_token, identity, address, scope, send) as send_on:
                await self._call(asked, scope, incoming, receive, send_on, limit_headers)
        else:
            await self._call(asked, scope, incoming, receive, send, limit_headers)

    async def let_in(self, scope: Scope, incoming: Incoming, address: Address) -> tuple[str, Identity]:
        """Return the bearer token of a request to an `address` of the gateway's own, and whose it is.

        It counts as one request of theirs.

        Raises Unauthenticated, TooManyRequests or Unavailable.
        """
        client = scope.get("client")
        identity: Identity | None = None
        try:
            try:
                access_token = bearer.read(incoming.sent.get(b"authorization"))
                identity = await self._verifier.identify(access_token)
            except Unauthenticated:
                self._limits.take_unknown(client[0] if client else "unknown")
                raise
            self._limits.take_known(identity)
        except Problem as problem:
            self.notices.refused(problem, Asked(scope, address, identity, incoming.sent.get(b"user-agent", b"")))
            raise
        return access_token, identity

    def bounded(self, incoming: Incoming, receive: Receive) -> Receive:
        """Return the `receive` of an address that takes no file; it, or this, raises TooLarge."""
        return bounded(receive, self._max_body_bytes, incoming.content_length)

    async def _holder(self, access_token: str) -> Identity | None:
        """Return whose a token is that works, and is not enough."""
        with suppress(Problem):
            return await self._verifier.identify(access_token)
        return None

    async def _call(
        self, asked: Asked, scope: Scope, incoming: Incoming, receive: Receive, send: Send, limit_headers: Told
    ) -> None:
        address = asked.address
        service = address.service.name
        began = False
        more_comes = True

        async def receive_on() -> Message:
            nonlocal more_comes
            if not more_comes or began or deadline.expired():
                return await receive()
            deadline.reschedule(None)  # what the caller takes is not the service's time
            message = await receive()
            more_comes = message.get("more_body", False)
            if more_comes:
                await let_others_in()
            if not began:
                deadline.reschedule(asyncio.get_running_loop().time() + self._timeout)
            return message

        async def send_on(message: Message) -> None:
            nonlocal began, send
            if not began:
                began = True
                deadline.reschedule(None)
                if address.changes_access(scope["method"]) and message["status"] < 300:
                    await self._verifier.learn()
                answered = message["headers"]
                if address.taken_off:
                    answered = address.as_called(answered)
                message["headers"] = [*answered, *address.version.headers, *limit_headers]
                send = begun(scope["path"], incoming.sent, message, send)
                if message["status"] in LOOKED_AT or address.is_watched:
                    send = self.notices.answered(message, asked, send)
            await send(message)

        try:
            async with asyncio.timeout(self._timeout) as deadline:
                await self._services[service](scope, receive_on if incoming.has_body else receive, send_on)
        except TimeoutError:
            if began:
                raise
            raise TimedOut(f"{service} did not answer within {self._timeout:g} seconds; try again later.") from None
        except Problem:
            raise
        except Exception as error:
            if began:
                raise
            _log.error("%s failed", service, exc_info=error)
            raise Unavailable(f"{service} cannot answer right now; try again.") from None


def _found(scope: Scope) -> Address:
    named, path = without_project(scope["raw_path"].partition(b"?")[0])
    _check_path(named)
    _check_path(path)
    address = find(scope["path"])
    if address is None:
        raise NotFound(NO_ADDRESS, code="route_not_found")
    return address


def _check_path(raw_path: bytes) -> None:
    for beginning in VALUES:
        if raw_path.startswith(beginning):
            if _HIDDEN_IN_VALUE.search(unquote_to_bytes(raw_path[len(beginning) :])):
                raise MalformedBody(
                    "The value at the end of the path holds NUL, or '.' or '..' between slashes, which an address"
                    " cannot carry; find it by a filter of the list instead.",
                    code="malformed_path",
                )
            return
    if _HIDDEN.search(raw_path):
        raise MalformedBody(
            "The path has encoded or doubled slashes, dots or backslashes; write it plainly.",
            code="malformed_path",
        )
