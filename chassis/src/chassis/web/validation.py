"""FastAPI's and Starlette's own errors, as problems."""

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from chassis.core import problems
from chassis.core.problems import PLACES, FieldError, Invalid, Problem, pointer
from chassis.core.wording import NO_ADDRESS, listed, nearest, shown
from chassis.web.body_fields import fields_at
from chassis.web.sentences import sentence

_CODES = {"extra_forbidden": "unknown_field"}
_MOST_ERRORS = 100
_KEY = "[key]"
"""How pydantic says that the key itself is wrong; there is no such step to take."""


def from_validation(error: RequestValidationError, body: Any = None, answer: Any = None) -> Problem:
    """Return the 422 of a request that does not fit, with its first errors.

    `body` and `answer` are the types of what the route takes and gives, where they are known: a field that is only in
    the answer exists and cannot be changed. What is shown of sent values is short, and nothing of a secret.
    """
    return Invalid.fields([_field_error(entry, body, answer) for entry in error.errors()[:_MOST_ERRORS]])


def _field_error(entry: Mapping[str, Any], body: Any, answer: Any) -> FieldError:
    place, *steps = entry["loc"]
    if steps and steps[-1] == _KEY:
        steps.pop()
    where = pointer(place, *steps) if place in PLACES else pointer(*steps)
    kind = entry["type"]
    if kind == "extra_forbidden":
        return _unknown_field(where, steps, body, answer)
    return FieldError(where, sentence(entry), _CODES.get(kind, kind))


def _unknown_field(where: str, steps: list[Any], body: Any, answer: Any) -> FieldError:
    *parents, name = steps
    known = fields_at(body, parents)
    if name in fields_at(answer, parents):
        changeable = f"; what can be is {listed(known, 'and')}" if known else ""
        return FieldError(where, f"{shown(name)} cannot be changed{changeable}.", "read_only_field")
    meant = nearest(str(name), known)
    hint = f"; did you mean '{meant}'?" if meant else f". There is: {', '.join(known)}." if known else "."
    return FieldError(where, f"There is no field {shown(name)} here{hint}", "unknown_field")


_BY_STATUS: dict[int, Problem] = {
    404: problems.NotFound(NO_ADDRESS, code="route_not_found"),
    413: problems.TooLarge("The body is larger than this address accepts."),
}


def from_http_exception(error: HTTPException) -> Problem:
    """Return the problem of an error that the framework raised."""
    known = _BY_STATUS.get(error.status_code)
    if known is None:
        known = problems.MalformedBody("The request cannot be read.", code="malformed_request")
    if not error.headers:
        return known
    return type(known)(known.detail, code=known.code, headers=error.headers)
