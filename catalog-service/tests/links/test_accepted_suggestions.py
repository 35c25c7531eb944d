"""The link of an accepted suggestion is made once, however often suggestion-service asks for it."""

import asyncio
import uuid
from typing import Any

import pytest

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def acceptance(catalog: Any) -> dict[str, Any]:
    requirement, test_case = await catalog.pair()
    return {
        "requirement_id": requirement["id"],
        "test_case_id": test_case["id"],
        "confidence_score": 0.734512,
        "link_type": "verifies",
        "notes": None,
        "actor": {"id": 7, "email": "kim@example.test"},
    }


def path() -> str:
    return f"/internal/links/by-suggestion/{uuid.uuid4()}"


async def test_the_link_is_confirmed_by_who_accepted_and_has_the_score(
    catalog: Any, service: Any, acceptance: dict[str, Any]
) -> None:
    address = path()
    response = await service.put(address, acceptance)
    link = response.json()
    assert response.status_code == 201
    del acceptance["actor"]
    assert link == acceptance | {
        "id": link["id"],
        "link_source": "ai_confirmed",
        "created_at": link["created_at"],
        "created_by": "kim@example.test",
        "confirmed_at": link["created_at"],
        "confirmed_by": "kim@example.test",
        "suspect": False,
        "suspect_reason": None,
    }
    assert await catalog.read(f"/links/{link['id']}") == link
    (event,) = await catalog.events(link["id"])
    assert (event["type"], event["actor"], event["actorid"]) == ("catalog.link.created", "kim@example.test", 7)
    assert event["data"]["suggestion_id"] == address.rpartition("/")[2]
    assert event["data"]["link"]["confidence_score"] == 0.734512


async def test_asking_again_gives_the_same_link(catalog: Any, service: Any, acceptance: dict[str, Any]) -> None:
    address = path()
    link = (await service.put(address, acceptance)).json()
    again = await service.put(address, acceptance | {"notes": "second"})
    assert (again.status_code, again.json()) == (200, link)
    assert len(await catalog.events(link["id"])) == 1


async def test_asking_many_times_at_once_makes_one_link(service: Any, acceptance: dict[str, Any]) -> None:
    address = path()
    answers = await asyncio.gather(*(service.put(address, acceptance) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1


async def test_a_link_that_was_deleted_is_not_made_again(
    catalog: Any, service: Any, problem: Any, acceptance: dict[str, Any]
) -> None:
    address = path()
    link = (await service.put(address, acceptance)).json()
    await catalog.delete(f"/links/{link['id']}")
    again = await service.put(address, acceptance)
    assert (again.status_code, again.json()) == (200, {"id": link["id"]})
    problem(await catalog.get(f"/links/{link['id']}"), 404)
    await catalog.delete(f"/requirements/{acceptance['requirement_id']}")
    assert (await service.put(address, acceptance)).json() == {"id": link["id"]}


async def test_a_pair_with_a_link_of_another_origin_is_refused(
    catalog: Any, service: Any, problem: Any, acceptance: dict[str, Any]
) -> None:
    pair = {name: acceptance[name] for name in ("requirement_id", "test_case_id")}
    manual = (await catalog.post("/links", pair)).json()
    address = path()
    problem(await service.put(address, acceptance), 409, "link_exists")
    # Nothing is remembered of a refusal.
    await catalog.delete(f"/links/{manual['id']}")
    assert (await service.put(address, acceptance)).status_code == 201
    problem(await service.put(path(), acceptance), 409, "link_exists")


@pytest.mark.parametrize("side", ["requirement", "test_case"])
async def test_an_item_that_is_gone_is_not_found(
    service: Any, problem: Any, acceptance: dict[str, Any], side: str
) -> None:
    address = path()
    problem(await service.put(address, acceptance | {f"{side}_id": UNKNOWN}), 404, f"{side}_not_found")
    assert (await service.put(address, acceptance)).status_code == 201


async def test_only_a_service_may_ask(catalog: Any, problem: Any, acceptance: dict[str, Any]) -> None:
    problem(await catalog.put(path(), acceptance), 403)


@pytest.mark.parametrize("field", ["requirement_id", "confidence_score", "actor"])
async def test_what_is_needed_must_be_there(service: Any, problem: Any, acceptance: dict[str, Any], field: str) -> None:
    del acceptance[field]
    problem(await service.put(path(), acceptance), 422, field=f"/{field}")
