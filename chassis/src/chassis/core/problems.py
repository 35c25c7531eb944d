"""Errors that know their status and code, and the one place that renders them (RFC 9457).

Problem
├── MalformedBody         400 malformed_json
├── Unauthenticated       401 unauthenticated
├── Forbidden             403 forbidden
├── NotFound              404 not_found
├── MethodNotAllowed      405 method_not_allowed
├── RequestTimedOut       408 request_timed_out
├── Conflict              409 conflict
├── Gone                  410 gone
├── PreconditionFailed    412 precondition_failed
├── TooLarge              413 body_too_large
├── UriTooLong            414 uri_too_long
├── UnsupportedMediaType  415 unsupported_media_type
├── Misdirected           421 misdirected_request
├── Invalid               422 invalid_request, with errors
├── TooManyRequests       429 too_many_requests, with Retry-After
├── HeadersTooLarge       431 headers_too_large
├── InternalError         500 internal_error
├── Unavailable           503 unavailable, with Retry-After
│   └── StorageFull       507 storage_full: to try again helps nobody before somebody has made room
└── TimedOut              504 timed_out
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar

from chassis.core.request_context import request_id
from chassis.core.wording import listed, shown


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field: a pointer into the body, or /query/NAME, /path/NAME, /header/NAME."""

    pointer: str
    message: str
    code: str


def reference_token(step: object) -> str:
    """Return one step of a JSON pointer (RFC 6901), escaped, and such that UTF-8 can carry it."""
    return str(step).replace("~", "~0").replace("/", "~1").encode("utf-8", "replace").decode("utf-8")


def pointer(*steps: object) -> str:
    """Return the JSON pointer (RFC 6901) that takes these steps."""
    return "".join(f"/{reference_token(step)}" for step in steps)


class Problem(Exception):
    """An answer that is an error; `detail` is a sentence that a person can act on.

    `members` are further members of the problem document, for programs: what `detail` names, by its id.
    """

    status: ClassVar[int] = 500
    default_code: ClassVar[str] = "internal_error"
    default_headers: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code if code is not None else self.default_code
        self.errors = tuple(errors)
        self.headers = {**self.default_headers, **(headers or {})}
        self.members = {**(members or {})}


class MalformedBody(Problem):
    status = 400
    default_code = "malformed_json"


class Unauthenticated(Problem):
    status = 401
    default_code = "unauthenticated"
    default_headers = {"WWW-Authenticate": "Bearer"}


class Forbidden(Problem):
    status = 403
    default_code = "forbidden"


class NotFound(Problem):
    status = 404
    default_code = "not_found"


class MethodNotAllowed(Problem):
    """The method of a request is none that its address takes; HEAD is answered wherever GET `only_reads`."""

    status = 405
    default_code = "method_not_allowed"

    def __init__(self, method: str, allowed: Collection[str], *, only_reads: bool = True) -> None:
        named = listed(sorted({*allowed} - {"HEAD"}), "and")
        every = sorted({*allowed, "HEAD"} if "GET" in allowed and only_reads else allowed)
        detail = f"This address takes {named}, not {shown(method)[1:-1]}."
        super().__init__(detail, headers={"Allow": ", ".join(every)})


class RequestTimedOut(Problem):
    status = 408
    default_code = "request_timed_out"


class Conflict(Problem):
    status = 409
    default_code = "conflict"


class Gone(Problem):
    status = 410
    default_code = "gone"


class PreconditionFailed(Problem):
    status = 412
    default_code = "precondition_failed"


class TooLarge(Problem):
    status = 413
    default_code = "body_too_large"


class UriTooLong(Problem):
    status = 414
    default_code = "uri_too_long"


class UnsupportedMediaType(Problem):
    status = 415
    default_code = "unsupported_media_type"


class Misdirected(Problem):
    status = 421
    default_code = "misdirected_request"


PLACES = frozenset({"query", "path", "header", "cookie"})
_OF_THE_WHOLE = {
    "unknown_field": "unknown_field",
    "read_only_field": "unknown_field",  # to a change it is one: who looks for the one code meets both
    "unknown_parameter": "unknown_parameter",
    "repeated_parameter": "repeated_parameter",
    "unexpected_body": "unexpected_body",
}
"""Codes of fields that give the whole problem its code; the messages of such name the field."""


class Invalid(Problem):
    status = 422
    default_code = "invalid_request"

    @classmethod
    def field(cls, pointer: str, message: str, code: str) -> "Invalid":
        """One field is wrong."""
        return cls.fields([FieldError(pointer, message, code)])

    @classmethod
    def fields(cls, errors: Sequence[FieldError]) -> "Invalid":
        """Several fields are wrong; the detail tells the first and how many more."""
        first = errors[0]
        more = f" ({len(errors) - 1} more in errors)" if len(errors) > 1 else ""
        return cls(f"{_where(first)}{first.message}{more}", errors=errors, code=_OF_THE_WHOLE.get(first.code))


def _where(error: FieldError) -> str:
    """Return the field in words, `steps.2: `; nothing where the message names it, or is about the whole body."""
    if not error.pointer or error.code in _OF_THE_WHOLE:
        return ""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in error.pointer.split("/")[1:]]
    return ".".join(steps[1:] if len(steps) > 1 and steps[0] in PLACES else steps) + ": "


class TooManyRequests(Problem):
    status = 429
    default_code = "too_many_requests"

    def __init__(
        self, detail: str, *, retry_after: int, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail, code=code, headers={"Retry-After": str(retry_after), **(headers or {})})


class HeadersTooLarge(Problem):
    status = 431
    default_code = "headers_too_large"


class InternalError(Problem):
    status = 500


class Unavailable(Problem):
    status = 503
    default_code = "unavailable"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        retry_after: int = 1,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail, code=code, headers={"Retry-After": str(retry_after)}, members=members)


class StorageFull(Unavailable):
    status = 507
    default_code = "storage_full"

    def __init__(self, detail: str) -> None:
        Problem.__init__(self, detail)


class TimedOut(Problem):
    status = 504
    default_code = "timed_out"


MEDIA_TYPE = "application/problem+json"


def document(problem: Problem, path: str) -> dict[str, Any]:
    """Return the problem document of `problem` for a request of `path`."""
    body: dict[str, Any] = {
        "type": f"urn:traceline:problem:{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "instance": path,
        "code": problem.code,
        "request_id": request_id.get(),
    }
    if problem.errors or isinstance(problem, Invalid):
        body["errors"] = [{"pointer": e.pointer, "message": e.message, "code": e.code} for e in problem.errors]
    return {**body, **problem.members}
