"""The description of the API and its page, as they are served: complete, and there for anyone."""

import re
from urllib.parse import urljoin

import httpx

from acceptance.callers import in_one_process
from acceptance.client import Traceline

pytestmark = in_one_process

ENDPOINTS = """
POST /auth/register
POST /auth/login
GET /auth/me
POST /auth/change-password
POST /auth/logout
GET /auth/jwks.json
GET /users
POST /users
GET /users/{}
PATCH /users/{}
DELETE /users/{}
POST /requirements
GET /requirements
GET /requirements/{}
PUT /requirements/{}
PATCH /requirements/{}
DELETE /requirements/{}
POST /test-cases
GET /test-cases
GET /test-cases/{}
PUT /test-cases/{}
PATCH /test-cases/{}
DELETE /test-cases/{}
GET /requirements/{}/test-cases
GET /test-cases/{}/requirements
POST /links
GET /links
GET /links/{}
PATCH /links/{}
DELETE /links/{}
POST /links/{}/confirm
GET /reports/traceability-matrix
GET /reports/coverage-by-module
GET /reports/gaps
GET /search
POST /suggestions/generate
GET /suggestions/runs
GET /suggestions/runs/{}
POST /suggestions/runs/{}/cancel
GET /suggestions
GET /suggestions/{}
POST /suggestions/{}/accept
POST /suggestions/{}/reject
POST /suggestions/bulk-review
POST /suggestions/{}/reopen
POST /suggestions/reviews/{}/undo
GET /analytics/suggestion-performance
GET /notifications
GET /notifications/unread-count
POST /notifications/{}/read
PATCH /notifications/{}/read
POST /notifications/mark-all-read
GET /activity
GET /audit-log
GET /audit-log/head
""".strip().splitlines()


def test_every_endpoint_is_described_and_nothing_internal(anyone: Traceline) -> None:
    described = {
        f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path.removeprefix('/api/v1'))}"
        for path, item in anyone.read("/openapi.json")["paths"].items()
        for method in item
    }
    assert set(ENDPOINTS) - described == set()
    assert [place for place in described if "internal" in place] == []


def test_the_page_of_the_documentation_is_there_for_anyone(base_url: str) -> None:
    response = httpx.get(f"{base_url}/docs")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "/api/v1/openapi.json" in response.text


def test_the_page_of_the_documentation_needs_nobody_else(base_url: str) -> None:
    page = httpx.get(f"{base_url}/docs")
    parts = re.findall(r"""(?:src|href)\s*=\s*["']([^"']+)""", page.text)
    assert parts
    for part in parts:
        address = urljoin(str(page.url), part)
        assert address.startswith(base_url), part
        assert httpx.get(address).status_code == 200, part
