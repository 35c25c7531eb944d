"""The link of an accepted suggestion is made once, however often suggestion-service asks for it."""

import asyncio
import uuid
from typing import Any

import pytest

from testing.service import problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"
PATH = "/internal/links/by-suggestion"


@pytest.fixture
def accepted(catalog: Any) -> Any:
    """Return suggestions of pairs of their own that were accepted."""

    async def make() -> dict[str, Any]:
        requirement, test_case = await catalog.pair()
        return {
            "suggestion_id": str(uuid.uuid4()),
            "requirement_id": requirement["id"],
            "test_case_id": test_case["id"],
            "confidence_score": 0.734512,
            "link_type": "verifies",
            "notes": None,
            "actor": {"id": 7, "email": "kim@example.test"},
        }

    return make


@pytest.fixture
async def one(accepted: Any) -> dict[str, Any]:
    return await accepted()


@pytest.fixture
def ask(service: Any) -> Any:
    """Ask for the links of accepted suggestions; give, for each, the link's id or the code that says why not."""

    async def put(*accepted: dict[str, Any]) -> list[str]:
        response = await service.put(PATH, {"accepted": list(accepted)})
        assert response.status_code == 200, response.text
        items = response.json()["items"]
        assert all((item["link_id"] is None) != (item["code"] is None) for item in items)
        return [item["link_id"] or item["code"] for item in items]

    return put


async def test_the_link_is_confirmed_by_who_accepted_and_has_the_score(
    catalog: Any, ask: Any, one: dict[str, Any]
) -> None:
    (link_id,) = await ask(one)
    link = await catalog.read(f"/links/{link_id}")
    suggestion_id = one["suggestion_id"]
    del one["actor"]
    assert link == one | {
        "id": link_id,
        "link_source": "ai_confirmed",
        "created_at": link["created_at"],
        "created_by": "kim@example.test",
        "confirmed_at": link["created_at"],
        "confirmed_by": "kim@example.test",
        "updated_at": link["created_at"],
        "requirement_version": 1,
        "test_case_version": 1,
        "suspect": False,
        "suspect_reason": None,
    }
    (event,) = await catalog.events(subject=link_id)
    assert (event["type"], event["actor"], event["actorid"]) == ("catalog.link.created", "kim@example.test", 7)
    assert event["data"]["suggestion_id"] == suggestion_id
    assert event["data"]["link"]["confidence_score"] == 0.734512
    assert event["data"]["link"]["created_at"] == link["created_at"]


async def test_its_event_names_both_items(catalog: Any, ask: Any, one: dict[str, Any]) -> None:
    names = catalog.word(), catalog.word()
    requirement, test_case = (
        await catalog.requirement(external_id=names[0]),
        await catalog.test_case(external_id=names[1]),
    )
    (link_id,) = await ask(one | {"requirement_id": requirement["id"], "test_case_id": test_case["id"]})
    (event,) = await catalog.events(subject=link_id)
    told = event["data"]["link"]
    assert (told["requirement_external_id"], told["test_case_external_id"]) == names
    assert (told["requirement_title"], told["test_case_title"]) == (requirement["title"], test_case["title"])


async def test_each_of_many_is_answered_in_order(catalog: Any, ask: Any, accepted: Any) -> None:
    many = [await accepted() for _ in range(6)]
    manual = {name: many[1][name] for name in ("requirement_id", "test_case_id")}
    await catalog.post("/links", manual)
    many[2]["requirement_id"] = UNKNOWN
    many[4]["actor"] = {"id": None, "email": "lee@example.test"}
    (made_before,) = await ask(many[5])
    first, *refusals, fourth, fifth, last = await ask(*many)
    assert refusals == ["link_exists", "requirement_not_found"]
    assert last == made_before
    for link_id, wanted in ((first, many[0]), (fourth, many[3]), (fifth, many[4])):
        link = await catalog.read(f"/links/{link_id}")
        assert (link["requirement_id"], link["test_case_id"]) == (wanted["requirement_id"], wanted["test_case_id"])
        assert link["created_by"] == wanted["actor"]["email"]
        (event,) = await catalog.events(subject=link_id)
        assert (event["actor"], event["data"]["suggestion_id"]) == (wanted["actor"]["email"], wanted["suggestion_id"])
    assert len(await catalog.events(subject=last)) == 1


