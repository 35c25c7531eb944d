"""Whatever is wrong with a request to whichever address is said in our words, at a field that was sent or can be."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from fastapi import FastAPI
from pydantic_core.core_schema import ErrorType

from chassis.core.identity import Identity, Role
from contracts.routes import SERVICES
from testing.internal import token

THEIRS = re.compile(
    r"Input |should (be|have|match)|valid (string|integer|number|boolean|UUID|datetime|dictionary|list)|parse|"
    r"Value error|Field required|Extra|not permitted|none of|is no UUID|{|}"
)
SHOWN = "hunter2!"
STRANGE: list[Any] = [None, "", " ", SHOWN, "x" * 20_000, 5, -1, 1.5, 10**18, True, [], {}, [1], {"a": 1}]
ASKED = ["", "x", "-1", "1.5", "9" * 400, "!", '"a', '"a"b', "a,,b", "NaN", "9999-99-99", "x" * 20_000, "\u202e"]


def test_no_error_of_ours_has_the_name_of_one_of_pydantics_whose_sentence_would_be_shown() -> None:
    sources = [
        (file, file.read_text(encoding="utf-8"))
        for file in Path(__file__).parents[2].glob("*/src/**/*.py")
        if "frontend" not in file.parts
    ]
    ours = {name: str(file) for file, text in sources for name in re.findall(r'PydanticCustomError\(\s*"(\w+)"', text)}
    assert len(ours) > 3
    assert {name: file for name, file in ours.items() if name in get_args(ErrorType)} == {}


def operations(app: FastAPI) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in app.openapi()["paths"].items():
        for method, operation in item.items():
            yield method.upper(), re.sub(r"\{[^}]*\}", "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11", path), operation


def fields(app: FastAPI, operation: dict[str, Any]) -> list[str]:
    """Names of the fields of an operation's body, and one that it does not have."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return []
    written = str(content["schema"])
    schemas = app.openapi()["components"]["schemas"]
    found = [schemas[name] for name in re.findall(r"#/components/schemas/(\w+)", written)]
    return [name for schema in found for name in schema.get("properties", {})] + ["nonsense"]


@pytest.fixture(scope="module", params=[service.context for service in SERVICES])
def app(request: pytest.FixtureRequest, apps: dict[str, FastAPI]) -> FastAPI:
    return apps[request.param]


@pytest.fixture
async def client(app: FastAPI) -> Any:
    right = token(Identity(1, "kim@example.com", Role.ADMIN), app.state.internal_verifier.service)
    headers = {"Authorization": f"Bearer {right}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://service", headers=headers
    ) as client:
        yield client


def told(response: httpx.Response) -> list[str]:
    """The pointers of a refusal, each of whose messages is a sentence of ours; none for another answer."""
    if response.status_code != 422:
        return []
    problem = response.json()
    for message in (problem["detail"], *(error["message"] for error in problem["errors"])):
        assert message.endswith((".", "?", " in errors)")), message
        assert THEIRS.search(message) is None, message
        assert len(message) < 1000, message
    return [error["pointer"] for error in problem["errors"]]


async def test_what_is_wrong_with_a_field_is_said_there_and_in_our_words(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    refused = 0
    for method, path, operation in operations(app):
        for name in fields(app, operation):
            for value in STRANGE:
                response = await client.request(method, path, json={name: value})
                pointers = told(response)
                refused += any(pointer.startswith(f"/{name}") for pointer in pointers)
                if "password" in name:
                    assert SHOWN not in response.text
        if "requestBody" in operation:
            for body in ([], "text", 5, [{"title": "x"}]):
                if told(await client.request(method, path, json=body)):
                    refused += 1
    assert refused > 0 or not any("requestBody" in operation for _, _, operation in operations(app))


async def test_what_is_wrong_with_a_query_is_said_in_our_words(app: FastAPI, client: httpx.AsyncClient) -> None:
    refused = 0
    for method, path, operation in operations(app):
        for parameter in operation.get("parameters", []):
            if parameter["in"] != "query":
                continue
            for value in ASKED:
                required = {
                    one["name"]: "x" for one in operation["parameters"] if one["in"] == "query" and one["required"]
                }
                pointers = told(await client.request(method, path, params={**required, parameter["name"]: value}))
                refused += f"/query/{parameter['name']}" in pointers
    assert refused > 0


@pytest.mark.parametrize("strange", ["x", "REQ-PICK-001", "-1", "9" * 40])
async def test_an_id_that_is_none_has_one_text_everywhere(
    app: FastAPI, client: httpx.AsyncClient, strange: str
) -> None:
    uuids = f"'{strange}' is no id: ids are UUIDs such as 7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11."
    for path, item in app.openapi()["paths"].items():
        for method, operation in item.items():
            response = await client.request(method, re.sub(r"\{[^}]*\}", strange, path))
            for pointer in told(response):
                schema = next(
                    (one["schema"] for one in operation.get("parameters", []) if pointer == f"/path/{one['name']}"), {}
                )
                if schema.get("format") == "uuid":
                    assert uuids in [error["message"] for error in response.json()["errors"]]
    for name in ("requirement_id", "test_case_id"):
        for path in ("/api/v1/links", "/api/v1/suggestions"):
            response = await client.get(path, params={name: strange})
            if response.status_code != 404:
                assert response.json()["detail"] == f"{name}: {uuids}"
