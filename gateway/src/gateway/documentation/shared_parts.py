"""What stands once in the OpenAPI document, and is referred to: headers of requests and answers, and errors."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from chassis.core.problems import MEDIA_TYPE
from chassis.web.problem_documents import USUAL_CODES, codes_of


def _header(name: str, description: str, example: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"},
        "example": example,
    }


REQUEST_HEADERS = {
    header["name"]: header
    for header in (
        _header(
            "X-Request-ID",
            "An id of yours for this request: it is in the answer, in errors, logs and the audit log.",
            "5f0c3b1e2f6e4a539d0d0a8f6f1f5a11",
        ),
        _header(
            "Idempotency-Key",
            "The same key and body within 24 hours give the first answer again. 1 to 255 characters.",
            "import-2026-03-02-REQ-42",
        ),
        _header(
            "If-Match",
            "The ETag that was read: refused (412) when the item has changed since.",
            '"2c26b46b68ffc68ff99b453c"',
        ),
        _header(
            "If-None-Match",
            "ETags that were read, or `*` for any: a GET answers 304 when one is still right, a change is refused"
            " (412).",
            '"2c26b46b68ffc68ff99b453c"',
        ),
        _header("Prefer", "`respond-async`: answer at once with 202, and go on in the background.", "respond-async"),
    )
}


def _answered(description: str, example: str | int) -> dict[str, Any]:
    kind = "integer" if isinstance(example, int) else "string"
    return {"description": description, "schema": {"type": kind}, "example": example}


HEADERS = {
    "X-Request-ID": _answered(
        "The id of the request: yours, or one that was made.", "5f0c3b1e2f6e4a539d0d0a8f6f1f5a11"
    ),
    "Cache-Control": _answered("Who may keep the answer, and for how long.", "private, no-cache"),
    "ETag": _answered("Names this state of the item, for If-Match and If-None-Match.", '"2c26b46b68ffc68ff99b453c"'),
    "Location": _answered(
        "Where what was made can be read.", "/api/v1/requirements/7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11"
    ),
    "Link": _answered(
        "Where the next page is, and the one before (RFC 8288); not sent when there is neither.",
        '</api/v1/requirements?skip=50&limit=50>; rel="next"',
    ),
    "Retry-After": _answered("After how many seconds to try again.", 1),
    "WWW-Authenticate": _answered("How to authenticate.", "Bearer"),
    "Vary": _answered("Which headers of the request decide what the answer is.", "Accept"),
    "Set-Cookie": _answered(
        "The cookie of the session, or its end.",
        "__Host-traceline=<ACCESS_TOKEN>; Max-Age=3600; Path=/; HttpOnly; SameSite=Strict; Secure",
    ),
    "Clear-Site-Data": _answered("What the browser forgets.", '"cache", "storage"'),
    "Content-Disposition": _answered(
        "Whether it is to be shown or kept, and under which name.",
        'attachment; filename="traceability-matrix-2026-03-02.csv"',
    ),
    "Warning": _answered(
        "What the document has no place for (RFC 7234); not sent where all is in it.",
        '299 - "Not in this file, which has no place for it: tags of 3 test cases."',
    ),
}

_OF_PROBLEMS = {401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"]}


def headers(names: Iterable[str]) -> dict[str, Any]:
    """Return the `headers` of an answer, by reference."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def request_headers(names: Iterable[str]) -> list[dict[str, Any]]:
    """Return parameters that are headers, by reference."""
    return [{"$ref": f"#/components/parameters/{name}"} for name in names]


def shared_problem(status: int, response: dict[str, Any], components: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a reference to an error, which goes to `components` under a name that tells of its codes.

    Its schema goes there, too: of one that stands in an answer a generated client makes a class for each operation.
    """
    codes = codes_of(response)
    if tuple(codes) == USUAL_CODES.get(status):
        name = HTTPStatus(status).phrase.title()
    else:
        name = " Or ".join(code.title() for code in codes)
    name = "".join(letter for letter in name if letter.isalnum())
    document = response["content"][MEDIA_TYPE]
    components["schemas"][name] = document["schema"]
    components["responses"][name] = {
        **response,
        "content": {MEDIA_TYPE: {**document, "schema": {"$ref": f"#/components/schemas/{name}"}}},
        "headers": headers(["X-Request-ID", *_OF_PROBLEMS.get(status, ())]),
    }
    return {"$ref": f"#/components/responses/{name}"}
