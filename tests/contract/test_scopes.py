"""Every address of the API says what an API token needs for it, and no line of the table is about nothing."""

import re

import pytest

from chassis.core.problems import Problem
from contracts.api_tokens import Scope
from contracts.routes import SERVICES
from gateway.auth import scopes
from testing.service import Json

_METHODS = {"get", "post", "put", "patch", "delete"}
_PUBLIC = {place for service in SERVICES for place in service.public}


@pytest.fixture(scope="module")
def routes(documents: dict[str, Json]) -> set[tuple[str, str]]:
    """The method and the path of every operation of a service that needs a token; parameters without names."""
    found = {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1/")))
        for document in documents.values()
        for path, operations in document["paths"].items()
        for method in _METHODS & operations.keys()
    }
    return found - _PUBLIC


def test_every_route_has_a_scope_or_is_for_people(routes: set[tuple[str, str]]) -> None:
    assert len(routes) > 80
    missing = []
    for method, path in sorted(routes):
        try:
            scopes.needed(method, path.replace("{}", "0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0"))
        except Problem as problem:
            missing.append(f"{method} {path}: {problem.code}")
    assert missing == []


def test_the_table_names_no_path_that_is_not_there(routes: set[tuple[str, str]]) -> None:
    assert set(scopes.ROUTES) - {path for _, path in routes} == set()


def test_what_changes_something_needs_more_than_reading(routes: set[tuple[str, str]]) -> None:
    for method, path in routes:
        needed = scopes.needed(method, path)
        if method != "GET":
            assert needed is None or Scope.READ not in needed, (method, path)
        elif path.startswith(("users", "audit-log")):
            assert needed == (Scope.ADMIN,), path


def test_what_proposes_accepts_nothing(routes: set[tuple[str, str]]) -> None:
    proposing = {route for route in routes if Scope.PROPOSE in (scopes.needed(*route) or ())}
    assert ("POST", "suggestions/generate") in proposing
    for method, path in routes - proposing:
        with pytest.raises(Problem) as refused:
            scopes.check(method if method != "GET" else "DELETE", path, frozenset({Scope.PROPOSE}))
        assert refused.value.code in {"scope_missing", "session_needed", "method_not_allowed"}
