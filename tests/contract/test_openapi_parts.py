"""What a reader of the one document needs to know, operation by operation."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chassis.core.problems import Problem

Operation = tuple[str, dict[str, Any]]
REPOSITORY = Path(__file__).parents[2]
CLOSED = {
    "automation_status",
    "band",
    "coverage",
    "expand",
    "format",
    "link_source",
    "link_type",
    "method",
    "priority",
    "resource_type",
    "role",
    "sort",
    "status",
    "type",
}
"""Parameters whose values are a closed list wherever they are."""


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method.upper()} {path}", operation


def parameters(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, operation in operations(document):
        for parameter in operation.get("parameters", []):
            if "$ref" not in parameter:
                yield f"{place} {parameter['name']}", parameter


def test_every_operation_and_tag_is_described(document: dict[str, Any]) -> None:
    assert [place for place, operation in operations(document) if not operation.get("description")] == []
    assert [tag["name"] for tag in document["tags"] if not tag.get("description")] == []


def test_every_parameter_is_described_and_none_is_nullable(document: dict[str, Any]) -> None:
    assert [place for place, parameter in parameters(document) if not parameter.get("description")] == []
    assert [place for place, parameter in parameters(document) if "null" in str(parameter["schema"])] == []


def test_closed_lists_name_their_values(document: dict[str, Any]) -> None:
    seen = set()
    for place, parameter in parameters(document):
        if parameter["name"] in CLOSED:
            seen.add(parameter["name"])
            schema = parameter["schema"]
            values = schema.get("items", schema).get("enum")
            if "$ref" in schema:
                values = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["enum"]
            assert values, place
            if schema.get("type") == "array":
                assert (parameter["style"], parameter["explode"]) == ("form", False), place
    assert seen == CLOSED


def test_what_excludes_is_among_the_values(document: dict[str, Any]) -> None:
    (status,) = (parameter for place, parameter in parameters(document) if place == "GET /api/v1/requirements status")
    assert status["schema"]["items"]["enum"] == [
        *("draft", "approved", "implemented", "tested", "closed"),
        *("!draft", "!approved", "!implemented", "!tested", "!closed"),
    ]


def test_errors_stand_once_and_name_their_codes(document: dict[str, Any]) -> None:
    shared = document["components"]["responses"]
    for place, operation in operations(document):
        for status, response in operation["responses"].items():
            if status >= "4":
                assert list(response) == ["$ref"], (place, status)
                named = shared[response["$ref"].rpartition("/")[2]]
                assert "X-Request-ID" in named["headers"]
    for name, response in shared.items():
        content = response["content"]["application/problem+json"]
        # A generated client has a class for each, not one for each of each operation.
        assert content["schema"] == {"$ref": f"#/components/schemas/{name}"}
        codes = document["components"]["schemas"][name]["allOf"][1]["properties"]["code"]["enum"]
        assert list(content["examples"]) == codes
        assert {example["value"]["code"] for example in content["examples"].values()} == set(codes)


def test_every_code_that_a_service_raises_is_in_the_document(document: dict[str, Any]) -> None:
    raised = {
        (kind.status, code)
        for kind in Problem.__subclasses__()
        for source in REPOSITORY.glob("*-service/src/**/*.py")
        for code in re.findall(rf'\b{kind.__name__}\([^()]*?code="(\w+)"', source.read_text(), re.DOTALL)
    }
    documented = {
        (example["value"]["status"], code)
        for response in document["components"]["responses"].values()
        for code, example in response["content"]["application/problem+json"]["examples"].items()
    }
    assert len(raised) > 10
    assert raised - documented == set()


def test_only_who_needs_a_role_may_be_told_that_theirs_is_too_low(document: dict[str, Any]) -> None:
    told = {place: set(operation["responses"]) for place, operation in operations(document)}
    assert "403" not in told["GET /api/v1/requirements"]
    assert "403" in told["POST /api/v1/requirements"]
    assert "403" in told["GET /api/v1/users"]
    assert {"401", "403"}.isdisjoint(told["GET /api/v1/auth/jwks.json"])


def test_passwords_are_hidden_while_they_are_typed(document: dict[str, Any]) -> None:
    found = [
        (name, member, field)
        for name, schema in document["components"]["schemas"].items()
        for member, field in schema.get("properties", {}).items()
        if "password" in member and field.get("type") != "boolean"
    ]
    forms = {"Acceptance", "Body_log_in", "NewPassword", "NewUser", "PasswordChange", "Registration", "SignIn"}
    forms |= {"Beginning", "Proof"}
    assert {name for name, _, _ in found} == forms | {"DemoAccount"}
    assert [(name, member) for name, member, field in found if field.get("format") != "password"] == []


def test_a_person_authorizes_with_email_and_password(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    assert schemes["password"]["flows"]["password"]["tokenUrl"] == "/api/v1/auth/login"
    assert schemes["bearer"]["scheme"] == "bearer"
    assert document["security"] == [{"password": []}, {"bearer": []}]


def test_headers_are_documented(document: dict[str, Any]) -> None:
    told = dict(operations(document))

    def answered(place: str, status: str) -> set[str]:
        return set(told[place]["responses"][status]["headers"])

    def sent(place: str) -> set[str]:
        return {one["$ref"].rpartition("/")[2] for one in told[place]["parameters"] if "$ref" in one}

    always = {"Cache-Control", "X-Request-ID"}
    one = "/api/v1/requirements/{requirement_id}"
    assert answered("POST /api/v1/requirements", "201") == always | {"ETag", "Location"}
    assert answered("GET /api/v1/requirements", "200") == always | {"Link"}
    assert answered("GET /api/v1/changes", "200") == always | {"Link"}
    assert answered(f"GET {one}", "200") == answered(f"GET {one}", "304") == always | {"ETag"}
    assert answered("POST /api/v1/suggestions/generate", "202") == always | {"ETag", "Location"}
    assert answered(f"DELETE {one}", "204") == always
    assert sent("POST /api/v1/requirements") == {"X-Request-ID", "Idempotency-Key"}
    assert sent("POST /api/v1/suggestions/generate") == {"X-Request-ID", "Idempotency-Key", "Prefer"}
    assert sent(f"GET {one}") == {"X-Request-ID", "If-None-Match"}
    assert sent(f"PATCH {one}") == {"X-Request-ID", "If-Match"}
    assert "Retry-After" in document["components"]["responses"]["ServiceUnavailable"]["headers"]
    assert "Retry-After" in document["components"]["responses"]["TooManyRequests"]["headers"]
