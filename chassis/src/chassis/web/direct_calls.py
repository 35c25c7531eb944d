"""Calls a route's function by itself where its arguments are plain: FastAPI's way is a third of a small request."""

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi._compat import ModelField, field_annotation_is_scalar
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.params import Form
from fastapi.routing import APIRoute
from pydantic_core import PydanticUndefined

_MISSING = PydanticUndefined
_Errors = list[dict[str, Any]]


class ParsedRequest(Request):
    """A request whose JSON body, if it has one, was parsed already."""

    parsed: Any = _MISSING

    async def json(self) -> Any:
        """Return the parsed body."""
        return self.parsed


def direct_call(route: APIRoute) -> Callable[[Request], Coroutine[Any, Any, Response]] | None:
    """Return a function that answers requests by the route's, None where that is left to FastAPI.

    Plain arguments are the request, what is found by functions of the request alone, values of the path and the query,
    and the body of a ParsedRequest. The function raises RequestValidationError for those that do not fit.
    """
    if not _is_plain(route):
        return None
    dependant, function = route.dependant, route.endpoint
    found = [(one.name, one.call) for one in dependant.dependencies if one.name and one.call]
    path, query = dependant.path_params, dependant.query_params

    async def call(request: Request) -> Response:
        arguments: dict[str, Any] = {name: await find(request) for name, find in found}
        errors: _Errors = []
        if path:
            _read("path", path, request.path_params, arguments, errors)
        if query:
            _read("query", query, request.query_params, arguments, errors)
        if route.body_field is not None:
            assert isinstance(request, ParsedRequest), "as StrictRoute makes it of one with a body"
            _validate(route.body_field, request.parsed, ("body",), arguments, errors)
        if errors:
            raise RequestValidationError(errors)
        if dependant.request_param_name:
            arguments[dependant.request_param_name] = request
        answer: Response = await function(**arguments)
        return answer

    return call


def _read(
    place: str, fields: Sequence[ModelField], sent: Mapping[str, Any], arguments: dict[str, Any], errors: _Errors
) -> None:
    for field in fields:
        _validate(field, sent.get(field.alias, _MISSING), (place, field.alias), arguments, errors)


def _validate(
    field: ModelField, value: Any, place: tuple[str, ...], arguments: dict[str, Any], errors: _Errors
) -> None:
    if value is _MISSING:
        value = field.get_default()
        if value is _MISSING:
            errors.append({"type": "missing", "loc": place, "msg": "Field required", "input": None})
    else:
        value, wrong = field.validate(value, loc=place)
        errors += wrong
    arguments[field.name] = value


def _is_plain(route: APIRoute) -> bool:
    dependant, body = route.dependant, route.body_field
    returned = inspect.signature(route.endpoint).return_annotation
    return (
        inspect.iscoroutinefunction(route.endpoint)
        and isinstance(returned, type)
        and issubclass(returned, Response)
        and not _takes_more(dependant)
        and all(field_annotation_is_scalar(one.field_info.annotation) for one in _of_address(dependant))
        and (body is None or ([body] == dependant.body_params and not isinstance(body.field_info, Form)))
        and all(map(_is_of_request_alone, dependant.dependencies))
    )


def _is_of_request_alone(dependency: Dependant) -> bool:
    return (
        dependency.name is not None
        and inspect.iscoroutinefunction(dependency.call)
        and len(inspect.signature(dependency.call).parameters) == 1
        and dependency.request_param_name is not None
    )


def _of_address(dependant: Dependant) -> list[ModelField]:
    return [*dependant.path_params, *dependant.query_params]


def _takes_more(dependant: Dependant) -> bool:
    return bool(
        dependant.header_params
        or dependant.cookie_params
        or dependant.response_param_name
        or dependant.background_tasks_param_name
        or dependant.http_connection_param_name
        or dependant.security_scopes_param_name
    )
