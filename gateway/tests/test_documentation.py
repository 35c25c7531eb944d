"""What the merged document says beyond what the services say of themselves."""

from typing import Any

from chassis.web.problem_documents import problem_responses
from gateway.documentation.merging import merge


def service(path: str, **operations: Any) -> dict[str, Any]:
    return {"paths": {path: operations}, "components": {"schemas": {path.strip("/"): {"type": "object"}}}}


def operation(*statuses: str, **more: Any) -> dict[str, Any]:
    errors = problem_responses(*(status for status in statuses if status >= "4"))
    problems = {str(status): response for status, response in errors.items()}
    return {"tags": ["things"], "responses": {status: problems.get(status, {}) for status in statuses}, **more}


def headers_of(operation: dict[str, Any]) -> list[str]:
    return [one["$ref"].rpartition("/")[2] for one in operation["parameters"] if "$ref" in one]


def test_only_public_paths_are_in_it_each_tag_once() -> None:
    document = merge(
        [
            service("/api/v1/things", get=operation("200"), post=operation("201")),
            service("/internal/changes", get=operation("200")),
        ]
    )
    assert list(document["paths"]) == ["/api/v1/things", "/api/v1/version", "/session", "/session/renew"]
    assert [tag["name"] for tag in document["tags"]] == ["things", "Session", "About"]


def test_only_public_operations_need_no_token() -> None:
    document = merge(
        [
            service("/api/v1/auth/login", post=operation("200")),
            service("/api/v1/auth/me", get=operation("200")),
        ]
    )
    assert document["paths"]["/api/v1/auth/login"]["post"]["security"] == []
    assert "security" not in document["paths"]["/api/v1/auth/me"]["get"]
    assert document["security"] == [{"password": []}, {"bearer": []}]


def test_headers_and_media_types_that_the_manners_bring_are_documented() -> None:
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    document = merge(
        [
            service(
                "/api/v1/things/{id}",
                post=operation("201"),
                patch=operation("200", "412", requestBody=body, parameters=[{"name": "id", "in": "path"}]),
                get=operation("200"),
            )
        ]
    )
    operations = document["paths"]["/api/v1/things/{id}"]
    assert headers_of(operations["post"]) == ["Idempotency-Key", "X-Request-ID"]
    assert headers_of(operations["patch"]) == ["If-Match", "X-Request-ID"]
    assert operations["patch"]["parameters"][0] == {"name": "id", "in": "path"}
    assert set(operations["patch"]["requestBody"]["content"]) == {"application/json", "application/merge-patch+json"}
    assert headers_of(operations["get"]) == ["X-Request-ID"]
