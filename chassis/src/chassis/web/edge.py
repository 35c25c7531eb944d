"""The outermost layer of every HTTP app, the gateway's too: the request's id, and an answer to every error."""

import errno
import logging
from collections.abc import Callable, Sequence

import psycopg
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.core import request_context
from chassis.core.full_disks import is_full, no_room_for_files
from chassis.core.problems import InternalError, Invalid, MalformedBody, Problem, StorageFull, Unavailable
from chassis.db import refusals
from chassis.db.database import AWAY
from chassis.observability import telemetry
from chassis.observability.requests import RouteOf, template
from chassis.web.rendering import render
from chassis.web.validation import from_http_exception, from_validation

_log = logging.getLogger(__name__)

Headers = Sequence[tuple[bytes, bytes]]

_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def _with_id(_: Scope, headers: Headers, request_id: str) -> Headers:
    return [*headers, (request_context.HEADER, request_id.encode())]


class Edge:
    """Gives each request its id, on the answer too, logs what is answered with 5xx, and answers what no handler caught.

    `route_of` gives the route that the log names; `completed` gives the headers of an answer, from the request,
    those that the app has sent and the request's id. `is_gateway`: requests come from outside, and each gets an id that
    nobody there can choose. Start and end of the app are the process's, and do not get here.
    """

    def __init__(
        self,
        app: ASGIApp,
        route_of: RouteOf = template,
        completed: Callable[[Scope, Headers, str], Headers] = _with_id,
        *,
        is_gateway: bool = False,
    ) -> None:
        self._is_gateway = is_gateway
        self._app = app
        self._route_of = route_of
        self._completed = completed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request_id, gateway_request_id = self._ids(scope)
        token = request_context.request_id.set(request_id)
        of_gateway = request_context.gateway_request_id.set(gateway_request_id)
        no_actor = request_context.actor_id.set(None)
        began = False

        async def send_on(message: Message) -> None:
            nonlocal began
            if not began:
                began = True
                if message["status"] >= 500 and scope["path"] not in telemetry.PROBES:
                    route = self._route_of(scope) or "no route"
                    # A full disk is told once, where it is known.
                    level = logging.INFO if message["status"] == StorageFull.status else logging.WARNING
                    _log.log(level, "%s %s is answered with %d", scope["method"], route, message["status"])
                message["headers"] = self._completed(scope, message["headers"], request_id)
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except Exception as error:
            if began:
                raise
            await render(as_problem(error), scope)(scope, receive, send_on)
        finally:
            request_context.request_id.reset(token)
            request_context.gateway_request_id.reset(of_gateway)
            request_context.actor_id.reset(no_actor)

    def _ids(self, scope: Scope) -> tuple[str, str]:
        sent = by_gateway = None
        for name, value in scope["headers"]:
            if name == request_context.HEADER:
                sent = request_context.accepted(value)
            elif name == request_context.GATEWAY_HEADER:
                by_gateway = request_context.accepted(value)
            elif name == request_context.PATH_HEADER and not self._is_gateway:
                scope[request_context.CALLED_PATH] = value
        if self._is_gateway:
            made = request_context.made()
            return sent or made, made
        return sent or request_context.made(), by_gateway or ""


def as_problem(error: Exception) -> Problem:
    """Return the problem that an exception means to the caller; what is unforeseen is logged and is a 500."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return from_validation(error)
    if isinstance(error, HTTPException):
        return from_http_exception(error)
    if isinstance(error, ClientDisconnect):
        return MalformedBody("The request ended before its body was whole.")  # which no client is there to read
    if (refused := refusals.problem_of(error)) is not None:
        if not isinstance(refused, StorageFull):
            _log.warning("PostgreSQL refuses: %s", error)
        return refused
    if isinstance(error, OSError) and is_full(error):
        return no_room_for_files()
    if isinstance(error, OSError) and error.errno in _NOT_WRITABLE:
        _log.error("A file cannot be written", exc_info=error)
        return InternalError(
            "The service may not write its files, and nothing of this request was stored; trying again does not help:"
            " who runs Traceline looks for this request_id in the log, which names the folder.",
            code="folder_not_writable",
        )
    if isinstance(error, psycopg.errors.DeadlockDetected):
        _log.warning("PostgreSQL gave up one of those who waited for each other: %s", error)
        return Unavailable("Somebody else changed the same things at the same moment; try again.")
    if isinstance(error, AWAY):
        _log.warning("The database is away: %s", error)
        return Unavailable("The service cannot reach its database right now; try again.")
    if isinstance(error, psycopg.DataError):
        # The last net: a value that passed every check and that PostgreSQL still refuses.
        _log.warning("PostgreSQL refused a value: %s", error)
        return Invalid("A value of this request cannot be stored; check its texts and numbers.")
    _log.error("Unforeseen error", exc_info=error)
    return InternalError("Something went wrong on our side; the log has it under this request_id.")
