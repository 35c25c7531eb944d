"""The page of the API in a real browser: everything comes from the gateway, and its policy stands in nobody's way."""

import pytest

from acceptance.client import Traceline

from .visit import Visit

pytestmark = pytest.mark.long


def test_the_page_shows_every_operation_with_what_the_gateway_has(
    visit: Visit, base_url: str, anyone: Traceline
) -> None:
    document = anyone.read("/openapi.json")
    operations = [item["operationId"] for path in document["paths"].values() for item in path.values()]
    visit.open(f"{base_url}/docs")
    visit.page.locator(".opblock").nth(len(operations) - 1).wait_for()
    assert visit.page.locator(".opblock").count() == len(operations)
    assert {request.split("?")[0].removeprefix(base_url) for request in visit.requests if "data:" not in request} == {
        "/docs",
        "/docs/assets/swagger-ui-bundle.js",
        "/docs/assets/swagger-ui.css",
        "/docs/assets/favicon.png",
        "/api/v1/openapi.json",
    }
    assert visit.console == []


def test_a_request_can_be_tried_from_the_page(visit: Visit, base_url: str) -> None:
    visit.open(f"{base_url}/docs")
    operation = visit.page.locator(".opblock", has_text="/auth/jwks.json").first
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    answer = operation.locator(".live-responses-table .response")
    answer.wait_for()
    assert answer.locator(".response-col_status").inner_text().split() == ["200"]
    assert visit.console == []
