"""The one OpenAPI document of all services: valid, and true of every operation."""

import re
from typing import Any

import pytest

from testing.service import Json

METHODS = {"get", "post", "put", "patch", "delete"}
PUBLIC = {("post", "/auth/register"), ("post", "/auth/login"), ("get", "/auth/jwks.json"), ("get", "/version")}
PUBLIC |= {("post", "/auth/accept-invitation"), ("post", "/auth/forgot-password"), ("post", "/auth/reset-password")}
PUBLIC |= {("get", "/auth/ways-in")}
WITHOUT_ERRORS = {("get", "/auth/jwks.json"), ("get", "/auth/ways-in")}
PUBLIC |= {("get", "/auth/oidc/login"), ("get", "/auth/oidc/callback"), ("post", "/auth/oidc/backchannel-logout")}
PUBLIC |= {("post", "/session"), ("get", "/session"), ("delete", "/session")}
CREATING = {("put", "/requirements/by-external-id/{}"), ("put", "/test-cases/by-external-id/{}")}
"""What makes what its address names, where it is not there."""


@pytest.fixture
def operations(document: Json) -> dict[tuple[str, str], Json]:
    """Every operation by method and path, the path below /api/v1 and its parameters without names."""
    return {
        (method, re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1"))): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def test_it_is_a_valid_openapi_3_1_document(document: Json) -> None:
    from openapi_spec_validator import validate  # takes half a second

    assert document["openapi"].startswith("3.1")
    validate(document)


def test_every_operation_has_a_name_of_its_own(operations: dict[tuple[str, str], Json]) -> None:
    names = [operation["operationId"] for operation in operations.values()]
    assert sorted(set(names)) == sorted(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name), name
        assert "api_v1" not in name, "a name that a path is in is not stable"


def test_every_operation_describes_its_errors_as_problems(operations: dict[tuple[str, str], Json]) -> None:
    for (method, path), operation in operations.items():
        errors = {status: answer for status, answer in operation["responses"].items() if status[0] in "45"}
        expected = set() if (method, path) in WITHOUT_ERRORS else {"4"}
        assert {status[0] for status in errors} >= expected, (method, path)
        if (method, path) not in PUBLIC:
            assert "401" in errors, (method, path)
        if "{}" in path and (method, path) not in CREATING:
            assert "404" in errors, (method, path)


def test_every_described_error_is_a_problem_document(document: Json, operations: dict[Any, Json]) -> None:
    for place, operation in operations.items():
        for status, answer in operation["responses"].items():
            if status[0] not in "45":
                continue
            if "$ref" in answer:
                answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
            assert list(answer["content"]) == ["application/problem+json"], (place, status)


def test_every_operation_says_whether_it_needs_a_token(document: Json, operations: dict[tuple[str, str], Json]) -> None:
    schemes = document["components"]["securitySchemes"]
    assert any(scheme.get("scheme") == "bearer" or scheme["type"] == "oauth2" for scheme in schemes.values())
    for place, operation in operations.items():
        security = operation.get("security", document.get("security", []))
        assert bool(security) == (place not in PUBLIC), place


def test_there_are_examples(document: Json) -> None:
    assert '"example' in str(document).replace("'", '"')


def test_every_reference_leads_somewhere(document: Json) -> None:
    def references(part: Any) -> set[str]:
        if isinstance(part, dict):
            own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
            return own.union(*(references(value) for value in part.values()))
        if isinstance(part, list):
            return set[str]().union(*(references(value) for value in part))
        return set()

    for reference in references(document):
        place: Any = document
        for name in reference.removeprefix("#/").split("/"):
            place = place[name.replace("~1", "/").replace("~0", "~")]
