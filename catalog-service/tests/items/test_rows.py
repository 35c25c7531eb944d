"""What rows of lists tell: their ETag, the members that are asked for, those of some ids."""

from typing import Any

import pytest

from testing.service import ok, problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


async def rows(catalog: Any, path: str, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await catalog.read(path, **params))["items"]
    return found


@BOTH
@pytest.mark.parametrize("params", [{}, {"expand": "coverage"}, {"sort": "title", "fields": "id,etag"}])
async def test_the_etag_of_a_row_is_that_of_its_item(catalog: Any, path: str, params: dict[str, str]) -> None:
    word = catalog.word()
    created = await catalog.post(path, catalog.item(title=word, custom_metadata={"é": [1.0, "\\"]}, tags=["b", "a"]))
    here = f"{path}/{created.json()['id']}"
    changed = await catalog.patch(here, {"status": "approved" if path == "/requirements" else "ready"})
    for answered in (changed, await catalog.get(here)):
        [row] = await rows(catalog, path, search=word, **params)
        assert row["etag"] == answered.headers["etag"] != created.headers["etag"]
    problem(await catalog.patch(here, {"module": "a"}, if_match=created.headers["etag"]), 412)
    ok(await catalog.patch(here, {"module": "a"}, if_match=row["etag"]))
    problem(await catalog.patch(here, {"module": "b"}, if_match=row["etag"]), 412)


@BOTH
async def test_each_change_has_an_etag_of_its_own_whatever_the_clock_says(catalog: Any, path: str) -> None:
    made = await catalog.create(path)
    here, table = f"{path}/{made['id']}", path[1:].replace("-", "_")
    async with catalog.database.connection() as connection:
        await connection.execute(
            f"UPDATE {table} SET updated_at = now() + interval '1 hour' WHERE id = %s", (made["id"],)
        )
    before = await catalog.get(here)
    after = await catalog.patch(here, {"module": "a"})
    assert after.json()["updated_at"] > before.json()["updated_at"]
    assert after.headers["etag"] != before.headers["etag"]


@BOTH
async def test_rows_have_the_members_that_are_asked_for(catalog: Any, path: str) -> None:
    word = catalog.word()
    made = await catalog.create(path, title=word)
    for more in ({}, {"sort": "title"}):
        assert await rows(catalog, path, search=word, fields="title, id", **more) == [{"id": made["id"], "title": word}]
    whole = await rows(catalog, path, search=word, expand="coverage")
    every = ",".join(whole[0])
    assert await rows(catalog, path, search=word, expand="coverage", fields=every) == whole
    answer = problem(await catalog.get(path, fields="id,titel"), 422)
    assert answer["errors"][0] == {
        "pointer": "/query/fields",
        "message": "These rows have no 'titel'; did you mean 'title'?",
        "code": "unknown_field",
    }


@BOTH
async def test_rows_of_some_ids(catalog: Any, path: str) -> None:
    made = [await catalog.create(path, title=catalog.word()) for _ in range(3)]
    ids = [item["id"] for item in made]
    found = await catalog.read(path, ids=f"{ids[0]},{ids[2].upper()}", sort="created_at")
    assert ([row["id"] for row in found["items"]], found["total"]) == ([ids[0], ids[2]], 2)
    assert await rows(catalog, path, ids=ids[0], search=made[1]["title"]) == []
    for refused, code in (
        ("x", "invalid_id"),
        (f"!{ids[0]}", "invalid_id"),
        ("", "empty_value"),
        (",".join(f"{number:032x}" for number in range(501)), "too_many_values"),
    ):
        assert problem(await catalog.get(path, ids=refused), 422)["errors"][0]["code"] == code
    assert await rows(catalog, path, ids=",".join(f"{number:032x}" for number in range(500))) == []


async def test_a_row_of_links_has_the_etag_of_its_link(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    link = await catalog.link(requirement, test_case)
    here = f"/links/{link['id']}"
    params = {"ids": link["id"]}
    for more in ({}, {"expand": "items"}, {"fields": "etag"}, {"expand": "items", "fields": "requirement,etag"}):
        [row] = await rows(catalog, "/links", **params, **more)
        assert row["etag"] == (await catalog.get(here)).headers["etag"]
        assert set(row) == set(more["fields"].split(",")) if "fields" in more else set(row) > set(link)
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Another"})
    problem(await catalog.post(f"{here}/confirm", if_match=row["etag"]), 412)
    [row] = await rows(catalog, "/links", **params, expand="items")
    ok(await catalog.post(f"{here}/confirm", if_match=row["etag"]))
