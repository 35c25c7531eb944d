"""Fields with values that they cannot have: refused with a problem document that names the field."""

import json
from itertools import product
from typing import Any

import pytest

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.cases import check_each
from acceptance.client import PASSWORD, Traceline, ok, problem, requirement

pytestmark = [in_one_process, pytest.mark.requirement("TL-ITEM-1", "TL-SAFE-1")]

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NUL = "a\x00b"
SURROGATE = "a\ud800b"
HUGE = 10**30
Table = list[tuple[str, list[Any]]]
"""Fields, each with values that it cannot have."""
JSON_TYPE = {"Content-Type": "application/json"}


def send(user: Traceline, method: str, path: str, body: object) -> Any:
    """Send JSON that may hold what Python's UTF-8 refuses: everything beyond ASCII is escaped."""
    return user.request(method, path, content=json.dumps(body), headers=JSON_TYPE)


BAD_TEXT = [NUL, SURROGATE, 5, [], {}, True]
BAD_ITEM: Table = [
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
BAD_TEST_CASE: Table = [
    ("automation_status", ["", "robot", 1]),
    ("steps", [{"1": NUL}, {NUL: "Press"}, {"1": SURROGATE}, ["Press"], "Press", {"1": 5}, {"1": None}, {"1": {}}]),
    ("steps", [{key: "Press"} for key in ("0", "01", "-1", "1.5", "one", "", " 1", "1a", "²", "١")]),
    ("test_data", ["text", [1], {"key": NUL}, {NUL: 1}, {"a": SURROGATE}]),
    ("preconditions", BAD_TEXT),
    ("postconditions", BAD_TEXT),
    ("execution_time_minutes", ["soon", 1.5, [], HUGE, -HUGE]),
]


def each(table: Table) -> list[tuple[str, Any]]:
    return [(field, value) for field, values in table for value in values]


@pytest.mark.parametrize(("path", "table"), [("/requirements", BAD_ITEM), ("/test-cases", BAD_ITEM + BAD_TEST_CASE)])
def test_an_item_with_a_bad_field_is_refused(reviewer: Traceline, path: str, table: Table) -> None:
    def refused(field: str, value: object) -> None:
        problem(send(reviewer, "POST", path, requirement(**{field: value})), 422, field=field)

    check_each(refused, each(table))


@pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
def test_a_change_with_a_bad_field_is_refused_and_changes_nothing(reviewer: Traceline, path: str) -> None:
    item = reviewer.create_requirement() if path == "/requirements" else reviewer.create_test_case()
    here = f"{path}/{item['id']}"

    def refused(field: str, value: object) -> None:
        problem(send(reviewer, "PATCH", here, {"status": "draft", field: value}), 422, field=field)
        problem(send(reviewer, "PUT", here, requirement(**{field: value})), 422, field=field)
        assert reviewer.read(here) == item

    check_each(refused, each(BAD_ITEM))


def test_every_bad_field_is_named(reviewer: Traceline) -> None:
    body = requirement(title="", priority="urgent", tags=[1])
    answer = problem(reviewer.post("/requirements", json=body), 422)
    for field in ("title", "priority", "tags"):
        assert any(field in error["pointer"] for error in answer["errors"]), field


def test_a_bad_value_is_not_sent_back(reviewer: Traceline) -> None:
    secret = texts.word(50)
    assert secret not in reviewer.post("/requirements", json=requirement(title=secret * 20_000)).text
    assert secret not in reviewer.post("/auth/register", json={"email": "x", "password": secret * 5}).text


BAD_PERSON: Table = [
    ("email", [None, "", "nobody", "a@", "@b.test", "a b@c.test", "a@b@c.test", f"{NUL}@c.test", SURROGATE, 5, []]),
    ("email", [f"{'x' * 400}@c.test"]),
    ("password", [None, "", "short", "x" * 129, f"{NUL} and more", f"{SURROGATE} and more", 12345678, []]),
    ("full_name", [None, "", "n" * 201, NUL, SURROGATE, 5]),
]


def test_a_person_with_a_bad_field_is_refused(admin: Traceline) -> None:
    def refused(field: str, value: object) -> None:
        body = {"email": texts.email(), "password": PASSWORD, "full_name": "Kim", field: value}
        for path in ("/auth/register", "/users"):
            problem(send(admin, "POST", path, body), 422, field=field)

    check_each(refused, each(BAD_PERSON))


BAD_CHANGE: Table = [
    ("role", [None, "", "emperor", "ADMIN", 1, []]),
    ("is_active", [None, "perhaps", 2, []]),
    ("full_name", [None, "", "n" * 201, NUL, SURROGATE, 5]),
]


def test_a_bad_change_of_a_user_changes_nothing(admin: Traceline) -> None:
    path = f"/users/{admin.me()['id']}"
    before = admin.read(path)

    def refused(field: str, value: object) -> None:
        problem(send(admin, "PATCH", path, {field: value}), 422, field=field)
        assert admin.read(path) == before

    check_each(refused, each(BAD_CHANGE))


def test_a_bad_password_is_refused(viewer: Traceline) -> None:
    def refused(field: str, value: object) -> None:
        body = {"current_password": PASSWORD, "new_password": PASSWORD, field: value}
        problem(send(viewer, "POST", "/auth/change-password", body), 422, field=field)
        ok(viewer.get("/auth/me"))

    check_each(refused, product(("current_password", "new_password"), (None, NUL * 4, SURROGATE * 4, 12345678, [])))


def test_a_login_with_nul_is_refused(anyone: Traceline) -> None:
    for field in ("username", "password"):
        form = {"username": texts.email(), "password": PASSWORD, field: NUL}
        problem(anyone.post("/auth/login", data=form), 422, field=field)


def test_a_login_that_is_no_proper_form_is_refused(anyone: Traceline) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    forms = (b"username=%FF%FE&password=%C3", b"%00=1", b"&&&", b"=", b"username=a&username=b&password=c")
    for content in forms:
        problem(anyone.post("/auth/login", content=content, headers=headers), {400, 401, 422})


BAD_LINK: Table = [
    ("requirement_id", [None, "", "x", 5, [], NUL, SURROGATE, "0" * 5000]),
    ("test_case_id", [None, "x", 5]),
    ("link_type", ["", "guesses", 1]),
    ("notes", [NUL, SURROGATE, 5, []]),
    ("confidence_score", [2, -1, "high", HUGE, []]),
]


def test_a_link_with_a_bad_field_is_refused(reviewer: Traceline) -> None:
    def refused(field: str, value: object) -> None:
        body = {"requirement_id": UNKNOWN, "test_case_id": UNKNOWN, field: value}
        problem(send(reviewer, "POST", "/links", body), 422, field=field)

    check_each(refused, each(BAD_LINK))


def test_a_review_with_bad_feedback_is_refused(reviewer: Traceline) -> None:
    path = f"/suggestions/{reviewer.suggested_pair()['id']}"

    def refused(action: str, value: object) -> None:
        problem(send(reviewer, "POST", f"{path}/{action}", {"feedback": value}), 422, field="feedback")
        assert reviewer.read(path)["status"] == "pending"

    check_each(refused, product(("accept", "reject"), (NUL, SURROGATE, 5, [], {})))
