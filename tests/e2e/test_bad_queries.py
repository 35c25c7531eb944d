"""Queries, ids and headers that make no sense: answered or refused, never a failure."""

import re
from itertools import product
from urllib.parse import quote

import pytest

from acceptance.callers import in_one_process
from acceptance.cases import check_each
from acceptance.client import Json, Traceline, ok, problem, requirement

pytestmark = [in_one_process, pytest.mark.requirement("TL-SAFE-1")]

UNKNOWN = "00000000-0000-4000-8000-000000000000"
HUGE = 10**30


@pytest.fixture(scope="module")
def targets(admin: Traceline) -> dict[str, str]:
    return {"requirement": admin.create_requirement()["id"], "test_case": admin.create_test_case()["id"]}


LISTS = [
    "/requirements",
    "/test-cases",
    "/links",
    "/suggestions",
    "/suggestions/runs",
    "/notifications",
    "/activity",
    "/users",
    "/audit-log",
    "/search?q=x",
    "/reports/traceability-matrix",
    "/requirements/{requirement}/test-cases",
    "/test-cases/{test_case}/requirements",
]
PAGES = [
    ("skip", "-1"),
    ("skip", str(2**63)),
    ("skip", str(HUGE)),
    ("skip", "x"),
    ("skip", "1.5"),
    ("skip", "NaN"),
    ("skip", "%00"),
    ("skip", "9" * 5000),
    ("limit", "0"),
    ("limit", "-1"),
    ("limit", "501"),
    ("limit", str(2**63)),
    ("limit", "x"),
    ("limit", "%00"),
]


@pytest.fixture(scope="module")
def lists(targets: dict[str, str]) -> list[str]:
    """The addresses of all lists, up to where a parameter may follow."""
    return [f"{path}{'&' if '?' in path else '?'}".format(**targets) for path in LISTS]


def test_a_page_that_cannot_be_is_refused(admin: Traceline, lists: list[str]) -> None:
    def refused(path: str, page: tuple[str, str]) -> None:
        problem(admin.get(f"{path}{page[0]}={page[1]}"), 422, field=page[0])

    check_each(refused, product(lists, PAGES))


def test_a_page_far_behind_the_end_is_empty_or_refused(admin: Traceline, lists: list[str]) -> None:
    for path in lists:
        response = admin.get(f"{path}skip={2**63 - 1}")
        if response.status_code == 200:
            assert response.json()["items"] == []
        else:
            problem(response, 422, field="skip")


QUERIES = [
    ("/requirements", ["search", "module", "tag", "created_by", "external_id", "type", "sort", "coverage"]),
    ("/test-cases", ["search", "module", "tag", "status", "automation_status", "linked", "sort"]),
    ("/links", ["requirement_id", "test_case_id", "link_type", "link_source", "suspect"]),
    ("/suggestions", ["search", "status", "method", "min_score", "requirement_id", "sort"]),
    ("/users", ["q", "role", "is_active"]),
    ("/audit-log", ["actor", "action", "resource_type", "resource_id", "since", "until"]),
    ("/activity", ["days"]),
    ("/notifications", ["unread_only"]),
    ("/search", ["q", "type"]),
    ("/reports/traceability-matrix", ["module", "status", "format"]),
]


STRANGE = ["%FF%FE", "%ED%A0%80", "%", "%zz", "x" * 5000, "&", ",", "!", "!,!"]


def test_a_query_with_nul_is_refused(admin: Traceline) -> None:
    def refused(path: str, name: str) -> None:
        problem(admin.get(f"{path}?{name}=a%00b"), 422, field=name)

    check_each(refused, [(path, name) for path, names in QUERIES for name in names])


def test_a_strange_query_is_answered_or_refused(admin: Traceline) -> None:
    def answered(path: str, name: str, value: str) -> None:
        response = admin.get(f"{path}?{name}={value}")
        if response.status_code != 200:
            problem(response, {400, 414, 422, 431})

    check_each(answered, [(path, name, value) for path, names in QUERIES for name in names for value in STRANGE])


