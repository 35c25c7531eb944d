"""Bodies that are too large, too deep, too many or packed: refused, without more memory than they are worth."""

import asyncio
import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, problem, requirement, test_case
from acceptance.wire import CLOSES_WITHIN, connect

MEBIBYTE = 1024 * 1024
JSON_TYPE = {"Content-Type": "application/json"}
FORM_TYPE = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(autouse=True)
def memory_stays(memory: Any) -> Iterator[None]:
    with memory.growing_less_than(50):
        yield


def with_member(body: Json, name: str, value: str) -> str:
    """The body as JSON, with one more member, which is JSON already."""
    return f'{json.dumps(body)[:-1]}, "{name}": {value}}}'


def filling(begin: str, each: str, end: str) -> str:
    """As much JSON as one body may have, of ``each`` with a number in it."""
    parts: list[str] = []
    size = len(begin) + len(end)
    while size + len(each) + 9 < MEBIBYTE - 2000:
        parts.append(each.format(len(parts)))
        size += len(parts[-1]) + 1
    return begin + ",".join(parts) + end


def steps(count: int) -> str:
    return json.dumps({f"step {number}": number for number in range(count)})


MANY = {
    "unknown fields": ("/requirements", lambda: json.dumps(requirement())[:-1] + filling(",", '"f{}":1', "}")),
    "tags that are none": ("/requirements", lambda: with_member(requirement(), "tags", "[" + "1," * 500_000 + "1]")),
    "blank tags": ("/requirements", lambda: with_member(requirement(), "tags", "[" + '"",' * 300_000 + '""]')),
    "steps that are none": ("/test-cases", lambda: with_member(test_case(), "steps", filling("{", '"{}":1', "}"))),
    "steps without number": ("/test-cases", lambda: with_member(test_case(), "steps", filling("{", '"x{}":""', "}"))),
    "ids that are none": ("/suggestions/bulk-review", lambda: '{"action":"accept","ids":[' + "1," * 500_000 + "1]}"),
    "unknown fields of a user": ("/users", lambda: filling("{", '"f{}":1', "}")),
    "metadata": ("/requirements", lambda: with_member(requirement(), "custom_metadata", filling("{", '"{}":1', "}"))),
    "wrong in 10,000 tags": ("/requirements", lambda: with_member(requirement(), "tags", "[" + "1," * 9999 + "1]")),
    "wrong in 10,000 steps": ("/test-cases", lambda: with_member(test_case(), "steps", steps(10_000))),
    "numbers beyond all": ("/requirements", lambda: with_member(requirement(), "custom_metadata", '{"a":1e400}')),
    "levels": ("/requirements", lambda: '{"a":' * 100_000 + "1" + "}" * 100_000),
    "arrays": ("/requirements", lambda: with_member(requirement(), "tags", "[" * 500_000)),
}


@pytest.mark.parametrize("kind", MANY)
def test_as_much_as_fits_into_a_body_is_refused(admin: Traceline, kind: str) -> None:
    path, body = MANY[kind]
    response = admin.post(path, content=body(), headers=JSON_TYPE)
    problem(response, {400, 422})
    assert len(response.content) < 100_000


def test_a_million_fields_are_too_large(reviewer: Traceline) -> None:
    body = "{" + ",".join(['"field":1'] * 1_000_000) + "}"
    problem(reviewer.post("/requirements", content=body, headers=JSON_TYPE), 413)


def test_metadata_of_ten_thousand_members_comes_back(reviewer: Traceline) -> None:
    metadata = {f"key {number}": number for number in range(10_000)}
    made = reviewer.create_requirement(custom_metadata=metadata)
    assert reviewer.read(f"/requirements/{made['id']}")["custom_metadata"] == metadata


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("path", ["/requirements", "/auth/login", "/auth/register"])
def test_fifty_megabytes_are_refused_before_they_are_read(reviewer: Traceline, path: str, media_type: str) -> None:
    response = reviewer.post(path, content=b"x" * 50 * MEBIBYTE, headers={"Content-Type": media_type})
    problem(response, 413)


async def test_chunks_without_end_are_refused_and_then_cut(base_url: str, reviewer: Traceline) -> None:
    reader, writer = await connect(base_url)
    writer.write(
        b"POST /api/v1/requirements HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Type: application/json\r\nAuthorization: Bearer " + str(reviewer.token).encode() + b"\r\n\r\n"
    )
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    answer = asyncio.create_task(reader.read())
    sent = 0
    async with asyncio.timeout(CLOSES_WITHIN):
        while not writer.is_closing() and not answer.done():
            writer.write(chunk)
            sent += 1
            await asyncio.sleep(0.001)
    writer.close()
    assert answer.exception() is None
    assert answer.result().startswith(b"HTTP/1.1 413 ")
    assert sent > 16


def test_a_packed_body_is_not_unpacked(reviewer: Traceline) -> None:
    bomb = gzip.compress(json.dumps(requirement(description="x" * 100 * MEBIBYTE)).encode())
    assert len(bomb) < MEBIBYTE
    for encoding in ("gzip", "deflate", "br", "gzip, gzip"):
        headers = JSON_TYPE | {"Content-Encoding": encoding}
        problem(reviewer.post("/requirements", content=bomb, headers=headers), {400, 415})
        problem(
            reviewer.post("/auth/login", content=bomb, headers=FORM_TYPE | {"Content-Encoding": encoding}),
            {400, 415, 422},
        )


def test_a_form_of_a_megabyte_is_refused(anyone: Traceline) -> None:
    problem(anyone.login(texts.email(), "x" * (MEBIBYTE - 100)), {401, 422})
    problem(anyone.login("x" * (MEBIBYTE - 100)), {401, 422})
    problem(anyone.login(texts.email(), "x" * (MEBIBYTE + 1)), 413)


@pytest.mark.parametrize("field", ["f{}=1", "username=a{}@b.test", "password={}", "&", "%00={}", "={}"])
def test_a_form_of_many_fields_is_refused(anyone: Traceline, field: str) -> None:
    form = "&".join(field.format(number) for number in range(100_000))[: MEBIBYTE - 100]
    problem(anyone.post("/auth/login", content=form, headers=FORM_TYPE), {400, 401, 422})


def test_a_form_of_parts_is_refused(anyone: Traceline, reviewer: Traceline) -> None:
    files = {f"f{number}": ("name", b"x" * 1000) for number in range(500)}
    problem(anyone.post("/auth/login", files=files), 415)
    problem(reviewer.post("/requirements", files=files), 415)
    endless = {"Content-Type": "multipart/form-data; boundary=" + "x" * 10_000}
    problem(anyone.post("/auth/login", content=b"--" + b"x" * 500_000, headers=endless), 415)


async def test_many_large_bodies_at_once_are_refused(base_url: str, reviewer: Traceline) -> None:
    body = with_member(requirement(), "tags", "[" + "1," * 500_000 + "1]")
    headers = JSON_TYPE | {"Authorization": f"Bearer {reviewer.token}"}
    async with httpx.AsyncClient(base_url=base_url, timeout=60) as client:
        posts = [client.post("/api/v1/requirements", content=body, headers=headers) for _ in range(30)]
        assert {response.status_code for response in await asyncio.gather(*posts)} == {422}
