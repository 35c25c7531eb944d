"""Fields with values that they cannot have: refused with a problem document that names the field."""

import json
from typing import Any

import pytest

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.client import PASSWORD, Json, Traceline, ok, problem, requirement, test_case

pytestmark = in_one_process

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


@pytest.mark.parametrize("field", ["title", "description", "type", "priority"])
@pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
def test_a_field_that_is_required_must_be_there(reviewer: Traceline, path: str, field: str) -> None:
    body = {name: value for name, value in requirement().items() if name != field}
    problem(reviewer.post(path, json=body), 422, field=field)


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


BAD_CHANGE: list[tuple[str, list[Any]]] = [
    ("role", [None, "", "emperor", "ADMIN", 1, []]),
    ("is_active", [None, "perhaps", 2, []]),
    ("full_name", [None, "", "n" * 201, NUL, SURROGATE, 5]),
]


@pytest.mark.parametrize(("field", "value"), each(BAD_CHANGE))
def test_a_bad_change_of_a_user_changes_nothing(admin: Traceline, field: str, value: object) -> None:
    path = f"/users/{admin.me()['id']}"
    before = admin.read(path)
    problem(send(admin, "PATCH", path, {field: value}), 422, field=field)
    assert admin.read(path) == before


@pytest.mark.parametrize("field", ["current_password", "new_password"])
@pytest.mark.parametrize("value", [None, NUL * 4, SURROGATE * 4, 12345678, []])
def test_a_bad_password_is_refused(viewer: Traceline, field: str, value: object) -> None:
    body = {"current_password": PASSWORD, "new_password": PASSWORD, field: value}
    problem(send(viewer, "POST", "/auth/change-password", body), 422, field=field)
    ok(viewer.get("/auth/me"))


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