async def test_of_two_suggestions_of_one_pair_one_becomes_a_link(ask: Any, one: dict[str, Any]) -> None:
    first, second = await ask(one, one | {"suggestion_id": str(uuid.uuid4())})
    assert sorted((first, second))[1] == "link_exists"
    assert await ask(one, one) == [first, first]


async def test_asking_again_gives_the_same_link(catalog: Any, ask: Any, one: dict[str, Any]) -> None:
    (link_id,) = await ask(one)
    assert await ask(one | {"notes": "second"}) == [link_id]
    assert (await catalog.read(f"/links/{link_id}"))["notes"] is None
    assert len(await catalog.events(subject=link_id)) == 1


async def test_asking_many_times_at_once_makes_each_link_once(catalog: Any, ask: Any, accepted: Any) -> None:
    many = [await accepted() for _ in range(20)]
    answers = await asyncio.gather(*(ask(*turn) for turn in (many, many[::-1], many[5:], many[:-5][::-1])))
    links = dict(zip((one["suggestion_id"] for one in many), answers[0], strict=True))
    assert len(set(links.values())) == 20
    assert answers[1] == answers[0][::-1]
    assert answers[2] == answers[0][5:]
    assert answers[3] == answers[0][:-5][::-1]
    assert [len(await catalog.events(subject=link_id)) for link_id in links.values()] == [1] * 20


async def test_a_link_that_was_deleted_is_not_made_again(catalog: Any, ask: Any, one: dict[str, Any]) -> None:
    (link_id,) = await ask(one)
    await catalog.delete(f"/links/{link_id}")
    assert await ask(one) == [link_id]
    problem(await catalog.get(f"/links/{link_id}"), 404)
    await catalog.delete(f"/requirements/{one['requirement_id']}")
    assert await ask(one) == [link_id]


async def test_nothing_is_remembered_of_a_refusal(catalog: Any, ask: Any, one: dict[str, Any]) -> None:
    manual = (await catalog.post("/links", {name: one[name] for name in ("requirement_id", "test_case_id")})).json()
    assert await ask(one) == ["link_exists"]
    await catalog.delete(f"/links/{manual['id']}")
    (link_id,) = await ask(one)
    assert (await catalog.read(f"/links/{link_id}"))["link_source"] == "ai_confirmed"


@pytest.mark.parametrize("side", ["requirement", "test_case"])
async def test_an_item_that_is_gone_is_not_found(ask: Any, one: dict[str, Any], side: str) -> None:
    assert await ask(one | {f"{side}_id": UNKNOWN}) == [f"{side}_not_found"]
    assert await ask(one) != [f"{side}_not_found"]


async def test_items_that_are_deleted_at_that_moment_refuse_no_other_link(
    catalog: Any, ask: Any, accepted: Any
) -> None:
    many = [await accepted() for _ in range(20)]
    deletions = [catalog.delete(f"/requirements/{one['requirement_id']}") for one in many[::2]]
    answers, *deleted = await asyncio.gather(ask(*many), *deletions)
    assert {response.status_code for response in deleted} == {204}
    for link_id in answers[1::2]:
        assert await catalog.read(f"/links/{link_id}")
    for answer in answers[::2]:
        assert answer == "requirement_not_found" or (await catalog.get(f"/links/{answer}")).status_code == 404


async def test_only_a_service_may_ask(catalog: Any, one: dict[str, Any]) -> None:
    problem(await catalog.put(PATH, {"accepted": [one]}), 403)


@pytest.mark.parametrize("field", ["suggestion_id", "requirement_id", "confidence_score", "actor"])
async def test_what_is_needed_must_be_there(service: Any, one: dict[str, Any], field: str) -> None:
    del one[field]
    problem(await service.put(PATH, {"accepted": [one]}), 422, field=f"/accepted/0/{field}")