OWN = [("GET", path) for path in ("/healthz", "/livez", "/readyz", "/docs", "/api/v1/openapi.json")]
"""What the gateway answers by itself."""


def test_every_address_refuses_a_parameter_that_it_does_not_know(admin: Traceline) -> None:
    described = admin.get(f"{admin.base_url}/api/v1/openapi.json").json()["paths"]
    operations = [(method.upper(), path) for path, item in described.items() for method in item]
    assert len(operations) > 50
    operations.remove(("GET", "/api/v1/auth/oidc/callback"))  # providers add what they like (RFC 6749, 4.1.2)
    for method, path in operations + OWN:
        address = re.sub(r"\{[^}]*\}", UNKNOWN, path)
        answer = problem(admin.request(method, f"{admin.base_url}{address}?nonsense=1"), 422, "unknown_parameter")
        assert [error["pointer"] for error in answer["errors"]] == ["/query/nonsense"], (method, path)
        assert answer["detail"].startswith("There is no query parameter 'nonsense' here"), (method, path)
    ok(admin.get("/auth/me"))  # logging out was refused, too


def test_the_parameter_that_was_meant_is_named(admin: Traceline) -> None:
    meant = {
        "/requirements?stauts=draft": "status",
        "/suggestions?stauts=x": "status",
        "/links?type=covers": "link_type",
    }
    for path, name in meant.items():
        assert f"did you mean '{name}'?" in problem(admin.get(path), 422)["detail"], path


def test_a_run_is_not_started_with_what_goes_unheard(admin: Traceline) -> None:
    runs = admin.read("/suggestions/runs")["total"]
    problem(admin.post("/suggestions/generate?treshold=0.5"), 422, "unknown_parameter")
    problem(admin.post("/suggestions/generate?threshold=0.5&threshold=0.9"), 422, "repeated_parameter")
    told = problem(admin.post("/suggestions/generate", json={"algorithm": "keyword"}), 422, "unexpected_body")
    assert "algorithm" in told["detail"]
    assert admin.read("/suggestions/runs")["total"] == runs


STRANGE_IDS = ["x", "-1", "0", "%00", UNKNOWN[:-1], UNKNOWN + "0", "9" * 40, quote("ä🚪"), "%20", "%FF", "null"]
BY_ID = [
    ("GET", "/requirements/{}"),
    ("DELETE", "/requirements/{}"),
    ("GET", "/requirements/{}/test-cases"),
    ("GET", "/test-cases/{}"),
    ("DELETE", "/test-cases/{}"),
    ("GET", "/test-cases/{}/requirements"),
    ("GET", "/links/{}"),
    ("DELETE", "/links/{}"),
    ("POST", "/links/{}/confirm"),
    ("GET", "/suggestions/{}"),
    ("POST", "/suggestions/{}/accept"),
    ("POST", "/suggestions/{}/reject"),
    ("GET", "/suggestions/runs/{}"),
    ("POST", "/suggestions/runs/{}/cancel"),
    ("POST", "/notifications/{}/read"),
    ("GET", "/users/{}"),
    ("DELETE", "/users/{}"),
]


def test_a_strange_id_is_not_found_or_refused(admin: Traceline) -> None:
    def refused(operation: tuple[str, str], strange: str) -> None:
        problem(admin.request(operation[0], operation[1].format(strange)), {400, 404, 422})

    check_each(refused, product(BY_ID, STRANGE_IDS))


def test_a_strange_header_is_no_failure(reviewer: Traceline) -> None:
    path = f"/requirements/{reviewer.create_requirement()['id']}"
    requests = [("GET", path, None), ("POST", "/requirements", requirement()), ("PATCH", path, {"tags": ["x"]})]

    def survived(name: str, value: bytes, request: tuple[str, str, Json | None]) -> None:
        method, target, body = request
        response = reviewer.request(method, target, json=body, headers={name.encode(): value})
        assert response.status_code < 500, response.text

    names = ("If-Match", "If-None-Match", "Idempotency-Key", "Prefer", "Accept", "Range")
    check_each(survived, product(names, (b"\xff\xfe", b'"', b"x" * 5000, b"", b"W/"), requests))
