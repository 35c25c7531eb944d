"""A route that is called directly answers as it would by FastAPI, which calls those that take more."""

from typing import Annotated, Any
from uuid import UUID

import httpx
import pytest
from fastapi import APIRouter, Depends, Form, Header, Query, Request, Response
from fastapi.routing import request_response
from pydantic import BaseModel, Field

from chassis.server.app import app_of
from chassis.web.direct_calls import direct_call
from chassis.web.listing import Limit
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute


class Body(BaseModel):
    name: Annotated[str, Field(min_length=2)]
    size: int = 1


async def host(request: Request) -> str:
    return request.headers["host"]


async def with_query(colour: str = "red") -> str:
    return colour


async def nested(of: Annotated[str, Depends(host)]) -> str:
    return of


Host = Annotated[str, Depends(host)]


async def read(
    request: Request, id_: Annotated[UUID, Query(alias="id")], host: Host, limit: Limit = 50, word: str | None = None
) -> Response:
    return answer({"method": request.method, "id": id_, "host": host, "limit": limit, "word": word})


async def read_place(place: int, which: UUID, deep: bool = False) -> Response:
    return answer({"place": place, "which": which, "deep": deep})


async def write(place: int, body: Body, dry_run: bool = False) -> Response:
    return answer({"place": place, "body": body.model_dump(), "dry_run": dry_run}, 201)


async def write_if_sent(body: Body | None = None) -> Response:
    return answer(None if body is None else body.model_dump())


class ByFastAPI(StrictRoute):
    """A route that is not called directly."""

    def __init__(self, *declared: Any, **more: Any) -> None:
        super().__init__(*declared, **more)
        self.app = request_response(self.get_route_handler())


def client(route_class: type[StrictRoute]) -> httpx.AsyncClient:
    router = APIRouter(route_class=route_class)
    router.get("/read")(read)
    router.get("/places/{place}/{which}")(read_place)
    router.post("/places/{place}")(write)
    router.put("/if-sent")(write_if_sent)
    transport = httpx.ASGITransport(app=app_of("things", [router]))
    return httpx.AsyncClient(transport=transport, base_url="http://things", headers={"x-request-id": "same"})


ID = "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11"


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [
        ("GET", f"/read?id={ID}", None),
        ("GET", f"/read?id={ID}&limit=7&word=door", None),
        ("GET", f"/read?id={ID}&limit=7&limit=8", None),
        ("GET", "/read", None),
        ("GET", "/read?id=1&limit=501", None),
        ("GET", f"/places/3/{ID}?deep=yes", None),
        ("GET", "/places/x/y?deep=z", None),
        ("POST", "/places/3", b'{"name": "door"}'),
        ("POST", "/places/3?dry_run=true", b'{"name": "door", "size": 2}'),
        ("POST", "/places/x?dry_run=z", b'{"name": "d", "size": "large"}'),
        ("POST", "/places/3", b"{}"),
        ("POST", "/places/3", b"null"),
        ("POST", "/places/3", b"[1]"),
        ("POST", "/places/3", None),
        ("PUT", "/if-sent", b'{"name": "door"}'),
        ("PUT", "/if-sent", b"null"),
        ("PUT", "/if-sent", None),
    ],
)
async def test_it_answers_as_by_fastapi(method: str, address: str, body: bytes | None) -> None:
    headers = {} if body is None else {"content-type": "application/json"}
    answers = []
    for route_class in (StrictRoute, ByFastAPI):
        async with client(route_class) as called:
            answers.append(await called.request(method, address, content=body, headers=headers))
    direct, by_fastapi = answers
    assert (direct.status_code, direct.content) == (by_fastapi.status_code, by_fastapi.content)
    assert direct.headers == by_fastapi.headers


async def with_header(last: Annotated[str | None, Header()] = None) -> Response:
    return answer(last)


async def with_form(name: Annotated[str, Form()]) -> Response:
    return answer(name)


async def with_list(names: Annotated[list[str], Query()]) -> Response:
    return answer(names)


async def with_two_bodies(one: Body, other: Body) -> Response:
    return answer([one, other])


async def with_query_of_a_dependency(colour: Annotated[str, Depends(with_query)]) -> Response:
    return answer(colour)


async def with_nested_dependency(host: Annotated[str, Depends(nested)]) -> Response:
    return answer(host)


async def without_response() -> None:
    """Let FastAPI make the answer."""


@pytest.mark.parametrize(
    "function",
    [
        with_header,
        with_form,
        with_list,
        with_two_bodies,
        with_query_of_a_dependency,
        with_nested_dependency,
        without_response,
    ],
)
def test_what_takes_more_is_left_to_fastapi(function: Any) -> None:
    assert direct_call(StrictRoute("/thing", function, methods=["POST"])) is None


@pytest.mark.parametrize("function", [read, write, write_if_sent])
def test_plain_arguments_are_not(function: Any) -> None:
    assert direct_call(StrictRoute("/things/{place}", function, methods=["POST"])) is not None
