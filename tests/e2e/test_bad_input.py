"""Whatever is sent: never a 500, always a problem document, and it names the field where there is one."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from acceptance import texts
from acceptance.client import PASSWORD, Json, Traceline, ok, problem, requirement, test_case

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NUL = "a\x00b"
SURROGATE = "a\ud800b"
HUGE = 10**30
JSON_TYPE = {"Content-Type": "application/json"}


def send(user: Traceline, method: str, path: str, body: object) -> Any:
    """Send JSON that may hold what Python's UTF-8 refuses: everything beyond ASCII is escaped."""
    return user.request(method, path, content=json.dumps(body), headers=JSON_TYPE)


BAD_TEXT = [NUL, SURROGATE, 5, [], {}, True]
BAD_ITEM: list[tuple[str, list[Any]]] = [
    ("title", [None, "", "  \n", "x" * 501, *BAD_TEXT]),
    ("description", [None, "", "  \n", *BAD_TEXT]),
    ("type", [None, "", "purple", "FUNCTIONAL", 1, [], NUL, SURROGATE]),
    ("priority", [None, "", "urgent", 1, {}]),
    ("status", ["", "purple", 1, []]),
    ("external_id", ["x" * 101, *BAD_TEXT]),
    ("module", ["x" * 101, *BAD_TEXT]),
    ("created_by", ["x" * 101, *BAD_TEXT]),
    ("source_system", ["x" * 51, *BAD_TEXT]),
    ("source_url", BAD_TEXT),
    ("tags", ["one", {"0": "one"}, [1], [None], [[]], [NUL], [SURROGATE]]),
    ("custom_metadata", ["text", 1, [1], {"key": NUL}, {NUL: 1}, {"a": [{"b": SURROGATE}]}, {SURROGATE: 1}]),
]
BAD_TEST_CASE: list[tuple[str, list[Any]]] = [
    ("automation_status", ["", "robot", 1]),
    ("steps", [{"1": NUL}, {NUL: "Press"}, {"1": SURROGATE}, {"x": "Press"}, ["Press"]]),
    ("test_data", ["text", [1], {"key": NUL}, {NUL: 1}, {"a": SURROGATE}]),
    ("preconditions", BAD_TEXT),
    ("postconditions", BAD_TEXT),
    ("execution_time_minutes", ["soon", 1.5, [], HUGE, -HUGE]),
]


def each(table: list[tuple[str, list[Any]]]) -> list[Any]:
    return [
        pytest.param(field, value, id=f"{field}-{number}")
        for field, values in table
        for number, value in enumerate(values)
    ]


@pytest.mark.parametrize(("field", "value"), each(BAD_ITEM))
def test_a_requirement_with_a_bad_field_is_refused(reviewer: Traceline, field: str, value: object) -> None:
    problem(send(reviewer, "POST", "/requirements", requirement(**{field: value})), 422, field=field)


@pytest.mark.parametrize(("field", "value"), each(BAD_ITEM + BAD_TEST_CASE))
def test_a_test_case_with_a_bad_field_is_refused(reviewer: Traceline, field: str, value: object) -> None:
    problem(send(reviewer, "POST", "/test-cases", test_case(**{field: value})), 422, field=field)


@pytest.fixture(scope="module")
def items(reviewer: Traceline) -> dict[str, Json]:
    return {"/requirements": reviewer.create_requirement(), "/test-cases": reviewer.create_test_case()}


@pytest.mark.parametrize(("field", "value"), each(BAD_ITEM))
@pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
def test_a_change_with_a_bad_field_is_refused_and_changes_nothing(
    reviewer: Traceline, items: dict[str, Json], path: str, field: str, value: object
) -> None:
    item = items[path]
    problem(send(reviewer, "PATCH", f"{path}/{item['id']}", {"status": "draft", field: value}), 422, field=field)
    problem(send(reviewer, "PUT", f"{path}/{item['id']}", requirement(**{field: value})), 422, field=field)
    assert reviewer.read(f"{path}/{item['id']}") == item


def test_every_bad_field_is_named(reviewer: Traceline) -> None:
    body = requirement(title="", priority="urgent", tags=[1])
    answer = problem(reviewer.post("/requirements", json=body), 422)
    for field in ("title", "priority", "tags"):
        assert any(field in error["pointer"] for error in answer["errors"]), field


def test_a_bad_value_is_not_sent_back(reviewer: Traceline) -> None:
    secret = texts.word(50)
    assert secret not in reviewer.post("/requirements", json=requirement(title=secret * 20_000)).text
    assert secret not in reviewer.post("/auth/register", json={"email": "x", "password": secret * 5}).text


BAD_PERSON: list[tuple[str, list[Any]]] = [
    ("email", [None, "", "nobody", "a@", "@b.test", "a b@c.test", "a@b@c.test", f"{NUL}@c.test", SURROGATE, 5, []]),
    ("email", [f"{'x' * 400}@c.test"]),
    ("password", [None, "", "short", "x" * 129, f"{NUL} and more", f"{SURROGATE} and more", 12345678, []]),
    ("full_name", [None, "", "n" * 201, NUL, SURROGATE, 5]),
]


