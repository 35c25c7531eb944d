"""Many links by one request, as many items are changed."""

from typing import Any

import pytest

from testing.service import Json, ok, problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def made(catalog: Any) -> list[Json]:
    """Three links of one requirement."""
    requirement = await catalog.requirement()
    return [await catalog.link(requirement, await catalog.test_case()) for _ in range(3)]


async def change(catalog: Any, **body: Any) -> Json:
    return ok(await catalog.post("/links/bulk", body))


async def test_a_patch_of_many_does_to_each_what_a_patch_does(catalog: Any, made: list[Json]) -> None:
    etag = (await catalog.get(f"/links/{made[2]['id']}")).headers["etag"]
    await catalog.patch(f"/links/{made[1]['id']}", {"link_type": "verifies"})
    await catalog.patch(f"/links/{made[2]['id']}", {"notes": "Mine"})
    await catalog.patch(f"/requirements/{made[0]['requirement_id']}", {"title": "Doors open"})
    after = (await catalog.events())[-1]["position"]
    ids = [made[1]["id"], made[2]["id"], UNKNOWN, made[0]["id"]]
    answer = await change(catalog, ids=ids, patch={"link_type": "verifies"}, if_match={made[2]["id"]: etag})
    assert [(one["status"], one["error"] and one["error"]["code"]) for one in answer["results"]] == [
        ("unchanged", None),
        ("failed", "precondition_failed"),
        ("failed", "link_not_found"),
        ("changed", None),
    ]
    assert (answer["matched"], answer["changed"], answer["unchanged"], answer["failed"]) == (3, 1, 1, 2)
    read = await catalog.get(f"/links/{made[0]['id']}")
    assert answer["results"][3]["etag"] == read.headers["etag"]
    assert (read.json()["link_type"], read.json()["suspect"]) == ("verifies", True), "a patch confirms nothing"
    (event,) = await catalog.events(after=after)
    assert (event["type"], event["subject"]) == ("catalog.link.updated", made[0]["id"])
    assert event["data"]["changes"] == {"link_type": {"before": "covers", "after": "verifies"}}


async def test_those_that_a_filter_finds_are_deleted(catalog: Any, viewer: Any, made: list[Json]) -> None:
    await catalog.patch(f"/requirements/{made[0]['requirement_id']}", {"title": "Doors open"})
    await catalog.post(f"/links/{made[0]['id']}/confirm")
    asked = {"filter": {"requirement_id": made[0]["requirement_id"], "suspect": True}, "delete": True}
    preview = await change(catalog, **asked)
    expanded = [await catalog.read(f"/links/{one['id']}", expand="items") for one in made[:0:-1]]
    assert (preview["matched"], preview["dry_run"], preview["items"]) == (2, True, expanded)
    problem(await viewer.post("/links/bulk", asked), 403, "role_too_low")
    problem(await catalog.post("/links/bulk", asked | {"expected_count": 3}), 409, "count_changed")
    after = (await catalog.events())[-1]["position"]
    answer = await change(catalog, **asked, expected_count=2)
    assert [one["status"] for one in answer["results"]] == ["deleted"] * 2
    left = await catalog.read("/links", requirement_id=made[0]["requirement_id"])
    assert [one["id"] for one in left["items"]] == [made[0]["id"]]
    assert {event["type"] for event in await catalog.events(after=after)} == {"catalog.link.deleted"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ids": [], "patch": {"link_source": "manual"}}, "/patch/link_source"),
        ({"ids": [], "tags_add": ["x"]}, "/tags_add"),
        ({"filter": {}, "delete": True}, "/filter"),
        ({"filter": {"requirement_id": "x"}, "delete": True}, "/filter/requirement_id"),
        ({"filter": {"sort": "created_at"}, "delete": True}, "/filter/sort"),
    ],
)
async def test_what_cannot_be_meant_is_refused(catalog: Any, body: Any, field: str) -> None:
    problem(await catalog.post("/links/bulk", body), 422, field=field)
