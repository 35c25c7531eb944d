"""A route refuses what it does not take: unknown query parameters, and a body where it has none."""

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from chassis.db.database import Database
from chassis.server.app import create_app
from chassis.web.listing import Limit, Skip, documented, read_query
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from testing.internal import trusting

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)


class Form(StrEnum):
    """How it is written."""

    JSON = "json"
    CSV = "csv"


class ByModel(BaseModel):
    status: str | None = None
    form: Annotated[Form, Field(description="In which form.")] = Form.JSON
    other: Form | None = None
    skip: Skip = 0


class Body(BaseModel):
    name: str


async def of_a_dependency(colour: str = "red") -> str:
    return colour


@router.get("/declared")
async def declared(
    colour: Annotated[str, Depends(of_a_dependency)],
    kind: Annotated[str | None, Query(alias="type")] = None,
    limit: Limit = 50,
) -> Response:
    return answer({"colour": colour, "type": kind, "limit": limit})


@router.get("/by-model", openapi_extra=documented(ByModel))
async def by_model(request: Request) -> Response:
    return answer(read_query(request, ByModel).model_dump())


@router.post("/with-body")
async def with_body(body: Body, dry_run: bool = False) -> Response:
    return answer({"name": body.name, "dry_run": dry_run})


@router.post("/generate")
async def generate(algorithm: str | None = None, threshold: float | None = None) -> Response:
    return answer({"algorithm": algorithm})


@router.delete("/thing")
async def delete() -> Response:
    return Response(status_code=204)


@router.put("/{name}")
async def put(name: str) -> Response:
    return answer({"put": name})


@router.post("/read-by-hand", openapi_extra={"requestBody": {"content": {"text/csv": {}}}})
async def read_by_hand(request: Request) -> Response:
    return answer({"read": (await request.body()).decode()})


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app("Things", [router], database=database, verifier=trusting(), schema_version="0001")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://things") as client:
        yield client


def refused(response: httpx.Response, code: str) -> dict[str, Any]:
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["code"]) == (422, code), body
    return body


def test_what_a_model_refers_to_stands_in_the_parameter() -> None:
    _, form, other, _ = documented(ByModel)["parameters"]
    assert form["description"] == "In which form."
    assert (form["schema"]["enum"], form["schema"]["default"]) == (["json", "csv"], "json")
    assert [kind.get("enum", kind["type"]) for kind in other["schema"]["anyOf"]] == [["json", "csv"], "null"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/v1/declared?colour=blue&type=x&limit=5", {"colour": "blue", "type": "x", "limit": 5}),
        ("/api/v1/by-model?status=draft&skip=1", {"status": "draft", "form": "json", "other": None, "skip": 1}),
    ],
)
async def test_a_route_knows_the_parameters_that_it_declares(
    client: httpx.AsyncClient, path: str, said: dict[str, Any]
) -> None:
    assert (await client.get(path)).json() == said


@pytest.mark.parametrize(
    ("method", "path", "meant"),
    [
        ("GET", "/api/v1/declared?colr=blue", "did you mean 'colour'?"),
        ("GET", "/api/v1/declared?kind=x", "There is: type, limit, colour."),
        ("GET", "/api/v1/by-model?stauts=draft", "did you mean 'status'?"),
        ("POST", "/api/v1/with-body?dryrun=true", "did you mean 'dry_run'?"),
        ("POST", "/api/v1/generate?treshold=0.5", "did you mean 'threshold'?"),
        ("DELETE", "/api/v1/thing?force=true", "takes none."),
        ("GET", "/livez?verbose=1", "takes none."),
        ("GET", "/readyz?verbose=1", "takes none."),
        ("GET", "/openapi.json?format=yaml", "takes none."),
        ("GET", "/internal/changes?befor=1", "There is: after, limit."),
    ],
)
async def test_a_parameter_that_no_one_declares_is_refused(
    client: httpx.AsyncClient, method: str, path: str, meant: str
) -> None:
    (error,) = refused(await client.request(method, path), "unknown_parameter")["errors"]
    assert error["pointer"] == "/query/" + path.partition("?")[2].partition("=")[0]
    assert error["message"].endswith(meant)


@pytest.mark.parametrize("body", [b'{"algorithm": "keyword"}', b"[]", b"[1]", b'"x"', b"algorithm=keyword", b"{", b"0"])
async def test_a_body_where_none_is_taken_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    problem = refused(await client.post("/api/v1/generate", content=body), "unexpected_body")
    assert problem["detail"] == (
        "This address takes no body: send algorithm and threshold in the query, as in ?algorithm=..."
    )
    problem = refused(await client.request("DELETE", "/api/v1/thing", content=body), "unexpected_body")
    assert problem["detail"] == "This address takes no body; leave it out."


@pytest.mark.parametrize("body", [b"", b"{}", b" {\n} ", b"null", b"\n"])
async def test_a_body_that_says_nothing_does_no_harm(client: httpx.AsyncClient, body: bytes) -> None:
    assert (await client.post("/api/v1/generate?algorithm=tfidf", content=body)).json() == {"algorithm": "tfidf"}


async def test_a_body_that_a_route_reads_by_itself_is_its_own(client: httpx.AsyncClient) -> None:
    assert (await client.post("/api/v1/read-by-hand", content=b"a,b")).json() == {"read": "a,b"}


async def test_an_address_of_its_own_is_none_of_those_with_a_value(client: httpx.AsyncClient) -> None:
    assert (await client.put("/api/v1/lamp")).json() == {"put": "lamp"}
    refused = await client.put("/api/v1/generate")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert refused.json()["detail"] == "This address takes POST, not PUT."
