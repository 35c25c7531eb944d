"""What browsers are told to make of an answer, where the answer itself decides."""

from acceptance import texts
from acceptance.client import Traceline, created, ok


def test_no_cache_keeps_a_token(anyone: Traceline) -> None:
    email = texts.email()
    created(anyone.register(email))
    response = anyone.login(email)
    ok(response)
    assert response.headers.get_list("cache-control") == ["no-store"]
    assert response.headers["x-content-type-options"] == "nosniff"


def test_everybody_may_keep_the_public_keys(anyone: Traceline) -> None:
    response = anyone.get("/auth/jwks.json")
    ok(response)
    assert response.headers.get_list("cache-control") == ["public, max-age=60"]


def test_the_page_of_the_matrix_has_a_policy_of_its_own_and_no_other(viewer: Traceline) -> None:
    response = viewer.get("/reports/traceability-matrix", params={"format": "html"})
    (policy,) = response.headers.get_list("content-security-policy")
    assert {"default-src 'none'", "sandbox", "frame-ancestors 'none'"} <= set(policy.split("; "))
    assert response.headers.get_list("x-content-type-options") == ["nosniff"]


def test_a_document_is_for_taking_away(viewer: Traceline) -> None:
    for file_format in ("csv", "xlsx"):
        response = viewer.get("/reports/traceability-matrix", params={"format": file_format})
        assert response.headers["content-disposition"].startswith("attachment; ")
        assert response.headers.get_list("x-content-type-options") == ["nosniff"]
        assert response.headers.get_list("cache-control") == ["no-store"]


def test_an_answer_for_one_person_is_kept_by_no_shared_cache_and_never_unasked(
    admin: Traceline, viewer: Traceline
) -> None:
    path = f"/requirements/{admin.create_requirement()['id']}"
    response = viewer.get(path)
    assert response.headers.get_list("cache-control") == ["private, no-cache"]
    again = viewer.get(path, headers={"If-None-Match": response.headers["etag"]})
    assert again.status_code == 304
    assert again.headers.get_list("cache-control") == ["private, no-cache"]
