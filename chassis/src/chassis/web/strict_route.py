"""The route class of every service: refuses before a handler runs what is not asked for and what cannot be stored."""

import re
from collections.abc import Callable, Coroutine
from functools import cache, cached_property
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import Query
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.core.problems import FieldError, Invalid, UnsupportedMediaType, pointer
from chassis.core.wording import listed, shown
from chassis.web import strict_json
from chassis.web.direct_calls import ParsedRequest, direct_call
from chassis.web.query_names import QueryNames
from chassis.web.validation import from_validation

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_JSON = frozenset({"application/json", "application/merge-patch+json"})
_MOST_ERRORS = 100
_FORM = "application/x-www-form-urlencoded"
_SAYS_NOTHING = re.compile(rb"\s*(\{\s*\}|null)?\s*")
_BODILESS = frozenset({"GET", "HEAD"})
_MOST_FORM = 24 * 1024
"""Bytes. None of the forms needs more, and what is written as %XX takes long to read."""
_IN_DOUBT = re.compile(rb"%(?:00|[89A-Fa-f])|[\0\x80-\xff]")
"""What text has that may not be stored: NUL, or bytes that are no letter by themselves."""


class StrictRoute(APIRoute):
    """Checks names and text of the query, the media type and the JSON or form of bodies; errors name the field."""

    def __init__(self, *declared: Any, **more: Any) -> None:
        super().__init__(*declared, **more)
        call = direct_call(self)
        if call is not None:
            self.app = _answering(self._checked(call))

    def get_route_handler(self) -> _Handler:
        """Return FastAPI's handler behind the checks."""
        return self._checked(super().get_route_handler())

    def _checked(self, handler: _Handler) -> _Handler:
        known = self.query_names()
        if self.body_field is not None:
            is_form = type(self.body_field.field_info).__name__ == "Form"
            handler = _with_checked_form(handler) if is_form else self._with_checked_json(handler)
        elif not (self.methods or set()) <= _BODILESS and "requestBody" not in (self.openapi_extra or {}):
            handler = _without_body(handler, known)
        return _with_checked_query(handler, known)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return how well the route fits: an address of its own, such as `/items/facets`, is none of `/items/{id}`."""
        path = scope["path"]
        # Most requests are refused by most routes, and FastAPI takes ten times as long to do so.
        if not self.param_convertors:
            fits = path == self.path
        else:
            fits = path.startswith(self._beginning) and path not in _fixed_paths(scope["app"])
        return super().matches(scope) if fits else (Match.NONE, {})

    @cached_property
    def _beginning(self) -> str:
        """What each address of the route begins with: what stands before its first value."""
        return self.path.partition("{")[0]

    def query_names(self) -> QueryNames:
        """Return the query parameters that the route declares, to FastAPI or in `openapi_extra`."""
        declared = [field.alias for field in get_flat_params(self.dependant) if isinstance(field.field_info, Query)]
        documented = (self.openapi_extra or {}).get("parameters", [])
        return QueryNames([*declared, *(one["name"] for one in documented if one["in"] == "query")])

    def _with_checked_json(self, handler: _Handler) -> _Handler:
        body_type = self.body_field.field_info.annotation if self.body_field is not None else None

        async def handle(request: Request) -> Response:
            strict = ParsedRequest(request.scope, request.receive)
            body = await strict.body()
            if body:
                media_type = _media_type(request)
                if media_type not in _JSON:
                    raise UnsupportedMediaType(
                        f"The body must be JSON: send 'Content-Type: application/json', not {media_type or 'none'!r}."
                    )
                strict.parsed = await strict_json.parse_beside(body)
            try:
                return await handler(strict)
            except RequestValidationError as error:
                raise from_validation(error, body_type, self.response_model) from None

        return handle


def _answering(handler: _Handler) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answer = await handler(Request(scope, receive, send))
        await answer(scope, receive, send)

    return app


@cache
def _fixed_paths(app: FastAPI) -> frozenset[str]:
    return frozenset(route.path for route in app.routes if isinstance(route, APIRoute) and not route.param_convertors)


def _with_checked_query(handler: _Handler, known: QueryNames) -> _Handler:
    async def handle(request: Request) -> Response:
        query: bytes = request.scope["query_string"]
        if query:
            if b"%" in query:
                _check_pairs(query, "query")
            known.check(query)
        return await handler(request)

    return handle


def _without_body(handler: _Handler, known: QueryNames) -> _Handler:
    """Refuse a body where none is taken, so that no caller believes that it counts; an empty object says nothing."""
    detail = "This address takes no body; leave it out."
    if known.names:
        detail = (
            f"This address takes no body: send {listed(known.names, 'and')} in the query, as in ?{known.names[0]}=..."
        )

    async def handle(request: Request) -> Response:
        if not _SAYS_NOTHING.fullmatch(await request.body()):
            raise Invalid.field("", detail, "unexpected_body")
        return await handler(request)

    return handle


def _with_checked_form(handler: _Handler) -> _Handler:
    async def handle(request: Request) -> Response:
        # Kept on the request, so that FastAPI reads the same bytes.
        body = await request.body()
        if body:
            media_type = _media_type(request)
            if media_type != _FORM:
                raise UnsupportedMediaType(_told("a form", _FORM, media_type))
            if len(body) > _MOST_FORM:
                detail = f"A form has at most {_MOST_FORM:,} bytes here; leave out what this address does not ask for."
                raise Invalid.field("", detail, "too_long")
            _check_pairs(body)
        return await handler(request)

    return handle


def _told(kind: str, wanted: str, sent: str) -> str:
    but = f"not {shown(sent)}" if sent else "which is missing"
    return f"The body must be {kind}: send 'Content-Type: {wanted}', {but}."


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _check_pairs(pairs: bytes, *place: str) -> None:
    if _IN_DOUBT.search(pairs) is None:
        return
    errors: list[FieldError] = []
    for name, value in parse_qsl(pairs.decode("latin-1"), keep_blank_values=True, errors="surrogateescape"):
        if not (strict_json.is_storable(name) and strict_json.is_storable(value)):
            errors.append(
                FieldError(
                    pointer(*place, name.replace("\0", "")),
                    "The text holds NUL (U+0000) or is not UTF-8; remove it.",
                    "invalid_text",
                )
            )
            if len(errors) == _MOST_ERRORS:
                break
    if errors:
        raise Invalid.fields(errors)
