"""ETags against lost updates, and idempotency keys against doing a thing twice."""

import asyncio
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import problem

ALL = pytest.mark.parametrize("path", ["/requirements", "/test-cases", "/links"])


async def make(catalog: Any, path: str) -> str:
    """Create one and return its path."""
    made = await catalog.link(*await catalog.pair()) if path == "/links" else await catalog.create(path)
    return f"{path}/{made['id']}"


def change(catalog: Any, path: str) -> dict[str, str]:
    return {"notes" if path == "/links" else "title": catalog.word()}


@ALL
async def test_what_has_not_changed_is_not_sent_again(catalog: Any, path: str) -> None:
    item = await make(catalog, path)
    etag = (await catalog.get(item)).headers["etag"]
    assert etag.startswith('"')
    for header in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        response = await catalog.request("GET", item, headers={"if-none-match": header})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == etag
    patched = await catalog.patch(item, change(catalog, path))
    response = await catalog.request("GET", item, headers={"if-none-match": etag})
    assert (response.status_code, response.headers["etag"]) == (200, patched.headers["etag"])
    assert patched.headers["etag"] != etag


@ALL
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_a_write_from_an_old_reading_is_refused(catalog: Any, path: str, method: str) -> None:
    if (path, method) == ("/links", "PUT"):
        method = "PATCH"  # a link is not replaced
    item = await make(catalog, path)
    old = (await catalog.get(item)).headers["etag"]
    now = (await catalog.patch(item, change(catalog, path))).headers["etag"]

    async def write(etag: str) -> Any:
        body = {"PUT": catalog.item(), "PATCH": change(catalog, path), "DELETE": None}[method]
        return await catalog.request(method, item, json=body, headers={"if-match": etag})

    problem(await write(old), 412, "precondition_failed")
    problem(await write(f"W/{now}"), 412)
    assert (await catalog.get(item)).headers["etag"] == now
    assert (await write(f'"other", {now}')).status_code in (200, 204)


@ALL
async def test_if_match_any_goes_through(catalog: Any, path: str) -> None:
    item = await make(catalog, path)
    assert (await catalog.patch(item, change(catalog, path), if_match="*")).status_code == 200
    assert (await catalog.delete(item, if_match="*")).status_code == 204
    assert (await catalog.delete(item, if_match="*")).status_code == 404


async def test_of_many_writers_with_the_same_reading_one_wins(catalog: Any) -> None:
    item = await make(catalog, "/requirements")
    etag = (await catalog.get(item)).headers["etag"]
    answers = await asyncio.gather(*(catalog.patch(item, {"title": catalog.word()}, if_match=etag) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7


async def body_of(catalog: Any, path: str) -> dict[str, Any]:
    if path != "/links":
        return catalog.item(external_id=catalog.word())
    requirement, test_case = await catalog.pair()
    return {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}


@ALL
async def test_the_same_create_with_the_same_key_gets_the_first_answer_again(catalog: Any, path: str) -> None:
    body, key = await body_of(catalog, path), catalog.word()
    first = await catalog.post(path, body, idempotency_key=key)
    again = await catalog.post(path, body, idempotency_key=key)
    assert (again.status_code, again.content) == (201, first.content)
    for name in ("location", "etag"):
        assert again.headers[name] == first.headers[name]
    assert len(await catalog.events(subject=first.json()["id"])) == 1
    reused = await catalog.post(path, body | {"notes": "x", "module": "x"}, idempotency_key=key)
    problem(reused, 422, "idempotency_key_reused")
    problem(await catalog.post(path, body), 409)


@ALL
async def test_the_same_create_many_times_at_once_makes_one(catalog: Any, path: str) -> None:
    body, key = await body_of(catalog, path), catalog.word()
    answers = await asyncio.gather(*(catalog.post(path, body, idempotency_key=key) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert len(await catalog.events(subject=answers[0].json()["id"])) == 1


@ALL
async def test_a_refused_create_leaves_its_key_free(catalog: Any, path: str) -> None:
    body, key = await body_of(catalog, path), catalog.word()
    problem(await catalog.post(path, {}, idempotency_key=key), 422)
    made = (await catalog.post(path, body)).json()
    problem(await catalog.post(path, body, idempotency_key=key), 409)
    await catalog.delete(f"{path}/{made['id']}")
    assert (await catalog.post(path, body, idempotency_key=key)).status_code == 201


async def test_a_key_is_its_owners_own(catalog: Any) -> None:
    other = catalog.being(Identity(id=77, email="other@example.test", role=Role.ADMIN))
    body, key = catalog.item(), catalog.word()
    mine = await catalog.post("/requirements", body, idempotency_key=key)
    theirs = await other.post("/requirements", body, idempotency_key=key)
    assert mine.json()["id"] != theirs.json()["id"]
