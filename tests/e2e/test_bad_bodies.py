"""Bodies that are no proper JSON object, or of another media type: refused, never a failure."""

import json
from typing import Any

import pytest

from acceptance.callers import in_one_process
from acceptance.client import Json, Traceline, ok, problem, requirement, test_case

pytestmark = in_one_process

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


@pytest.fixture(scope="module")
def pending(admin: Traceline) -> Json:
    return admin.suggested_pair()


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_body_that_is_no_proper_object_is_refused(
    admin: Traceline, targets: dict[str, Any], method: str, path: str, kind: str
) -> None:
    content, statuses = BODIES[kind]
    response = admin.request(method, path.format(**targets), content=content, headers=JSON_TYPE)
    problem(response, statuses)


@pytest.mark.parametrize("action", ["accept", "reject"])
@pytest.mark.parametrize("kind", sorted(set(BODIES) - {"nothing", "null", "1e999", "a number of 5000 digits"}))
def test_a_review_with_a_body_that_is_no_proper_object_is_refused(
    admin: Traceline, pending: Json, action: str, kind: str
) -> None:
    path = f"/suggestions/{pending['id']}/{action}"
    content, statuses = BODIES[kind]
    problem(admin.post(path, content=content, headers=JSON_TYPE), statuses)


@pytest.mark.parametrize("media_type", ["text/plain", "application/xml", "multipart/form-data", "json", None])
@pytest.mark.parametrize(("method", "path"), WRITES)
def test_another_media_type_is_refused(
    admin: Traceline, targets: dict[str, Any], method: str, path: str, media_type: str | None
) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    response = admin.request(method, path.format(**targets), content=json.dumps(requirement()), headers=headers)
    problem(response, 415)


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_a_media_type_may_have_parameters_and_any_case(reviewer: Traceline, media_type: str) -> None:
    content = json.dumps(requirement())
    ok(reviewer.post("/requirements", content=content, headers={"Content-Type": media_type}), 201)


def test_metadata_may_be_nested_but_not_beyond_32_levels(reviewer: Traceline) -> None:
    metadata = json.loads(deep(30))
    assert reviewer.create_requirement(custom_metadata=metadata)["custom_metadata"] == metadata
    body = requirement(custom_metadata=json.loads(deep(33)))
    problem(reviewer.post("/requirements", json=body), {400, 422})


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e400", "NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("field", ["custom_metadata", "test_data", "execution_time_minutes", "title"])
def test_a_number_that_no_double_holds_is_refused(reviewer: Traceline, field: str, number: str) -> None:
    value = f'{{"depth": {number}}}' if field in ("custom_metadata", "test_data") else number
    content = json.dumps(test_case())[:-1] + f', "{field}": {value}}}'
    problem(reviewer.post("/test-cases", content=content, headers=JSON_TYPE), {400, 422})


@pytest.mark.parametrize("minutes", [2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64, -1, 0])
def test_big_and_small_integers_are_stored_or_refused(reviewer: Traceline, minutes: int) -> None:
    response = reviewer.post("/test-cases", json=test_case(execution_time_minutes=minutes))
    if response.status_code == 201:
        assert response.json()["execution_time_minutes"] == minutes
    else:
        problem(response, 422, field="execution_time_minutes")


def test_metadata_may_hold_any_number_that_fits(reviewer: Traceline) -> None:
    metadata = {"int": 2**53 - 1, "negative": -(2**53) + 1, "float": 0.1, "small": 5e-324, "large": 1.5e308}
    assert reviewer.create_requirement(custom_metadata=metadata)["custom_metadata"] == metadata
