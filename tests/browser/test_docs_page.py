"""The page of the API in a real browser: everything comes from the gateway, and its policy stands in nobody's way."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from acceptance.client import Traceline
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD

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


def answered(operation: Any) -> list[str]:
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    answer = operation.locator(".live-responses-table .response")
    answer.wait_for()
    status: list[str] = answer.locator(".response-col_status").inner_text().split()
    return status


def test_who_authorizes_with_email_and_password_can_call_and_still_can_after_a_reload(
    visit: Visit, base_url: str
) -> None:
    visit.open(f"{base_url}/docs")
    visit.page.locator(".auth-wrapper .authorize").first.click()
    form = visit.page.locator(".auth-container", has=visit.page.locator("#oauth_username"))
    form.locator("#oauth_username").fill(ADMIN_EMAIL)
    form.locator("#oauth_password").fill(ADMIN_PASSWORD)
    assert form.locator("#oauth_password").get_attribute("type") == "password"
    form.locator("button.authorize").click()
    visit.page.locator(".modal-ux button", has_text="Logout").wait_for()
    kept = visit.page.evaluate("JSON.stringify(localStorage)")
    assert "access_token" in kept
    assert ADMIN_PASSWORD not in kept
    for _ in range(2):
        visit.open(f"{base_url}/docs")
        operation = visit.page.locator("#operations-Authentication-get_me")
        operation.locator(".opblock-summary-control").click()
        assert answered(operation) == ["200"]
    # Chromium would have password fields in forms; that is a hint, and Swagger UI's.
    assert [said for said in visit.console if not said.startswith("[DOM]")] == []


def test_a_closed_list_is_chosen_from_and_sent_as_the_api_reads_it(visit: Visit, base_url: str) -> None:
    visit.open(f"{base_url}/docs")
    operation = visit.page.locator("[id='operations-Requirements-list_requirements']")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.locator("tr[data-param-name=status] select").select_option(["!draft", "!closed"])
    operation.get_by_role("button", name="Execute").click()
    operation.locator(".live-responses-table .response").wait_for()
    (asked,) = (request for request in visit.requests if "/api/v1/requirements" in request)
    assert parse_qs(urlsplit(asked).query)["status"] == ["!draft,!closed"]


def test_the_filter_finds_an_operation_by_its_address(visit: Visit, base_url: str) -> None:
    visit.open(f"{base_url}/docs")
    visit.page.locator(".opblock").first.wait_for()
    visit.page.locator(".operation-filter-input").fill("bulk-review")
    visit.wait_for(lambda: visit.page.locator(".opblock").count() == 1)
    assert visit.page.locator(".opblock-summary-path").all_inner_texts() == ["/api/v1/suggestions/bulk-review"]


def test_an_operation_is_read_without_scrolling_through_its_errors(visit: Visit, base_url: str) -> None:
    visit.open(f"{base_url}/docs")
    operation = visit.page.locator("#operations-Requirements-create_requirement")
    operation.locator(".opblock-summary-control").click()
    operation.locator(".responses-table").wait_for()
    assert operation.locator(".responses-table tr[data-code='409']").inner_text().split("\t")[-1].strip() == (
        "Duplicate or state conflict: external_id_taken"
    )
    assert operation.bounding_box()["height"] < 3500
