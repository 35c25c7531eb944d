"""What accepting a suggestion made goes when the review is undone, once, and only while nobody has touched it."""

import asyncio
import uuid
from typing import Any

import pytest

from testing.service import problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"
ACCEPTED = "/internal/links/by-suggestion"
UNDONE = "/internal/links/undone-by-suggestion"
OK = (None, None)


@pytest.fixture
def review(service: Any, catalog: Any) -> Any:
    """Accept a suggestion of a pair of its own; return what undoing that takes. Rejected: there is no link."""

    async def make(*, accepted: bool = True, **fields: Any) -> dict[str, Any]:
        requirement, test_case = await catalog.pair()
        one = {
            "suggestion_id": str(uuid.uuid4()),
            "review_id": str(uuid.uuid4()),
            "requirement_id": requirement["id"],
            "test_case_id": test_case["id"],
            "link_id": None,
            "actor": {"id": 7, "email": "kim@example.test"},
        } | fields
        return one | {"link_id": await accept(service, one)} if accepted else one

    return make


async def accept(service: Any, one: dict[str, Any], **fields: Any) -> str:
    body = {**one, "confidence_score": 0.7, "link_id": None, **fields}
    response = await service.put(ACCEPTED, {"accepted": [body]})
    assert response.status_code == 200, response.text
    (item,) = response.json()["items"]
    return str(item["link_id"] or item["code"])


@pytest.fixture
def undo(service: Any) -> Any:
    """Undo reviews; return for each the code that says why not and the link in the way."""

    async def put(*undone: dict[str, Any]) -> list[tuple[str | None, str | None]]:
        response = await service.put(UNDONE, {"undone": list(undone)})
        assert response.status_code == 200, response.text
        return [(item["code"], item["link_id"]) for item in response.json()["items"]]

    return put


async def test_the_link_goes_with_its_event_and_once(catalog: Any, undo: Any, review: Any) -> None:
    one = await review()
    actor = {"id": 9, "email": "lee@example.test"}
    assert await undo(one | {"actor": actor}) == [OK]
    problem(await catalog.get(f"/links/{one['link_id']}"), 404)
    assert await undo(one | {"actor": actor}) == [OK], "asked again, it is the same"
    _, deleted = await catalog.events(subject=one["link_id"])
    assert (deleted["type"], deleted["actor"], deleted["actorid"]) == ("catalog.link.deleted", "lee@example.test", 9)
    assert deleted["data"]["link"]["requirement_title"]


async def test_the_pair_may_be_accepted_again(service: Any, catalog: Any, undo: Any, review: Any) -> None:
    one = await review()
    await undo(one)
    second = one | {"review_id": str(uuid.uuid4())}
    link_id = await accept(service, second)
    assert link_id != one["link_id"]
    assert await undo(one) == [("link_changed", link_id)], "the link is of another review"
    assert (await catalog.read(f"/links/{link_id}"))["link_source"] == "ai_confirmed"
    assert await undo(second | {"link_id": link_id}) == [OK]


async def test_an_acceptance_that_comes_late_makes_no_link(service: Any, catalog: Any, undo: Any, review: Any) -> None:
    one = await review()
    await undo(one)
    assert await accept(service, one) == "acceptance_undone"
    later = {"review_id": str(uuid.uuid4()), "link_id": one["link_id"]}
    assert await accept(service, one, **later) == "acceptance_undone", "it is known to have been made"
    assert (await catalog.read("/links", requirement_id=one["requirement_id"]))["total"] == 0


async def touch(catalog: Any, one: dict[str, Any], how: str) -> None:
    path = f"/links/{one['link_id']}"
    if how == "patched":
        await catalog.patch(path, {"link_type": "related"})
    elif how == "patched and back":
        await catalog.patch(path, {"notes": "Look here"})
        await catalog.patch(path, {"notes": None})
    elif how == "confirmed":
        await catalog.post(f"{path}/confirm")
    else:
        await catalog.delete(path)
        pair = {name: one[name] for name in ("requirement_id", "test_case_id")}
        one["link_in_the_way"] = (await catalog.post("/links", pair)).json()["id"]


@pytest.mark.parametrize("how", ["patched", "patched and back", "confirmed", "made anew"])
async def test_a_link_that_was_touched_stays(catalog: Any, undo: Any, review: Any, how: str) -> None:
    one = await review()
    await touch(catalog, one, how)
    link_id = one.pop("link_in_the_way", one["link_id"])
    assert await undo(one) == [("link_changed", link_id)]
    assert await catalog.read(f"/links/{link_id}")


async def test_what_changes_nothing_touches_nothing(catalog: Any, undo: Any, review: Any) -> None:
    one = await review()
    await catalog.patch(f"/links/{one['link_id']}", {"link_type": "covers"})
    await catalog.patch(f"/requirements/{one['requirement_id']}", {"title": "The link is suspect now"})
    assert await undo(one) == [OK]


async def test_a_link_that_was_deleted_is_in_nobodys_way(service: Any, catalog: Any, undo: Any, review: Any) -> None:
    one = await review()
    await catalog.delete(f"/links/{one['link_id']}")
    assert await undo(one) == [OK]
    assert len(await catalog.events(subject=one["link_id"])) == 2
    assert await accept(service, one | {"review_id": str(uuid.uuid4())}) != one["link_id"]


async def test_each_of_many_is_answered_in_order(catalog: Any, undo: Any, review: Any) -> None:
    many = [await review(accepted=number < 4) for number in range(6)]
    await touch(catalog, many[1], "confirmed")
    pair = {name: many[4][name] for name in ("requirement_id", "test_case_id")}
    link_id = (await catalog.post("/links", pair)).json()["id"]
    await catalog.delete(f"/test-cases/{many[2]['test_case_id']}")
    assert await undo(*many) == [
        OK,
        ("link_changed", many[1]["link_id"]),
        ("test_case_not_found", None),
        OK,
        ("link_exists", link_id),
        OK,
    ]


async def test_of_many_undos_and_changes_at_once_one_wins(catalog: Any, undo: Any, review: Any) -> None:
    for _ in range(10):
        one = await review()
        path = f"/links/{one['link_id']}"
        patched, *undone = await asyncio.gather(catalog.patch(path, {"notes": "Mine"}), undo(one), undo(one), undo(one))
        if patched.status_code == 200:
            assert undone == [[("link_changed", one["link_id"])]] * 3
            assert (await catalog.read(path))["notes"] == "Mine"
        else:
            assert patched.status_code == 404
            assert undone == [[OK]] * 3
            assert len(await catalog.events(subject=one["link_id"])) == 2


async def test_only_a_service_may_ask(catalog: Any, review: Any) -> None:
    problem(await catalog.put(UNDONE, {"undone": [await review(accepted=False)]}), 403)
