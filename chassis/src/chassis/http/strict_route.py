"""The route class of every service: refuses before a handler runs what nobody can store."""

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.routing import APIRoute

from chassis import strict_json
from chassis.problems import FieldError, Invalid, UnsupportedMediaType

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_JSON = frozenset({"application/json", "application/merge-patch+json"})
_MOST_ERRORS = 100
_FORM = "application/x-www-form-urlencoded"


class _StrictRequest(Request):
    """A request whose JSON body was parsed by `strict_json`."""

    parsed: Any = None

    async def json(self) -> Any:
        return self.parsed


class StrictRoute(APIRoute):
    """Checks text of query and form, the media type and the JSON of bodies; errors name the field."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give FastAPI's handler behind the checks."""
        handler = super().get_route_handler()
        is_form = self.body_field is not None and type(self.body_field.field_info).__name__ == "Form"
        if self.body_field is None:
            return _with_checked_query(handler)
        return _with_checked_query(_with_checked_form(handler) if is_form else _with_checked_json(handler))


def _with_checked_query(handler: _Handler) -> _Handler:
    async def handle(request: Request) -> Response:
        query: bytes = request.scope["query_string"]
        if b"%" in query:
            _check_pairs(query, "/query")
        return await handler(request)

    return handle


def _with_checked_json(handler: _Handler) -> _Handler:
    async def handle(request: Request) -> Response:
        strict = _StrictRequest(request.scope, request.receive)
        body = await strict.body()
        if body:
            media_type = _media_type(request)
            if media_type not in _JSON:
                raise UnsupportedMediaType(
                    f"The body must be JSON: send 'Content-Type: application/json', not {media_type or 'none'!r}."
                )
            strict.parsed = strict_json.parse(body)
        return await handler(strict)

    return handle


def _with_checked_form(handler: _Handler) -> _Handler:
    async def handle(request: Request) -> Response:
        # Kept on the request, so that FastAPI reads the same bytes.
        body = await request.body()
        if body:
            media_type = _media_type(request)
            if media_type != _FORM:
                raise UnsupportedMediaType(
                    f"The body must be a form: send 'Content-Type: {_FORM}', not {media_type or 'none'!r}."
                )
            _check_pairs(body, "")
        return await handler(request)

    return handle


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _check_pairs(pairs: bytes, prefix: str) -> None:
    errors: list[FieldError] = []
    for name, value in parse_qsl(pairs.decode("latin-1"), keep_blank_values=True, errors="surrogateescape"):
        if not (strict_json.is_storable(name) and strict_json.is_storable(value)):
            shown = name.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
            errors.append(
                FieldError(
                    f"{prefix}/{shown}",
                    "The text holds NUL (U+0000) or is not UTF-8; remove it.",
                    "invalid_text",
                )
            )
            if len(errors) == _MOST_ERRORS:
                break
    if errors:
        raise Invalid.fields(errors)
