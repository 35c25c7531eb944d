"""ETags against lost updates, and idempotency keys against doing a thing twice."""

import pytest

from acceptance import texts
from acceptance.client import PASSWORD, Json, Traceline, created, ok, problem, requirement, test_case


def test_a_write_from_an_old_reading_is_refused(admin: Traceline) -> None:
    link = admin.create_link(admin.create_requirement()["id"], admin.create_test_case()["id"])
    for path, field in (
        (f"/links/{link['id']}", "notes"),
        (f"/requirements/{link['requirement_id']}", "title"),
        (f"/test-cases/{link['test_case_id']}", "title"),
        (f"/users/{created(admin.register(texts.email()))['id']}", "full_name"),
    ):
        old = admin.get(path).headers["etag"]
        assert admin.get(path, headers={"If-None-Match": old}).status_code == 304, path
        now = admin.patch(path, json={field: texts.word()}, headers={"If-Match": old}).headers["etag"]
        assert admin.get(path).headers["etag"] == now != old, path
        for method in ("PATCH", "DELETE"):
            body = {field: texts.word()} if method == "PATCH" else None
            problem(admin.request(method, path, json=body, headers={"If-Match": old}), 412)
        assert admin.get(path).headers["etag"] == now, path
        assert admin.delete(path, headers={"If-Match": now}).status_code == 204, path


def test_a_suggestion_has_an_etag_too(reviewer: Traceline) -> None:
    path = f"/suggestions/{reviewer.suggested_pair()['id']}"
    pending = {"If-None-Match": reviewer.get(path).headers["etag"]}
    assert reviewer.get(path, headers=pending).status_code == 304
    ok(reviewer.post(f"{path}/reject"))
    assert ok(reviewer.get(path, headers=pending))["status"] == "rejected"


@pytest.mark.parametrize("kind", ["requirement", "test case", "link", "user", "registration"])
def test_the_same_create_with_the_same_key_gets_the_first_answer_again(admin: Traceline, kind: str) -> None:
    path, body = idempotent_create(admin, kind)
    headers = {"Idempotency-Key": texts.word(20)}
    first = admin.post(path, json=body, headers=headers)
    again = admin.post(path, json=body, headers=headers)
    assert created(again) == created(first)
    assert again.headers["location"] == first.headers["location"]
    other = body | {"notes": "x", "full_name": "Y", "title": "Z"}
    problem(admin.post(path, json=other, headers=headers), 422, "idempotency_key_reused")
    problem(admin.post(path, json=body), 409)


def idempotent_create(admin: Traceline, kind: str) -> tuple[str, Json]:
    person = {"password": PASSWORD, "full_name": "Kim", "email": texts.email()}
    if kind in ("user", "registration"):
        return ("/users" if kind == "user" else "/auth/register"), person
    if kind == "link":
        ends = {"requirement_id": admin.create_requirement(), "test_case_id": admin.create_test_case()}
        return "/links", {name: item["id"] for name, item in ends.items()}
    body = requirement if kind == "requirement" else test_case
    return ("/requirements" if kind == "requirement" else "/test-cases"), body(external_id=texts.word())
