"""Errors in the OpenAPI document: their shape, and which codes an operation may answer."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

from chassis.core import problems


class ProblemDocument(BaseModel):
    """An error (RFC 9457): `code` is for programs and stays, `detail` is for people. Some codes add members."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str


class FieldErrorDocument(BaseModel):
    """One field that is wrong: a JSON pointer into the body, or /query/NAME, /path/NAME, /header/NAME."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"pointer": "/title", "message": "This text must not be blank.", "code": "blank"}]
        }
    )

    pointer: str
    message: str
    code: str


class InvalidDocument(ProblemDocument):
    """The problem document of 422."""

    errors: list[FieldErrorDocument]


_MEANINGS = {
    400: "Malformed request or JSON",
    401: "Missing, invalid or expired token",
    403: "Role too low",
    404: "Not found",
    408: "The request did not come in time",
    409: "Duplicate or state conflict",
    410: "Not kept any more",
    412: "If-Match is stale, or If-None-Match names what is there",
    413: "Body too large",
    414: "Address too long",
    415: "Wrong media type",
    421: "The Host header names another machine",
    422: "Invalid field or query",
    429: "Too many requests",
    431: "Headers too many or too long",
    503: "A service is away; try again",
    504: "A service did not answer in time",
    507: "No room to store anything",
}
USUAL_CODES: dict[int, tuple[str, ...]] = {
    **{kind.status: (kind.default_code,) for kind in problems.Problem.__subclasses__()},
    400: ("malformed_json", "malformed_request", "malformed_path", "duplicate_header", "missing_host"),
    403: ("role_too_low",),
    422: (
        "invalid_request",
        "unknown_field",
        "unknown_parameter",
        "repeated_parameter",
        "unexpected_body",
        "idempotency_key_reused",
    ),
    507: (problems.StorageFull.default_code,),
}
"""What is answered with a status where an operation says nothing more exact."""


def problem_responses(*answers: int | str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that may answer these errors.

    Each is a status, for its usual codes, or a status and a code of the route's own, "404 link_not_found".
    """
    codes: dict[int, dict[str, None]] = {}
    for one in answers:
        status, _, code = str(one).partition(" ")
        codes.setdefault(int(status), {}).update(dict.fromkeys([code] if code else USUAL_CODES[int(status)]))
    return {status: _response(status, list(named)) for status, named in codes.items()}


def with_headers(*names: str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route whose answer has these headers, which its model does not let expect."""
    return {200: {"headers": {name: {"schema": {"type": "string"}} for name in names}}}


def codes_of(response: dict[str, Any]) -> list[str]:
    """Return the codes that a response of `problem_responses` tells of."""
    codes: list[str] = response["content"][problems.MEDIA_TYPE]["schema"]["allOf"][1]["properties"]["code"]["enum"]
    return codes


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schemas that the responses refer to, by name."""
    for model in (ProblemDocument, FieldErrorDocument, InvalidDocument):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schema.pop("$defs", None)
        yield model.__name__, schema


def _response(status: int, codes: list[str]) -> dict[str, Any]:
    model = "InvalidDocument" if status == 422 else "ProblemDocument"
    content = {
        "schema": {
            "allOf": [
                {"$ref": f"#/components/schemas/{model}"},
                {"type": "object", "properties": {"code": {"enum": codes}}},
            ]
        },
        "examples": {code: {"value": _example(status, code)} for code in codes},
    }
    described = ", ".join(f"`{code}`" for code in codes)
    return {"description": f"{_MEANINGS[status]}: {described}", "content": {problems.MEDIA_TYPE: content}}


def _example(status: int, code: str) -> dict[str, Any]:
    example: dict[str, Any] = {
        "type": f"urn:traceline:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": f"{_MEANINGS[status]}.",
        "instance": "/api/v1/...",
        "code": code,
        "request_id": "5f0c3b1e2f6e4a539d0d0a8f6f1f5a11",
    }
    if status == 422:
        example["errors"] = []
    return example
