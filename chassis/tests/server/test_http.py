"""The manners of every service's HTTP app, on a small one of its own."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import httpx
import psycopg
import pytest
from fastapi import APIRouter, Form, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from chassis.core.identity import Identity, Role
from chassis.db.coalescing import Coalesced
from chassis.db.database import Connection, Database, Db
from chassis.server.app import create_app
from chassis.web.callers import Admin, Reviewer, ServiceCaller, Viewer
from chassis.web.idempotency import answer_once
from chassis.web.keyset import By, Order
from chassis.web.listing import PageQuery, documented, page, read_query
from chassis.web.parameters import parse_sort
from chassis.web.responses import check_precondition, created, item
from chassis.web.strict_route import StrictRoute
from testing.internal import token, trusting
from testing.postgres import as_owner

INTERNAL = {"/api/v1/services": ["catalog-service"]}
router = APIRouter(prefix="/api/v1", route_class=StrictRoute)


class Thing(BaseModel):
    name: str = Field(max_length=5)
    tags: list[str] = []


class ThingPatch(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str | None = None


@router.post("/things", status_code=201)
async def create_thing(thing: Thing, reviewer: Reviewer, request: Request, database: Db) -> Response:
    async def create(connection: Connection) -> Response:
        cursor = await connection.execute("INSERT INTO effects (what) VALUES (%s) RETURNING id", (thing.name,))
        row = await cursor.fetchone()
        assert row is not None
        return created(request, {"id": row["id"], "name": thing.name}, f"/api/v1/things/{row['id']}")

    return await answer_once(request, database, reviewer, create)


@router.patch("/things")
async def patch_thing(patch: ThingPatch, reviewer: Reviewer, request: Request) -> Response:
    check_precondition(request, {"name": "now"})
    return item(request, {"name": patch.name})


class ThingQuery(PageQuery):
    sort: str = "name"


@router.get("/things", openapi_extra=documented(ThingQuery))
async def list_things(viewer: Viewer, request: Request) -> Response:
    query = read_query(request, ThingQuery)
    parse_sort(query.sort, ["name"])
    wanted = query.page(request, Order("number:asc", (By("number", int),)))
    found = wanted.found([{"number": number} for number in range(wanted.skip, wanted.skip + query.limit)], 100)
    return page(request, wanted, found, [row["number"] for row in found.rows])


@router.get("/thing")
async def get_thing(viewer: Viewer, request: Request) -> Response:
    return item(request, {"name": "now"})


@router.post("/form")
async def send_form(username: Annotated[str, Form()]) -> dict[str, str]:
    return {"username": username}


@router.get("/admins")
async def only_admins(admin: Admin) -> None: ...


@router.get("/services")
async def only_services(service: ServiceCaller) -> None: ...


@router.get("/broken")
async def broken() -> None:
    raise RuntimeError("secret detail")


@router.get("/away")
async def away() -> None:
    raise psycopg.OperationalError("host 10.0.0.1 refused")


BOTH = asyncio.Barrier(2)


@router.post("/locks/{first}/{second}")
async def lock_both(first: int, second: int, database: Db) -> None:
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (first,))
        await BOTH.wait()
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (second,))


def bearer(role: Role | None) -> dict[str, str]:
    identity = Identity(None, "catalog-service", None) if role is None else Identity(7, "who@traceline.test", role)
    return {"Authorization": f"Bearer {token(identity, 'things')}"}


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(
        "Things",
        [router],
        database=database,
        verifier=trusting("things", INTERNAL),
        schema_version="0001",
        state={"any": 1},
    )
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://things", headers=bearer(Role.REVIEWER)
    ) as client:
        yield client


def assert_problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["status"], body["code"]) == (status, status, code)
    assert body["request_id"] == response.headers["x-request-id"]
    assert body["detail"].endswith((".", "?", "errors)"))
    return body


@pytest.mark.parametrize(
    ("body", "status", "code", "pointer"),
    [
        (b'{"name": "123456"}', 422, "invalid_request", "/name"),
        (b'{"name": 1}', 422, "invalid_request", "/name"),
        (b"{}", 422, "invalid_request", "/name"),
        (b'{"name": "a", "tags": ["x", 2]}', 422, "invalid_request", "/tags/1"),
        (rb'{"name": "\u0000"}', 422, "invalid_request", "/name"),
        (b"[]", 422, "invalid_request", ""),
        (b"", 422, "invalid_request", ""),
        (b'{"name"', 400, "malformed_json", None),
    ],
)
async def test_a_wrong_body_is_a_problem_that_names_the_field(
    client: httpx.AsyncClient, body: bytes, status: int, code: str, pointer: str | None
) -> None:
    response = await client.post("/api/v1/things", content=body, headers={"content-type": "application/json"})
    problem = assert_problem(response, status, code)
    if pointer is not None:
        assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert "123456" not in response.text


async def test_other_media_types_are_refused(client: httpx.AsyncClient) -> None:
    for content_type in ("text/plain", "application/xml", "application/x-www-form-urlencoded"):
        response = await client.post("/api/v1/things", content=b"{}", headers={"content-type": content_type})
        assert_problem(response, 415, "unsupported_media_type")
    assert_problem(await client.post("/api/v1/things", content=b"{}"), 415, "unsupported_media_type")
    assert_problem(await client.post("/api/v1/form", json={"username": "a"}), 415, "unsupported_media_type")


async def test_nul_in_a_query_or_a_form_names_the_field(client: httpx.AsyncClient) -> None:
    problem = assert_problem(await client.get("/api/v1/things?sort=%00"), 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/query/sort"
    problem = assert_problem(await client.post("/api/v1/form", data={"username": "a\0"}), 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/username"
    assert (await client.post("/api/v1/form", data={"username": "ü"})).json() == {"username": "ü"}


async def test_patch_refuses_a_field_that_it_does_not_know(client: httpx.AsyncClient) -> None:
    problem = assert_problem(await client.patch("/api/v1/things", json={"nmae": "x"}), 422, "unknown_field")
    assert problem["errors"][0]["pointer"] == "/nmae"


async def test_unknown_routes_and_methods_are_problems(client: httpx.AsyncClient) -> None:
    assert_problem(await client.get("/api/v1/nothing"), 404, "route_not_found")
    response = await client.delete("/api/v1/thing")
    assert_problem(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "GET, HEAD"
    assert response.json()["detail"] == "This address takes GET, not DELETE."


async def test_what_nobody_foresaw_tells_no_secret(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/broken")
    assert_problem(response, 500, "internal_error")
    assert "secret" not in response.text
    response = await client.get("/api/v1/away")
    assert_problem(response, 503, "unavailable")
    assert "10.0.0.1" not in response.text
    assert response.headers["retry-after"] == "1"


async def test_of_two_who_wait_for_each_other_one_is_told_to_try_again(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(120):
        answers = await asyncio.gather(client.post("/api/v1/locks/1/2"), client.post("/api/v1/locks/2/1"))
    done, given_up = sorted(answers, key=lambda answer: answer.status_code)
    assert done.status_code == 200
    problem = assert_problem(given_up, 503, "unavailable")
    assert problem["detail"].endswith("try again.")
    assert "database" not in problem["detail"]


@pytest.mark.parametrize(
    ("role", "path", "status"),
    [
        (Role.VIEWER, "/api/v1/things", 200),
        (Role.REVIEWER, "/api/v1/admins", 403),
        (Role.ADMIN, "/api/v1/admins", 200),
        (Role.ADMIN, "/api/v1/services", 403),
        (None, "/api/v1/services", 200),
        (None, "/api/v1/things", 403),
    ],
)
async def test_a_route_is_as_open_as_its_callers_type(
    client: httpx.AsyncClient, role: Role | None, path: str, status: int
) -> None:
    assert (await client.get(path, headers=bearer(role))).status_code == status


@pytest.mark.parametrize("authorization", ["", "Bearer ", "Bearer nonsense", "Basic abc"])
async def test_what_is_no_internal_token_is_refused(client: httpx.AsyncClient, authorization: str) -> None:
    response = await client.get("/api/v1/things", headers={"Authorization": authorization})
    assert_problem(response, 401, "unauthenticated")
    assert response.headers["www-authenticate"] == "Bearer"
    others = token(Identity(7, "a@b.test", Role.ADMIN), "another-service")
    response = await client.get("/api/v1/things", headers={"Authorization": f"Bearer {others}"})
    assert_problem(response, 401, "unauthenticated")


async def test_a_service_that_is_not_listed_for_an_internal_address_is_refused(client: httpx.AsyncClient) -> None:
    other = token(Identity(None, "suggestion-service", None), "things")
    response = await client.get("/api/v1/services", headers={"Authorization": f"Bearer {other}"})
    problem = assert_problem(response, 403, "forbidden")
    assert problem["detail"] == "suggestion-service may not call this address of things."


async def test_an_etag_answers_304_and_guards_a_write(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/api/v1/thing")).headers["etag"]
    assert tag.startswith('"')
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        response = await client.get("/api/v1/thing", headers={"If-None-Match": known})
        assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", tag)
    assert (await client.patch("/api/v1/things", json={}, headers={"If-Match": tag})).status_code == 200
    for stale in ('"old"', f"W/{tag}"):
        response = await client.patch("/api/v1/things", json={}, headers={"If-Match": stale})
        assert_problem(response, 412, "precondition_failed")


async def test_pages_link_to_their_neighbours(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/things?limit=40&sort=name:asc&skip=40")
    after = response.json()["next_after"]
    assert response.json() == {
        "items": list(range(40, 80)),
        "total": 100,
        "skip": 40,
        "limit": 40,
        "next_after": after,
    }
    assert response.headers["link"] == (
        '</api/v1/things?sort=name:asc&skip=80&limit=40>; rel="next", '
        '</api/v1/things?sort=name:asc&skip=0&limit=40>; rel="prev"'
    )
    for query in (
        "skip=-1",
        "limit=0",
        "limit=501",
        "skip=99999999999999999999",
        "skip=x",
        "sort=shoe",
        "sort=name:up",
    ):
        problem = assert_problem(await client.get(f"/api/v1/things?{query}"), 422, "invalid_request")
        assert problem["errors"][0]["pointer"] == f"/query/{query.partition('=')[0]}"


async def test_an_idempotency_key_creates_once_also_when_sent_twice_at_once(
    client: httpx.AsyncClient, database: Database
) -> None:
    headers = {"Idempotency-Key": "once"}
    responses = await asyncio.gather(
        *(client.post("/api/v1/things", json={"name": "a"}, headers=headers) for _ in range(5))
    )
    assert {(r.status_code, r.content, r.headers["location"], r.headers["etag"]) for r in responses} == {
        (201, responses[0].content, responses[0].headers["location"], responses[0].headers["etag"])
    }
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT count(*) AS n FROM effects")).fetchone()
    assert row == {"n": 1}
    response = await client.post("/api/v1/things", json={"name": "b"}, headers=headers)
    assert_problem(response, 422, "idempotency_key_reused")
    other = {**headers, **bearer(Role.ADMIN)}
    assert (await client.post("/api/v1/things", json={"name": "a"}, headers={**other})).status_code == 201
    too_long = {"Idempotency-Key": "x" * 256}
    assert_problem(await client.post("/api/v1/things", json={"name": "b"}, headers=too_long), 422, "invalid_request")


async def test_a_sane_request_id_is_taken_and_any_other_is_replaced(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/thing", headers={"X-Request-ID": "abc-123"})
    assert response.headers["x-request-id"] == "abc-123"
    for strange in ("", "a b", "x" * 200, "<script>"):
        made = (await client.get("/api/v1/thing", headers={"X-Request-ID": strange})).headers["x-request-id"]
        assert made != strange
        assert len(made) == 32


async def test_a_service_is_not_ready_without_its_schema(client: httpx.AsyncClient, database: Database) -> None:
    assert (await client.get("/livez")).status_code == 200
    async with as_owner(database) as connection:
        await connection.execute("CREATE TABLE alembic_version (version_num text)")
    assert_problem(await client.get("/readyz"), 503, "unavailable")
    async with database.connection() as connection:
        await connection.execute("INSERT INTO alembic_version VALUES ('0001')")
    assert (await client.get("/readyz")).status_code == 200


async def test_reads_that_arrive_together_share_a_query_and_an_error_reaches_each() -> None:
    asked: list[list[int]] = []

    async def load(keys: list[int]) -> dict[int, int]:
        asked.append(sorted(keys))
        await asyncio.sleep(0.01)
        if 99 in keys:
            raise ConnectionError
        return {key: key * 2 for key in keys if key < 10}

    coalesced = Coalesced(load)
    first = asyncio.create_task(coalesced.get(1))
    await asyncio.sleep(0.001)
    assert await asyncio.gather(coalesced.get(2), coalesced.get(2), coalesced.get(11)) == [4, 4, None]
    assert await first == 2
    assert asked == [[1], [2, 11]]
    results = await asyncio.gather(coalesced.get(99), coalesced.get(99), return_exceptions=True)
    assert [type(result) for result in results] == [ConnectionError, ConnectionError]
    assert await coalesced.get(3) == 6
