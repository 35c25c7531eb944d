"""A file passes a route as it comes, checked by nothing but its length."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import APIRouter, Request, Response

from chassis.server.app import app_of
from chassis.web.body_limits import with_file
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

MIB = 1024 * 1024
router = APIRouter(route_class=StrictRoute)


@router.post("/files", openapi_extra={"requestBody": {"content": {"application/json": {}}}})
async def count(request: Request) -> Response:
    return answer([len(part) async for part in with_file(request).stream() if part])


async def post(content: bytes | AsyncIterator[bytes], **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(app=app_of("t", [router]))
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        return await client.post("/files", content=content, headers=headers)


async def mebibytes(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield bytes(MIB)


async def test_a_file_is_no_json_to_check_and_comes_in_parts() -> None:
    many_members = b"[%b0]" % (b"0," * 20_000)
    response = await post(many_members, **{"Content-Type": "application/json"})
    assert response.json() == [len(many_members)]
    assert (await post(mebibytes(64))).json() == [MIB] * 64


@pytest.mark.parametrize("announced", [True, False])
async def test_a_file_that_is_too_long_is_refused_with_what_to_do(announced: bool) -> None:
    response = await (post(b"", **{"Content-Length": str(64 * MIB + 1)}) if announced else post(mebibytes(65)))
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
    assert response.json()["detail"] == (
        "The body is larger than the 64 MiB that this address takes; split the file and send one part after the other."
    )
