"""FastAPI's and Starlette's own errors, as problems."""

from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from chassis import problems
from chassis.problems import FieldError, Invalid, Problem

_CODES = {"missing": "missing", "extra_forbidden": "unknown_field"}
_MOST_ERRORS = 100
_PLACES = {"query", "path", "header", "cookie"}


def from_validation(error: RequestValidationError) -> Problem:
    """Give the 422 of a request that does not fit, with its first errors; the sent values are never repeated."""
    return Invalid.fields([_field_error(entry) for entry in error.errors()[:_MOST_ERRORS]])


def _field_error(entry: dict[str, Any]) -> FieldError:
    place, *rest = entry["loc"]
    steps = [str(step) for step in rest]
    if place in _PLACES:
        steps.insert(0, place)
    kind = entry["type"]
    message = "This field does not exist." if kind == "extra_forbidden" else entry["msg"].removeprefix("Value error, ")
    if not message.endswith("."):
        message += "."
    pointer = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
    return FieldError(pointer.encode("utf-8", "replace").decode(), message, _CODES.get(kind, kind))


_BY_STATUS: dict[int, Problem] = {
    404: problems.NotFound("There is nothing at this address; see /docs for what there is.", code="route_not_found"),
    405: problems.MethodNotAllowed("This address does not take this method; see the Allow header."),
    413: problems.TooLarge("The body is larger than this address accepts."),
}


def from_http_exception(error: HTTPException) -> Problem:
    """Give the problem of an error that the framework raised."""
    known = _BY_STATUS.get(error.status_code)
    if known is None:
        known = problems.MalformedBody("The request cannot be read.", code="malformed_request")
    if not error.headers:
        return known
    return type(known)(known.detail, code=known.code, headers=error.headers)
