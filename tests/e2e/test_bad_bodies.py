"""Bodies that are no proper JSON object, or of another media type: refused, never a failure."""

import json
from itertools import product
from typing import Any

import pytest

from acceptance.callers import in_one_process
from acceptance.cases import check_each
from acceptance.client import Traceline, ok, problem, requirement, test_case

pytestmark = [in_one_process, pytest.mark.requirement("TL-SAFE-1")]

JSON_TYPE = {"Content-Type": "application/json"}


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


# An answer of 400 is for what is no JSON, 422 for JSON that says nothing sensible.
BODIES = {
    "nothing": ("", {400, 415, 422}),
    "no JSON": ("{", {400}),
    "half a text": ('{"title": "x', {400}),
    "text after it": ("{} {}", {400}),
    "single quotes": ("{'title': 'x'}", {400}),
    "an array": ("[]", {422}),
    "an array of objects": ('[{"title": "x"}]', {422}),
    "a text": ('"title"', {422}),
    "a number": ("5", {422}),
    "null": ("null", {422}),
    "NaN": ('{"title": NaN}', {400, 422}),
    "Infinity": ('{"custom_metadata": {"a": Infinity}, "ids": -Infinity}', {400, 422}),
    "1e999": ('{"title": 1e999, "custom_metadata": {"a": 1e999}}', {400, 422}),
    "a number of 5000 digits": ('{"title": ' + "9" * 5000 + "}", {400, 422}),
    "broken UTF-8": (b'{"title": "\xff\xfe"}', {400}),
    "UTF-16": ('{"title": "x"}'.encode("utf-16"), {400}),
    "40 levels": (deep(40), {400, 422}),
    "100,000 levels": (deep(100_000), {400, 422}),
    "100,000 arrays": ("[" * 100_000, {400, 422}),
}

WRITES = [
    ("POST", "/requirements"),
    ("PUT", "/requirements/{requirement}"),
    ("PATCH", "/requirements/{requirement}"),
    ("POST", "/test-cases"),
    ("PUT", "/test-cases/{test_case}"),
    ("PATCH", "/test-cases/{test_case}"),
    ("POST", "/links"),
    ("PATCH", "/links/{link}"),
    ("POST", "/suggestions/bulk-review"),
    ("POST", "/users"),
    ("PATCH", "/users/{user}"),
    ("POST", "/auth/register"),
    ("POST", "/auth/change-password"),
]


@pytest.fixture(scope="module")
def targets(admin: Traceline) -> dict[str, Any]:
    ids = {"requirement": admin.create_requirement()["id"], "test_case": admin.create_test_case()["id"]}
    link = admin.create_link(ids["requirement"], ids["test_case"])
    return ids | {"link": link["id"], "user": admin.me()["id"]}


def test_a_body_that_is_no_proper_object_is_refused(admin: Traceline, targets: dict[str, Any]) -> None:
    def refused(write: tuple[str, str], kind: str) -> None:
        content, statuses = BODIES[kind]
        problem(admin.request(write[0], write[1].format(**targets), content=content, headers=JSON_TYPE), statuses)

    check_each(refused, product(WRITES, BODIES))


def test_a_review_with_a_body_that_is_no_proper_object_is_refused(admin: Traceline) -> None:
    path = f"/suggestions/{admin.suggested_pair()['id']}"

    def refused(action: str, kind: str) -> None:
        content, statuses = BODIES[kind]
        problem(admin.post(f"{path}/{action}", content=content, headers=JSON_TYPE), statuses)

    kinds = set(BODIES) - {"nothing", "null", "1e999", "a number of 5000 digits"}
    check_each(refused, product(("accept", "reject"), sorted(kinds)))


def test_another_media_type_is_refused(admin: Traceline, targets: dict[str, Any]) -> None:
    content = json.dumps(requirement())

    def refused(write: tuple[str, str], media_type: str | None) -> None:
        headers = {"Content-Type": media_type} if media_type else {}
        problem(admin.request(write[0], write[1].format(**targets), content=content, headers=headers), 415)

    check_each(refused, product(WRITES, ("text/plain", "application/xml", "multipart/form-data", "json", None)))


def test_a_media_type_may_have_parameters_and_any_case(reviewer: Traceline) -> None:
    for media_type in ("application/json; charset=utf-8", "Application/JSON"):
        headers = {"Content-Type": media_type}
        ok(reviewer.post("/requirements", content=json.dumps(requirement()), headers=headers), 201)


def test_metadata_may_be_nested_but_not_beyond_32_levels(reviewer: Traceline) -> None:
    metadata = json.loads(deep(30))
    assert reviewer.create_requirement(custom_metadata=metadata)["custom_metadata"] == metadata
    body = requirement(custom_metadata=json.loads(deep(33)))
    problem(reviewer.post("/requirements", json=body), {400, 422})


def test_a_number_that_no_double_holds_is_refused(reviewer: Traceline) -> None:
    def refused(field: str, number: str) -> None:
        value = f'{{"depth": {number}}}' if field in ("custom_metadata", "test_data") else number
        content = json.dumps(test_case())[:-1] + f', "{field}": {value}}}'
        problem(reviewer.post("/test-cases", content=content, headers=JSON_TYPE), {400, 422})

    fields = ("custom_metadata", "test_data", "execution_time_minutes", "title")
    check_each(refused, product(fields, ("1e999", "-1e999", "1e400", "NaN", "Infinity", "-Infinity")))


def test_big_and_small_integers_are_stored_or_refused(reviewer: Traceline) -> None:
    for minutes in (2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64, -1, 0):
        response = reviewer.post("/test-cases", json=test_case(execution_time_minutes=minutes))
        if response.status_code == 201:
            assert response.json()["execution_time_minutes"] == minutes
        else:
            problem(response, 422, field="execution_time_minutes")


def test_metadata_may_hold_any_number_that_fits(reviewer: Traceline) -> None:
    metadata = {"int": 2**53 - 1, "negative": -(2**53) + 1, "float": 0.1, "small": 5e-324, "large": 1.5e308}
    assert reviewer.create_requirement(custom_metadata=metadata)["custom_metadata"] == metadata
