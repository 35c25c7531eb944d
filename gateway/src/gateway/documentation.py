"""One OpenAPI 3.1 document of all services, and the page that shows it."""

import asyncio
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

from fastapi.openapi.docs import get_swagger_ui_html
from starlette.staticfiles import StaticFiles

from chassis.http.app import FieldErrorDocument, InvalidDocument, ProblemDocument, problem_responses
from chassis.http.responses import encode
from chassis.peers import Peer
from chassis.version import software
from gateway.routes import VERSIONS

OPENAPI_PATH = "/api/v1/openapi.json"
VERSION_PATH = "/api/v1/version"
ASSETS_PATH = "/docs/assets"

# The newest Swagger UI as a package: the page must work where no other server can be reached.
assets = StaticFiles(directory=str(files("fastapi_offline").joinpath("static")))

page = bytes(
    get_swagger_ui_html(
        openapi_url=OPENAPI_PATH,
        title="Traceline API",
        swagger_js_url=f"{ASSETS_PATH}/swagger-ui-bundle.js",
        swagger_css_url=f"{ASSETS_PATH}/swagger-ui.css",
        swagger_favicon_url=f"{ASSETS_PATH}/favicon.png",
    ).body
)

(_SCRIPT,) = re.findall(rb"<script>(.*?)</script>", page, re.DOTALL)
_SCRIPT_HASH = b64encode(sha256(_SCRIPT).digest()).decode()
# Swagger UI sets styles of its own while it runs, and has its pictures in its style sheet.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; img-src 'self' data:;"
    f" script-src 'self' 'sha256-{_SCRIPT_HASH}'; style-src 'self' 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

_PROBLEMS = {str(status): response for status, response in problem_responses(400, 408, 414, 431, 504).items()}
_PROBLEMS_OF_BODIES = _PROBLEMS | {str(status): response for status, response in problem_responses(413, 415).items()}
"""What the edge may answer to whatever is asked of a service."""

_DESCRIPTION = """Which requirement is covered by which test, kept true while both change.

Log in with `POST /api/v1/auth/login` and send the token as `Authorization: Bearer <ACCESS_TOKEN>`.
Every error is a problem document (RFC 9457) with a stable `code`.

A query parameter that an address does not know, or that comes twice, is refused (422 `unknown_parameter`,
`repeated_parameter`): what you asked for is what you get."""


_VERSION: dict[str, Any] = {
    "tags": ["About"],
    "summary": "Read the version of the software, of the API and of the databases",
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
        **_PROBLEMS,
    },
}


class Documentation:
    """Merges the services' documents when first asked, and keeps the result."""

    def __init__(self, services: Mapping[str, Peer]) -> None:
        self._services = services
        self._document: bytes | None = None

    async def document(self) -> bytes:
        """Give the merged document; raise Unavailable while a service does not answer."""
        if self._document is None:
            responses = await asyncio.gather(*(peer.get("/openapi.json") for peer in self._services.values()))
            self._document = encode(merge([response.json() for response in responses]))
        return self._document


def merge(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Give one document with the public paths and the schemas of all."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    tags: dict[str, None] = {}
    for document in documents:
        for path, operations in document["paths"].items():
            if any(path.startswith(version.prefix) for version in VERSIONS):
                paths[path] = {method: _operation(path, method, item) for method, item in operations.items()}
                tags |= dict.fromkeys(tag for item in operations.values() for tag in item.get("tags", []))
        schemas |= document.get("components", {}).get("schemas", {})
    paths[VERSION_PATH] = {"get": _VERSION}
    tags |= dict.fromkeys(_VERSION["tags"])
    for model in (ProblemDocument, FieldErrorDocument, InvalidDocument):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schema.pop("$defs", None)
        schemas[model.__name__] = schema
    return {
        "openapi": "3.1.0",
        "info": {"title": "Traceline API", "version": software(), "description": _DESCRIPTION},
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"bearer": []}],
        "tags": [{"name": tag} for tag in tags],
    }


def _operation(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    """Add what every operation of its kind has in common, and no service says of itself."""
    documented = dict(operation)
    if any((method.upper(), path) in version.public for version in VERSIONS):
        documented["security"] = []
    problems = _PROBLEMS_OF_BODIES if "requestBody" in operation else _PROBLEMS
    documented["responses"] = {**problems, **operation["responses"]}
    headers = []
    if method == "post" and "201" in operation["responses"]:
        headers.append(_header("Idempotency-Key", "The same key and body within 24 hours give the first answer again."))
    if "412" in operation["responses"]:
        headers.append(_header("If-Match", "The ETag that was read: refused when the item has changed since."))
    if headers:
        documented["parameters"] = [*operation.get("parameters", []), *headers]
    if method == "patch" and "requestBody" in operation:
        content = operation["requestBody"]["content"]
        merge_patch = {"application/merge-patch+json": content["application/json"]}
        documented["requestBody"] = {**operation["requestBody"], "content": content | merge_patch}
    return documented


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": description, "schema": {"type": "string"}}