@pytest.mark.parametrize(("field", "value"), each(BAD_PERSON))
@pytest.mark.parametrize("path", ["/auth/register", "/users"])
def test_a_person_with_a_bad_field_is_refused(admin: Traceline, path: str, field: str, value: object) -> None:
    body = {"email": texts.email(), "password": PASSWORD, "full_name": "Kim", field: value}
    problem(send(admin, "POST", path, body), 422, field=field)


@pytest.mark.parametrize("field", ["username", "password"])
def test_a_login_with_nul_is_refused(anyone: Traceline, field: str) -> None:
    form = {"username": texts.email(), "password": PASSWORD, field: NUL}
    problem(anyone.post("/auth/login", data=form), 422, field=field)


@pytest.mark.parametrize(
    "content", [b"username=%FF%FE&password=%C3", b"%00=1", b"&&&", b"=", b"username=a&username=b&password=c"]
)
def test_a_login_that_is_no_proper_form_is_refused(anyone: Traceline, content: bytes) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    problem(anyone.post("/auth/login", content=content, headers=headers), {400, 401, 422})


BAD_LINK: list[tuple[str, list[Any]]] = [
    ("requirement_id", [None, "", "x", 5, [], NUL, SURROGATE, "0" * 5000]),
    ("test_case_id", [None, "x", 5]),
    ("link_type", ["", "guesses", 1]),
    ("notes", [NUL, SURROGATE, 5, []]),
    ("confidence_score", [2, -1, "high", HUGE, []]),
]


@pytest.mark.parametrize(("field", "value"), each(BAD_LINK))
def test_a_link_with_a_bad_field_is_refused(reviewer: Traceline, field: str, value: object) -> None:
    body = {"requirement_id": UNKNOWN, "test_case_id": UNKNOWN, field: value}
    problem(send(reviewer, "POST", "/links", body), 422, field=field)


@pytest.mark.parametrize("action", ["accept", "reject"])
@pytest.mark.parametrize("value", [NUL, SURROGATE, 5, [], {}])
def test_a_review_with_bad_feedback_is_refused(reviewer: Traceline, pending: Json, action: str, value: object) -> None:
    path = f"/suggestions/{pending['id']}"
    problem(send(reviewer, "POST", f"{path}/{action}", {"feedback": value}), 422, field="feedback")
    assert reviewer.read(path)["status"] == "pending"


@pytest.fixture(scope="module")
def pending(reviewer: Traceline) -> Json:
    return reviewer.suggested_pair()


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
def targets(admin: Traceline, items: dict[str, Json]) -> dict[str, Any]:
    ids = {"requirement": items["/requirements"]["id"], "test_case": items["/test-cases"]["id"]}
    link = admin.create_link(admin.create_requirement()["id"], admin.create_test_case()["id"])
    return ids | {"link": link["id"], "user": admin.me()["id"]}


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


@pytest.mark.parametrize(("name", "value"), PAGES, ids=[f"{name}={value[:12]}" for name, value in PAGES])
@pytest.mark.parametrize("path", LISTS)
def test_a_page_that_cannot_be_is_refused(
    admin: Traceline, targets: dict[str, Any], path: str, name: str, value: str
) -> None:
    path = path.format(**targets)
    problem(admin.get(f"{path}{'&' if '?' in path else '?'}{name}={value}"), 422, field=name)


@pytest.mark.parametrize("path", LISTS)
def test_a_page_far_behind_the_end_is_empty_or_refused(admin: Traceline, targets: dict[str, Any], path: str) -> None:
    path = path.format(**targets)
    response = admin.get(f"{path}{'&' if '?' in path else '?'}skip={2**63 - 1}")
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


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in QUERIES for name in names])
def test_a_query_with_nul_is_refused(admin: Traceline, path: str, name: str) -> None:
    problem(admin.get(f"{path}?{name}=a%00b"), 422, field=name)


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in QUERIES for name in names])
@pytest.mark.parametrize("value", ["%FF%FE", "%ED%A0%80", "%", "%zz", "x" * 5000, "&", ",", "!", "!,!"])
def test_a_strange_query_is_answered_or_refused(admin: Traceline, path: str, name: str, value: str) -> None:
    response = admin.get(f"{path}?{name}={value}")
    if response.status_code != 200:
        problem(response, {400, 414, 422, 431})


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


@pytest.mark.parametrize("strange", STRANGE_IDS)
@pytest.mark.parametrize(("method", "path"), BY_ID)
def test_a_strange_id_is_not_found_or_refused(admin: Traceline, method: str, path: str, strange: str) -> None:
    problem(admin.request(method, path.format(strange)), {400, 404, 422})


@pytest.mark.parametrize("name", ["If-Match", "If-None-Match", "Idempotency-Key", "Prefer", "Accept", "Range"])
@pytest.mark.parametrize("value", [b"\xff\xfe", b'"', b"x" * 5000, b"", b"W/"])
def test_a_strange_header_is_no_failure(reviewer: Traceline, name: str, value: bytes) -> None:
    path = f"/requirements/{reviewer.create_requirement()['id']}"
    for method, target, body in (
        ("GET", path, None),
        ("POST", "/requirements", requirement()),
        ("PATCH", path, {"tags": ["x"]}),
    ):
        headers = {name.encode(): value}
        response = reviewer.request(method, target, json=body, headers=headers)
        assert response.status_code < 500, response.text
