"""ETags against lost updates, and idempotency keys against doing a thing twice."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.client import PASSWORD, Json, Traceline, created, ok, problem, requirement, test_case

pytestmark = in_one_process

METHODS = {
    "requirement": ["PUT", "PATCH", "DELETE"],
    "test case": ["PUT", "PATCH", "DELETE"],
    "link": ["PATCH", "DELETE"],
    "user": ["PATCH", "DELETE"],
}
ANY_KIND = pytest.mark.parametrize("kind", METHODS)
FIELDS = {"requirement": "title", "test case": "title", "link": "notes", "user": "full_name"}


def make(admin: Traceline, kind: str) -> str:
    """Create one of this kind and return its path."""
    if kind == "requirement":
        return f"/requirements/{admin.create_requirement()['id']}"
    if kind == "test case":
        return f"/test-cases/{admin.create_test_case()['id']}"
    if kind == "user":
        return f"/users/{created(admin.register(texts.email()))['id']}"
    link = admin.create_link(admin.create_requirement()["id"], admin.create_test_case()["id"])
    return f"/links/{link['id']}"


def change(kind: str) -> Json:
    return {FIELDS[kind]: texts.word()}


@ANY_KIND
def test_an_item_answers_a_strong_etag_that_changes_with_it(admin: Traceline, kind: str) -> None:
    path = make(admin, kind)
    before = admin.get(path).headers["etag"]
    assert before.startswith('"')
    assert before.endswith('"')
    assert admin.get(path).headers["etag"] == before
    patched = admin.patch(path, json=change(kind))
    assert patched.headers["etag"] == admin.get(path).headers["etag"]
    assert patched.headers["etag"] != before


def test_a_suggestion_has_an_etag_too(reviewer: Traceline) -> None:
    path = f"/suggestions/{reviewer.suggested_pair()['id']}"
    pending = reviewer.get(path).headers["etag"]
    assert pending.startswith('"')
    assert reviewer.get(path, headers={"If-None-Match": pending}).status_code == 304
    ok(reviewer.post(f"{path}/reject"))
    assert ok(reviewer.get(path, headers={"If-None-Match": pending}))["status"] == "rejected"


def test_the_answer_to_a_create_has_the_etag_of_the_item(reviewer: Traceline) -> None:
    response = reviewer.post("/requirements", json=requirement())
    assert response.headers["etag"] == reviewer.get(f"/requirements/{response.json()['id']}").headers["etag"]


@ANY_KIND
def test_what_has_not_changed_is_not_sent_again(admin: Traceline, kind: str) -> None:
    path = make(admin, kind)
    etag = admin.get(path).headers["etag"]
    for header in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        response = admin.get(path, headers={"If-None-Match": header})
        assert (response.status_code, response.content) == (304, b""), header
        assert response.headers["etag"] == etag
    ok(admin.get(path, headers={"If-None-Match": '"other"'}))
    ok(admin.patch(path, json=change(kind)))
    ok(admin.get(path, headers={"If-None-Match": etag}))


@pytest.mark.parametrize(("kind", "method"), [(kind, method) for kind in METHODS for method in METHODS[kind]])
def test_a_write_from_an_old_reading_is_refused(admin: Traceline, kind: str, method: str) -> None:
    path = make(admin, kind)
    old = admin.get(path).headers["etag"]
    ok(admin.patch(path, json=change(kind)))
    now = admin.get(path)

    def write(etag: str) -> httpx.Response:
        body = {"PUT": requirement(), "PATCH": change(kind), "DELETE": None}[method]
        return admin.request(method, path, json=body, headers={"If-Match": etag})

    problem(write(old), 412)
    assert ok(admin.get(path)) == ok(now)
    assert write(now.headers["etag"]).status_code in {200, 204}


@ANY_KIND
def test_a_write_that_names_no_etag_or_any_goes_through(admin: Traceline, kind: str) -> None:
    path = make(admin, kind)
    ok(admin.patch(path, json=change(kind)))
    ok(admin.patch(path, json=change(kind), headers={"If-Match": "*"}))
    assert admin.delete(path).status_code == 204


def test_of_two_writers_with_the_same_reading_one_wins(reviewer: Traceline) -> None:
    path = make(reviewer, "requirement")
    headers = {"If-Match": reviewer.get(path).headers["etag"]}

    def write(_: int) -> int:
        return reviewer.patch(path, json={"title": texts.word()}, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(write, range(8))) == [200] + [412] * 7


def idempotent_creates(admin: Traceline) -> list[tuple[str, Json]]:
    pair = {
        "requirement_id": admin.create_requirement()["id"],
        "test_case_id": admin.create_test_case()["id"],
    }
    person = {"password": PASSWORD, "full_name": "Kim"}
    return [
        ("/requirements", requirement(external_id=texts.word())),
        ("/test-cases", test_case(external_id=texts.word())),
        ("/links", pair),
        ("/users", person | {"email": texts.email()}),
        ("/auth/register", person | {"email": texts.email()}),
    ]


@pytest.mark.parametrize("number", range(5), ids=["requirement", "test case", "link", "user", "registration"])
def test_the_same_create_with_the_same_key_gets_the_first_answer_again(admin: Traceline, number: int) -> None:
    path, body = idempotent_creates(admin)[number]
    headers = {"Idempotency-Key": texts.word(20)}
    first = admin.post(path, json=body, headers=headers)
    again = admin.post(path, json=body, headers=headers)
    assert created(again) == created(first)
    assert again.headers["location"] == first.headers["location"]
    problem(
        admin.post(path, json=body | {"notes": "x", "full_name": "Y", "title": "Z"}, headers=headers),
        422,
        "idempotency_key_reused",
    )
    problem(admin.post(path, json=body), 409)


def test_without_a_key_the_same_create_makes_another(reviewer: Traceline) -> None:
    body = requirement()
    first, second = (created(reviewer.post("/requirements", json=body)) for _ in range(2))
    assert first["id"] != second["id"]


def test_a_key_belongs_to_the_user_who_sent_it(admin: Traceline, reviewer: Traceline) -> None:
    headers = {"Idempotency-Key": texts.word(20)}
    body = requirement()
    mine = created(reviewer.post("/requirements", json=body, headers=headers))
    other = created(admin.post("/requirements", json=body, headers=headers))
    assert mine["id"] != other["id"]
    created(admin.new_user("reviewer").post("/requirements", json=requirement(), headers=headers))


def test_the_same_create_many_times_at_once_makes_one_item(reviewer: Traceline) -> None:
    module = texts.word()
    body = requirement(module=module)
    headers = {"Idempotency-Key": texts.word(20)}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: reviewer.post("/requirements", json=body, headers=headers), range(8)))
    (made,) = reviewer.items("/requirements", module=module)
    assert any(answer.status_code == 201 for answer in answers)
    for answer in answers:
        if answer.status_code == 201:
            assert answer.json() == made
        else:
            problem(answer, 409)
