"""The services' OpenAPI documents as one, with what no service says of itself."""

from collections.abc import Iterator
from typing import Any

from chassis.core.version import software
from chassis.server.app import app_of
from chassis.web.problem_documents import documents, problem_responses
from contracts.routes import SERVICES
from gateway.documentation import query_parameters
from gateway.documentation.shared_parts import HEADERS, REQUEST_HEADERS, headers, request_headers, shared_problem
from gateway.routing.versions import VERSIONS, find
from gateway.session import endpoints as session

VERSION_PATH = "/api/v1/version"
LOGIN_PATH = "/api/v1/auth/login"

_DESCRIPTION = """Which requirement is covered by which test, kept true while both change.

Log in with `POST /api/v1/auth/login` and send the token as `Authorization: Bearer <ACCESS_TOKEN>`; on this page:
**Authorize**, with your email and your password. Who is signed in to the web page needs neither here: its session
counts where no `Authorization` is sent, and for requests of Traceline's own page alone (403 `cross_site_request`).

Everything that is recorded belongs to a project. Below `/api/v1/projects/{key}/` each of these addresses is that of the
project with this key: `/api/v1/projects/DOOR/requirements`; without it, that of `MAIN`, which is always there. Only
{installation} and `/version` are of the whole installation and stand at no project; `/notifications` are those
of all your projects where none is named. `Location` and `Link` name the project as you did. One that is not there, or
that you have no access to, answers 404 `project_not_found`; in one that is archived, what would change something
answers 409 `project_archived`.

Every error is a problem document (RFC 9457) with a stable `code`; each operation names those that it may answer.

A query parameter that an address does not know, or that comes twice, is refused (422 `unknown_parameter`,
`repeated_parameter`): what you asked for is what you get."""

_OF_INSTALLATION = ", ".join(f"`/{resource}`" for service in SERVICES for resource in service.of_installation)

_ABOUT = "About"
_TAGS = {tag: about for service in SERVICES for tag, about in service.tags.items()} | {
    session.TAG: "Who is signed in to the web page, by a cookie; for programs there is Authentication.",
    _ABOUT: "The software itself.",
}

_OF_THE_EDGE = (400, 408, 414, 421, "429 rate_limited", 431, 504)
"""What the edge may answer to whatever is asked of a service."""
_OF_BODIES = (413, 415)
_ALWAYS = ("Cache-Control", "X-Request-ID")

_VERSION: dict[str, Any] = {
    "tags": [_ABOUT],
    "summary": "Read the version of the software, of the API and of the databases",
    "description": "For whoever operates it, and for clients that want to know what they talk to. Anyone may ask.",
    "operationId": "get_version",
    "security": [],
    "responses": {
        "200": {
            "description": "Successful Response",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["software", "api", "schema"],
                        "properties": {
                            "software": {"type": "string", "examples": ["0.1.0"]},
                            "api": {"type": "string", "examples": ["v1"]},
                            "schema": {
                                "type": "object",
                                "description": "The schema of each service's database; null where it cannot be asked.",
                                "additionalProperties": {"type": ["string", "null"]},
                                "examples": [{"catalog-service": "0005"}],
                            },
                        },
                    }
                }
            },
        },
        **{str(status): response for status, response in problem_responses(422).items()},
    },
}


def merge(services: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one document with the public paths and the schemas of all; what errors have in common stands once."""
    paths: dict[str, Any] = {}
    shared: dict[str, dict[str, Any]] = {"schemas": dict(documents()), "responses": {}}
    tags: dict[str, None] = {}
    for document in [*services, app_of("gateway", [session.router]).openapi()]:
        for path, operations in document["paths"].items():
            if path.startswith((session.PATH, *(version.prefix for version in VERSIONS))):
                paths[path] = {
                    method: _operation(path, method, one, document["components"]["schemas"], shared)
                    for method, one in operations.items()
                }
                tags |= dict.fromkeys(tag for one in operations.values() for tag in one.get("tags", []))
        shared["schemas"] |= document.get("components", {}).get("schemas", {})
    paths[VERSION_PATH] = {"get": _operation(VERSION_PATH, "get", _VERSION, {}, shared)}
    tags |= dict.fromkeys(_VERSION["tags"])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Traceline API",
            "version": software(),
            "description": _DESCRIPTION.replace("{installation}", _OF_INSTALLATION),
        },
        "paths": dict(sorted(paths.items())),
        "components": {
            **{kind: dict(sorted(named.items())) for kind, named in shared.items()},
            "parameters": REQUEST_HEADERS,
            "headers": HEADERS,
            "securitySchemes": {
                "password": {
                    "type": "oauth2",
                    "description": "`username` is your email. Leave client_id and client_secret empty.",
                    "flows": {"password": {"tokenUrl": LOGIN_PATH, "scopes": {}}},
                },
                "bearer": {
                    "type": "http",
                    "description": "An access token that you have already, or an API token (`tlp_...`).",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                },
                "session": {
                    "type": "apiKey",
                    "description": "The cookie of the web page; over plain http it is `traceline-` and the port.",
                    "in": "cookie",
                    "name": "__Host-traceline",
                },
            },
        },
        "security": [{"password": []}, {"bearer": []}],
        "tags": [{"name": tag, "description": _TAGS[tag]} if tag in _TAGS else {"name": tag} for tag in tags],
    }


def _operation(
    path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any], shared: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return an operation with what all of its kind have in common; its errors go to `shared`."""
    documented = dict(operation)
    address = find(path)
    if path == VERSION_PATH or (address is not None and address.is_public(method.upper())):
        documented["security"] = []
    usual = problem_responses(*_OF_THE_EDGE, *(_OF_BODIES if "requestBody" in operation else ()))
    responses = {str(status): response for status, response in usual.items()} | operation["responses"]
    answers = {status: _answer(method, status, one, schemas) for status, one in responses.items() if status < "4"}
    if method == "get" and any("ETag" in one["headers"] for one in answers.values()):
        unchanged = "Not modified: If-None-Match names what would be answered"
        answers["304"] = {"description": unchanged, "headers": headers(["ETag", *_ALWAYS])}
    problems = {status: shared_problem(int(status), one, shared) for status, one in responses.items() if status >= "4"}
    documented["responses"] = dict(sorted((answers | problems).items()))
    parameters = [query_parameters.documented(one) for one in operation.get("parameters", [])]
    documented["parameters"] = parameters + request_headers(_request_headers(method, documented["responses"]))
    if method == "patch" and "requestBody" in operation:
        content = operation["requestBody"]["content"]
        merge_patch = {"application/merge-patch+json": content["application/json"]}
        documented["requestBody"] = {**operation["requestBody"], "content": content | merge_patch}
    return documented


def _answer(method: str, status: str, response: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that is no error, with its headers; what is deleted can be read nowhere."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    members = schemas.get(schema.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
    names = list(response.get("headers", {}))
    if "id" in members:
        names.append("ETag")
    if status in {"201", "202"} and method != "delete":
        names.append("Location")
    if {"items", "limit"} <= members.keys() or "next_after" in members:
        names.append("Link")
    return {**response, "headers": headers([*names, *_ALWAYS])}


def _request_headers(method: str, responses: dict[str, Any]) -> Iterator[str]:
    if method == "post" and not responses.keys().isdisjoint({"201", "202"}):
        yield "Idempotency-Key"
    if "202" in responses and method == "post":
        yield "Prefer"
    if "412" in responses:
        yield "If-Match"
    if "304" in responses or (method == "put" and "412" in responses):
        yield "If-None-Match"
    yield "X-Request-ID"
